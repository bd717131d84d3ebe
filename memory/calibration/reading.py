"""How a segment stands at a point: its counts and both windows, from running sums or from the members themselves.

- `locked` windows are read by the places of arrival, `sorted` ones by the instants of labelling.
- Two cuts apply: the seq of the point, and for a claimed instant what had been tracked, labelled and recorded by then.
- Running sums serve where nothing came later. Both ways give the same sums to the last bit: sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.calibration.issuing import Key, key_of
from memory.calibration.kernel.reporting import Counted
from memory.calibration.kernel.sums import ExactSums
from memory.calibration.kernel.windows import Rule, current_span, is_sufficient, reference_span
from memory.calibration.members import Member, scope_of, summed
from memory.calibration.models import SegmentState

CHUNK = 400


@dataclass(frozen=True, slots=True)
class Cut:
    """Up to which entry, and up to which claimed instant (seconds; None for any)."""

    seq: int
    as_of: float | None = None

    def holds_all(self, segment: SegmentState) -> bool:
        """Nothing that was said of the segment is cut off."""
        return self.as_of is None and segment.seq <= self.seq


@dataclass(frozen=True, slots=True)
class Windows:
    """The counts of a segment and its windows, None where they hold nothing that can be scored or too little."""

    counted: Counted
    reference: ExactSums | None = None
    current: ExactSums | None = None


def windows(namespace: int, segment: SegmentState, *, config: MonitorConfig, rule: Rule, cut: Cut) -> Windows:
    """The segment at the cut; without a forecast by then its counts are 0."""
    told = counted(namespace, segment, cut)
    sizes = {"reference_size": config.reference_size, "min_current_size": config.min_current_size}
    if not is_sufficient(told.n_labeled, **sizes):
        return Windows(told)
    if cut.holds_all(segment) and rule == "locked":
        return Windows(told, _unpacked(segment.reference), _unpacked(segment.current))
    reference, current = window_members(
        namespace, key_of(segment), n_labeled=told.n_labeled, config=config, rule=rule, cut=cut
    )
    return Windows(told, _summed(reference, config), _summed(current, config))


def counted(namespace: int, segment: SegmentState, cut: Cut) -> Counted:
    """How many forecasts and labels the segment holds at the cut."""
    if cut.holds_all(segment):
        return Counted(segment.n_tracked, segment.n_labeled, segment.last_forecast, segment.last_label)
    return _counted(namespace, key_of(segment), cut)


def window_members(
    namespace: int, key: Key, *, n_labeled: int, config: MonitorConfig, rule: Rule, cut: Cut
) -> tuple[list[Member], list[Member]]:
    """The members of the reference and of the current window, each in the order of the rule."""
    size = config.reference_size
    first = reference_span(n_labeled, reference_size=size).n
    last = current_span(n_labeled, reference_size=size, current_size=config.current_size).n
    reference = _ordered(namespace, key, rule, cut, limit=first)
    current = _ordered(namespace, key, rule, cut, limit=last, is_backward=True)
    return reference, current[::-1]


def _unpacked(packed: Any) -> ExactSums | None:
    held = bytes(packed)
    return ExactSums.unpacked(held) if held else None


def _summed(found: Sequence[Member], config: MonitorConfig) -> ExactSums | None:
    return summed(found, n_bins=config.ece_bins)


def _visible(cut: Cut) -> tuple[str, list[Any]]:
    """Which labels l of forecasts f count at the cut, and that no later one of their chain does."""
    if cut.as_of is None:
        return "l.seq <= %s AND (l.until_seq IS NULL OR l.until_seq > %s)", [cut.seq, cut.seq]
    return (
        (
            "l.seq <= %s AND l.recorded_at <= %s AND l.labeled_at <= %s AND f.observed_at <= %s AND f.tracked_at <= %s"
            " AND NOT EXISTS (SELECT 1 FROM memory_labelstate m WHERE m.namespace_id = l.namespace_id"
            " AND m.monitor_run = l.monitor_run AND m.observation = l.observation AND m.place > l.place"
            " AND m.seq <= %s AND m.recorded_at <= %s AND m.labeled_at <= %s)"
        ),
        [cut.seq, *[cut.as_of] * 4, cut.seq, cut.as_of, cut.as_of],
    )


_JOINED = (
    " FROM memory_labelstate l JOIN memory_forecaststate f ON f.namespace_id = l.namespace_id"
    " AND f.monitor_run = l.monitor_run AND f.observation = l.observation WHERE l.namespace_id = %s AND "
)


def _ordered(namespace: int, key: Key, rule: Rule, cut: Cut, *, limit: int, is_backward: bool = False) -> list[Member]:
    """The first or the last labels of the segment that count at the cut."""
    column, where, values = scope_of(key)
    visible, asked = _visible(cut)
    way = " DESC" if is_backward else ""
    order = f"l.{column}{way}" if rule == "locked" else f"l.labeled_at{way}, l.place{way}"
    rows = sql.fetch(
        f"SELECT l.observation, l.{column}, f.posterior, l.true_index{_JOINED}{where} AND {visible}"
        f" ORDER BY {order} LIMIT {int(limit)}",
        [namespace, *values, *asked],
    )
    return [Member(sql.as_id(row[0]), row[1], None if row[2] is None else bytes(row[2]), row[3]) for row in rows]


def _counted(namespace: int, key: Key, cut: Cut) -> Counted:
    _, where, values = scope_of(key)
    claimed = "" if cut.as_of is None else " AND l.observed_at <= %s AND l.tracked_at <= %s"
    told = [] if cut.as_of is None else [cut.as_of, cut.as_of]
    ((n_tracked, last_forecast),) = sql.fetch(
        "SELECT count(*), max(l.place) FROM memory_forecaststate l WHERE l.namespace_id = %s AND "
        f"{where} AND l.seq <= %s{claimed}",
        [namespace, *values, cut.seq, *told],
    )
    visible, seen = _visible(cut)
    ((n_labeled, last_label),) = sql.fetch(
        f"SELECT count(*), max(l.place){_JOINED}{where} AND {visible}", [namespace, *values, *seen]
    )
    return Counted(n_tracked, n_labeled, last_forecast, last_label)


def segments_of(
    namespace: int, *, run: UUID, relation: UUID | None = None, families: Iterable[UUID] | None = None
) -> list[SegmentState]:
    """The rows of a run's segments, of one relation type or all, of these families or all."""
    rows = SegmentState.objects.filter(namespace=namespace, monitor_run=run)
    if relation is not None:
        rows = rows.filter(relation_type=relation)
    if families is not None:
        rows = rows.filter(source_family__in=list(families))
    return list(rows.order_by("relation_type", "source_family"))
