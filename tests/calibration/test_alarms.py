"""Alarms and people: seen, closed, opened again; and the figures that the pages show of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audit.pages.calibration.words import verdict_of
from memory.base.errors import Conflict, Forbidden, NotFound
from memory.calibration.kernel.bands import consistency_band
from memory.calibration.kernel.windows import Span
from memory.calibration.models import Alarm, LabelOutcome, ProcessRestart
from memory.calibration.operations.alarms import acknowledge, close
from memory.calibration.queries import alarms as alarm_queries
from memory.calibration.queries import segments as queries
from memory.calibration.queries.verdicts import SegmentRow, segment, segments
from memory.calibration.queries.watches import course, label_lag, standing_watch
from tests.calibration.labelling import alarmed, forecast, label, watched
from tests.world import World

pytestmark = pytest.mark.django_db


def test_an_alarm_is_acknowledged_once_and_closed_once_by_people() -> None:
    world = watched("lab")
    alarm = alarmed(world)
    with pytest.raises(Forbidden):
        acknowledge(world.scout, alarm=alarm, reason="mine")
    acknowledge(world.bob, alarm=alarm, reason="looking into it")
    with pytest.raises(Conflict, match="acknowledged"):
        acknowledge(world.bob, alarm=alarm, reason="again")
    before = world.now()
    close(world.alice, alarm=alarm, reason="repaired")
    for act in (acknowledge, close):
        with pytest.raises(Conflict, match="by entry"):
            act(world.bob, alarm=alarm, reason="too late")
    row = alarm_queries.alarm(world.now(), alarm)
    assert (row.acknowledged and row.acknowledged.reason, row.closed and row.closed.reason) == (
        "looking into it", "repaired",
    )  # fmt: skip
    assert alarm_queries.alarm(before, alarm).is_open
    with pytest.raises(NotFound):
        alarm_queries.alarm(world.at(row.seq - 1), alarm)


def test_a_closed_alarm_lets_the_process_begin_again_with_less_of_its_level() -> None:
    world = watched("lab")
    alarmed(world)
    state = segment_of(world, "an oracle", run_id="strict").state
    world.observe("again", "a", "b", [1.0, 0.0, 0.0], provenance={"tool": "an oracle"})
    assert label(world, "again", "1").alarms == ()
    for alarm in Alarm.objects.values_list("id", flat=True):
        close(world.bob, alarm=alarm, reason="repaired")
    assert set(ProcessRestart.objects.values_list("cause", "epoch")) == {("closing", 2)}
    watch = standing_watch(world.now(), state)
    assert (watch.epoch, watch.log_evidence, watch.log_change) == (2, 0.0, None)
    assert watch.evidence_threshold == pytest.approx(-math.log(0.01 / 6))
    world.observe("once more", "a", "b", [1.0, 0.0, 0.0], provenance={"tool": "an oracle"})
    assert label(world, "once more", "1").alarms != ()


def segment_of(world: World, family: str, *, run_id: str = "r") -> SegmentRow:
    """The segment of a family, asked for alone as it is among all."""
    (row,) = [row for row in segments(world.now()) if (row.source_family, row.run_id) == (family, run_id)]
    alone = segment(world.now(), row.key)
    assert (alone.verdict, alone.watch, alone.lean, alone.alarms) == (row.verdict, row.watch, row.lean, row.alarms)
    return alone


@pytest.fixture
def world() -> World:
    """A family whose forecasts come true at first and never from the twentieth on, and one without a label."""
    world = watched("lab", reference_size=10, current_size=10, min_current_size=5)
    for n in range(40):
        forecast(world, f"o{n}", posterior=(0.9, 0.06, 0.04), family="t", observed_at=float(n))
        label(world, f"o{n}", "0" if n < 20 and n % 9 else "1", labeled_at=n + 2.0)
    forecast(world, "waiting", family="t", observed_at=50.0)
    forecast(world, "lone", family="u", observed_at=51.0)
    return world


def test_each_family_has_one_verdict_line(world: World) -> None:
    told = {row.source_family: row for row in segments(world.now())}
    assert {family: row.verdict for family, row in told.items()} == {"t": "alarm", "u": "too_few"}
    t = told["t"]
    assert (t.n_tracked, t.n_labeled, t.n_pending, t.n_needed) == (41, 40, 1, 5)
    assert t.lean is not None
    assert t.lean.is_over_confident
    assert t.lean.lower == pytest.approx(0.9)
    assert t.since == t.alarms[-1].opened_at
    early = {row.source_family: row for row in segments(world.at(t.alarms[-1].seq - 1))}
    assert {family: (row.verdict, row.is_outside) for family, row in early.items()} == {"t": ("no_alarm", True)}
    then = segments(world.at(LabelOutcome.objects.order_by("seq")[9].seq))
    assert [(row.verdict, row.watch.n_bets, row.watch.bets_per_lane) for row in then] == [("calibrated", 10, 10.0)]


def test_where_forecasts_overlap_the_silence_of_the_instruments_is_no_verdict() -> None:
    world = watched("lab", reference_size=20, current_size=20, min_current_size=6)
    rng = np.random.default_rng(4)
    for family, size, shares in (("alone", 1, (0.9, 0.9)), ("together", 10, (0.9, 0.4)), ("worse", 4, (0.9, 0.4))):
        for first in range(0, 40, size):
            ids = [f"{family} {n}" for n in range(first, first + size)]
            forecast(world, *ids, posterior=(0.9, 0.06, 0.04), family=family)
            for id in ids:
                label(world, id, "0" if rng.random() < shares[first >= 20] else "1")
    told = {row.source_family: row for row in segments(world.now())}
    assert [row.source_family for row in told.values()][-1] == "alone"
    assert {family: row.verdict for family, row in told.items()} == {
        "alone": "calibrated", "together": "no_alarm", "worse": "no_alarm"
    }  # fmt: skip
    together = told["together"]
    assert (together.watch.n_bets, together.watch.bets_per_lane, together.has_power) == (40, 4.0, False)
    assert verdict_of(together).words == ("outside its bands, no alarm yet: 10 forecasts overlap, so about 4 bets each")
    assert (told["worse"].has_power, verdict_of(told["worse"]).words) == (True, "outside its bands, no alarm yet")
    few = replace(told["alone"], verdict="no_alarm", watch=replace(told["alone"].watch, n_bets=3, bets_per_lane=3.0))
    assert verdict_of(few).words == "no alarm yet: 3 bets of 6"
    watch = standing_watch(world.now(), together.state)
    assert (watch.n_bets, watch.bets_per_lane) == (40, 4.0)


def test_a_past_segment_reads_as_it_did_then(world: World) -> None:
    def told(at: Any) -> list[Any]:
        rows = segments(at)
        return [
            (
                row.source_family, row.verdict, row.n_tracked, row.n_labeled, row.watch, row.since, row.lean,
                None if row.sums is None else row.sums.packed,
            )
            for row in rows
        ]  # fmt: skip

    then = world.now()
    before = told(then)
    assert before[0][-1] is not None
    close(world.bob, alarm=segments(then)[0].alarms[0].id, reason="repaired")
    label(world, "o39", "0", correction_reason="looked again", labeled_at=99.0)
    label(world, "lone", labeled_at=60.0)
    label(world, "waiting", labeled_at=60.0)
    assert told(world.now()) != before
    assert told(world.at(then.seq)) == before


def test_the_figures_of_a_window_are_of_its_members(world: World) -> None:
    t = segment_of(world, "t")
    found = queries.figures(world.now(), t)
    assert found is not None
    rows = queries.forecasts(world.now(), t, span=Span(30, 40))
    assert [row.observation_id for row in rows] == [f"o{n}" for n in range(30, 40)]
    hits = np.mean([row.true_index == 0 for row in rows])
    (filled,) = [row for row in found.bins if row.n]
    assert (filled.n, filled.confidence, filled.accuracy) == (10, pytest.approx(0.9), pytest.approx(hits))
    assert (filled.band_low, filled.band_high) == consistency_band(10, filled.confidence)
    assert found.smooth_interval[0] <= found.smooth <= found.smooth_interval[1]
    assert [row.index for row in found.classes] == [0, 1, 2]
    before, after = queries.figures_around(world.now(), t, n_labels=20)
    assert before is not None
    assert after is not None
    assert before.metrics.accuracy > after.metrics.accuracy
    windows = queries.metric_course(world.now(), t)
    assert [(row.first, row.last) for row in windows] == [(1, 10), (11, 20), (21, 30), (31, 40)]
    assert windows[-1].metrics == found.metrics


def test_the_course_is_thinned_and_ends_with_the_last_label(world: World) -> None:
    state = segment_of(world, "t").state
    whole = course(world.now(), state)
    assert [point.n_labels for point in whole.points] == list(range(1, 41))
    thin = course(world.now(), state, n_points=8)
    assert len(thin.points) <= 9
    assert thin.points[-1] == whole.points[-1]
    highest = max(point.log_evidence for point in whole.points)
    assert highest in {point.log_evidence for point in thin.points}
    assert standing_watch(world.now(), state).log_evidence == whole.points[-1].log_evidence
    lag = label_lag(world.now(), state)
    assert lag is not None
    assert (lag.n, lag.median, lag.ninth_decile) == (40, 2.0, 2.0)
    assert lag.curve[-1] == (2.0, 1.0)
    label(world, "waiting", labeled_at=1e12)
    lag = label_lag(world.now(), state)
    assert lag is not None
    assert (lag.n, lag.ninth_decile, lag.bound, lag.n_beyond) == (41, 2.0, 20.0, 1)
    assert [seconds for seconds, share in lag.curve if share < 0.98] == [2.0] * 19


@pytest.mark.sqlite_only
def test_a_band_is_where_calibrated_bins_lie() -> None:
    generator = np.random.default_rng(1)
    for n, confidence in ((1, 0.5), (12, 0.8), (200, 0.35)):
        low, high = consistency_band(n, confidence)
        inside = generator.binomial(n, confidence, size=4_000) / n
        assert np.mean((inside >= low) & (inside <= high)) >= 0.9
        assert low <= confidence <= high
    assert consistency_band(5, 1.0) == (1.0, 1.0)
