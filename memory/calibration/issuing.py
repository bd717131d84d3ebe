"""Forecasts as scoring reads them: each gets its places when it is issued, with the entry that froze it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any
from uuid import UUID

from django.db.models import Max

from memory.base import sql
from memory.beliefs.models import Forecast, Observation
from memory.beliefs.states import packed
from memory.calibration.models import EVERY_FAMILY, ForecastState, SegmentState
from memory.ledger.models import Entry
from memory.ledger.queries.contents import contents_of

CHUNK = 400
Key = tuple[UUID, UUID, UUID]
"""A segment: the run, the relation type, the source family."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A forecast of one entry; `posterior` as bytes, None once erased."""

    run: UUID
    observation: UUID
    relation: UUID
    family: UUID
    item: int
    observed_at: float
    tracked_at: float
    posterior: bytes | None

    @property
    def key(self) -> Key:
        return self.run, self.relation, self.family


def issued(
    values: Mapping[str, Any], observation: Mapping[str, Any], *, item: int, recorded_at: datetime, posterior: Any
) -> Issued:
    """The forecast of these columns and those of its observation. posterior : its vector, None once erased."""
    claimed = values["tracked_at"]
    return Issued(
        values["monitor_run"], values["observation"], observation["relation_type"], values["source_family"], item,
        observation["observed_at"], recorded_at.timestamp() if claimed is None else claimed,
        None if posterior is None else packed(posterior),
    )  # fmt: skip


class Places:
    """The next places of the runs, and the segments that forecasts join."""

    def __init__(self, namespace: int, segments: Mapping[Key, SegmentState], last: Mapping[UUID, int]) -> None:
        self.namespace = namespace
        self.segments = dict(segments)
        self.last = Counter(last)
        self.known = set(segments)
        self.changed: set[Key] = set()

    @classmethod
    def of(cls, namespace: int, keys: Collection[Key]) -> Places:
        """As they stand, for forecasts that join these families."""
        segments = segments_of(namespace, keys, defer=("reference", "current", "watch"))
        return cls(namespace, segments, last_places(namespace, {key[0] for key in keys}, "last_forecast"))

    def row(self, forecast: Issued, *, seq: int) -> tuple[Any, ...]:
        """The state row of the next forecast, in the order of the table's columns."""
        run, relation, family = forecast.key
        self.last[run] += 1
        place = self.last[run]
        every = self._join((run, relation, EVERY_FAMILY), place, seq)
        own = self._join((run, relation, family), place, seq)
        row = {
            "namespace_id": self.namespace, "monitor_run": run, "observation": forecast.observation,
            "relation_type": relation, "source_family": family, "seq": seq, "item": forecast.item, "place": place,
            "place_in_relation": every, "place_in_family": own, "observed_at": forecast.observed_at,
            "tracked_at": forecast.tracked_at, "posterior": forecast.posterior,
        }  # fmt: skip
        return tuple(row[column] for column in sql.columns(ForecastState))

    def _join(self, key: Key, place: int, seq: int) -> int:
        segment = self.segments.get(key)
        if segment is None:
            run, relation, family = key
            segment = SegmentState(
                namespace_id=self.namespace, monitor_run=run, relation_type=relation, source_family=family,
                first_seq=seq, seq=seq, n_tracked=0, n_labeled=0, last_forecast=place, last_label=None, reference=b"",
                current=b"", watch=b"",
            )  # fmt: skip
            self.segments[key] = segment
        segment.n_tracked += 1
        segment.seq = seq
        segment.last_forecast = place
        self.changed.add(key)
        return segment.n_tracked

    def store(self) -> None:
        """Write what changed."""
        fresh = [self.segments[key] for key in sorted(self.changed - self.known)]
        sql.insert(SegmentState, [segment_row(segment) for segment in fresh])
        sql.run_many(
            "UPDATE memory_segmentstate SET n_tracked = %s, last_forecast = %s, seq = %s WHERE namespace_id = %s"
            " AND monitor_run = %s AND relation_type = %s AND source_family = %s",
            [
                [one.n_tracked, one.last_forecast, one.seq, self.namespace, *key]
                for key, one in sorted(self.segments.items())
                if key in self.changed & self.known
            ],
        )


def key_of(segment: SegmentState) -> Key:
    """The key of its row within the namespace."""
    return segment.monitor_run, segment.relation_type, segment.source_family


def segment_row(segment: SegmentState) -> tuple[Any, ...]:
    """In the order of the table's columns."""
    return tuple(getattr(segment, column) for column in sql.columns(SegmentState))


def segments_of(namespace: int, keys: Iterable[Key], *, defer: Sequence[str] = ()) -> dict[Key, SegmentState]:
    """The rows of these families, and of all families together of their relation types; missing ones are left out."""
    wanted = {key for run, relation, family in keys for key in ((run, relation, family), (run, relation, EVERY_FAMILY))}
    found: dict[Key, SegmentState] = {}
    for run in {key[0] for key in wanted}:
        own = sorted({key[2] for key in wanted if key[0] == run})
        for chunk in batched(own, CHUNK):
            rows = SegmentState.objects.filter(
                namespace=namespace, monitor_run=run, source_family__in=chunk,
                relation_type__in={key[1] for key in wanted if key[0] == run},
            )  # fmt: skip
            found |= {key_of(row): row for row in rows.defer(*defer) if key_of(row) in wanted}
    return found


def last_places(namespace: int, runs: Iterable[UUID], column: str) -> dict[UUID, int]:
    """The last place of each run. column : `last_forecast` or `last_label`."""
    rows = SegmentState.objects.filter(
        namespace=namespace, monitor_run__in=list(runs), source_family=EVERY_FAMILY
    ).values("monitor_run")
    found = rows.annotate(last=Max(column)).values_list("monitor_run", "last")
    return {run: last or 0 for run, last in found}


def derived(namespace: int) -> Iterator[tuple[Places, list[tuple[Any, ...]]]]:
    """All state rows of the namespace made anew, in chunks, in order, with the segments as they stand after each."""
    places = Places(namespace, {}, {})
    for rows in _chunks(namespace):
        addresses = [(row.seq, row.item) for row in rows]
        parts = contents_of(namespace, addresses)
        observations = Observation.objects.filter(namespace=namespace, id__in={row.observation for row in rows})
        about = {row["id"]: row for row in observations.values("id", "relation_type", "observed_at")}
        at = dict(
            Entry.objects.filter(namespace=namespace, seq__in={row.seq for row in rows}).values_list(
                "seq", "recorded_at"
            )
        )
        yield places, [
            places.row(
                issued(
                    vars(row), about[row.observation], item=row.item, recorded_at=at[row.seq],
                    posterior=parts[row.seq, row.item].get("value"),
                ),
                seq=row.seq,
            )
            for row in rows
        ]  # fmt: skip


def _chunks(namespace: int) -> Iterator[Sequence[Forecast]]:
    rows = Forecast.objects.filter(namespace=namespace).order_by("seq", "item")
    yield from batched(rows.iterator(chunk_size=CHUNK), CHUNK)
