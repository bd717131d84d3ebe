"""Forecasts and labels for tests, through operations alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np

from memory.beliefs.kernel.acts import outcome_document
from memory.beliefs.kernel.monitoring import MonitorConfig, parse_config
from memory.beliefs.operations.monitors import open_run
from memory.beliefs.relations import relations
from memory.calibration.labels import Recorded
from memory.calibration.operations.recording import record
from tests.world import World

SMALL: dict[str, Any] = {"reference_size": 6, "current_size": 4, "min_current_size": 2, "max_tracked": 1_000}


def watched(name: str, *, labels: int = 3, **config: Any) -> World:
    """A world with a relation type and a monitor run called r."""
    world = World(name)
    world.bind(law=f"cyclic:{labels}")
    watch(world, "r", **config)
    return world


def watch(world: World, run_id: str, **config: Any) -> MonitorConfig:
    parsed = parse_config({**SMALL, **config, "run_id": run_id})
    open_run(world.scout, config=parsed)
    return parsed


def forecast(
    world: World, *ids: str, posterior: Sequence[float] = (0.7, 0.2, 0.1), family: str = "t", **given: Any
) -> None:
    for id in ids:
        told = {"provenance": {"tool": family}, **given}
        world.observe(id, "a", "b", list(posterior), **told)


def label(world: World, id: str, true: str = "0", **given: Any) -> Recorded:
    """Tell one label; `labeled_at` 2.0 unless given."""
    document = {"observation_id": id, "true_relation": true, "labeled_at": 2.0, **given}
    (done,) = record(world.scout, documents=[outcome_document(document, profile="native")])
    return done


def alarmed(world: World, *, relation_type: str = "rel", observation_id: str = "sure", run_id: str = "strict") -> UUID:
    """An alarm by one label: of a forecast that was certain of another relation. The law has more than one label."""
    watch(world, run_id, reference_size=1, current_size=1, min_current_size=1)
    law = relations(world.namespace, seq=world.now().seq, texts=[relation_type])[relation_type].standing_law
    sure = [1.0, *[0.0] * (len(law.labels) - 1)]
    world.observe(observation_id, "a", "b", sure, relation_type=relation_type, provenance={"tool": "an oracle"})
    (alarm, *_) = label(world, observation_id, law.labels[1]).alarms
    return alarm


def drawn(seed: int, n: int, size: int) -> list[list[float]]:
    return np.random.default_rng(seed).dirichlet(np.full(size, 0.7), size=n).round(4).tolist()
