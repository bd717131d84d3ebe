"""The block-cut tree: what can be solved apart from the rest.

Invariants
- Every component is rooted: that of the root at the root, each other at its first node in the order of the query.
- Blocks are listed with parents before children; the `parent` of a block is its cut vertex towards the root.
- A block with no node prior in or below it does not change when all its labels are multiplied from the left: it is
  solved with its cut vertex at the identity. One with a prior is *anchored*: its labels are absolute.

Source: Tarjan 1972; Hopcroft and Tarjan 1973.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from memory.beliefs.kernel.groups import Booleans
from memory.beliefs.kernel.merging import Pairs

Adjacency = list[list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Block:
    """`nodes` without the parent, ascending; `pairs` are indices of pairs, ascending."""

    parent: int
    nodes: tuple[int, ...]
    pairs: tuple[int, ...]
    is_anchored: bool


@dataclass(frozen=True, slots=True)
class Component:
    """A connected part. `is_anchored` : a node prior bears on its root, which is then a variable of its own."""

    root: int
    blocks: tuple[Block, ...]
    is_anchored: bool


def components(n: int, *, root: int, pairs: Pairs, prior_nodes: Sequence[int] = ()) -> list[Component]:
    """The components of the graph, that of the root first."""
    adjacency: Adjacency = [[] for _ in range(n)]
    for pair, (low, high) in enumerate(zip(pairs.low.tolist(), pairs.high.tolist(), strict=True)):
        adjacency[low].append((high, pair))
        adjacency[high].append((low, pair))
    hot = {node for node in prior_nodes if node != root}
    entered = [-1] * n
    found = []
    for start in (root, *range(n)):
        if entered[start] < 0:
            bare = list(_blocks(start, adjacency=adjacency, entered=entered))
            bare.reverse()
            found.append(_component(start, bare, root=root, hot=hot))
    return found


def bridges(parts: Sequence[Component], *, pairs: Pairs) -> Booleans:
    """(E,) the edges with no second path between their ends and no prior beyond them."""
    is_alone = np.zeros(pairs.n_pairs + 1, dtype=bool)
    for part in parts:
        for block in part.blocks:
            if len(block.pairs) == 1 and not block.is_anchored:
                is_alone[block.pairs[0]] = True
    is_alone[:-1] &= pairs.counts == 1
    # A loop has slot -1: the last entry, which is False.
    return is_alone[pairs.slot]


def _component(start: int, bare: list[tuple[int, set[int], list[int]]], *, root: int, hot: set[int]) -> Component:
    anchored = [False] * len(bare)
    for index in range(len(bare) - 1, -1, -1):
        parent, nodes, _ = bare[index]
        if not hot.isdisjoint(nodes - {parent}):
            anchored[index] = True
            if parent != root:
                hot.add(parent)
    made = tuple(
        Block(parent, tuple(sorted(nodes - {parent})), tuple(sorted(pairs)), is_anchored)
        for (parent, nodes, pairs), is_anchored in zip(bare, anchored, strict=True)
    )
    return Component(start, made, start in hot)


def _blocks(start: int, *, adjacency: Adjacency, entered: list[int]) -> Iterator[tuple[int, set[int], list[int]]]:
    """(cut vertex, nodes, pairs) of each block of a component, children first; marks what it enters."""
    clock = max(entered) + 1
    entered[start] = clock
    lowest = {start: clock}
    open_pairs: list[tuple[int, int, int]] = []
    stack = [(start, -1, iter(adjacency[start]))]
    while stack:
        node, came_by, rest = stack[-1]
        step = next(rest, None)
        if step is not None:
            other, pair = step
            if pair == came_by:
                continue
            if entered[other] < 0:
                clock += 1
                entered[other] = lowest[other] = clock
                open_pairs.append((node, other, pair))
                stack.append((other, pair, iter(adjacency[other])))
            elif entered[other] < entered[node]:
                open_pairs.append((node, other, pair))
                lowest[node] = min(lowest[node], entered[other])
            continue
        stack.pop()
        if stack:
            above = stack[-1][0]
            lowest[above] = min(lowest[above], lowest[node])
            if lowest[node] >= entered[above]:
                yield above, *_closed(open_pairs, came_by)


def _closed(open_pairs: list[tuple[int, int, int]], last: int) -> tuple[set[int], list[int]]:
    nodes: set[int] = set()
    members = []
    while True:
        one, other, pair = open_pairs.pop()
        nodes |= {one, other}
        members.append(pair)
        if pair == last:
            return nodes, members
