"""Cliques of one shape, processed as one array.

Invariants
- A batch is ready when every clique that sends to it has been processed; it never reads itself.
- Rows are numbered in the order of processing, so that what a batch owns is a slice.
- A message of one axis is added to a row, of two axes to a column of pairs, of more through a link.

Source: Jensen, Lauritzen and Olesen 1990 for the passes; the batching is of the laws of array languages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory.beliefs.kernel.cliques import Clique
from memory.beliefs.kernel.groups import Indices
from memory.beliefs.kernel.ordering import FACTORED_FROM

Shape = tuple[int, bool]

# A table of more entries is long enough to run by itself.
LARGEST_BATCHED = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """Where messages are added. `targets` are unique; `order` and `starts` sum what goes to one target, None if nothing
    does."""

    targets: Indices
    order: Indices | None
    starts: Indices | None


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """Wide messages from cliques `own` of the batch `child` to cliques `theirs` of the batch `parent`.

    kept : which axes of the parent's table the message has, ascending.   theirs : ascending and unique.
    """

    child: int
    parent: int
    kept: tuple[int, ...]
    own: Indices | slice
    theirs: Indices | slice
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """B cliques of one shape.

    start, stop : their rows.   columns : for each axis of the scope those of the pairs (variable, scope[axis]).
    scope : (d, B) rows of the scope.   destination : (B,) the row (d = 1) or column (d = 2) a message goes to.
    """

    start: int
    stop: int
    n_scope: int
    columns: tuple[slice, ...]
    is_factored: bool
    feeds_wide: bool
    scope: Indices
    destination: Indices
    scatter: Scatter | None
    incoming: tuple[Link, ...]
    outgoing: tuple[Link, ...]

    @property
    def size(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """All batches, and for each row its clique: `order[row]` is an index of cliques."""

    batches: tuple[Batch, ...]
    order: tuple[int, ...]
    n_columns: int


def laid_out(cliques: Sequence[Clique], *, k: int) -> Layout:
    """Batches of the cliques, in an order in which they can be processed."""
    own = {clique.node: index for index, clique in enumerate(cliques)}
    parents = [own[clique.scope[0]] if clique.scope else -1 for clique in cliques]
    rounds = _scheduled(parents, shapes=_shapes(cliques, parents=parents, k=k), k=k)
    order = tuple(index for _, members in rounds for index in members)
    row = {cliques[index].node: position for position, index in enumerate(order)}
    place: dict[int, tuple[int, int]] = {}
    columns: list[tuple[slice, ...]] = []
    n_columns = 0
    for number, ((degree, _), members) in enumerate(rounds):
        place.update({index: (number, position) for position, index in enumerate(members)})
        columns.append(_columns(n_columns, degree=degree, size=len(members)))
        n_columns += degree * len(members)
    links = _links(cliques, rounds=rounds, parents=parents, place=place)

    def target(clique: Clique) -> int:
        """The row, or the column of the parent, to which a message of one or two axes goes."""
        if len(clique.scope) == 1:
            return row[clique.scope[0]]
        parent = own[clique.scope[0]]
        number, position = place[parent]
        return int(columns[number][cliques[parent].scope.index(clique.scope[1])].start) + position

    batches, start = [], 0
    for number, (shape, indices) in enumerate(rounds):
        taken = [cliques[index] for index in indices]
        scope = np.array([[row[node] for node in one.scope] for one in taken], dtype=np.intp)
        targets = np.array([target(one) for one in taken] if shape[0] in (1, 2) else [], dtype=np.intp)
        through = _through(number, links)
        batches.append(
            _batch(start, shape=shape, columns=columns[number], scope=scope.T, targets=targets, through=through)
        )
        start += len(taken)
    return Layout(tuple(batches), order, n_columns)


def _batch(
    start: int,
    *,
    shape: Shape,
    columns: tuple[slice, ...],
    scope: Indices,
    targets: Indices,
    through: tuple[tuple[Link, ...], tuple[Link, ...]],
) -> Batch:
    degree, is_factored = shape
    size = scope.shape[1]
    incoming, outgoing = through
    scatter = _scatter(targets) if degree in (1, 2) else None
    rows = np.ascontiguousarray(scope).reshape(degree, size)
    return Batch(
        start, start + size, degree, columns, is_factored, bool(incoming), rows, targets, scatter, incoming, outgoing
    )


def _through(number: int, links: Sequence[Link]) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """(links into a batch, links out of it)."""
    return tuple(one for one in links if one.parent == number), tuple(one for one in links if one.child == number)


def _columns(first: int, *, degree: int, size: int) -> tuple[slice, ...]:
    return tuple(slice(first + axis * size, first + (axis + 1) * size) for axis in range(degree))


def _shapes(cliques: Sequence[Clique], *, parents: Sequence[int], k: int) -> list[Shape]:
    """(size of the scope, whether it is kept as two matrices)."""
    receives_wide = {parents[index] for index, clique in enumerate(cliques) if len(clique.scope) > 2}
    return [
        (len(clique.scope), k >= FACTORED_FROM and len(clique.scope) == 2 and index not in receives_wide)
        for index, clique in enumerate(cliques)
    ]


def _scheduled(parents: Sequence[int], *, shapes: Sequence[Shape], k: int) -> list[tuple[Shape, list[int]]]:
    """Batches in order: always the shape that holds the longest chain up, so that the others gather meanwhile."""
    depth = _depths(parents)
    waiting = Counter(parent for parent in parents if parent >= 0)
    ready: dict[Shape, list[int]] = {}
    deepest: Counter[Shape] = Counter()

    def now_ready(index: int) -> None:
        ready.setdefault(shapes[index], []).append(index)
        deepest[shapes[index]] = max(deepest[shapes[index]], depth[index])

    for index in range(len(shapes)):
        if not waiting[index]:
            now_ready(index)
    rounds = []
    while ready:
        shape = max(ready, key=lambda shape: (deepest[shape], len(ready[shape]), shape))
        members = sorted(ready.pop(shape))
        del deepest[shape]
        n_together = len(members) if k ** (shape[0] + 1) <= LARGEST_BATCHED else 1
        for index in members[n_together:]:
            now_ready(index)
        members = members[:n_together]
        rounds.append((shape, members))
        for index in members:
            parent = parents[index]
            if parent >= 0:
                waiting[parent] -= 1
                if not waiting[parent]:
                    now_ready(parent)
    return rounds


def _depths(parents: Sequence[int]) -> list[int]:
    """How far each clique is from its root."""
    depth = [0] * len(parents)
    children: dict[int, list[int]] = {}
    for index, parent in enumerate(parents):
        children.setdefault(parent, []).append(index)
    pending = list(children.get(-1, []))
    while pending:
        index = pending.pop()
        for child in children.get(index, []):
            depth[child] = depth[index] + 1
            pending.append(child)
    return depth


def _scatter(destination: Indices) -> Scatter:
    order = np.argsort(destination, kind="stable")
    ordered = destination[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])
    if is_first.all():
        return Scatter(destination, None, None)
    return Scatter(ordered[is_first], order, np.flatnonzero(is_first))


def _links(
    cliques: Sequence[Clique],
    *,
    rounds: Sequence[tuple[Shape, list[int]]],
    parents: Sequence[int],
    place: dict[int, tuple[int, int]],
) -> list[Link]:
    """The wide messages, so grouped that no link adds twice to one clique."""
    grouped: dict[tuple[int, int, tuple[int, ...], int], list[tuple[int, int]]] = {}
    for child, ((degree, _), members) in enumerate(rounds):
        if degree < 3:
            continue
        met: Counter[tuple[int, tuple[int, ...]]] = Counter()
        for position, index in enumerate(members):
            parent = parents[index]
            number, theirs = place[parent]
            axes = (cliques[parent].node, *cliques[parent].scope)
            kept = tuple(axes.index(node) for node in cliques[index].scope)
            turn = met[parent, kept]
            met[parent, kept] += 1
            grouped.setdefault((child, number, kept, turn), []).append((position, theirs))
    found = []
    for (child, parent, kept, _), entries in grouped.items():
        entries.sort(key=lambda entry: entry[1])
        from_, to = (_compact([entry[side] for entry in entries]) for side in (0, 1))
        found.append(Link(child, parent, kept, from_, to, len(entries)))
    return found


def _compact(indices: list[int]) -> Indices | slice:
    """A slice where they follow each other: a view costs nothing, a gather of one clique costs as much as its table."""
    if indices == list(range(indices[0], indices[0] + len(indices))):
        return slice(indices[0], indices[0] + len(indices))
    return np.array(indices, dtype=np.intp)
