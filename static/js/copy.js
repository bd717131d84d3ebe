// Copies the whole id, hash or text of a control that carries data-copy.
const SHOWN_MILLISECONDS = 1500;

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    say("Could not copy; select the text instead.", "assertive");
    return;
  }
  button.dataset.state = "copied";
  say("Copied.", "polite");
  setTimeout(() => delete button.dataset.state, SHOWN_MILLISECONDS);
}

function say(text, urgency) {
  document.dispatchEvent(new CustomEvent("palimpsest:say", { detail: { text, urgency } }));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});
