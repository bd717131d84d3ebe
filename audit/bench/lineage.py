"""Slices of a lineage as of a past entry, and their drawing: what must not grow with the store, and what SVG adds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from random import Random
from uuid import UUID

from audit.bench.ancestry import chain_of, crowd
from audit.bench.measuring import Figure, Scale, Work, side_by_side
from audit.bench.texts import records
from audit.charts.layout import layered_layout
from audit.charts.lineage import MOST_NODES, lineage_svg
from audit.charts.lineage_values import Graph, Link, Node
from memory.agents.setup import ensure_namespace, system
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.ledger.queries import asof
from memory.lineage.operations.derivations import split
from memory.lineage.operations.deriving import Cause
from memory.lineage.queries.comparing import compared
from memory.lineage.queries.graph import graph
from memory.records.operations import save

SMALL, LARGE = 1_000, 100_000
DEPTH = 8
N_PARTS = 40
ROUNDS = 40
EDGES_PER_NODE = 1.6


@dataclass(frozen=True, slots=True)
class Store:
    """A namespace with a line, whose newest version was split, and what has been recorded since `then`."""

    namespace: int
    focus: UUID
    then: int

    def past(self) -> AsOf:
        return asof.resolve(self.namespace, known_at=f"seq:{self.then}")


def run(scale: Scale) -> Iterator[Figure]:
    """The same lineage in a large and a small namespace, now and then; a drawing of 500 nodes against its layout."""
    large, small = scale.size(LARGE, least=400), scale.size(SMALL, least=40)
    rounds = scale.rounds(ROUNDS)
    stores = [_store(f"lineage-{size}", size) for size in (large, small)]
    sizes = f"{large} records / {small}"
    reads = (
        ("lineage as of a past entry", _past, "≤ 3"),
        ("lineage now", _now, "≤ 3"),
        ("two points of it compared", _compared, "≤ 3"),
    )
    for what, read, bar in reads:
        first, second = (read(store) for store in stores)
        yield Figure("lineage", f"{what}, {sizes}", side_by_side(first, second, rounds=rounds), bar)
    yield from _drawings(scale)


def _store(name: str, n_records: int) -> Store:
    """The line lies in the middle of the log: half of the records come before it, half after."""
    by = system(ensure_namespace(name))
    crowd(by, n_records // 2)
    focus = _line(by)
    then = asof.now(by.namespace).seq
    split(by, record=focus, parts=[{"content": new.content} for new in islice(records("late"), N_PARTS)], cause=Cause())
    crowd(by, n_records // 2)
    return Store(by.namespace, focus, then)


def _line(by: Actor) -> UUID:
    """The version in the middle, with parts below it."""
    chain = chain_of(by, DEPTH)
    parts = [{"content": new.content} for new in islice(records("parts"), N_PARTS)]
    split(by, record=chain[-1], parts=parts, cause=Cause())
    save(by, records=list(islice(records("beside"), N_PARTS)))
    return chain[-1]


def _past(store: Store) -> Work:
    return partial(graph, store.past(), focus=store.focus, up=DEPTH, down=2)


def _now(store: Store) -> Work:
    return partial(graph, asof.now(store.namespace), focus=store.focus, up=DEPTH, down=2)


def _compared(store: Store) -> Work:
    return partial(compared, asof.now(store.namespace), against=store.past(), focus=store.focus, up=DEPTH, down=2)


def _drawings(scale: Scale) -> Iterator[Figure]:
    drawn, edges = _drawn(MOST_NODES)
    small, few = _drawn(MOST_NODES // 10)
    rounds = scale.rounds(ROUNDS)
    timing = side_by_side(partial(lineage_svg, drawn), _layout(drawn, edges), rounds=rounds)
    yield Figure("lineage", f"layout and SVG of {MOST_NODES} nodes / the layout alone", timing, "≤ 2")
    timing = side_by_side(_layout(drawn, edges), _layout(small, few), rounds=rounds)
    yield Figure("lineage", f"layout of {MOST_NODES} / {MOST_NODES // 10} nodes", timing, "≤ 30")


def _layout(drawn: Graph, edges: list[tuple[int, int]]) -> Work:
    return partial(layered_layout, len(drawn.nodes), edges=edges)


def _drawn(n_nodes: int) -> tuple[Graph, list[tuple[int, int]]]:
    """A lineage as stores grow them: each record rests on one or two of the fifty before it."""
    random = Random(n_nodes)  # noqa: S311 - a drawing, no secret
    edges: set[tuple[int, int]] = set()
    for number in range(1, n_nodes):
        for _ in range(1 + (random.random() < EDGES_PER_NODE - 1)):
            edges.add((random.randrange(max(0, number - 50), number), number))
    nodes = tuple(
        Node(f"{n:04}", f"record {n}", "record", "current", f"/records/{n}", is_focus=n == 0) for n in range(n_nodes)
    )
    links = tuple(Link(f"{source:04}", f"{target:04}") for source, target in sorted(edges))
    return Graph(nodes, links, n_nodes, len(links)), sorted(edges)
