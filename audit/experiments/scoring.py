"""How good answers are where the truth is known, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.experiments.tables import Interval
from memory.beliefs.kernel.capsule import ranked
from memory.beliefs.kernel.groups import Floats, Indices

N_RESAMPLES = 10_000
LEAST_MASS = 1e-12
NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the episodes of one seed. success : all nodes right at once.   nll : nats.   brier : 0..2."""

    accuracy: float
    success: float
    nll: float
    brier: float


def scores(marginals: Floats, states: Indices) -> Scores:
    """Scores of all nodes but the first, the root.   marginals : (N, n, S).   states : (N, n) true labels."""
    beliefs, truth = marginals[:, 1:], states[:, 1:]
    n_episodes, n_nodes, size = beliefs.shape
    order, _ = ranked(beliefs.reshape(-1, size))
    is_right = order[:, 0].reshape(n_episodes, n_nodes) == truth
    told = np.take_along_axis(beliefs, truth[..., None], axis=2)[..., 0]
    squared = ((beliefs - np.eye(size)[truth]) ** 2).sum(axis=2)
    return Scores(
        float(is_right.mean()), float(is_right.all(axis=1).mean()),
        float(-np.log(np.maximum(told, LEAST_MASS)).mean()), float(squared.mean()),
    )  # fmt: skip


def mean(found: Sequence[Scores], name: str) -> float:
    """The mean of one score over the seeds."""
    return float(np.mean([getattr(one, name) for one in found]))


def gain(better: Sequence[Scores], worse: Sequence[Scores]) -> tuple[float, Interval]:
    """The mean difference of accuracy, seed by seed, and its bootstrap interval of 95 %."""
    differences = np.array([one.accuracy - other.accuracy for one, other in zip(better, worse, strict=True)])
    rng = np.random.default_rng(0)
    means = rng.choice(differences, size=(N_RESAMPLES, len(differences))).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(differences.mean()), Interval(float(low), float(high))


def wilson(share: float, n: int) -> Interval:
    """The score interval of 95 % of a share of n.   Source: Wilson 1927."""
    squared = NORMAL_95**2
    middle = (share + squared / (2 * n)) / (1 + squared / n)
    half = NORMAL_95 / (1 + squared / n) * np.sqrt(share * (1 - share) / n + squared / (4 * n * n))
    return Interval(max(float(middle - half), 0.0), min(float(middle + half), 1.0))
