// The core keys. Letters never act in fields and can be switched off; each has a visible control or link as well.
const SWITCH = "palimpsest:keys";
const ROW = "[data-row]";

const isOn = () => localStorage.getItem(SWITCH) !== "off";
const isField = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

function rows() {
  return [...document.querySelectorAll(ROW)].filter((row) => row.offsetParent !== null);
}

function mark(row) {
  document.querySelectorAll(`${ROW}[data-selected]`).forEach((other) => delete other.dataset.selected);
  row.dataset.selected = "";
  const link = row.querySelector("a[href]");
  (link ?? row).focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function move(step) {
  const all = rows();
  if (!all.length) return false;
  const at = all.findIndex((row) => "selected" in row.dataset || row.contains(document.activeElement));
  mark(all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + step))]);
  return true;
}

function open() {
  const row = document.querySelector(`${ROW}[data-selected]`);
  if (!row || document.activeElement.closest("a, button, summary")) return false;
  row.querySelector("a[href]")?.click();
  return true;
}

// A verdict that this role may not give is refused in words, so that an earlier choice is never left unsaid.
function refuseVerdict(choice, choices) {
  const told = document.querySelector("#verdict-preview");
  if (!told) return false;
  const chosen = [...choices].find((one) => one.checked);
  const still = chosen ? `“${chosen.dataset.label}” stays chosen` : "nothing is chosen";
  told.textContent = `“${choice.dataset.label}” is ${choice.dataset.refusal}: ${still}.`;
  return true;
}

function chooseVerdict(digit) {
  const choices = document.querySelectorAll("[data-verdict-form] input[type=radio]");
  const choice = choices[Number(digit) - 1];
  if (!choice) return false;
  if (choice.disabled) return refuseVerdict(choice, choices);
  choice.click();
  choice.focus();
  return true;
}

function press(key) {
  const control = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!control) return false;
  if (control.matches("input")) {
    control.focus();
    control.select();
  } else {
    control.click();
  }
  return true;
}

function tick() {
  const box = document.querySelector(`${ROW}[data-selected] input[type=checkbox]`);
  if (!box || box.disabled) return false;
  box.click();
  return true;
}

const LETTERS = {
  "/": () => press("/"),
  "?": () => press("?"),
  j: () => move(1),
  k: () => move(-1),
  x: () => tick(),
  c: () => press("c"),
  r: () => press("r"),
};

function escape(target) {
  const menu = document.querySelector("details.menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (isField(target)) {
    target.blur();
  } else {
    document.querySelectorAll(`${ROW}[data-selected]`).forEach((row) => delete row.dataset.selected);
  }
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const { key, target } = event;
  if (key === "Escape") {
    escape(target);
    return;
  }
  if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = target.closest("[data-verdict-form]");
    if (form) form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isField(target)) return;
  if (key === "Enter") {
    if (open()) event.preventDefault();
    return;
  }
  if (!isOn()) return;
  const acted = LETTERS[key] ? LETTERS[key]() : /^[1-6]$/.test(key) && chooseVerdict(key);
  if (acted) event.preventDefault();
});

// Verdicts are chosen by digit also while the focus is on one of them.
document.addEventListener("keydown", (event) => {
  if (!isOn() || !event.target.matches("[data-verdict-form] input[type=radio]")) return;
  if (/^[1-6]$/.test(event.key) && chooseVerdict(event.key)) event.preventDefault();
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-keys-switch]")) localStorage.setItem(SWITCH, event.target.checked ? "on" : "off");
});

function showSwitch() {
  document.querySelectorAll("[data-keys-switch]").forEach((box) => { box.checked = isOn(); });
}
document.addEventListener("htmx:after:swap", showSwitch);
showSwitch();

// A menu closes when the reader goes elsewhere; without a script its summary closes it.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
