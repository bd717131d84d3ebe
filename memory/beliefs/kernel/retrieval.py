"""Which of the active observations enter an answer, and what they look like as a graph.

Invariants
- One observation speaks for a lineage: the one with the largest (observed_at, id).
- Information order is score descending, observed_at descending, id ascending; equal masses in another order have equal
  scores, so that ties are ties.
- A forest is the Kruskal forest in information order, written out breadth first from the root, then from the other
  nodes in their order; within a node its edges keep information order.
- Every policy takes a prefix of one total order, so a larger limit only adds.

Edges are active, independent observations; a node and an id may be of any type that hashes (ids are compared too).

Source: posterior-memory-harness 0.9.0, its retrieval policies.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from memory.beliefs.kernel.disjoint import DisjointSets
from memory.beliefs.kernel.documents import Profile
from memory.beliefs.kernel.factors import floored
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.questions import Policy


class LightEdge(NamedTuple):
    """An observation without its masses; a tuple, as a query may read a hundred thousand of them.

    observation_id : what breaks ties, text or its UTF-8.   observed_at : float64 seconds.   score : nats.
    lineage : what speaks once; the store makes it of the key alone, or of its kind, the key and the two nodes.
    """

    observation_id: Any
    source: Hashable
    target: Hashable
    observed_at: float
    score: float
    lineage: Hashable


@dataclass(frozen=True, slots=True)
class Structure:
    """The graph of the edges used. Scores in nats; covered_node_fraction in 0..1."""

    selected_observation_count: int
    independent_lineage_count: int
    connected_components: int
    cycle_rank: int
    covered_node_fraction: float
    factor_information_score: float
    cycle_information_score: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What an answer is computed from. `edges` are in the order used: observed_at, then id, ascending.

    nodes : as listed, or as discovered.   dropped_observation_count : edges of those nodes that a limit left out; None
    where they were not counted.
    """

    mode: Literal["explicit", "neighborhood"]
    nodes: tuple[Hashable, ...]
    edges: tuple[LightEdge, ...]
    structure: Structure
    policy: Policy
    hops_explored: int
    node_limit_hit: bool
    observation_limit_hit: bool
    dropped_observation_count: int | None


def information_score(posterior: Floats, prior: Floats | None, *, trust: float) -> float:
    """trust * JS(q, mu) * (0.5 + 0.5 * H(q) / ln S), in nats; the ambiguity H / ln S is 0 for S = 1.

    posterior, prior : (S,) masses, normalised here; a prior of None is uniform.

    >>> information_score(np.array([0.5, 0.5]), None, trust=1.0)
    0.0
    """
    mu = np.full(posterior.size, 1.0 / posterior.size) if prior is None else prior
    # In one order of the labels, so that no sum depends on the order they came in.
    order = np.lexsort((mu, posterior))
    q, mu = floored(np.stack((posterior[order], mu[order])))
    middle = 0.5 * (q + mu)
    divergence = 0.5 * float((q * np.log(q / middle) + mu * np.log(mu / middle)).sum())
    ambiguity = -float((q * np.log(q)).sum()) / np.log(q.size) if q.size > 1 else 0.0
    return float(trust * max(divergence, 0.0) * (0.5 + 0.5 * ambiguity))


def newest_first(edges: Iterable[LightEdge]) -> list[LightEdge]:
    """observed_at descending, id ascending."""
    return sorted(edges, key=lambda edge: (-edge.observed_at, edge.observation_id))


def by_information(edges: Iterable[LightEdge]) -> list[LightEdge]:
    """Score descending, observed_at descending, id ascending."""
    return sorted(edges, key=lambda edge: (-edge.score, -edge.observed_at, edge.observation_id))


def as_used(edges: Iterable[LightEdge]) -> tuple[LightEdge, ...]:
    """observed_at ascending, id ascending."""
    return tuple(sorted(edges, key=lambda edge: (edge.observed_at, edge.observation_id)))


def deduplicated(edges: Iterable[LightEdge]) -> list[LightEdge]:
    """One edge for each lineage, the largest by (observed_at, id); newest first."""
    kept: dict[Hashable, LightEdge] = {}
    for edge in edges:
        other = kept.get(edge.lineage)
        if other is None or (edge.observed_at, edge.observation_id) > (other.observed_at, other.observation_id):
            kept[edge.lineage] = edge
    return newest_first(kept.values())


def selected(
    edges: Sequence[LightEdge], *, nodes: Sequence[Hashable], root: Hashable, limit: int, policy: Policy
) -> list[LightEdge]:
    """At most `limit` of deduplicated edges between the nodes; for `recent` they are given newest first."""
    if policy == "recent":
        return list(edges[:limit])
    forest, rest = _forest(edges, nodes=nodes, root=root)
    return [*forest, *(newest_first(rest) if policy == "coverage" else rest)][:limit]


def structure(edges: Sequence[LightEdge], *, nodes: Sequence[Hashable], root: Hashable) -> Structure:
    """The graph of these edges on these nodes; loops and parallel edges count in the cycle rank."""
    forest, rest = _forest(edges, nodes=nodes, root=root)
    n_components = len(nodes) - len(forest)
    covered = {node for edge in edges for node in (edge.source, edge.target)}
    return Structure(
        selected_observation_count=len(edges),
        independent_lineage_count=len({edge.lineage for edge in edges}),
        connected_components=n_components,
        cycle_rank=len(edges) - len(nodes) + n_components,
        covered_node_fraction=len(covered) / len(nodes),
        factor_information_score=sum((edge.score for edge in edges), 0.0),
        cycle_information_score=sum((edge.score for edge in rest), 0.0),
    )


def retrieve_listed(
    edges: Iterable[LightEdge],
    *,
    nodes: Sequence[Hashable],
    root: Hashable,
    limit: int,
    policy: Policy,
    profile: Profile,
) -> Retrieved:
    """Retrieval among listed nodes.

    edges : active and independent, both ends among the nodes, in any order, not yet deduplicated.
    Under compat a limit that was hit is not told.
    """
    candidates = deduplicated(edges)
    used = as_used(selected(candidates, nodes=nodes, root=root, limit=limit, policy=policy))
    n_dropped = len(candidates) - len(used)
    return Retrieved(
        mode="explicit",
        nodes=tuple(nodes),
        edges=used,
        structure=structure(used, nodes=nodes, root=root),
        policy=policy,
        hops_explored=0,
        node_limit_hit=False,
        observation_limit_hit=n_dropped > 0 and profile == "native",
        dropped_observation_count=n_dropped,
    )


def _forest(
    edges: Iterable[LightEdge], *, nodes: Sequence[Hashable], root: Hashable
) -> tuple[list[LightEdge], list[LightEdge]]:
    """The maximum forest as it is written out, and the rest in information order."""
    sets = DisjointSets(nodes)
    around: dict[Hashable, list[LightEdge]] = {node: [] for node in nodes}
    rest = []
    for edge in by_information(edges):
        if sets.join(edge.source, edge.target):
            around[edge.source].append(edge)
            around[edge.target].append(edge)
        else:
            rest.append(edge)
    forest: list[LightEdge] = []
    seen: set[Hashable] = set()
    for start in (root, *nodes):
        frontier = deque([] if start in seen else [start])
        seen.add(start)
        while frontier:
            node = frontier.popleft()
            for edge in around[node]:
                other = edge.target if edge.source == node else edge.source
                # In a forest an edge to a node that was seen is the one by which `node` was reached.
                if other not in seen:
                    forest.append(edge)
                    seen.add(other)
                    frontier.append(other)
    return forest, rest
