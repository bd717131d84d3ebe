"""The same slice as a nested list: what the drawing shows, for readers who cannot or do not want to see it.

Invariants
- Every node and every link of the slice is in the list. A node is written in full once and pointed to afterwards.
- Ancestors come first, nearest first, then descendants, then what hangs on neither; ties go by id.
- A circle ends at the node that is written already, so the list of a broken import is finite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from audit.charts.lineage_values import Graph, Link, Node

MOST_NESTED = 40
"""Deeper rows stay at this indentation; their level is printed."""

type Mark = Literal["open", "item", "end", "close"]
type Side = Literal["ancestors", "descendants", "others"]


@dataclass(frozen=True, slots=True)
class OutlineRow:
    node: Node
    relation: str
    level: int
    is_repeated: bool


@dataclass(frozen=True, slots=True)
class OutlineMark:
    """One step of writing the list: open a list, begin an item, end an item, close a list."""

    mark: Mark
    row: OutlineRow | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    side: Side
    rows: tuple[OutlineRow, ...]

    @property
    def marks(self) -> tuple[OutlineMark, ...]:
        """The rows as a balanced sequence, so that a template can nest lists without calling itself."""
        marks: list[OutlineMark] = []
        nested = 0
        for row in self.rows:
            wanted = min(row.level, MOST_NESTED)
            if wanted > nested:
                marks += [OutlineMark("open")] * (wanted - nested)
            else:
                marks.append(OutlineMark("end"))
                marks += [OutlineMark("close"), OutlineMark("end")] * (nested - wanted)
            nested = wanted
            marks.append(OutlineMark("item", row))
        marks += [OutlineMark("end"), OutlineMark("close")] * nested
        return tuple(marks)


def outline(graph: Graph) -> tuple[Outline, ...]:
    """The list in up to three parts; a slice without a focus is written as "others" alone."""
    nodes = {node.id: node for node in graph.nodes}
    sources = _ends(graph.links, key="target")
    targets = _ends(graph.links, key="source")
    focus = graph.focus
    written: set[str] = {focus.id} if focus else set()
    told: set[Link] = set()
    parts: list[Outline] = []
    if focus:
        for side, neighbours in (("ancestors", sources), ("descendants", targets)):
            rows = _walk(focus.id, nodes=nodes, neighbours=neighbours, written=written, told=told)
            parts.append(Outline("ancestors" if side == "ancestors" else "descendants", tuple(rows)))
    others: list[OutlineRow] = []
    for node_id in sorted(nodes):
        untold = any(link not in told for link in targets.get(node_id, []))
        if node_id not in written or untold:
            others.append(OutlineRow(nodes[node_id], "", 1, node_id in written))
            written.add(node_id)
            below = _walk(node_id, nodes=nodes, neighbours=targets, written=written, told=told)
            others += [OutlineRow(row.node, row.relation, row.level + 1, row.is_repeated) for row in below]
    parts.append(Outline("others", tuple(others)))
    return tuple(part for part in parts if part.rows)


def _walk(
    start: str,
    *,
    nodes: Mapping[str, Node],
    neighbours: Mapping[str, Sequence[Link]],
    written: set[str],
    told: set[Link],
) -> list[OutlineRow]:
    """Rows in the order of a walk in depth; each link once, a node that was written before not entered again."""
    rows: list[OutlineRow] = []
    ahead = [(start, link, 1) for link in reversed(neighbours.get(start, []))]
    while ahead:
        here, link, level = ahead.pop()
        if link in told:
            continue
        told.add(link)
        other = link.target if link.source == here else link.source
        is_repeated = other in written
        rows.append(OutlineRow(nodes[other], link.relation_word, level, is_repeated))
        if not is_repeated:
            written.add(other)
            ahead += [(other, onward, level + 1) for onward in reversed(neighbours.get(other, []))]
    return rows


def _ends(links: Sequence[Link], *, key: Literal["source", "target"]) -> dict[str, list[Link]]:
    grouped: dict[str, list[Link]] = {}
    for link in sorted(links, key=lambda link: (link.source, link.target, link.relation)):
        grouped.setdefault(getattr(link, key), []).append(link)
    return grouped
