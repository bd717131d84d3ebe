"""Worlds with a known truth: states of nodes, relations of edges, and a calibrated posterior for each edge.

Invariants
- Draws are made one by one in the stated order; nothing may be drawn ahead or at once.
- Posteriors are calibrated: the truth takes a rank with the probability that the rank carries.

Source: the design of posterior-memory-harness 0.9.0, its checkpoint graphs over S3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from memory.beliefs.kernel.groups import Floats, Group, Indices
from memory.beliefs.kernel.laws import built_in, opposite

Edges = tuple[tuple[int, int], ...]
PosteriorOf = Callable[[np.random.Generator, int], Floats]

N_SEEDS = 20
ROOT = 0
LAW = built_in("s3")
S3, S3_OPPOSITE = (Group(law.table, law.identity) for law in (LAW, opposite(LAW)))


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """N episodes of one seed over the same edges.

    states : (N, n) true labels of nodes, the root's is the identity.   truth : (N, E) true relations.
    posteriors : (N, E, S) rows that sum to one.
    """

    edges: Edges
    states: Indices
    truth: Indices
    posteriors: Floats


def drawn(
    seed: int, *, n_nodes: int, edges: Edges, n_episodes: int, posterior_of: PosteriorOf
) -> Episodes:  # fmt: skip
    """All episodes of a seed: for each the states of nodes, then one posterior for each edge in turn."""
    rng = np.random.default_rng(seed)
    states = np.zeros((n_episodes, n_nodes), dtype=np.intp)
    truth = np.empty((n_episodes, len(edges)), dtype=np.intp)
    posteriors = np.empty((n_episodes, len(edges), S3.k))
    for episode in range(n_episodes):
        states[episode, ROOT] = S3.identity
        states[episode, 1:] = rng.integers(0, S3.k, size=n_nodes - 1)
        for place, (source, target) in enumerate(edges):
            relation = int(S3.relative[states[episode, source], states[episode, target]])
            truth[episode, place] = relation
            posteriors[episode, place] = posterior_of(rng, relation)
    return Episodes(edges, states, truth, posteriors)


def ranked(masses_of: Callable[[float], Sequence[float]], *, spread: float) -> PosteriorOf:
    """Posteriors with given masses by rank, of which the first two are moved by a uniform draw within +- spread.

    The rank of the truth is drawn by those masses; the other labels fill the other ranks, shuffled.
    """

    def posterior_of(rng: np.random.Generator, relation: int) -> Floats:
        masses = np.array(masses_of(rng.uniform(-spread, spread)))
        rank = int(rng.choice(S3.k, p=masses / masses.sum()))
        labels = [label for label in range(S3.k) if label != relation]
        rng.shuffle(labels)
        labels.insert(rank, relation)
        posterior = np.empty(S3.k)
        posterior[labels] = masses
        return posterior / posterior.sum()

    return posterior_of


def dirichlet(concentration: float, *, floor: float) -> PosteriorOf:
    """A Dirichlet draw, in which the truth changes places with a label drawn by that very posterior."""

    def posterior_of(rng: np.random.Generator, relation: int) -> Floats:
        posterior = rng.dirichlet(np.full(S3.k, concentration))
        label = min(int((posterior.cumsum() < rng.random()).sum()), S3.k - 1)
        posterior[[label, relation]] = posterior[[relation, label]]
        raised = np.maximum(posterior, floor)
        scaled: Floats = raised / raised.sum()
        return scaled

    return posterior_of
