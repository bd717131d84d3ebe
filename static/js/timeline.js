// Moving the crosshair of a timeline: arrow keys press the links of the four ways, a drag leads to where it ends.
// Without it the links and the two fields do the same.
const KEYS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
const [NEAR, MOVED] = [6, 4];
const RETURN = "palimpsest:timeline";

// Keys that come while the page is made anew wait for it: each step starts from where the last one led.
const waiting = [];
const page = () => document.querySelector("[data-timeline]");

function go(address, link) {
  page().dataset.left = "";
  sessionStorage.setItem(RETURN, String(window.scrollY));
  if (link) link.click();
  else window.location.assign(address);
}

// The focus stays on the drawing while the page around it is made anew.
function settle() {
  const top = sessionStorage.getItem(RETURN);
  if (top === null || (page() && "left" in page().dataset)) return;
  sessionStorage.removeItem(RETURN);
  const plot = document.getElementById("timeline-plot");
  if (!plot) return;
  plot.focus({ preventScroll: true });
  window.scrollTo(0, Number(top));
  if (waiting.length) step(waiting.shift());
}

function giveUp() {
  if (page()) delete page().dataset.left;
  waiting.length = 0;
  sessionStorage.removeItem(RETURN);
}

function step(way) {
  const link = document.querySelector(`a[data-step="${way}"]`);
  if ("left" in page().dataset) waiting.push(way);
  else if (link) go(link.href, link);
  else waiting.length = 0;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !KEYS[event.key]) return;
  if (event.target.id !== "timeline-plot" && !event.target.closest?.("#timeline-plot, .timeline-steps")) return;
  event.preventDefault();
  step(KEYS[event.key]);
});

function stops(text) {
  return (text ?? "").split(" ").filter(Boolean).map((mark) => {
    const at = mark.indexOf("=");
    return { place: Number(mark.slice(0, at)), name: mark.slice(at + 1) };
  });
}

// An instant of the world under the pointer: a change point where one is near, else in proportion, to the second.
function instantAt(marks, x) {
  const near = marks.find((mark) => Math.abs(mark.place - x) <= NEAR);
  if (near) return near.name;
  const after = marks.findIndex((mark) => mark.place > x);
  if (after < 1) {
    const end = after === 0 ? marks[0] : marks[marks.length - 1];
    return end ? new Date(Date.parse(end.name) + (after === 0 ? -1000 : 1000)).toISOString() : "";
  }
  const [low, high] = [marks[after - 1], marks[after]];
  const share = (x - low.place) / (high.place - low.place);
  const millis = Date.parse(low.name) + share * (Date.parse(high.name) - Date.parse(low.name));
  const seconds = Math.floor(millis / 1000) * 1000;
  return seconds > Date.parse(low.name) ? new Date(seconds).toISOString().replace(".000Z", "Z") : low.name;
}

// The last recording at or below the pointer: between two of them nothing differs.
function recordingAt(marks, y) {
  const below = marks.filter((mark) => mark.place >= y - NEAR);
  if (below.length) return below[below.length - 1].name;
  const seq = /^seq:(\d+)$/.exec(marks[0]?.name ?? "");
  return seq ? `seq:${Math.max(0, Number(seq[1]) - 1)}` : "";
}

function place(svg, event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const ground = [...svg.querySelectorAll(".ground")].map((one) => one.getBBox());
  const lane = ground.find((box) => point.y >= box.y && point.y <= box.y + box.height) ?? ground[0];
  const clamp = (value, low, size) => Math.min(low + size, Math.max(low, value));
  return {
    x: clamp(point.x, lane.x, lane.width),
    y: clamp(point.y, lane.y, lane.height) - lane.y + ground[0].y,
    top: ground[0].y,
    tops: ground.map((box) => box.y),
  };
}

function draw(svg, { x, y, top, tops }) {
  svg.querySelector(".true-on").setAttribute("transform", `translate(${x - Number(svg.dataset.x)} 0)`);
  svg.querySelectorAll(".recorded-by").forEach((line, lane) => {
    const here = y + tops[lane] - top;
    line.setAttribute("d", line.getAttribute("d").replace(/^(M\S+) \S+?H/, `$1 ${here}H`));
  });
  svg.querySelectorAll(".handle").forEach((handle, lane) => {
    handle.setAttribute("cx", x);
    handle.setAttribute("cy", y + tops[lane] - top);
  });
  const told = `true on ${instantAt(stops(svg.dataset.trueOn), x)}, recorded by ${recordingAt(stops(svg.dataset.recordedBy), y)}`;
  svg.querySelector(".crosshair .cross-label").textContent = told;
}

let drag = null;

document.addEventListener("pointerdown", (event) => {
  const svg = event.target.closest?.("svg.bitemporal");
  if (!svg || event.button !== 0 || !svg.closest("[data-timeline]")) return;
  const ground = svg.querySelector(".ground").getBBox();
  if (place(svg, event).x <= ground.x && !event.target.closest(".handle")) return;
  svg.dataset.x ??= svg.querySelector(".handle").getAttribute("cx");
  drag = { svg, x: event.clientX, y: event.clientY, isMoved: false };
});
document.addEventListener("pointermove", (event) => {
  if (!drag) return;
  drag.isMoved ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > MOVED;
  if (!drag.isMoved) return;
  event.preventDefault();
  drag.svg.dataset.dragging = "";
  draw(drag.svg, place(drag.svg, event));
});
document.addEventListener("pointerup", (event) => {
  if (!drag) return;
  const { svg, isMoved } = drag;
  drag = null;
  delete svg.dataset.dragging;
  // Without a move a version is a link, and the open ground is where the crosshair goes.
  if (!isMoved && event.target.closest("a")) return;
  const { x, y } = place(svg, event);
  const target = new URL(window.location.href);
  const names = { valid_at: instantAt(stops(svg.dataset.trueOn), x), known_at: recordingAt(stops(svg.dataset.recordedBy), y) };
  for (const [name, value] of Object.entries(names)) if (value) target.searchParams.set(name, value);
  target.searchParams.delete("after");
  if (isMoved) addEventListener("click", (click) => click.preventDefault(), { capture: true, once: true });
  go(target);
});
document.addEventListener("pointercancel", () => { drag = null; });
// A version is dragged over, never away.
document.addEventListener("dragstart", (event) => { if (event.target.closest?.("svg.bitemporal")) event.preventDefault(); });
document.addEventListener("htmx:after:swap", () => setTimeout(settle));
for (const name of ["htmx:error", "htmx:response:error"]) document.addEventListener(name, giveUp);
addEventListener("pageshow", (event) => { if (event.persisted) giveUp(); });
settle();
