"""Exact independent draws from what a plan describes.

Invariants
- A variable is drawn from its conditional once its scope has been drawn; the generator is a parameter.
"""

from __future__ import annotations

import numpy as np

from memory.beliefs.kernel.batching import Batch
from memory.beliefs.kernel.decoding import composed
from memory.beliefs.kernel.factored import Factored
from memory.beliefs.kernel.groups import Floats, Indices
from memory.beliefs.kernel.passes import Conditional, Upward
from memory.beliefs.kernel.planning import Plan


def drawn(plan: Plan, *, up: Upward, size: int, generator: np.random.Generator) -> Indices:
    """(n, size) labels from the first run of the pass."""
    k = plan.group.k
    labels = np.empty((len(plan.placed.nodes), size), dtype=np.intp)
    for number in range(len(plan.batches) - 1, -1, -1):
        batch, conditional = plan.batches[number], up.conditionals[number]
        for position in range(batch.size):
            scope = labels[batch.scope[:, position]]
            shares = _shares(batch, conditional, position=position, scope=scope, k=k)
            labels[batch.start + position] = _picked(shares, size=size, generator=generator)
    return composed(plan, labels=labels, free=generator.integers(k, size=(len(plan.free_roots), size)))


def _shares(batch: Batch, conditional: Conditional, *, position: int, scope: Indices, k: int) -> Floats:
    """(k, size) or (k, 1) conditional of one variable under its scope."""
    if isinstance(conditional, list):
        return _factored_shares(conditional[0], position=position, scope=scope)
    table = conditional[0, ..., position].reshape(k, -1)
    state = np.zeros(scope.shape[1], dtype=np.intp)
    for labels in scope:
        state = state * k + labels
    return table[:, state] if batch.n_scope else table


def _factored_shares(kept: Factored, *, position: int, scope: Indices) -> Floats:
    logs = kept.first[:, scope[0], position] + kept.second[:, scope[1], position]
    logs -= np.maximum.reduce(logs, axis=0)
    shares: Floats = np.exp(logs, out=logs)
    return shares


def _picked(shares: Floats, *, size: int, generator: np.random.Generator) -> Indices:
    heaped = np.cumsum(shares, axis=0)
    picked = np.add.reduce(heaped[:-1] <= generator.random(size) * heaped[-1], axis=0, dtype=np.intp)
    return np.broadcast_to(picked, size)
