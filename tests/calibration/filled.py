"""A namespace whose forecasts come true at first and later do not, filled by a few batches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched

import numpy as np

from memory.base.actor import Actor
from memory.beliefs.kernel.acts import outcome_document
from memory.beliefs.kernel.documents import observation_document
from memory.beliefs.operations.observing import Asked, observe
from memory.calibration.operations.recording import record
from tests.calibration.labelling import watch
from tests.world import World

BATCH = 5
"""Forecasts that are open together: with more of them an alarm, and a word of "calibrated", need more labels."""

DAY = 86_400.0


def filled(
    world: World, *, family: str = "scanner", start: int = 0, n: int = 400, turns_at: int = 200, n_pending: int = 12,
    seed: int = 3, relation_type: str = "rel",
) -> None:  # fmt: skip
    """Forecasts of one family from the `start`-th on, the first `n` of all labelled.

    From the `turns_at`-th on every second label is what the forecast held least probable.
    """
    generator = np.random.default_rng(seed)
    masses = generator.dirichlet(np.full(4, 0.35), size=n + n_pending)
    truth = (masses.cumsum(axis=1)[:, :-1] < generator.random((n + n_pending, 1))).sum(axis=1)
    truth[turns_at::2] = masses[turns_at::2].argmin(axis=1)
    late = generator.exponential(2.0 * DAY, size=n + n_pending)
    for places in batched(range(start, n + n_pending), BATCH):
        told = [(f"{family} {place}", place * 60.0, place) for place in places]
        documents = [
            {
                "schema_version": 2, "observation_id": id, "namespace": world.name, "relation_type": relation_type,
                "source": f"a{place % 7}", "target": f"b{place % 5}", "posterior": masses[place].tolist(),
                "evidence_family": f"{family} {place}", "observed_at": at, "provenance": {"tool": family},
            }
            for id, at, place in told
        ]  # fmt: skip
        _observe(world.scout, documents)
        labels = [
            {"observation_id": id, "true_relation": str(truth[place]), "labeled_at": at + late[place]}
            for id, at, place in told
            if place < n
        ]
        if labels:
            record(world.scout, documents=[outcome_document(one, profile="native") for one in labels])


def _observe(by: Actor, documents: Sequence[dict[str, object]]) -> None:
    observe(by, documents=[observation_document(one, profile="native") for one in documents], asked=Asked("native"))


def watched_world(name: str = "lab", *, n: int = 400) -> World:
    """A world with a law of four labels and a run whose windows suit n labels."""
    world = World(name)
    world.bind(law="cyclic:4")
    watch(world, "triage", reference_size=n // 4, current_size=n // 5, min_current_size=n // 20)
    return world


def drifting(name: str = "lab", *, n: int = 400) -> World:
    """A world with three segments: one with an alarm, one calibrated, one with too few labels to say."""
    world = watched_world(name, n=n)
    filled(world, n=n, turns_at=n // 2)
    filled(world, family="reviewer", n=n // 2, turns_at=n // 2, n_pending=3, seed=5)
    filled(world, family="newcomer", n=3, turns_at=3, n_pending=2, seed=7)
    return world
