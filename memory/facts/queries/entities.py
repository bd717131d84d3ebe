"""Which subjects and attributes have facts by a point: the rows of the facts browser, newest first, by keyset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from memory.agents.counting import Counted
from memory.base.asof import AsOf
from memory.facts.models import ConflictCase, FactState
from memory.facts.states import Entity
from memory.ledger.models import Name
from memory.ledger.queries.contents import name_ids

COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list of entities is narrowed to; "" is no limit. `text` is part of a subject's name."""

    subject: str = ""
    attribute: str = ""
    text: str = ""
    only_conflicts: bool = False


@dataclass(frozen=True, slots=True)
class Entities:
    """A page: entities with the doc of their first fact. `next_doc` goes on; None at the end."""

    items: tuple[tuple[int, Entity], ...]
    next_doc: int | None
    total: int
    is_capped: bool


def entities(at: AsOf, wanted: Wanted, *, after: int | None = None, limit: int = 50) -> Entities:
    """A page of entities, the one that came to be last first. One query and one for the names that are asked for."""
    found = _rows(at, wanted)
    if found is None:
        return Entities((), None, 0, is_capped=False)
    page = found if after is None else found.filter(doc__lt=after)
    counted = page.annotate(n_found=Counted(found.order_by().values("doc")[: COUNTED + 1]))
    rows = list(counted.order_by("-doc").values_list("doc", "subject", "attribute", "n_found")[: limit + 1])
    items = tuple((doc, (subject, attribute)) for doc, subject, attribute, _ in rows[:limit])
    total = rows[0][3] if rows else 0 if after is None else found[: COUNTED + 1].count()
    more = items[-1][0] if len(rows) > limit else None
    return Entities(items, more, min(total, COUNTED), is_capped=total > COUNTED)


def entity_named(at: AsOf, *, subject: str, attribute: str) -> Entity | None:
    """The entity of the two names; None where one of them is no name here."""
    found = name_ids(at.namespace, [subject, attribute])
    return (found[subject], found[attribute]) if subject in found and attribute in found else None


def of_subject(at: AsOf, subject: UUID) -> list[Entity]:
    """Every entity of the subject that has a fact by the point, oldest first."""
    rows = _known(at).filter(subject=subject).values_list("doc", "attribute")
    # Sorted here: an order by the query makes SQLite walk the facts of all subjects, which an index has in that order.
    return [(subject, attribute) for _, attribute in sorted(rows)]


def _unheld(at: AsOf) -> Q:
    return Q(held_seq__isnull=True) | Q(confirmed_seq__lte=at.seq)


def _known(at: AsOf) -> QuerySet[FactState]:
    """First facts of the entities that have one by the point which is not held.

    By the instants of a source the first to be written may be one of the last to be claimed, so that it stands for
    the entity whatever it claims itself.
    """
    rows = FactState.objects.filter(namespace=at.namespace)
    told = rows.filter(seq__lte=at.seq) if at.source_at is None else rows.filter(source_recorded_at__lte=at.source_at)
    others = told.filter(_unheld(at), subject=OuterRef("subject"), attribute=OuterRef("attribute"))
    if at.source_at is not None:
        return rows.filter(Exists(others), is_first=True)
    return told.filter(_unheld(at) | Q(Exists(others)), is_first=True)


def _rows(at: AsOf, wanted: Wanted) -> QuerySet[FactState] | None:
    """The first facts of the entities; None where a name that is asked for does not exist."""
    rows = _known(at)
    asked = [text for text in (wanted.subject, wanted.attribute) if text]
    known = name_ids(at.namespace, asked) if asked else {}
    if len(known) < len(set(asked)):
        return None
    if wanted.subject:
        rows = rows.filter(subject=known[wanted.subject])
    if wanted.attribute:
        rows = rows.filter(attribute=known[wanted.attribute])
    if wanted.text:
        named = Name.objects.filter(namespace=at.namespace, text__icontains=wanted.text)
        rows = rows.filter(subject__in=named.values("id"))
    if wanted.only_conflicts:
        cases = ConflictCase.objects.filter(
            Q(closed_seq__isnull=True) | Q(closed_seq__gt=at.seq), namespace=at.namespace, opened_seq__lte=at.seq,
            subject=OuterRef("subject"), attribute=OuterRef("attribute"),
        )  # fmt: skip
        rows = rows.filter(Exists(cases))
    return rows


def names_of_entities(found: Sequence[Entity]) -> set[UUID]:
    """The ids of all names in the entities."""
    return {name for entity in found for name in entity}
