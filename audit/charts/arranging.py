"""The project's own arrangement of a layered graph: order inside the layers, then places along them.

The order is used where the compiled engine is missing and for graphs with more bends than it takes in good time; the
places are always found here, since that engine's drawings are three times as tall.

Invariants
- The order inside a layer is kept by the places, and neighbours keep at least their gap: nothing overlaps.
- The number of sweeps and rounds is fixed; no clock ends the work early, so equal input gives equal output.

Source: Sugiyama, Tagawa, Toda 1981 (barycentres); Eades, Kelly 1986 (greedy switching); Barlow et al. 1972
(isotonic regression by pooling adjacent violators), used for the places as in Brandes, Köpf 2001 is for blocks.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from audit.charts.layering import Layered

SWEEPS = 16
SWITCH_ROUNDS = 8
PLACING_PASSES = 8

NODE_GAP = 1.0
BEND_GAP = 0.25
MIXED_GAP = 0.65
"""Least distance of neighbours in one layer, in units of one node: two nodes, two bends, a node and a bend."""


def arrange(graph: Layered) -> Layered:
    """The same graph with ``rows`` set to an order inside each layer that has few crossings."""
    order = _initial_order(graph)
    sources, targets = _neighbours(graph)
    _switch(_sweep(order, sources=sources, targets=targets), sources=sources, targets=targets)
    return _with_rows(graph, {vertex: float(index) for layer in order for index, vertex in enumerate(layer)})


def place(graph: Layered) -> Layered:
    """The same graph with ``rows`` moved near the neighbours' rows: the order in each layer and the gaps are kept."""
    order = _initial_order(graph)
    for layer in order:
        layer.sort(key=lambda vertex: (graph.rows[vertex], vertex))
    sources, targets = _neighbours(graph)
    rows = {vertex: index - (len(layer) - 1) / 2 for layer in order for index, vertex in enumerate(layer)}
    for step in range(PLACING_PASSES):
        near, layers = (sources, order) if step % 2 == 0 else (targets, order[::-1])
        for layer in layers:
            wanted = [
                sum(rows[other] for other in near[vertex]) / len(near[vertex]) if near[vertex] else rows[vertex]
                for vertex in layer
            ]
            rows.update(zip(layer, fit(layer, wanted=wanted, n_nodes=graph.n_vertices), strict=True))
    return _with_rows(graph, rows)


def fit(ordered: Sequence[int], *, wanted: Sequence[float], n_nodes: int) -> list[float]:
    """The places nearest to ``wanted`` in the sense of least squares that keep the order and the gaps.

    ordered : vertices of one layer; those below ``n_nodes`` are nodes, the others bends.   wanted : their places.
    """
    offsets = [0.0]
    for left, right in pairwise(ordered):
        offsets.append(offsets[-1] + _gap(left < n_nodes, right < n_nodes))
    free = isotonic([place - offset for place, offset in zip(wanted, offsets, strict=True)])
    return [place + offset for place, offset in zip(free, offsets, strict=True)]


def isotonic(values: Sequence[float]) -> list[float]:
    """The non-decreasing sequence nearest to ``values`` (least squares).

    >>> isotonic([1.0, 3.0, 2.0])
    [1.0, 2.5, 2.5]
    """
    blocks: list[tuple[float, int]] = []
    for value in values:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (right, n_right), (left, n_left) = blocks.pop(), blocks.pop()
            blocks.append(((left * n_left + right * n_right) / (n_left + n_right), n_left + n_right))
    return [mean for mean, length in blocks for _ in range(length)]


def count_crossings(graph: Layered) -> int:
    """Pairs of segments between the same two layers that cross, by the rows of their ends."""
    by_layer: dict[int, list[tuple[float, float]]] = {}
    for source, target in graph.segments:
        by_layer.setdefault(graph.layers[source], []).append((graph.rows[source], graph.rows[target]))
    crossings = 0
    for ends in by_layer.values():
        ends.sort()
        crossings += _inversions([right for _, right in ends])
    return crossings


