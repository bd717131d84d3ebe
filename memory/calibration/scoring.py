"""What labels do to the derived tables: their rows, the sums of the windows, the watch over each family.

One pass serves writing: labels are taken one after the other under the lock, and what tips an alarm, fills a reference
or follows an alarm as a correction is told at once, so that it enters the same entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Count

from memory.base import sql
from memory.beliefs.models import MonitorRun
from memory.beliefs.states import unpacked
from memory.calibration import members as reading
from memory.calibration.issuing import Key, key_of, last_places, segments_of
from memory.calibration.kernel import metrics as scores
from memory.calibration.kernel.sums import ExactSums
from memory.calibration.kernel.watching import Step, Watch
from memory.calibration.kernel.windows import Span
from memory.calibration.members import Member
from memory.calibration.models import EVERY_FAMILY, ForecastState, LabelState, SegmentState

LOGS = ("log_evidence", "log_change", "log_order", "n_bets", "bets_per_lane")
"""The columns of a first label that tell how the watch stood after it."""

AHEAD = 64
"""How many members are read at once when a window moves on."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A label to be scored. `item` is its place in the entry, `supersedes` the label that it corrects."""

    label: UUID
    observation: UUID
    item: int
    true_index: int
    labeled_at: float
    recorded_at: float
    supersedes: UUID | None


@dataclass(frozen=True, slots=True)
class Crossed:
    """A process of a family crossed with this label."""

    key: Key
    instrument: str
    label: UUID
    epoch: int
    n_labels: int
    n_open: int
    level: float
    threshold: float


@dataclass(frozen=True, slots=True)
class Filled:
    """The reference of a segment is complete with this label; `members` are observations in order of arrival."""

    key: Key
    label: UUID
    members: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Noted:
    """A label was corrected after an alarm; this epoch is set apart for it."""

    key: Key
    epoch: int


Event = Crossed | Filled | Noted


@dataclass(slots=True)
class Tip:
    """The label of a forecast that counts; `row` where it is of this entry."""

    label: UUID
    true_index: int
    place_in_relation: int
    place_in_family: int
    row: LabelState | None = None


