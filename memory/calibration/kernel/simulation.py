"""How often each monitor cries wolf, and how soon it finds what did change: by simulation of the store's own processes.

- All worlds of a run are stepped together by the functions that watch a segment; nothing is fitted to them.
- A false alarm is one on a stream whose labels follow its forecasts, looked for after every label.
- Labels come `delay` forecasts late; with a shared shock, those open together share one draw. Each forecast stays
  calibrated, so every alarm is false, and a product that took them for independent would be wrong about half the time.
- Claims have a probability and come true or not; forecasts are over four labels, as `inference` of beliefs gives them.

Source: the drifts of the published tables; Henzi and Ziegel 2022 for the delayed labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory.calibration.kernel import bets, processes
from memory.calibration.kernel.dealing import Dealer
from memory.calibration.kernel.guards import guard_alarms
from memory.calibration.kernel.metrics import Labels
from memory.calibration.kernel.processes import NEVER
from memory.calibration.kernel.sums import Floats
from memory.calibration.kernel.watching import ALPHA, RUN_LENGTH

N_LABELS = 4
CONCENTRATION = 0.5


@dataclass(frozen=True, slots=True)
class World:
    """One kind of stream: what becomes of the truth from `change_at` on, and how its labels come."""

    name: str
    drift: str = "none"
    amount: float = 0.0
    change_at: int = 0
    is_claim: bool = False
    delay: int = 0
    is_shocked: bool = False
    n_segments: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One world under one instrument, over `n_streams` streams of `n_labels` labels.

    early : share with an alarm before the change (all are early where nothing changes).   found : share of the others
    with one after it.   median_delay : labels from the change to the alarm, among those found; None without any.
    """

    world: str
    instrument: str
    n_streams: int
    n_labels: int
    early: float
    found: float | None
    median_delay: float | None


CALIBRATED = (
    World("calibrated"),
    World("calibrated claims", is_claim=True),
    World("labels 5 late, shared shock", delay=5, is_shocked=True),
    World("labels 20 late, shared shock", delay=20, is_shocked=True),
    World("six segments, labels 5 late", delay=5, n_segments=6),
)
DRIFTS = (
    World("claims biased by 0.10", "bias", 0.10, is_claim=True),
    World("claims biased by 0.05", "bias", 0.05, is_claim=True),
    World("claims overconfident x 0.6", "overconfident", 0.6, is_claim=True),
    World("sharpened x 1.5", "sharpened", 1.5),
    World("sharpened x 2.5", "sharpened", 2.5),
    World("10 % random labels", "random", 0.10),
    World("30 % random labels", "random", 0.30),
)