def _gap(left_is_node: bool, right_is_node: bool) -> float:
    if left_is_node and right_is_node:
        return NODE_GAP
    return MIXED_GAP if left_is_node or right_is_node else BEND_GAP


def _neighbours(graph: Layered) -> tuple[list[list[int]], list[list[int]]]:
    sources: list[list[int]] = [[] for _ in graph.layers]
    targets: list[list[int]] = [[] for _ in graph.layers]
    for source, target in graph.segments:
        targets[source].append(target)
        sources[target].append(source)
    return sources, targets


def _sweep(order: list[list[int]], *, sources: list[list[int]], targets: list[list[int]]) -> list[list[int]]:
    """Order each layer by the mean place of its neighbours, left to right and back; the best order seen stays."""
    spot = {vertex: index for layer in order for index, vertex in enumerate(layer)}
    best, fewest = [list(layer) for layer in order], _crossings(order, targets=targets, spot=spot)
    for sweep in range(SWEEPS):
        to_right = sweep % 2 == 0
        near = sources if to_right else targets
        for layer in order[1:] if to_right else order[-2::-1]:
            centres = {
                vertex: sum(spot[other] for other in near[vertex]) / len(near[vertex]) if near[vertex] else spot[vertex]
                for vertex in layer
            }
            layer.sort(key=lambda vertex: (centres[vertex], spot[vertex]))
            spot.update({vertex: index for index, vertex in enumerate(layer)})
        crossings = _crossings(order, targets=targets, spot=spot)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in order], crossings
    for layer, kept in zip(order, best, strict=True):
        layer[:] = kept
    return order


def _switch(order: list[list[int]], *, sources: list[list[int]], targets: list[list[int]]) -> None:
    """Exchange neighbours while that takes crossings away, at most ``SWITCH_ROUNDS`` times through."""
    spot = {vertex: index for layer in order for index, vertex in enumerate(layer)}

    def gain(left: list[int], right: list[int]) -> int:
        return sum((spot[a] > spot[b]) - (spot[a] < spot[b]) for a in left for b in right)

    for _ in range(SWITCH_ROUNDS):
        has_changed = False
        for layer in order:
            for index in range(len(layer) - 1):
                left, right = layer[index], layer[index + 1]
                if gain(sources[left], sources[right]) + gain(targets[left], targets[right]) > 0:
                    layer[index], layer[index + 1] = right, left
                    spot[left], spot[right] = index + 1, index
                    has_changed = True
        if not has_changed:
            return


def _initial_order(graph: Layered) -> list[list[int]]:
    order: list[list[int]] = [[] for _ in range(max(graph.layers, default=-1) + 1)]
    for vertex, layer in enumerate(graph.layers):
        order[layer].append(vertex)
    return order


def _with_rows(graph: Layered, rows: dict[int, float]) -> Layered:
    return replace(graph, rows=[rows[vertex] for vertex in range(len(graph.layers))])


def _crossings(order: list[list[int]], *, targets: list[list[int]], spot: dict[int, int]) -> int:
    return sum(
        _inversions([end for vertex in layer for end in sorted(spot[target] for target in targets[vertex])])
        for layer in order
    )


def _inversions(values: Sequence[float]) -> int:
    """Pairs that stand in the wrong order, counted while merging."""
    run = list(values)
    n_wrong, width = 0, 1
    while width < len(run):
        merged: list[float] = []
        for start in range(0, len(run), 2 * width):
            left, right = run[start : start + width], run[start + width : start + 2 * width]
            i = 0
            for value in right:
                while i < len(left) and left[i] <= value:
                    merged.append(left[i])
                    i += 1
                n_wrong += len(left) - i
                merged.append(value)
            merged += left[i:]
        run, width = merged, 2 * width
    return n_wrong