@dataclass(slots=True)
class Scoring:
    """The labels of one entry."""

    namespace: int
    seq: int
    forecasts: Mapping[UUID, Sequence[ForecastState]]
    runs: Mapping[UUID, MonitorRun]
    segments: dict[Key, SegmentState]
    tips: dict[tuple[UUID, UUID], Tip]
    last: dict[UUID, int]
    n_families: Mapping[UUID, int]
    rows: list[LabelState] = field(default_factory=list)
    superseded: list[tuple[UUID, UUID]] = field(default_factory=list)
    watches: dict[Key, Watch] = field(default_factory=dict)
    cached: dict[tuple[Key, int], Member] = field(default_factory=dict)
    scored: dict[tuple[UUID, UUID, int], ExactSums | None] = field(default_factory=dict)
    touched: set[Key] = field(default_factory=set)

    @classmethod
    def of(cls, namespace: int, seq: int, observations: Iterable[UUID]) -> Scoring:
        """All that labels of these observations may touch, as it stands."""
        wanted = sorted(set(observations))
        runs = {run.id: run for run in MonitorRun.objects.filter(namespace=namespace)}
        forecasts: dict[UUID, list[ForecastState]] = {}
        tips: dict[tuple[UUID, UUID], Tip] = {}
        for start in range(0, len(wanted), 400):
            about = {
                "namespace": namespace, "monitor_run__in": list(runs), "observation__in": wanted[start : start + 400],
            }  # fmt: skip
            for forecast in ForecastState.objects.filter(**about).order_by("seq", "item"):
                forecasts.setdefault(forecast.observation, []).append(forecast)
            for row in LabelState.objects.filter(**about, until_seq__isnull=True):
                tip = Tip(row.label, row.true_index, row.place_in_relation, row.place_in_family)
                tips[row.monitor_run, row.observation] = tip
        tracked = [forecast for told in forecasts.values() for forecast in told]
        keys = {(one.monitor_run, one.relation_type, one.source_family) for one in tracked}
        families = _n_families(namespace, {one.monitor_run for one in tracked})
        last = last_places(namespace, families, "last_label")
        return cls(namespace, seq, forecasts, runs, segments_of(namespace, keys), tips, last, families)

    def take(self, label: Taken) -> list[Event]:
        """Score one label for every run that tracks its observation."""
        events: list[Event] = []
        for forecast in self.forecasts.get(label.observation, ()):
            self.last[forecast.monitor_run] = self.last.get(forecast.monitor_run, 0) + 1
            if label.supersedes is None:
                events += self._first(forecast, label)
            else:
                events += self._correction(forecast, label)
        return events

    def _first(self, forecast: ForecastState, label: Taken) -> list[Event]:
        events: list[Event] = []
        own = self._segment(forecast, forecast.source_family)
        every = self._segment(forecast, EVERY_FAMILY)
        for segment in (every, own):
            segment.n_labeled += 1
            segment.last_label = self.last[forecast.monitor_run]
        places = {"place_in_relation": every.n_labeled, "place_in_family": own.n_labeled}
        posterior = None if forecast.posterior is None else bytes(forecast.posterior)
        for segment in (every, own):
            member = Member(label.observation, segment.n_labeled, posterior, label.true_index)
            events += self._arrive(segment, member, label.label)
        step, crossed = self._watch(own, forecast, label)
        row = self._row(forecast, label, places, step)
        self.tips[forecast.monitor_run, label.observation] = Tip(label.label, label.true_index, **places, row=row)
        return [*events, *crossed]

    def _correction(self, forecast: ForecastState, label: Taken) -> list[Event]:
        tip = self.tips[forecast.monitor_run, label.observation]
        places = {"place_in_relation": tip.place_in_relation, "place_in_family": tip.place_in_family}
        if tip.row is None:
            self.superseded.append((forecast.monitor_run, tip.label))
        else:
            tip.row.until_seq = self.seq
        own = self._segment(forecast, forecast.source_family)
        every = self._segment(forecast, EVERY_FAMILY)
        for segment, place in zip((every, own), places.values(), strict=True):
            segment.last_label = self.last[forecast.monitor_run]
            self._replace(segment, place, forecast, before=tip.true_index, after=label.true_index)
        row = self._row(forecast, label, places, None)
        self.tips[forecast.monitor_run, label.observation] = Tip(label.label, label.true_index, **places, row=row)
        epoch = self._watch_of(own).note_correction()
        return [] if epoch is None else [Noted(key_of(own), epoch)]

    def _segment(self, forecast: ForecastState, family: UUID) -> SegmentState:
        key = forecast.monitor_run, forecast.relation_type, family
        self.touched.add(key)
        return self.segments[key]

    def _row(self, forecast: ForecastState, label: Taken, places: Mapping[str, int], step: Step | None) -> LabelState:
        row = LabelState(
            namespace_id=self.namespace, monitor_run=forecast.monitor_run, label=label.label,
            observation=label.observation, relation_type=forecast.relation_type, source_family=forecast.source_family,
            seq=self.seq, item=label.item, until_seq=None, is_first=label.supersedes is None,
            place=self.last[forecast.monitor_run], labeled_at=label.labeled_at, recorded_at=label.recorded_at,
            true_index=label.true_index, **places, **logs_of(step),
        )  # fmt: skip
        self.rows.append(row)
        return row

    # Windows

    def _arrive(self, segment: SegmentState, member: Member, label: UUID) -> list[Event]:
        """Count the member where it belongs; the current window lets go of its oldest."""
        key, run = key_of(segment), self.runs[segment.monitor_run]
        self.cached[key, member.place] = member
        if member.place <= run.reference_size:
            self._add(segment, "reference", self._sums(run, member))
            if member.place < run.reference_size:
                return []
            return [Filled(key, label, self._first_members(key, run.reference_size))]
        self._add(segment, "current", self._sums(run, member))
        leaving = member.place - run.current_size
        if leaving > run.reference_size:
            self._take(segment, "current", self._sums(run, self._member(key, leaving)))
        return []

    def _replace(self, segment: SegmentState, place: int, forecast: ForecastState, *, before: int, after: int) -> None:
        """A correction changes the value of a member and never its place."""
        key, run = key_of(segment), self.runs[segment.monitor_run]
        if (key, place) in self.cached:
            self.cached[key, place].true_index = after
        is_current = place > max(run.reference_size, segment.n_labeled - run.current_size)
        if forecast.posterior is None or not (is_current or place <= run.reference_size):
            return
        window = "current" if is_current else "reference"
        member = Member(forecast.observation, place, bytes(forecast.posterior), after)
        self._add(segment, window, self._sums(run, member))
        self._take(segment, window, self._sums(run, replace(member, true_index=before)))

    def _member(self, key: Key, place: int) -> Member:
        """The member at the place, as it counts after what this entry has corrected."""
        if (key, place) not in self.cached:
            for member in reading.members(self.namespace, key, Span(place - 1, place - 1 + AHEAD)):
                tip = self.tips.get((key[0], member.observation))
                if tip is not None:
                    member.true_index = tip.true_index
                self.cached.setdefault((key, member.place), member)
        return self.cached[key, place]

    def _first_members(self, key: Key, size: int) -> tuple[UUID, ...]:
        stored = {member.place: member for member in reading.members(self.namespace, key, Span(0, size))}
        stored.update({place: one for (of, place), one in self.cached.items() if of == key and place <= size})
        return tuple(stored[place].observation for place in range(1, size + 1))

    def _sums(self, run: MonitorRun, member: Member) -> ExactSums | None:
        """What the member adds to a window, worked out once for both segments and for its leaving."""
        key = run.id, member.observation, member.true_index
        if key not in self.scored:
            self.scored[key] = reading.summed([member], n_bins=run.ece_bins)
        return self.scored[key]

    @staticmethod
    def _add(segment: SegmentState, window: str, sums: ExactSums | None) -> None:
        if sums is not None:
            held = bytes(getattr(segment, window))
            setattr(segment, window, (ExactSums.unpacked(held) + sums if held else sums).packed)

    @staticmethod
    def _take(segment: SegmentState, window: str, sums: ExactSums | None) -> None:
        if sums is not None:
            rest = ExactSums.unpacked(bytes(getattr(segment, window))) - sums
            setattr(segment, window, rest.packed if scores.n_rows(rest) else b"")

    # Watches

    def _watch_of(self, segment: SegmentState) -> Watch:
        key = key_of(segment)
        if key not in self.watches:
            self.watches[key] = Watch.unpacked(bytes(segment.watch))
        return self.watches[key]

    def _watch(self, own: SegmentState, forecast: ForecastState, label: Taken) -> tuple[Step, list[Event]]:
        watch = self._watch_of(own)
        step = stepped(
            watch, forecast, label.true_index, label=label.label, n_issued=own.n_tracked,
            n_segments=self.n_families[own.monitor_run],
        )  # fmt: skip
        crossed: list[Event] = []
        for instrument, has_crossed, level, threshold in (
            ("evidence", step.is_miscalibrated, step.log_evidence, step.evidence_threshold),
            ("change", step.is_changed, step.log_change, step.change_threshold),
        ):
            if has_crossed:
                told = (label.label, watch.epoch, own.n_labeled, watch.dealer.n_open, level, threshold)
                crossed.append(Crossed(key_of(own), instrument, *told))
        return step, crossed

    def store(self) -> None:
        """Write all rows."""
        columns = sql.columns(LabelState)
        sql.insert(LabelState, [tuple(getattr(row, column) for column in columns) for row in self.rows])
        sql.run_many(
            "UPDATE memory_labelstate SET until_seq = %s WHERE namespace_id = %s AND monitor_run = %s AND label = %s",
            [[self.seq, self.namespace, *key] for key in self.superseded],
        )
        for key, watch in self.watches.items():
            self.segments[key].watch = watch.packed
        sql.run_many(
            "UPDATE memory_segmentstate SET n_labeled = %s, last_label = %s, reference = %s, current = %s, watch = %s,"
            " seq = %s WHERE namespace_id = %s AND monitor_run = %s AND relation_type = %s AND source_family = %s",
            [self._segment_values(key) for key in sorted(self.touched)],
        )

    def _segment_values(self, key: Key) -> list[Any]:
        segment = self.segments[key]
        return [
            segment.n_labeled, segment.last_label, segment.reference, segment.current, segment.watch, self.seq,
            self.namespace, *key,
        ]  # fmt: skip


