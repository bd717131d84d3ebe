// Preferences of this browser: the colour scheme and the folded rail, kept in cookies that the server reads
// before it draws, so that no page flashes in the other scheme.
const root = document.documentElement;
const YEAR_SECONDS = 365 * 24 * 60 * 60;

root.dataset.scripted = "";

function remember(name, value) {
  const age = value ? YEAR_SECONDS : 0;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${name}=${value}; path=/; max-age=${age}; samesite=lax${secure}`;
}

function applyTheme(choice) {
  if (choice) root.dataset.theme = choice;
  else delete root.dataset.theme;
  remember("theme", choice);
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
  }
  document.dispatchEvent(new CustomEvent("palimpsest:theme"));
}

function toggleRail() {
  const hidden = root.dataset.rail !== "hidden";
  if (hidden) root.dataset.rail = "hidden";
  else delete root.dataset.rail;
  remember("rail", hidden ? "hidden" : "");
}

document.addEventListener("click", (event) => {
  const choice = event.target.closest("[data-theme-choice]");
  if (choice) applyTheme(choice.dataset.themeChoice);
  if (event.target.closest("[data-rail-toggle]")) toggleRail();
});
