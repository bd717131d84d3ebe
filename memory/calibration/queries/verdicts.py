"""Segments as the pages list them: one verdict line each, all of them in one query; windows of the past in a few.

Invariants
- A segment stands as it stood at the point: its labels, its processes, its alarms.
- "calibrated" needs power and agreement: as many bets in the lane of a bet as the fewest labels that are judged, and a
  window within its bands. Without either the verdict is that no alarm was told yet.
- A window of less than the fewest labels says nothing; the reference stands in for a current one that is too short.
- Running sums serve where nothing came later than the point; else the windows that are shown are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import batched
from typing import Any, Literal

import numpy as np

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.beliefs.models import MonitorRun
from memory.calibration.issuing import Key, key_of
from memory.calibration.kernel import metrics as scores
from memory.calibration.kernel.bands import is_outside
from memory.calibration.kernel.discovery import discoveries
from memory.calibration.kernel.sums import ExactSums
from memory.calibration.kernel.watching import ALPHA, change_threshold
from memory.calibration.kernel.windows import Span, current_span, reference_span
from memory.calibration.members import Member, summed
from memory.calibration.models import EVERY_FAMILY, SegmentState
from memory.calibration.queries.alarms import AlarmRow, alarms, segment_alarms
from memory.calibration.queries.runs import Run, as_run
from memory.calibration.queries.watches import CLOSING, WatchRow, evidence_threshold

Verdict = Literal["too_few", "no_alarm", "calibrated", "alarm"]
Window = Literal["reference", "current"]

CHUNK = 400
"""Segments whose windows are read at once."""

_OF = (
    "{a}.namespace_id = s.namespace_id AND {a}.monitor_run = s.monitor_run"
    " AND {a}.relation_type = s.relation_type AND {a}.source_family = s.source_family"
)
_SEGMENTS = f"""
SELECT {{segment}}, {{run}}, COALESCE(run.text, ''), COALESCE(relation.text, ''), COALESCE(family.text, ''),
    s.n_segments, t.n_tracked, last.place_in_family, last.seq, last.item, last.log_evidence, last.log_change,
    last.log_order, last.n_bets, last.bets_per_lane, p.epoch, p.seq, p.item
FROM (SELECT m.*, count(*) OVER (PARTITION BY m.monitor_run) AS n_segments FROM memory_segmentstate m
    WHERE m.namespace_id = %s AND m.source_family <> %s AND m.first_seq <= %s) s
JOIN memory_monitorrun r ON r.namespace_id = s.namespace_id AND r.id = s.monitor_run
LEFT JOIN memory_name run ON run.namespace_id = s.namespace_id AND run.id = r.name
LEFT JOIN memory_name relation ON relation.namespace_id = s.namespace_id AND relation.id = s.relation_type
LEFT JOIN memory_name family ON family.namespace_id = s.namespace_id AND family.id = s.source_family
LEFT JOIN (SELECT f.namespace_id, f.monitor_run, f.observation, f.place_in_family AS n_tracked
    FROM memory_forecaststate f) t ON t.namespace_id = s.namespace_id AND t.monitor_run = s.monitor_run
    AND t.observation = (SELECT f.observation FROM memory_forecaststate f WHERE {_OF.format(a="f")}
        AND f.seq <= %s ORDER BY f.place_in_family DESC LIMIT 1)
LEFT JOIN memory_labelstate last ON last.namespace_id = s.namespace_id AND last.monitor_run = s.monitor_run
    AND last.label = (SELECT l.label FROM memory_labelstate l WHERE {_OF.format(a="l")}
        AND l.is_first AND l.seq <= %s ORDER BY l.place_in_family DESC LIMIT 1)
