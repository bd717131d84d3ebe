// Figures: the plot is drawn where a page or a swapped part of it has one, in the inks of the scheme. The library is
// fetched by the first figure that is met, so pages without one never pay for it. Without a script, or where the library
// does not come, the table below stands open and says the same.
const SERIES = /^series-\d$/;
const BAND_SHARE = 0.18;
const NARROW = 420;
const CONFIG = { displayModeBar: false, showTips: false, doubleClick: false, scrollZoom: false, responsive: false };
const SCHEMES = ["(prefers-color-scheme: dark)", "print", "(forced-colors: active)"];

const plots = new Set();
const drawings = new WeakMap();
let library = null;

function load(address) {
  library ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly);
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", () => resolve(window.Plotly ?? window.moduleName));
    script.addEventListener("error", () => reject(new Error(`no answer from ${address}`)));
    document.head.append(script);
  });
  return library;
}

// A property of light-dark() reads back as its text: the colour is read where it is used.
function inks(place) {
  const probe = document.createElement("span");
  probe.hidden = true;
  place.append(probe);
  const found = new Map();
  const read = (name) => {
    if (!found.has(name)) {
      probe.style.color = `var(--${name})`;
      found.set(name, getComputedStyle(probe).color);
    }
    return found.get(name);
  };
  return { read, done: () => probe.remove() };
}

const faint = (colour) => colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${BAND_SHARE})`);

function painted(trace, read) {
  const named = trace.meta?.ink ?? "series-1";
  const colour = Array.isArray(named) ? named.map(read) : read(named);
  const one = Array.isArray(colour) ? read("text") : colour;
  const edge = Array.isArray(named) || SERIES.test(named) ? {} : { line: { width: 0, ...trace.marker?.line } };
  const inked = { ...trace, marker: { ...trace.marker, ...edge, color: colour } };
  if (trace.type !== "bar") inked.line = { ...trace.line, color: one };
  if (trace.fill) inked.fillcolor = faint(one);
  for (const name of ["error_x", "error_y"]) if (trace[name]) inked[name] = { ...trace[name], color: read("text") };
  if (trace.text) inked.textfont = { ...trace.textfont, color: read("text") };
  return inked;
}

function dressed(layout, read, place) {
  const style = getComputedStyle(place);
  const axes = Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name));
  const axis = (given) => ({
    ...given, gridcolor: read("line"), linecolor: read("line-strong"), tickcolor: read("line-strong"),
    tickfont: { color: read("muted"), ...given.tickfont },
  });
  const shape = (given) => ({ ...given, line: { ...given.line, color: read(given.name ?? "text") }, ...(given.type === "rect" && { fillcolor: faint(read(given.name ?? "text")) }) });
  const note = (given) => ({ ...given, font: { ...given.font, color: read(given.name ?? "text") }, arrowcolor: read(given.name ?? "text") });
  return {
    ...layout,
    ...Object.fromEntries(axes.map((name) => [name, axis(layout[name])])),
    ...(place.clientWidth < NARROW && layout.meta?.narrow_ticks && { yaxis: { ...axis(layout.yaxis), ticktext: layout.meta.narrow_ticks } }),
    shapes: (layout.shapes ?? []).map(shape),
    annotations: (layout.annotations ?? []).map(note),
    width: place.clientWidth,
    paper_bgcolor: "transparent", plot_bgcolor: "transparent",
    font: { family: style.fontFamily, size: 12, color: read("text") },
    legend: { ...layout.legend, font: { color: read("text") } },
    hoverlabel: { bgcolor: read("raised"), bordercolor: read("line-strong"), font: { color: read("text") } },
  };
}

async function draw(place) {
  const source = document.getElementById(place.dataset.plot);
  if (!source) return;
  const plotly = await load(place.dataset.library);
  if (!place.isConnected) return;
  const { data, layout } = JSON.parse(source.textContent);
  const { read, done } = inks(place.parentElement);
  try {
    place.style.blockSize = `${layout.height}px`;
    await plotly.react(place, data.map((trace) => painted(trace, read)), dressed(layout, read, place), CONFIG);
    place.dataset.drawn = "";
  } finally {
    done();
  }
}

function fold(place, isOpen) {
  const numbers = place.closest("figure")?.querySelector("details");
  if (numbers) numbers.open = isOpen;
}

function giveUp(place, error) {
  place.hidden = true;
  fold(place, true);
  console.warn(`A figure is not drawn: ${error.message}`);
}

// One drawing after the other: two at a time would leave the axes of one under the marks of the other.
function attempt(place) {
  const before = drawings.get(place) ?? Promise.resolve();
  drawings.set(place, before.then(() => draw(place)).catch((error) => giveUp(place, error)));
}

const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const drawn = target.querySelector(".main-svg");
    if (drawn && Math.abs(Number(drawn.getAttribute("width")) - target.clientWidth) > 1) attempt(target);
  }
});

// What was swapped away is let go, what is new is drawn; a figure that a swap left in place stays as it is.
function settle() {
  for (const place of plots) {
    if (place.isConnected) continue;
    widths.unobserve(place);
    window.Plotly?.purge(place);
    plots.delete(place);
  }
  for (const place of document.querySelectorAll("[data-plot]")) {
    if (plots.has(place) && place.querySelector(".main-svg")) continue;
    if (!plots.has(place)) fold(place, false);
    plots.add(place);
    widths.observe(place);
    attempt(place);
  }
}

const repaint = () => plots.forEach((place) => { if (place.isConnected) attempt(place); });

document.addEventListener("htmx:after:swap", () => setTimeout(settle));
document.addEventListener("palimpsest:theme", repaint);
for (const scheme of SCHEMES) matchMedia(scheme).addEventListener("change", repaint);
settle();
