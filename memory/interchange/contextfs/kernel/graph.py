"""Two algorithms on small directed graphs: which edges lie on a cycle, and an order with parents before children.

Invariants
- The results do not depend on the order in which nodes or edges are given.
- No recursion: a chain of any length is walked.

Source: R. Tarjan, "Depth-first search and linear graph algorithms", 1972; A. Kahn, "Topological sorting", 1962.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence


def components(successors: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The strongly connected component of each node, as a number that two nodes share exactly if they share a cycle.

    successors : node -> nodes its edges end at. Nodes that only occur as ends count too. A node without a cycle is a
    component of its own. The numbers themselves mean nothing.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    component: dict[str, int] = {}
    open_nodes: list[str] = []
    for root in successors:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        path = [(root, iter(successors[root]))]
        while path:
            node, ends = path[-1]
            end = next(ends, None)
            if end is None:
                path.pop()
                _close(node, index, low=low, component=component, open_nodes=open_nodes)
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
            elif end not in index:
                index[end] = low[end] = len(index)
                open_nodes.append(end)
                path.append((end, iter(successors.get(end, ()))))
            elif end not in component:
                low[node] = min(low[node], index[end])
    return component


def _close(
    node: str, index: dict[str, int], *, low: dict[str, int], component: dict[str, int], open_nodes: list[str]
) -> None:
    if low[node] != index[node]:
        return
    while True:
        member = open_nodes.pop()
        component[member] = index[node]
        if member == node:
            return


def edges_on_cycles(edges: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The edges (from, to) that lie on at least one cycle; an edge from a node to itself does."""
    successors: dict[str, list[str]] = defaultdict(list)
    pairs = set(edges)
    for start, end in pairs:
        successors[start].append(end)
    component = components(successors)
    return {(start, end) for start, end in pairs if component[start] == component[end]}


def parents_first[K](
    parents: Mapping[str, Sequence[str]], *, sort_key: Callable[[str], tuple[K, ...]]
) -> tuple[str, ...]:
    """All nodes of an acyclic graph, each after its parents; among those that could come next, the least by key.

    parents : node -> its parents, which are nodes too.   sort_key : unique for each node.
    Raises ValueError if there is a cycle.
    """
    children: dict[str, list[str]] = defaultdict(list)
    n_waiting = {node: len(set(own)) for node, own in parents.items()}
    for node, own in parents.items():
        for parent in set(own):
            children[parent].append(node)
    ready = [(sort_key(node), node) for node, n in n_waiting.items() if n == 0]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        _, node = heapq.heappop(ready)
        order.append(node)
        for child in children[node]:
            n_waiting[child] -= 1
            if n_waiting[child] == 0:
                heapq.heappush(ready, (sort_key(child), child))
    if len(order) != len(parents):
        raise ValueError(f"expected an acyclic graph, got {len(parents) - len(order)} nodes on or behind a cycle")
    return tuple(order)
