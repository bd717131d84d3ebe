// Walking a lineage drawing: arrows follow the edges, h goes to the focus, + and - open and close a level at a node,
// p shows the way from the focus to a node, f goes to the field that finds.
// Without it every node and control is still a link in the order of the columns.
const isOn = () => localStorage.getItem("palimpsest:keys") !== "off";

function read(svg) {
  const nodes = new Map();
  for (const link of svg.querySelectorAll("a[data-node]")) nodes.set(link.dataset.node, link);
  const edges = [...svg.querySelectorAll(".link")].map((edge) => [edge.dataset.from, edge.dataset.to]);
  return { nodes, edges };
}

function height(link) {
  return link.getBoundingClientRect().top;
}

function nearest(here, candidates) {
  return candidates.sort((a, b) => Math.abs(height(a) - height(here)) - Math.abs(height(b) - height(here)))[0];
}

function along(svg, here, towards) {
  const { nodes, edges } = read(svg);
  const [own, other] = towards === "right" ? [0, 1] : [1, 0];
  const ends = edges.filter((edge) => edge[own] === here.dataset.node).map((edge) => nodes.get(edge[other]));
  return nearest(here, ends);
}

function beside(svg, here, step) {
  const column = [...svg.querySelectorAll(`a[data-column="${here.dataset.column}"]`)];
  return column[column.indexOf(here) + step];
}

const WALKS = {
  ArrowLeft: (svg, here) => along(svg, here, "left"),
  ArrowRight: (svg, here) => along(svg, here, "right"),
  ArrowUp: (svg, here) => beside(svg, here, -1),
  ArrowDown: (svg, here) => beside(svg, here, 1),
};

function goTo(link) {
  if (!link) return;
  link.focus({ preventScroll: true });
  link.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function press(here, ways) {
  const group = here.closest(".node");
  const control = ways.map((way) => group.querySelector(`[data-way="${way}"]`)).find(Boolean);
  control?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, view: window }));
  return Boolean(control);
}

// The address is the state: the way is one more name in it. A record's own page shows no way to itself.
function showWay(here) {
  const id = new URL(here.href.baseVal, document.baseURI).pathname.split("/").pop();
  const target = new URL(window.location.href);
  if ("focus" in here.dataset || target.searchParams.get("to") === id) target.searchParams.delete("to");
  else target.searchParams.set("to", id);
  window.location.assign(target);
}

function find() {
  const field = document.querySelector("[data-find]");
  if (!field) return false;
  field.focus();
  field.select();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const svg = event.target.closest?.("svg.lineage");
  const here = event.target.closest?.("a[data-node]");
  if (svg && here && WALKS[event.key]) {
    event.preventDefault();
    goTo(WALKS[event.key](svg, here));
    return;
  }
  if (!isOn() || event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  if (event.key === "h") {
    const focus = (svg ?? document).querySelector("svg.lineage a[data-focus], a[data-node][data-focus]");
    if (focus) event.preventDefault();
    goTo(focus);
  } else if (event.key === "f") {
    if (find()) event.preventDefault();
  } else if (here && event.key === "p") {
    event.preventDefault();
    showWay(here);
  } else if (here && event.key === "+") {
    if (press(here, ["expand-down", "expand-up"])) event.preventDefault();
  } else if (here && event.key === "-") {
    if (press(here, ["collapse-down", "collapse-up"])) event.preventDefault();
  }
});

// The focus is shown first; a wide drawing would otherwise begin at its oldest ancestor.
function centre(root) {
  for (const scroll of root.querySelectorAll(".lineage-scroll")) {
    const focus = scroll.querySelector("a[data-focus]");
    if (!focus || "centred" in scroll.dataset) continue;
    scroll.dataset.centred = "";
    const box = focus.getBoundingClientRect();
    const frame = scroll.getBoundingClientRect();
    scroll.scrollLeft += box.left + box.width / 2 - frame.left - frame.width / 2;
    scroll.scrollTop += box.top + box.height / 2 - frame.top - frame.height / 2;
  }
}
document.addEventListener("htmx:after:swap", () => centre(document));
centre(document);
