"""The oracle of answers: the sum over all assignments as one product of tensors, contracted by numpy.

It shares nothing with the engine: no logs, no elimination order of ours, no gauge. Products of a few dozen factors
above 1e-12 stay within doubles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memory.beliefs.kernel.laws import Law

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Contracted:
    log_z: float
    marginals: Array


def contracted(
    law: Law,
    *,
    n: int,
    root: int,
    edges: Sequence[tuple[int, int]],
    factors: Array,
    priors: Mapping[int, Array] | None = None,
) -> Contracted:
    """log Z and the marginals (n, S).   factors : (E, S), linear.   priors : node -> (S,), linear."""
    relation = law.table[law.inverse]
    operands: list[Any] = [np.eye(law.size)[law.identity], [root]]
    for (source, target), factor in zip(edges, factors, strict=True):
        is_loop = source == target
        operands += [np.diagonal(factor[relation]), [source]] if is_loop else [factor[relation], [source, target]]
    for node in range(n):
        operands += [(priors or {}).get(node, np.ones(law.size)), [node]]
    total = np.einsum(*operands, [], optimize="greedy")
    rows = np.array([np.einsum(*operands, [node], optimize="greedy") for node in range(n)])
    return Contracted(float(np.log(total)), rows / total)
