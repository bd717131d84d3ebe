"""Which subjects and attributes have facts by a point: the rows of the facts browser, newest first, by keyset.

Invariants
- An entity of which everything is held is listed where that is asked for, to people and to the writer of a held fact of
  it; otherwise its held facts are counted.
- What others hold is counted to an agent by whole names alone: by parts of a name the count would spell it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from memory.agents.counting import Counted
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.facts.models import ConflictCase, FactState
from memory.facts.states import Entity
from memory.ledger.models import Name
from memory.ledger.queries.contents import name_ids
from memory.records.models import Held

COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list of entities is narrowed to; "" is no limit. `text` is part of a subject's name.

    with_held : whether held facts alone put an entity on the list of who may see them.
    """

    subject: str = ""
    attribute: str = ""
    text: str = ""
    only_conflicts: bool = False
    with_held: bool = False


@dataclass(frozen=True, slots=True)
class Entities:
    """A page: entities with the doc of their first fact. `next_doc` goes on; None at the end.

    n_held : held facts of entities that are not listed, on whatever page, since everything of them is held.
    """

    items: tuple[tuple[int, Entity], ...]
    next_doc: int | None
    total: int
    is_capped: bool
    n_held: int = 0


def entities(
    at: AsOf, wanted: Wanted, *, after: int | None = None, limit: int = 50, reader: Actor | None = None
) -> Entities:
    """A page of entities, the one that came to be last first.

    One query, one for the names that are asked for, and two for the counts where the page is empty.
    """
    asked = [text for text in (wanted.subject, wanted.attribute) if text]
    named = name_ids(at.namespace, asked) if asked else {}
    if len(named) < len(set(asked)):
        return Entities((), None, 0, is_capped=False)
    narrow = _narrowed(at, wanted, named)
    found = _known(at, _told(at, wanted, reader)).filter(narrow)
    held = _held_alone(at, wanted, reader).filter(narrow).order_by().values("doc")[: COUNTED + 1]
    page = found if after is None else found.filter(doc__lt=after)
    counted = page.annotate(n_found=Counted(found.order_by().values("doc")[: COUNTED + 1]), n_held=Counted(held))
    rows = list(counted.order_by("-doc").values_list("doc", "subject", "attribute", "n_found", "n_held")[: limit + 1])
    items = tuple((doc, (subject, attribute)) for doc, subject, attribute, *_ in rows[:limit])
    total = rows[0][3] if rows else 0 if after is None else found[: COUNTED + 1].count()
    n_held = rows[0][4] if rows else held.count()
    more = items[-1][0] if len(rows) > limit else None
    return Entities(items, more, min(total, COUNTED), is_capped=total > COUNTED, n_held=min(n_held, COUNTED))


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


def _told(at: AsOf, wanted: Wanted, reader: Actor | None) -> Q:
    """The facts that put their entity on the list: those that were never held, and held ones of which it may tell."""
    if not wanted.with_held:
        return _unheld(at)
    held = _held(at)
    if reader is not None and reader.kind == "agent":
        held &= Q(agent=reader.agent)
    return _unheld(at) | held


def _held(at: AsOf) -> Q:
    """Held at the point: nobody has confirmed it by then, turned it down or taken it back."""
    waiting = Q(held_seq__isnull=False, erased_seq__isnull=True)
    for name in ("confirmed_seq", "rejected_seq", "retracted_seq"):
        waiting &= Q(**{f"{name}__isnull": True}) | Q(**{f"{name}__gt": at.seq})
    return waiting


def _by(at: AsOf) -> Q:
    return Q(seq__lte=at.seq) if at.source_at is None else Q(source_recorded_at__lte=at.source_at)


def _known(at: AsOf, told: Q | None = None) -> QuerySet[FactState]:
    """First facts of the entities that have one by the point which is told: by default, which is not held.

    By the instants of a source the first to be written may be one of the last to be claimed, so that it stands for
    the entity whatever it claims itself.
    """
    told = _unheld(at) if told is None else told
    rows = FactState.objects.filter(namespace=at.namespace)
    others = rows.filter(_by(at), told, subject=OuterRef("subject"), attribute=OuterRef("attribute"))
    if at.source_at is not None:
        return rows.filter(Exists(others), is_first=True)
    return rows.filter(_by(at), told | Q(Exists(others)), is_first=True)


def _held_alone(at: AsOf, wanted: Wanted, reader: Actor | None) -> QuerySet[FactState]:
    """The held facts of entities that are not on the list, found from what was held where no name leads to them."""
    rows = FactState.objects.filter(namespace=at.namespace)
    listed = rows.filter(
        _by(at), _told(at, wanted, reader), subject=OuterRef("subject"), attribute=OuterRef("attribute")
    )
    found = rows.filter(_by(at), _held(at), ~Exists(listed))
    if wanted.text and reader is not None and reader.kind == "agent":
        found = found.filter(agent=reader.agent)
    if wanted.subject:
        return found
    held = Held.objects.filter(namespace=at.namespace, kind="fact")
    return found.filter(id__in=held.values("object"))


def _narrowed(at: AsOf, wanted: Wanted, named: Mapping[str, UUID]) -> Q:
    """What the list is narrowed to, of any fact; `named` has the ids of the names that are asked for."""
    narrow = Q()
    if wanted.subject:
        narrow &= Q(subject=named[wanted.subject])
    if wanted.attribute:
        narrow &= Q(attribute=named[wanted.attribute])
    if wanted.text:
        names = Name.objects.filter(namespace=at.namespace, text__icontains=wanted.text)
        narrow &= Q(subject__in=names.values("id"))
    if wanted.only_conflicts:
        cases = ConflictCase.objects.filter(
            Q(closed_seq__isnull=True) | Q(closed_seq__gt=at.seq), namespace=at.namespace, opened_seq__lte=at.seq,
            subject=OuterRef("subject"), attribute=OuterRef("attribute"),
        )  # fmt: skip
        narrow &= Q(Exists(cases))
    return narrow