LEFT JOIN memory_processrestart p ON {_OF.format(a="p")}
    AND p.epoch = (SELECT max(q.epoch) FROM memory_processrestart q WHERE {_OF.format(a="q")} AND q.cause = '{CLOSING}'
        AND q.seq <= %s)
{{condition}}
ORDER BY r.seq, s.relation_type, s.source_family
"""


@dataclass(frozen=True, slots=True)
class Lean:
    """Where a window is furthest from true: the bin with the most labels to explain."""

    lower: float
    upper: float
    confidence: float
    accuracy: float

    @property
    def is_over_confident(self) -> bool:
        return self.confidence > self.accuracy


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One family of a run: its verdict first. `sums` are those of the window that is shown, None with too few labels.

    `is_outside`: that window lies outside its bands by more than chance.
    `is_listed`: it stands in the list of all segments whose rate of false ones is controlled.
    """

    state: SegmentState
    run: Run
    relation_type: str
    source_family: str
    verdict: Verdict
    n_tracked: int
    n_labeled: int
    is_listed: bool
    watch: WatchRow
    alarms: tuple[AlarmRow, ...] = ()
    lean: Lean | None = None
    sums: ExactSums | None = None
    is_outside: bool = False

    @property
    def key(self) -> Key:
        return key_of(self.state)

    @property
    def run_id(self) -> str:
        return self.run.config.run_id

    @property
    def n_needed(self) -> int:
        """The fewest labels that anything is said of."""
        return self.run.config.min_current_size

    @property
    def has_power(self) -> bool:
        """Whether the lane of a bet, in the mean, has as many bets as the fewest labels that anything is said of."""
        return self.watch.bets_per_lane >= self.n_needed

    @property
    def n_pending(self) -> int:
        return self.n_tracked - self.n_labeled

    @property
    def standing(self) -> tuple[AlarmRow, ...]:
        """The alarms that nobody has closed."""
        return tuple(alarm for alarm in self.alarms if alarm.is_open)

    @property
    def since(self) -> datetime | None:
        return min((alarm.opened_at for alarm in self.standing), default=None)

    @property
    def window(self) -> Window | None:
        """The window that is shown: the current one, or the reference where that is too short."""
        if self.n_labeled < self.n_needed:
            return None
        return "current" if self.span_of("current").n >= self.n_needed else "reference"

    def span_of(self, window: Window) -> Span:
        """The places of the labels of a window."""
        config = self.run.config
        if window == "reference":
            return reference_span(self.n_labeled, reference_size=config.reference_size)
        sizes = {"reference_size": config.reference_size, "current_size": config.current_size}
        return current_span(self.n_labeled, **sizes)


def segments(at: AsOf) -> list[SegmentRow]:
    """Every family of every run at the point: alarms first, what lies outside its bands, then by the evidence."""
    told: dict[Key, list[AlarmRow]] = {}
    for alarm in alarms(at):
        told.setdefault(alarm.key, []).append(alarm)
    found = [_judged(row, told.get(row.key, ())) for row in _summed(at, _rows(at))]
    listed = set(discoveries([row.watch.log_evidence for row in found], rate=ALPHA)) if found else set()
    found = [replace(row, is_listed=position in listed) for position, row in enumerate(found)]
    found.sort(key=lambda row: (row.verdict != "alarm", not row.is_outside, -row.watch.log_evidence, row.source_family))
    return found


def segment(at: AsOf, key: Key) -> SegmentRow:
    """One family of a run.   Raises NotFound."""
    condition = "WHERE s.monitor_run = %s AND s.relation_type = %s AND s.source_family = %s"
    rows = _summed(at, _rows(at, condition, key))
    if not rows:
        raise NotFound(f"There is no such segment of forecasts {at.words}.")
    return _judged(rows[0], segment_alarms(at, rows[0].state)[::-1])


def lean_of(sums: ExactSums, *, n_bins: int) -> Lean:
    """Where a window that is not empty is furthest from true."""
    bins = scores.bins_of(sums, n_bins=n_bins)
    worst = int(np.abs(bins.n * (bins.accuracy - bins.confidence)).argmax())
    return Lean(worst / n_bins, (worst + 1) / n_bins, float(bins.confidence[worst]), float(bins.accuracy[worst]))


def _rows(at: AsOf, condition: str = "", values: Sequence[Any] = ()) -> list[SegmentRow]:
    statement = _SEGMENTS.format(
        segment=sql.selected(SegmentState, "s"), run=sql.selected(MonitorRun, "r"), condition=condition
    )
    given = [at.namespace, EVERY_FAMILY, *[at.seq] * 4, *values]
    return [_row(row) for row in sql.fetch(statement, given)]


