"""Small graphs: every assignment at once.

Invariants
- Assignments stand in lexicographic order over the nodes without the root, so the first best one is the answer's.
- What depends on the ends alone is kept for the next question of the same structure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from memory.beliefs.kernel.blocks import bridges, components
from memory.beliefs.kernel.decoding import normalised, tie_tolerance
from memory.beliefs.kernel.edges import edge_beliefs
from memory.beliefs.kernel.evidence import Evidence
from memory.beliefs.kernel.groups import Booleans, Floats, Group, Indices
from memory.beliefs.kernel.merging import merge
from memory.beliefs.kernel.terms import Inference, Wants, no_edges

# Up to this many assignments the plan of a junction tree costs more than the sum.
MOST_STATES = 512


@dataclass(frozen=True, slots=True, eq=False)
class Enumeration:
    """N = k^(n - 1) assignments.

    assignments : (n, N) labels.   indicator : (n * k, N) float64, one where the node has the label.
    entries : (E, N) where the factor of an edge is read among E * k.   relations : likewise, raveled.
    """

    assignments: Indices
    indicator: Floats
    entries: Indices
    is_bridge: Booleans


def is_small(group: Group, *, n: int, most: int = MOST_STATES) -> bool:
    """Whether all assignments are few enough to be listed."""
    states = 1
    for _ in range(n - 1):
        states *= group.k
        if states > most:
            return False
    return True


def enumerated(evidence: Evidence, *, wants: Wants) -> Inference:
    """The answer by listing, of values without hard zeros."""
    structure, log_factors = evidence.structure, evidence.log_factors
    listed = _kept(
        structure.group,
        structure.n,
        structure.root,
        structure.src.tobytes(),
        structure.dst.tobytes(),
        structure.prior_nodes,
    )
    k, n = structure.group.k, structure.n
    scores = _scores(listed, evidence, log_factors=log_factors)
    peak = float(np.maximum.reduce(scores))
    weights = np.exp(scores - peak)
    total = float(np.add.reduce(weights))
    log_z = peak + float(np.log(total))
    weights /= total
    marginals = normalised((listed.indicator @ weights).reshape(n, k))
    n_states = len(weights)
    if wants == "marginals":
        return Inference(
            log_z, marginals, np.empty(0, dtype=np.intp), float("nan"), *no_edges(k), listed.is_bridge,
            "enumeration", "exact", n - 1, n_states,
        )  # fmt: skip
    tolerance = tie_tolerance(log_factors, log_priors=evidence.log_priors)
    first = int(np.argmax(scores >= peak - tolerance))
    n_edges = len(log_factors)
    spread = np.broadcast_to(weights, (n_edges, n_states)).ravel()
    posterior = np.bincount(listed.entries.ravel(), spread, minlength=n_edges * k).reshape(n_edges, k)

    def rerun(deleted: Indices) -> tuple[Floats, Floats]:
        return _without(listed, deleted, evidence=evidence)

    edges = edge_beliefs(posterior, log_factors=log_factors, log_z=log_z, is_bridge=listed.is_bridge, rerun=rerun)
    return Inference(
        log_z, marginals, listed.assignments[:, first].copy(), float(scores[first]), edges.posterior, edges.cavity,
        edges.loo_log_z, edges.conflict_nats, listed.is_bridge, "enumeration", "exact", n - 1, n_states,
    )  # fmt: skip


def _scores(listed: Enumeration, evidence: Evidence, *, log_factors: Floats) -> Floats:
    scores: Floats = np.add.reduce(log_factors.ravel()[listed.entries], axis=0)
    for node, values in evidence.priors.items():
        scores += values[listed.assignments[node]]
    return scores


def _without(listed: Enumeration, deleted: Indices, *, evidence: Evidence) -> tuple[Floats, Floats]:
    """(log Z, posterior of the relation) without each of the edges in turn."""
    log_factors = evidence.log_factors
    k = log_factors.shape[1]
    log_z, posterior = np.empty(len(deleted)), np.empty((len(deleted), k))
    for position, edge in enumerate(deleted.tolist()):
        rest = log_factors.copy()
        rest[edge] = 0.0
        scores = _scores(listed, evidence, log_factors=rest)
        peak = np.maximum.reduce(scores)
        weights = np.exp(scores - peak)
        total = np.add.reduce(weights)
        log_z[position] = peak + np.log(total)
        posterior[position] = np.bincount(listed.entries[edge] - edge * k, weights / total, minlength=k)
    return log_z, posterior


@lru_cache(maxsize=64)
def _kept(group: Group, n: int, root: int, src: bytes, dst: bytes, prior_nodes: tuple[int, ...]) -> Enumeration:
    sources, targets = np.frombuffer(src, dtype=np.intp), np.frombuffer(dst, dtype=np.intp)
    assignments, indicator = _listed(group.k, n, root, group.identity)
    entries = group.relative[assignments[sources], assignments[targets]]
    entries = entries + np.arange(len(sources))[:, None] * group.k
    pairs = merge(n, src=sources, dst=targets)
    parts = components(n, root=root, pairs=pairs, prior_nodes=prior_nodes)
    return Enumeration(assignments, indicator, entries, bridges(parts, pairs=pairs))


@lru_cache(maxsize=64)
def _listed(k: int, n: int, root: int, identity: int) -> tuple[Indices, Floats]:
    n_states = k ** (n - 1)
    free = np.arange(n_states)[None] // k ** np.arange(n - 2, -1, -1)[:, None] % k
    assignments = np.insert(free.reshape(n - 1, n_states), root, identity, axis=0).astype(np.intp)
    indicator = assignments[:, None] == np.arange(k)[:, None]
    return assignments, np.ascontiguousarray(indicator.reshape(n * k, n_states), dtype=np.float64)
