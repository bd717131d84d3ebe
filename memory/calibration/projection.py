"""The derived tables of calibration, made anew and made to forget.

Forecasts come first: labels are placed among them, and segments are summed and watched over both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import batched
from uuid import UUID

from memory.base import projections, sql
from memory.base.models import ContentRef
from memory.calibration import issuing, renewing
from memory.calibration.issuing import key_of, segment_row
from memory.calibration.models import EVERY_FAMILY, ForecastState, LabelState, SegmentState

CHUNK = 400


class ForecastStates:
    """One row for each forecast."""

    name = "forecast_states"

    def rebuild(self, namespace: int) -> None:
        ForecastState.objects.filter(namespace=namespace).delete()
        for _, rows in issuing.derived(namespace):
            sql.insert(ForecastState, rows)

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        hit = 0
        for row in _forecasts(namespace, refs):
            hit += ForecastState.objects.filter(namespace=namespace, pk=row.pk).update(posterior=None)
        return hit

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(ForecastState, namespace)


class LabelStates:
    """One row for each label of a forecast."""

    name = "label_states"

    def rebuild(self, namespace: int) -> None:
        LabelState.objects.filter(namespace=namespace).delete()
        segments = _segments(namespace)
        renewing.place_labels(namespace, segments)
        for segment in segments.values():
            if segment.source_family != EVERY_FAMILY:
                renewing.rewatch(namespace, segment, among=segments.values())

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        """The rows hold no content; what an erased forecast did to the watch goes with the segment."""
        return 0

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(LabelState, namespace)


class SegmentStates:
    """One row for each segment. What is erased is in no sum and in no watch, at any seq."""

    name = "segment_states"

    def rebuild(self, namespace: int) -> None:
        segments = _segments(namespace)
        SegmentState.objects.filter(namespace=namespace).delete()
        for segment in segments.values():
            _count(namespace, segment)
            renewing.resum(namespace, segment)
        sql.insert(SegmentState, [segment_row(segment) for segment in segments.values()])
        for segment in segments.values():
            _rewatched(namespace, segment, segments.values())

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        gone = sorted({row.observation for row in _forecasts(namespace, refs)})
        touched = renewing.touched_by(namespace, gone)
        among = list(SegmentState.objects.filter(namespace=namespace)) if touched else []
        for segment in touched:
            renewing.resum(namespace, segment)
            SegmentState.objects.filter(namespace=namespace, pk=segment.pk).update(
                reference=segment.reference, current=segment.current
            )
            _rewatched(namespace, segment, among)
        return len(touched)

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(SegmentState, namespace)


def _segments(namespace: int) -> dict[tuple[UUID, UUID, UUID], SegmentState]:
    """Every segment with its forecasts alone, from evidence."""
    segments: dict[tuple[UUID, UUID, UUID], SegmentState] = {}
    for places, _ in issuing.derived(namespace):
        segments = places.segments
    return segments


def _count(namespace: int, segment: SegmentState) -> None:
    """How many labels the segment has, the last of them, and the last entry that said anything."""
    run, relation, family = key_of(segment)
    rows = LabelState.objects.filter(namespace=namespace, monitor_run=run, relation_type=relation)
    if family != EVERY_FAMILY:
        rows = rows.filter(source_family=family)
    segment.n_labeled = rows.filter(is_first=True).count()
    last = rows.order_by("-place").values_list("place", "seq").first()
    if last is not None:
        segment.last_label, segment.seq = last[0], max(segment.seq, last[1])


def _rewatched(namespace: int, segment: SegmentState, among: Iterable[SegmentState]) -> None:
    if segment.source_family != EVERY_FAMILY:
        renewing.rewatch(namespace, segment, among=among)
        SegmentState.objects.filter(namespace=namespace, pk=segment.pk).update(watch=segment.watch)


def _forecasts(namespace: int, refs: Sequence[ContentRef]) -> list[ForecastState]:
    """The forecasts whose vectors go."""
    wanted = {(seq, item) for seq, item, part in refs if part == "value"}
    found: list[ForecastState] = []
    for chunk in batched(sorted({seq for seq, _ in wanted}), CHUNK):
        rows = ForecastState.objects.filter(namespace=namespace, seq__in=chunk)
        found += [row for row in rows if (row.seq, row.item) in wanted]
    return found