def _row(values: Sequence[Any]) -> SegmentRow:
    n, m = len(SegmentState._meta.concrete_fields), len(MonitorRun._meta.concrete_fields)
    state, run = sql.loaded(SegmentState, values[:n]), sql.loaded(MonitorRun, values[n : n + m])
    run_id, relation, family, n_segments, n_tracked, n_labeled, seq, item, *logs = values[n + m :]
    log_evidence, log_change, log_order, n_bets, per_lane, epoch, restart_seq, restart_item = logs
    is_fresh = seq is None or (restart_seq is not None and (restart_seq, restart_item) > (seq, item))
    watch = WatchRow(
        epoch or 1, 0.0 if is_fresh else log_evidence or 0.0, evidence_threshold(epoch or 1),
        None if is_fresh else log_change, change_threshold(n_segments), log_order or 0.0,
        0 if is_fresh else n_bets or 0, 0.0 if is_fresh else per_lane or 0.0,
    )  # fmt: skip
    return SegmentRow(
        state, as_run(run, run_id), relation, family, "calibrated", n_tracked or 0, n_labeled or 0, False, watch
    )  # fmt: skip


def _judged(row: SegmentRow, told: Sequence[AlarmRow]) -> SegmentRow:
    verdict: Verdict = "calibrated"
    if any(alarm.is_open for alarm in told):
        verdict = "alarm"
    elif row.n_labeled < row.n_needed:
        verdict = "too_few"
    elif row.is_outside or not row.has_power or row.sums is None:
        verdict = "no_alarm"
    return replace(row, verdict=verdict, alarms=tuple(told))


def _summed(at: AsOf, rows: Sequence[SegmentRow]) -> list[SegmentRow]:
    """The rows with the sums of the windows that are shown."""
    asked: dict[Key, Span] = {}
    found: dict[Key, ExactSums | None] = {}
    for row in rows:
        if row.window is None:
            continue
        if row.state.seq <= at.seq:
            held = bytes(row.state.current if row.window == "current" else row.state.reference)
            found[row.key] = ExactSums.unpacked(held) if held else None
        else:
            asked[row.key] = row.span_of(row.window)
    bins = {row.key: row.run.config.ece_bins for row in rows}
    found |= {key: summed(members, n_bins=bins[key]) for key, members in _members(at, asked).items()}
    return [_leaning(row, found.get(row.key)) for row in rows]


def _leaning(row: SegmentRow, sums: ExactSums | None) -> SegmentRow:
    if sums is None or not scores.n_rows(sums):
        return row
    n_bins = row.run.config.ece_bins
    bins = scores.bins_of(sums, n_bins=n_bins)
    return replace(
        row, sums=sums, lean=lean_of(sums, n_bins=n_bins), is_outside=is_outside(bins.n, bins.confidence, bins.accuracy)
    )  # fmt: skip


def _members(at: AsOf, spans: Mapping[Key, Span]) -> dict[Key, list[Member]]:
    """The members of a window of each segment, with the labels that counted at the point, CHUNK segments a query."""
    found: dict[Key, list[Member]] = {key: [] for key in spans}
    for some in batched(spans.items(), CHUNK):
        for key, member in _members_of(at, some):
            found[key].append(member)
    return found


def _members_of(at: AsOf, spans: Sequence[tuple[Key, Span]]) -> Iterator[tuple[Key, Member]]:
    each = (
        "(l.monitor_run = %s AND l.relation_type = %s AND l.source_family = %s"
        " AND l.place_in_family > %s AND l.place_in_family <= %s)"
    )
    values = [value for key, span in spans for value in (*key, span.start, span.end)]
    rows = sql.fetch(
        "SELECT l.monitor_run, l.relation_type, l.source_family, l.observation, l.place_in_family, f.posterior,"
        " l.true_index FROM memory_labelstate l JOIN memory_forecaststate f ON f.namespace_id = l.namespace_id"
        " AND f.monitor_run = l.monitor_run AND f.observation = l.observation WHERE l.namespace_id = %s AND l.seq <= %s"
        f" AND (l.until_seq IS NULL OR l.until_seq > %s) AND ({' OR '.join([each] * len(spans))})",
        [at.namespace, at.seq, at.seq, *values],
    )
    for run, relation, family, observation, place, posterior, true_index in rows:
        key = sql.as_id(run), sql.as_id(relation), sql.as_id(family)
        vector = None if posterior is None else bytes(posterior)
        yield key, Member(sql.as_id(observation), place, vector, true_index)