def simulate(
    worlds: tuple[World, ...] = (*CALIBRATED, *DRIFTS), *, n_streams: int = 300, n_labels: int = 5_000, seed: int = 0
) -> list[Row]:
    """The table of all worlds. Where a world changes, it does after two fifths of the labels."""
    rows = []
    for position, world in enumerate(worlds):
        changed = world if world.drift == "none" else replace(world, change_at=n_labels * 2 // 5)
        generator = np.random.default_rng([seed, position])
        rows += list(_rows(changed, generator, n_streams=n_streams, n_labels=n_labels))
    return rows


def draw(world: World, generator: np.random.Generator, *, n_streams: int, n_labels: int) -> tuple[Floats, Labels]:
    """Forecasts (n_streams, n_labels, S) in order of issue and their truth (n_streams, n_labels)."""
    shape = (n_streams, n_labels)
    if world.is_claim:
        mass = generator.beta(2, 2, size=shape)
        forecasts = np.stack([mass, 1 - mass], axis=-1)
    else:
        forecasts = generator.dirichlet(np.full(N_LABELS, CONCENTRATION), size=shape)
    truth_law = forecasts.copy()
    _drift(world, truth_law, forecasts)
    block = world.delay + 1 if world.is_shocked else 1
    shocks = generator.random((n_streams, -(-n_labels // block)))
    chance = np.repeat(shocks, block, axis=1)[:, :n_labels, None]
    truth = (truth_law.cumsum(axis=-1)[..., :-1] < chance).sum(axis=-1)
    return np.maximum(forecasts, 1e-12), truth


def _drift(world: World, truth_law: Floats, forecasts: Floats) -> None:
    """From the change on, change what labels follow, or what is issued while labels follow the old."""
    after = truth_law[:, world.change_at :]
    if world.drift == "bias":
        after[..., 0] = np.clip(after[..., 0] - world.amount, 0, 1)
        after[..., 1] = 1 - after[..., 0]
    elif world.drift == "overconfident":
        after[...] = 0.5 + (after - 0.5) * world.amount
    elif world.drift == "random":
        after[...] = (1 - world.amount) * after + world.amount / after.shape[-1]
    elif world.drift == "sharpened":
        sharp = np.maximum(after, 1e-12) ** world.amount
        forecasts[:, world.change_at :] = sharp / sharp.sum(axis=-1, keepdims=True)


def _rows(world: World, generator: np.random.Generator, *, n_streams: int, n_labels: int) -> Iterator[Row]:
    forecasts, truth = draw(world, generator, n_streams=n_streams, n_labels=n_labels)
    evidence, change = alarms(world, forecasts, truth)
    yield _row(world, "e-process", evidence, n_labels)
    yield _row(world, "change detector", change, n_labels)
    if not world.is_claim and world.delay == 0:
        yield _row(world, "fixed guards", guard_alarms(forecasts, truth), n_labels)


def _row(world: World, instrument: str, first: Labels, n_labels: int) -> Row:
    """first : (n_streams,) labels before the first alarm, n_labels without one."""
    n_streams = len(first)
    if world.drift == "none":
        return Row(world.name, instrument, n_streams, n_labels, float((first < n_labels).mean()), None, None)
    kept = first >= world.change_at
    found = kept & (first < n_labels)
    delay = float(np.median(first[found] - world.change_at)) if found.any() else None
    share = float(found.sum() / kept.sum()) if kept.any() else None
    return Row(world.name, instrument, n_streams, n_labels, float(1 - kept.mean()), share, delay)


def alarms(world: World, forecasts: Floats, truth: Labels) -> tuple[Labels, Labels]:
    """The first alarm of each stream by evidence and by change, in labels; the number of labels without one.

    Segments take turns; their e-values are averaged into one verdict, and they share the rate of change alarms. Both
    thresholds are those of a segment in its first epoch.
    """
    n_streams, n_labels = truth.shape
    segments = [_Stepped(n_streams) for _ in range(world.n_segments)]
    first: NDArray[np.int64] = np.full((2, n_streams), n_labels)
    threshold = np.log(RUN_LENGTH * world.n_segments)
    for turn in range(n_labels + world.delay * world.n_segments):
        place, which = divmod(turn, world.n_segments)
        due = turn - world.delay * world.n_segments
        if due < 0:
            continue
        segments[which].take(forecasts[:, due], truth[:, due], place=place - world.delay + 1, n_issued=place + 1)
        wealth = np.stack([segment.log_evidence for segment in segments], axis=-1)
        verdict = processes.log_sum(wealth) - np.log(world.n_segments)
        _note(first[0], verdict >= -np.log(processes.level_of(ALPHA, 1)), due)
        _note(first[1], segments[which].log_change >= threshold, due)
    return first[0], first[1]


def _note(first: Labels, is_over: NDArray[np.bool_], label: int) -> None:
    np.minimum(first, np.where(is_over, label, first), out=first)


class _Stepped:
    """One segment in all worlds at once: the watch of a segment, with the worlds as a leading axis."""

    def __init__(self, n_streams: int) -> None:
        self.n_streams = n_streams
        self.dealer = Dealer()
        self.steps: list[int] = []
        self.evidence: list[Floats] = []
        self.change: list[Floats] = []
        self.values = np.zeros((n_streams, 0))
        self.sums = np.zeros((n_streams, 0))

    def take(self, forecast: Floats, truth: Labels, *, place: int, n_issued: int) -> None:
        self.dealer.deal(n_issued)
        stream = self.dealer.release(place)
        if stream is None:
            return
        while stream >= len(self.steps):
            self._open()
        self.steps[stream] += 1
        step, log_bets = self.steps[stream], _bets(forecast, truth)
        self.evidence[stream] = processes.step_evidence(self.evidence[stream], log_bets, step=step)
        self.change[stream] = processes.step_change(self.change[stream], log_bets[:, bets.N_RATIOS :])
        self.values[:, stream] = processes.log_evidence(self.evidence[stream], steps=step, shares=bets.EVIDENCE_SHARES)
        self.sums[:, stream] = processes.log_change(self.change[stream])

    def _open(self) -> None:
        self.steps.append(0)
        self.evidence.append(np.full((self.n_streams, bets.N_EVIDENCE), NEVER))
        self.change.append(np.full((self.n_streams, bets.N_CHANGE), NEVER))
        self.values = np.concatenate([self.values, np.zeros((self.n_streams, 1))], axis=1)
        self.sums = np.concatenate([self.sums, np.full((self.n_streams, 1), NEVER)], axis=1)

    @property
    def log_evidence(self) -> Floats:
        return processes.combined_evidence(self.values)

    @property
    def log_change(self) -> Floats:
        return processes.log_sum(self.sums)


def _bets(forecast: Floats, truth: Labels) -> Floats:
    """Of two labels the first is the claim; of more the most probable one is."""
    if forecast.shape[1] > 2:
        return bets.evidence_bets(forecast, truth)
    claims = bets.change_bets(forecast[:, 0], (truth == 0).astype(np.float64))
    return np.concatenate([bets.ratio_bets(forecast, truth), claims], axis=1)
