"""Answers of the engine for many episodes of one graph."""

from __future__ import annotations

import numpy as np

from audit.experiments.drawing import ROOT, Edges
from memory.beliefs.kernel.engine import infer
from memory.beliefs.kernel.factors import compat_log_factors
from memory.beliefs.kernel.groups import Floats, Group


def solved(group: Group, posteriors: Floats, *, edges: Edges, n_nodes: int, hard_top1: bool = False) -> Floats:
    """Exact marginals (N, n, S) of N graphs over the same edges.   posteriors : (N, E, S), the prior is uniform."""
    n_episodes, n_edges, size = posteriors.shape
    flat = posteriors.reshape(-1, size)
    factors = compat_log_factors(
        flat, mu=np.full_like(flat, 1.0 / size), trust=np.ones(len(flat)), hard_top1=hard_top1
    ).reshape(n_episodes, n_edges, size)
    src, dst = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    found = np.empty((n_episodes, n_nodes, size))
    for episode in range(n_episodes):
        found[episode] = infer(
            group, n=n_nodes, root=ROOT, src=src, dst=dst, log_factors=factors[episode], mode="exact", wants="marginals"
        ).marginals
    return found
