"""The derived tables of beliefs, made anew and made to forget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import batched
from uuid import UUID

from django.db.models import Count

from memory.base import projections, sql
from memory.base.models import ContentRef
from memory.beliefs import reaches, states
from memory.beliefs.models import (
    Forecast,
    MonitorTally,
    Observation,
    ObservationReach,
    ObservationState,
    ObservationTag,
    RelationLaw,
    Revocation,
)
from memory.beliefs.relations import forget_laws
from memory.ledger.models import Name
from memory.ledger.queries.contents import contents_of
from memory.records.models import doc_of

CHUNK = 400


class ObservationStates:
    """One row for each observation."""

    name = "observation_states"

    def rebuild(self, namespace: int) -> None:
        ObservationState.objects.filter(namespace=namespace).delete()
        for rows in states.derived(namespace):
            sql.insert(ObservationState, rows)

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        hit = 0
        for chunk in batched(_docs(refs, states.VALUE), CHUNK):
            rows = ObservationState.objects.filter(namespace=namespace, doc__in=chunk)
            hit += rows.update(tie_key=None, score=None, posterior=None, prior=None, erased_seq=seq)
        for names in _names(namespace, refs):
            hit += ObservationState.objects.filter(namespace=namespace, name__in=names).update(tie_key=None)
        # Which label a mass is of, and where it lies in a vector, only the law can tell.
        for types in _types(namespace, refs):
            rows = ObservationState.objects.filter(namespace=namespace, relation_type__in=types)
            hit += rows.update(tie_key=None, score=None, posterior=None, prior=None)
            forget_laws()
        return hit

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(ObservationState, namespace)


class ObservationReaches:
    """Which revocations reach which observations; no content is in it."""

    name = "observation_reaches"

    def rebuild(self, namespace: int) -> None:
        ObservationReach.objects.filter(namespace=namespace).delete()
        for row in Revocation.objects.filter(namespace=namespace).order_by("seq", "item").iterator():
            start = Observation.objects.filter(namespace=namespace, id=row.observation).values_list("seq", "item").get()
            reaches.enter(namespace, reaches.reaches_of(namespace, row, start))

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        return 0

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(ObservationReach, namespace)


class ObservationTags:
    """The tags of each observation."""

    name = "observation_tags"

    def rebuild(self, namespace: int) -> None:
        ObservationTag.objects.filter(namespace=namespace).delete()
        for rows in states.chunks(namespace):
            parts = contents_of(namespace, [(row.seq, row.item) for row in rows])
            enter_tags(namespace, states.tags_of(rows, parts))

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        hit = 0
        for chunk in batched(_docs(refs, states.DETAILS), CHUNK):
            gone = ObservationState.objects.filter(namespace=namespace, doc__in=chunk).values("id")
            hit += ObservationTag.objects.filter(namespace=namespace, observation__in=gone).delete()[0]
        return hit

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(ObservationTag, namespace)


class MonitorTallies:
    """How many forecasts each run holds."""

    name = "monitor_tallies"

    def rebuild(self, namespace: int) -> None:
        MonitorTally.objects.filter(namespace=namespace).delete()
        counted = Forecast.objects.filter(namespace=namespace).values("monitor_run").annotate(n=Count("id"))
        for row in counted.order_by("monitor_run"):
            track(namespace, row["monitor_run"], row["n"])

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        return 0

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(MonitorTally, namespace)


def enter_tags(namespace: int, tags: Iterable[tuple[UUID, str]]) -> None:
    """Store the tags."""
    row = {name: index for index, name in enumerate(("namespace_id", "observation", "tag"))}
    order = [row[name] for name in sql.columns(ObservationTag)]
    told = ((namespace, observation, tag) for observation, tag in tags)
    sql.insert(ObservationTag, [tuple(one[index] for index in order) for one in told])


def track(namespace: int, monitor_run: UUID, count: int) -> None:
    """Count further forecasts of a run."""
    sql.run(
        "INSERT INTO memory_monitortally (namespace_id, monitor_run, n_tracked) VALUES (%s, %s, %s)"
        " ON CONFLICT (namespace_id, monitor_run) DO UPDATE SET"
        " n_tracked = memory_monitortally.n_tracked + excluded.n_tracked",
        [namespace, monitor_run, count],
    )


def _docs(refs: Sequence[ContentRef], part: str) -> list[int]:
    return [doc_of(seq, item) for seq, item, told in refs if told == part]


def _types(namespace: int, refs: Sequence[ContentRef]) -> Iterable[list[UUID]]:
    """The relation types whose laws go."""
    wanted = {(seq, item) for seq, item, part in refs if part == states.VALUE}
    for chunk in batched(sorted({seq for seq, _ in wanted}), CHUNK):
        rows = RelationLaw.objects.filter(namespace=namespace, seq__in=chunk).values_list(
            "seq", "item", "relation_type"
        )
        if found := [relation_type for seq, item, relation_type in rows if (seq, item) in wanted]:
            yield found


def _names(namespace: int, refs: Sequence[ContentRef]) -> Iterable[list[UUID]]:
    """The ids of the names that go."""
    wanted = {(seq, item) for seq, item, part in refs if part == "name"}
    for chunk in batched(sorted({seq for seq, _ in wanted}), CHUNK):
        rows = Name.objects.filter(namespace=namespace, seq__in=chunk).values_list("seq", "item", "id")
        if found := [id for seq, item, id in rows if (seq, item) in wanted]:
            yield found