def _n_families(namespace: int, runs: Iterable[UUID]) -> dict[UUID, int]:
    """How many families each run watches."""
    rows = SegmentState.objects.filter(namespace=namespace, monitor_run__in=list(runs)).exclude(
        source_family=EVERY_FAMILY
    )
    return dict(rows.values_list("monitor_run").annotate(n=Count("pk")))


def stepped(
    watch: Watch, forecast: ForecastState, true_index: int, *, label: UUID, n_issued: int, n_segments: int
) -> Step:
    """What the first label of a forecast does to the watch; one whose forecast is erased bets nothing."""
    place = forecast.place_in_family
    if forecast.posterior is None:
        return watch.pass_over(place=place, n_issued=n_issued, n_segments=n_segments)
    return watch.label(
        np.array(unpacked(forecast.posterior)), true_index, place=place, n_issued=n_issued,
        chance=chance_of(label), n_segments=n_segments,
    )  # fmt: skip


def chance_of(label: UUID) -> float:
    """In (0, 1): from the random bits of the label's own id, so that it is drawn once and stands for ever."""
    return (int.from_bytes(label.bytes[:6]) + 0.5) / 2.0**48


def logs_of(step: Step | None) -> dict[str, float | None]:
    """The columns of a label that tell the state after it; a log of nothing is no number."""
    if step is None:
        return dict.fromkeys(LOGS)
    told = {name: getattr(step, name) for name in LOGS}
    return {name: value if np.isfinite(value) else None for name, value in told.items()}
