"""The derived tables of facts, made anew and made to forget.

State rows come first: the other three follow from them and from the declarations alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from memory.base import projections, sql
from memory.base.models import ContentRef
from memory.facts import cases, rectangles, states, tallies
from memory.facts.kernel.values import Spec
from memory.facts.models import ConflictCase, FactRect, FactState, FactTally
from memory.facts.specs import attributes_declared_by, history
from memory.facts.states import Entity
from memory.records.models import doc_of

CHUNK = 400


class FactStates:
    """One state row for each fact."""

    name = "fact_states"

    def rebuild(self, namespace: int) -> None:
        FactState.objects.filter(namespace=namespace).delete()
        for chunk in states.derived(namespace):
            states.mark_first(namespace, chunk)
            sql.insert(FactState, states.tuples(chunk, sql.columns(FactState)))

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        docs = _docs(refs)
        hit = 0
        for start in range(0, len(docs), CHUNK):
            rows = FactState.objects.filter(namespace=namespace, doc__in=docs[start : start + CHUNK])
            hit += rows.update(value=None, value_key=None, erased_seq=seq)
        return hit

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(FactState, namespace)


class FactRects:
    """Rectangles hold no value; where an erased fact counted, it stands in a lane of its own."""

    name = "fact_rects"

    def rebuild(self, namespace: int) -> None:
        FactRect.objects.filter(namespace=namespace).delete()
        for chunk in _chunks(namespace):
            rectangles.add(chunk)

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        docs = _docs(refs)
        for start in range(0, len(docs), CHUNK):
            rows = FactState.objects.filter(namespace=namespace, doc__in=docs[start : start + CHUNK])
            rectangles.renew(namespace, list(rows))
        return len(docs)

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        """Without the integer key, which only says in which order rows came to be."""
        names = [field.attname for field in FactRect._meta.concrete_fields if not field.primary_key]
        rows = FactRect.objects.filter(namespace=namespace).order_by("doc", "known_from", "lane")
        return rows.values_list(*names).iterator()


class FactTallies:
    """Counts of an entity after each entry."""

    name = "fact_tallies"

    def rebuild(self, namespace: int) -> None:
        FactTally.objects.filter(namespace=namespace).delete()
        for entity, rows in _entities(namespace):
            tallies.replay(namespace, entity, rows)

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        return _again(namespace, refs, lambda entity, rows: tallies.replay(namespace, entity, rows))

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(FactTally, namespace)


class ConflictCases:
    """Cases are worked out from the values that are left: an erased one is in no conflict, at any seq."""

    name = "conflict_cases"

    def rebuild(self, namespace: int) -> None:
        ConflictCase.objects.filter(namespace=namespace).delete()
        told: dict[UUID, list[tuple[int, Spec]]] = {}
        for entity, rows in _entities(namespace):
            if entity[1] not in told:
                told[entity[1]] = history(namespace, entity[1])
            cases.replay(namespace, entity, rows, told[entity[1]])

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        gone = frozenset((seq, item) for seq, item, part in refs if part == "value")
        declared = attributes_declared_by(namespace, gone)
        for attribute in declared:
            # The pairs that exclude each other were content: without them nothing is excluded, at any seq.
            cases.renew(namespace, attribute, gone=gone)
        return len(declared) + _again(
            namespace, refs,
            lambda entity, rows: cases.replay(namespace, entity, rows, history(namespace, entity[1], gone=gone)),
        )  # fmt: skip

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(ConflictCase, namespace)


def _docs(refs: Sequence[ContentRef]) -> list[int]:
    return [doc_of(seq, item) for seq, item, part in refs if part == "value"]


def _again(namespace: int, refs: Sequence[ContentRef], replay: Any) -> int:
    """Replay every entity that loses a value; the state rows have forgotten it already."""
    docs = _docs(refs)
    entities: set[Entity] = set()
    for start in range(0, len(docs), CHUNK):
        rows = FactState.objects.filter(namespace=namespace, doc__in=docs[start : start + CHUNK])
        entities.update(rows.values_list("subject", "attribute"))
    for entity in sorted(entities):
        replay(entity, list(_of(namespace, entity)))
    return len(entities)


def _of(namespace: int, entity: Entity) -> Any:
    rows = FactState.objects.filter(namespace=namespace, subject=entity[0], attribute=entity[1])
    return rows.order_by("doc")


def _chunks(namespace: int) -> Iterator[list[FactState]]:
    after = -1
    while rows := list(FactState.objects.filter(namespace=namespace, doc__gt=after).order_by("doc")[:CHUNK]):
        yield rows
        after = rows[-1].doc


def _entities(namespace: int) -> Iterator[tuple[Entity, list[FactState]]]:
    rows = FactState.objects.filter(namespace=namespace).order_by("subject", "attribute", "doc")
    members: list[FactState] = []
    for row in rows.iterator(chunk_size=2_000):
        if members and (members[0].subject, members[0].attribute) != (row.subject, row.attribute):
            yield (members[0].subject, members[0].attribute), members
            members = []
        members.append(row)
    if members:
        yield (members[0].subject, members[0].attribute), members
