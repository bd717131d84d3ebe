"""Cycles against noise: checkpoints of one task, whose relations over S3 are read right about two times in three.

Each edge alone is wrong in a third of the cases. Where edges close cycles, masses of a posterior that are no more than
second best settle the matter together; a memory that keeps the best label alone has thrown them away.

Source: the design and the published figures of posterior-memory-harness 0.9.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from audit.experiments import beside
from audit.experiments.drawing import (
    ROOT,
    S3,
    S3_OPPOSITE,
    Edges,
    Episodes,
    PosteriorOf,
    dirichlet,
    drawn,
    ranked,
)
from audit.experiments.scoring import Scores, gain, mean, scores
from audit.experiments.size import Size
from audit.experiments.solving import solved
from audit.experiments.tables import Cell, Column, Table, share
from memory.beliefs.kernel.groups import Floats

NODES = tuple(f"checkpoint_{number}" for number in range(5))
CHORDS: Edges = ((0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3), (2, 4), (0, 3))
CHAIN: Edges = CHORDS[:4]
COMPLETE: Edges = tuple(combinations(range(5), 2))
FIRST_SEED = 1_000
ORACLE_ERROR = 1e-6
HARD, FULL = "hard", "full"

COLUMNS = (
    Column("condition", "condition"), share("accuracy", "nodes right, %"), share("success", "all four right, %"),
    Column("nll", "NLL, nats", ".3f"), Column("brier", "Brier", ".4f"), Column("published", "published accuracy, %"),
)  # fmt: skip
GAIN = (
    Column("graph", "graph"), share("local", "best label of an edge right, %"),
    share("gain", "full over hard, points"), share("interval", "95 %"), Column("published", "published"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Design:
    """A graph, how its posteriors are drawn, what is asked of it, and what was published for it, in percent."""

    name: str
    edges: Edges
    n_episodes: int
    posterior_of: PosteriorOf
    conditions: tuple[str, ...]
    published: dict[str, str]

    def episodes(self, number: int) -> Episodes:
        """Those of one seed."""
        return drawn(
            FIRST_SEED + number, n_nodes=len(NODES), edges=self.edges, n_episodes=self.n_episodes,
            posterior_of=self.posterior_of,
        )  # fmt: skip


_RANKED = ranked(lambda d: (0.6476 + d, 0.345 - d, 0.005, 0.0008, 0.0008, 0.0008), spread=0.12)
DESIGNS = (
    Design(
        "chain with chords", CHORDS, 200, _RANKED, (HARD, FULL, "wrong order", "shuffle", "oracle"),
        {
            "local": "64.76", HARD: "65.59", FULL: "94.45", "wrong order": "66.53", "shuffle": "17.13",
            "oracle": "100", "gain": "28.86 [27.89, 29.84]",
        },
    ),
    Design("chain without cycles", CHAIN, 200, _RANKED, (HARD, FULL), {"gain": "0.94"}),
    Design(
        "complete graph", COMPLETE, 100, dirichlet(0.21656541902270876, floor=1e-9), (HARD, FULL), {}
    ),
)  # fmt: skip


def run(size: Size) -> tuple[Table, ...]:
    """A table for each graph, what full posteriors gain, and on demand how far the peer's marginals are."""
    tables, gains = list[Table](), list[tuple[Cell, ...]]()
    for design in DESIGNS:
        found, local = _found(design, size)
        tables.append(_table(design, found, size))
        difference, interval = gain(found[FULL], found[HARD])
        gains.append((design.name, local, difference, interval, design.published.get("gain")))
    caption = f"Full posteriors against best labels alone, {_seeds(size)}:"
    tables.append(Table("gain", caption, GAIN, tuple(gains)))
    return (*tables, *([_distances(size)] if size.is_beside_peer else []))


def condition(design: Design, episodes: Episodes, name: str) -> Floats:
    """The marginals (N, n, S) of the episodes under a condition."""
    group = S3_OPPOSITE if name == "wrong order" else S3
    return solved(
        group, shown(episodes, name), edges=design.edges, n_nodes=len(NODES), hard_top1=name == HARD
    )  # fmt: skip


def shown(episodes: Episodes, name: str) -> Floats:
    """The posteriors (N, E, S) that a condition lets the answer see."""
    if name == "shuffle":
        return np.roll(episodes.posteriors, -1, axis=0)
    if name == "oracle":
        certain = np.eye(S3.k)[episodes.truth]
        return np.asarray(np.where(certain == 1, 1 - (S3.k - 1) * ORACLE_ERROR, ORACLE_ERROR))
    return episodes.posteriors


def _found(design: Design, size: Size) -> tuple[dict[str, list[Scores]], float]:
    """Scores of every seed by condition, and how often the best label of an edge is right."""
    found: dict[str, list[Scores]] = {name: [] for name in design.conditions}
    local = list[float]()
    for number in range(size.n_seeds):
        episodes = design.episodes(number)
        local.append(float((episodes.posteriors.argmax(axis=2) == episodes.truth).mean()))
        for name in design.conditions:
            found[name].append(scores(condition(design, episodes, name), episodes.states))
    return found, float(np.mean(local))


def _table(design: Design, found: dict[str, list[Scores]], size: Size) -> Table:
    caption = f"{design.name.capitalize()}, {len(design.edges)} edges, {_seeds(size)} of {design.n_episodes} episodes:"
    return Table(design.name, caption, COLUMNS, tuple(_rows(design, found)))


def _rows(design: Design, found: dict[str, Sequence[Scores]] | dict[str, list[Scores]]) -> Iterator[tuple[Cell, ...]]:
    for name, told in found.items():
        values = (mean(told, each) for each in ("accuracy", "success", "nll", "brier"))
        yield (name, *values, design.published.get(name))


def _distances(size: Size) -> Table:
    """How far the peer's exact marginals are from these, over every episode."""
    rows = list[tuple[Cell, ...]]()
    for design in DESIGNS:
        worst = 0.0
        for number in range(size.n_seeds):
            episodes = design.episodes(number)
            theirs = beside.solved(episodes.posteriors, edges=design.edges, nodes=NODES)
            worst = max(worst, float(np.abs(theirs - condition(design, episodes, FULL)).max()))
        rows.append((design.name, size.n_seeds * design.n_episodes, worst))
    columns = (
        Column("graph", "graph"), Column("episodes", "episodes"),
        Column("largest_difference", "largest difference", ".1e"),
    )  # fmt: skip
    caption = f"Full posteriors beside the peer's own exact marginals, root {NODES[ROOT]}:"
    return Table("beside the peer", caption, columns, tuple(rows))


def _seeds(size: Size) -> str:
    return f"{size.n_seeds} seeds"
