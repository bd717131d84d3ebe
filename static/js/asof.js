// The control of the point in time: says what the typed UTC instant is in the reader's own zone.
function localWords(value) {
  const at = new Date(`${value}Z`);
  if (Number.isNaN(at.valueOf())) return "";
  return at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}

document.addEventListener("input", (event) => {
  const field = event.target.closest?.("[data-local-hint]");
  if (!field) return;
  const hint = document.getElementById(field.dataset.localHint);
  if (!hint) return;
  hint.dataset.words ??= hint.textContent;
  const words = field.value ? localWords(field.value) : "";
  hint.textContent = words ? `${hint.dataset.words} In your zone: ${words}.` : hint.dataset.words;
});

// The one control and the two clocks are never both shown: opening the second hides the first.
document.addEventListener("toggle", (event) => {
  const details = event.target;
  if (!details.matches?.(".as-of details")) return;
  const single = details.parentElement.querySelector("[data-as-of='one']");
  if (single) single.hidden = details.open;
}, true);
