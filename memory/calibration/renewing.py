"""Segments made anew: the watch replayed over what happened, the windows summed from their members.

Both give, to the last bit, what was kept entry by entry; only what is erased makes a difference.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import batched
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.beliefs.models import MonitorRun
from memory.calibration.issuing import Key, key_of
from memory.calibration.kernel.watching import Watch
from memory.calibration.members import window_sums
from memory.calibration.models import (
    EVERY_FAMILY,
    ForecastState,
    LabelOutcome,
    LabelState,
    ProcessRestart,
    SegmentState,
)
from memory.calibration.scoring import LOGS, logs_of, stepped
from memory.ledger.models import Entry

CHUNK = 400


def place_labels(namespace: int, segments: Mapping[Key, SegmentState]) -> None:
    """Write the rows of all labels from evidence, without what they did to the watches; counts enter the segments."""
    tips: dict[tuple[UUID, UUID], LabelState] = {}
    last: dict[UUID, int] = {}
    forecasts = _forecasts(namespace)
    rows: list[LabelState] = []
    labels = LabelOutcome.objects.filter(namespace=namespace).order_by("seq", "item")
    at = _instants(namespace)
    for label in labels.iterator(chunk_size=CHUNK):
        for run, relation, family in forecasts.get(label.observation, ()):
            last[run] = last.get(run, 0) + 1
            row = LabelState(
                namespace_id=namespace, monitor_run=run, label=label.id, observation=label.observation,
                relation_type=relation, source_family=family, seq=label.seq, item=label.item, until_seq=None,
                is_first=label.supersedes is None, place=last[run], labeled_at=label.labeled_at,
                recorded_at=at[label.seq] if label.recorded_at is None else label.recorded_at,
                true_index=label.true_index, **logs_of(None),
            )  # fmt: skip
            _place(row, tips.get((run, label.observation)), segments)
            tips[run, label.observation] = row
            rows.append(row)
    columns = sql.columns(LabelState)
    sql.insert(LabelState, [tuple(getattr(row, column) for column in columns) for row in rows])


def _place(row: LabelState, before: LabelState | None, segments: Mapping[Key, SegmentState]) -> None:
    every = segments[row.monitor_run, row.relation_type, EVERY_FAMILY]
    own = segments[row.monitor_run, row.relation_type, row.source_family]
    every.last_label = own.last_label = row.place
    if before is None:
        every.n_labeled += 1
        own.n_labeled += 1
        row.place_in_relation, row.place_in_family = every.n_labeled, own.n_labeled
    else:
        before.until_seq = row.seq
        row.place_in_relation, row.place_in_family = before.place_in_relation, before.place_in_family


def _forecasts(namespace: int) -> dict[UUID, list[Key]]:
    found: dict[UUID, list[Key]] = {}
    rows = ForecastState.objects.filter(namespace=namespace).order_by("seq", "item")
    columns = ("observation", "monitor_run", "relation_type", "source_family")
    for observation, *key in rows.values_list(*columns).iterator(chunk_size=CHUNK):
        found.setdefault(observation, []).append((key[0], key[1], key[2]))
    return found


def _instants(namespace: int) -> dict[int, float]:
    seqs = LabelOutcome.objects.filter(namespace=namespace, recorded_at__isnull=True).values("seq")
    rows = Entry.objects.filter(namespace=namespace, seq__in=seqs).values_list("seq", "recorded_at")
    return {seq: at.timestamp() for seq, at in rows}


def resum(namespace: int, segment: SegmentState) -> None:
    """Sum both windows of the segment from its members; the row in hand takes them."""
    run = MonitorRun.objects.get(namespace=namespace, id=segment.monitor_run)
    segment.reference, segment.current = window_sums(
        namespace, key_of(segment), n_labeled=segment.n_labeled, reference_size=run.reference_size,
        current_size=run.current_size, n_bins=run.ece_bins,
    )  # fmt: skip


def rewatch(namespace: int, segment: SegmentState, *, among: Iterable[SegmentState]) -> None:
    """Replay the watch of a family over its labels and restarts; the rows of labels and the row in hand take it.

    among : every segment of the namespace.
    """
    watch = Watch()
    key = key_of(segment)
    about = {"namespace": namespace, "monitor_run": key[0], "relation_type": key[1], "source_family": key[2]}
    issued = list(ForecastState.objects.filter(**about).order_by("place_in_family").values_list("seq", flat=True))
    begun = sorted(one.first_seq for one in among if one.monitor_run == key[0] and one.source_family != EVERY_FAMILY)
    told: list[list[Any]] = []
    for turn in _turns(about):
        if isinstance(turn, str):
            if turn == "correction":
                watch.note_correction()
            else:
                watch.restart()
            continue
        label, forecast = turn
        step = stepped(
            watch, forecast, label.true_index, label=label.label, n_issued=bisect_left(issued, label.seq),
            n_segments=bisect_left(begun, label.seq),
        )  # fmt: skip
        told.append([*logs_of(step).values(), namespace, label.monitor_run, label.label])
    sql.run_many(
        f"UPDATE memory_labelstate SET {', '.join(f'{name} = %s' for name in LOGS)}"
        " WHERE namespace_id = %s AND monitor_run = %s AND label = %s",
        told,
    )
    segment.watch = watch.packed if told else b""


def _turns(about: Mapping[str, Any]) -> Iterator[tuple[LabelState, ForecastState] | str]:
    """First labels with their forecasts in the order of arrival; the cause of each restart between them."""
    restarts = list(ProcessRestart.objects.filter(**about).order_by("seq", "item").values_list("seq", "item", "cause"))
    rows = LabelState.objects.filter(**about, is_first=True).order_by("place_in_family")
    for chunk in batched(rows.iterator(chunk_size=CHUNK), CHUNK):
        told = ForecastState.objects.filter(**about, observation__in=[label.observation for label in chunk])
        forecasts = {forecast.observation: forecast for forecast in told}
        for label in chunk:
            while restarts and restarts[0][:2] < (label.seq, label.item):
                yield restarts.pop(0)[2]
            yield label, forecasts[label.observation]
    yield from (cause for _, _, cause in restarts)


def touched_by(namespace: int, observations: Sequence[UUID]) -> list[SegmentState]:
    """The segments that hold forecasts of these observations."""
    keys: set[Key] = set()
    runs = list(MonitorRun.objects.filter(namespace=namespace).values_list("id", flat=True))
    for start in range(0, len(observations), CHUNK):
        rows = ForecastState.objects.filter(
            namespace=namespace, monitor_run__in=runs, observation__in=observations[start : start + CHUNK]
        )
        for run, relation, family in rows.values_list("monitor_run", "relation_type", "source_family"):
            keys |= {(run, relation, family), (run, relation, EVERY_FAMILY)}
    found = SegmentState.objects.filter(namespace=namespace, monitor_run__in={key[0] for key in keys})
    return [row for row in found if key_of(row) in keys]
