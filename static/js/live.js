// What a reader hears and where the focus goes after a part of the page was swapped, and what stands there when no
// answer came. Polled regions carry no data-announce, so they stay silent.
const SETTLE_MILLISECONDS = 60;

function say(text, urgency = "polite") {
  const region = document.getElementById(urgency);
  if (!region || !text) return;
  region.textContent = "";
  setTimeout(() => { region.textContent = text; }, SETTLE_MILLISECONDS);
}

function parts(target, selector) {
  if (!target?.matches) return [];
  return target.matches(selector) ? [target] : [...target.querySelectorAll(selector)];
}

function isPolled(context) {
  return context?.sourceEvent?.type === "every";
}

function settle(target, context) {
  if (isPolled(context)) return;
  const problem = parts(target, "[data-takes-focus]")[0];
  if (problem) {
    problem.focus();
    return;
  }
  if (target === document.body) {
    document.getElementById("main")?.focus({ preventScroll: true });
    // The title is set right after this event.
    setTimeout(() => say(document.title));
  }
  const line = parts(target, "[data-announce]")[0];
  if (line) say(line.dataset.announce);
}

function showNoAnswer(context) {
  const place = document.getElementById("problem");
  const template = document.getElementById("no-answer");
  if (!place || !template || isPolled(context)) return;
  place.replaceChildren(template.content.cloneNode(true));
  const check = place.querySelector("[data-check]");
  if (check) check.href = location.pathname + location.search;
  place.querySelector("[data-takes-focus]")?.focus();
}

function waiting(isWaiting) {
  let bar = document.querySelector(".loading-bar");
  if (!bar) {
    bar = document.createElement("div");
    bar.className = "loading-bar";
    bar.setAttribute("aria-hidden", "true");
    document.body.append(bar);
  }
  if (isWaiting) bar.dataset.state = "waiting";
  else delete bar.dataset.state;
}

document.addEventListener("palimpsest:say", (event) => say(event.detail.text, event.detail.urgency));

document.addEventListener("htmx:before:request", (event) => {
  if (!isPolled(event.detail.ctx)) waiting(true);
});
document.addEventListener("htmx:finally:request", () => waiting(false));
document.addEventListener("htmx:after:swap", (event) => {
  const context = event.detail.ctx;
  const target = context?.target ?? event.target;
  settle(typeof target === "string" ? document.querySelector(target) : target, context);
});
document.addEventListener("htmx:error", (event) => showNoAnswer(event.detail.ctx));
document.addEventListener("htmx:response:error", (event) => {
  const status = event.detail.ctx?.response?.status;
  if (status >= 500) say(`The server failed: ${status}.`, "assertive");
});

// A submitted form is disabled while it is in flight, with or without htmx, so that nothing is sent twice. One that is
// answered by a file stays on its page and never hears of the answer: it says so and stays as it is.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post" || "download" in event.target.dataset) return;
  const buttons = [...event.target.querySelectorAll("button:not([type=button])")];
  setTimeout(() => buttons.forEach((button) => { button.disabled = true; }));
});
document.addEventListener("htmx:finally:request", (event) => {
  const form = event.detail.ctx?.sourceElement?.closest?.("form");
  form?.querySelectorAll("button:disabled").forEach((button) => { button.disabled = false; });
});
addEventListener("pageshow", (event) => {
  if (event.persisted) document.querySelectorAll("form button:disabled").forEach((button) => { button.disabled = false; });
});

// The same instant in the reader's own zone, on hover and while the focus is on the link or row that holds it.
function showLocal(event) {
  const time = event.target.closest?.("time[datetime]") ?? event.target.querySelector?.(":scope time[datetime]");
  if (!time || time.title) return;
  const at = new Date(time.getAttribute("datetime"));
  if (!Number.isNaN(at.valueOf())) time.title = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}
document.addEventListener("pointerover", showLocal);
document.addEventListener("focusin", showLocal);
