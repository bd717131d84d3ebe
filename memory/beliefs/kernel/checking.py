"""What may be put to the engine, checked once at its door.

Invariants
- Past it: indices are intp and in range, logs are float64 and neither not-a-number nor +inf, priors leave something
  possible, and none is on the root.
- -inf is legal: a hard zero.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memory.beliefs.kernel.groups import Floats, Group, Indices
from memory.beliefs.kernel.planning import Structure
from memory.beliefs.kernel.terms import InvalidInput


def structure_of(
    group: Group, *, n: int, root: int, src: ArrayLike, dst: ArrayLike, prior_nodes: tuple[int, ...]
) -> Structure:
    """The question without values. Raises InvalidInput."""
    if n < 1 or not 0 <= root < n:
        raise InvalidInput(f"a root of {root} among {n} nodes is none")
    sources, targets = _ends(src, n=n), _ends(dst, n=n)
    if sources.shape != targets.shape:
        raise InvalidInput(f"{len(sources)} sources and {len(targets)} targets make no edges")
    for node in prior_nodes:
        if not 0 <= node < n:
            raise InvalidInput(f"a prior on node {node} of {n} is on none")
        if node == root:
            raise InvalidInput("the root is certain and takes no prior")
    return Structure(group, n, root, sources, targets, tuple(sorted(prior_nodes)))


def factors_of(log_factors: ArrayLike, *, n_edges: int, k: int) -> Floats:
    """(E, k) float64. Raises InvalidInput naming the edge."""
    values = np.asarray(log_factors, dtype=np.float64)
    if n_edges == 0 and values.size == 0:
        return np.empty((0, k))
    if values.shape != (n_edges, k):
        raise InvalidInput(f"factors of shape {values.shape} do not fit {n_edges} edges and {k} labels")
    # False for not-a-number and for +inf alone.
    is_legal = values < np.inf
    if not is_legal.all():
        edge = int(np.flatnonzero(~is_legal.all(axis=1))[0])
        raise InvalidInput(f"the factor of edge {edge} holds what is no finite log: {values[edge].tolist()}", edge=edge)
    return values


def priors_of(priors: Mapping[int, ArrayLike], *, k: int) -> dict[int, Floats]:
    """Node -> (k,) logs, ascending by node. Raises InvalidInput."""
    found = {}
    for node in sorted(priors):
        values = np.asarray(priors[node], dtype=np.float64)
        if values.shape != (k,) or not (values < np.inf).all() or not (values > -np.inf).any():
            raise InvalidInput(f"the prior of node {node} is no vector of {k} logs that leaves something possible")
        found[int(node)] = values
    return found


def has_hard_zeros(log_factors: Floats, *, priors: Mapping[int, Floats]) -> bool:
    """Whether anything is held to be impossible."""
    return not np.isfinite(log_factors).all() or any(not np.isfinite(values).all() for values in priors.values())


def _ends(values: ArrayLike, *, n: int) -> Indices:
    ends = np.asarray(values)
    if ends.size == 0:
        return np.empty(0, dtype=np.intp)
    if ends.ndim != 1 or ends.dtype.kind not in "iu":
        raise InvalidInput("the ends of edges are a list of whole numbers")
    if int(ends.min()) < 0 or int(ends.max()) >= n:
        raise InvalidInput(f"an edge ends at no node of {n}")
    return np.ascontiguousarray(ends, dtype=np.intp)
