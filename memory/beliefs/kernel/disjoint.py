"""Disjoint sets of nodes, joined edge by edge.   Source: Tarjan 1975, with path halving."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


class DisjointSets:
    """At first every node is alone."""

    def __init__(self, nodes: Iterable[Hashable]) -> None:
        self._parent = {node: node for node in nodes}

    def root(self, node: Hashable) -> Hashable:
        """The one node that stands for the set of this one."""
        parent = self._parent
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    def join(self, left: Hashable, right: Hashable) -> bool:
        """Put two sets together; whether they were apart."""
        left, right = self.root(left), self.root(right)
        self._parent[right] = left
        return left != right
