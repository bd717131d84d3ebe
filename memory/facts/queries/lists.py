"""A page of the facts browser: entities with their status, and what a reader may not see left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.facts.models import ConflictCase, FactState
from memory.facts.queries.entities import Wanted, entities, entity_named
from memory.facts.queries.status import EntityStatus, nothing_known, statuses
from memory.facts.states import Entity

# A filter by status reads at most so many entities for one page; `next_doc` then goes on from there.
SCANNED = 2_000


@dataclass(frozen=True, slots=True)
class EntityPage:
    """Statuses, newest entity first. `next_doc` goes on; `total` counts entities before the filter by status.

    n_held : held facts of entities that the list leaves out, since everything of them is held.
    """

    items: tuple[EntityStatus, ...]
    next_doc: int | None
    total: int
    is_capped: bool
    n_held: int = 0


def page_of(
    at: AsOf, *, subject: str = "", attribute: str = "", text: str = "", status: str = "",
    include: frozenset[str] = frozenset(), after: int | None = None, limit: int = 50, reader: Actor | None = None,
    tells_hidden: bool = True,
) -> EntityPage:  # fmt: skip
    """A page. For one subject and one attribute there is one answer, also where nothing was ever said.

    tells_hidden : as `statuses` takes it.
    """
    asked = partial(statuses, at, include=include, reader=reader, tells_hidden=tells_hidden)
    if subject and attribute and not text:
        return _one(at, subject, attribute, status, asked)
    is_open = status == "conflict" and at.source_at is None
    wanted = Wanted(subject, attribute, text, only_conflicts=is_open, with_held="held" in include)
    found: list[EntityStatus] = []
    scanned, total, is_capped, doc = 0, 0, False, after
    while True:
        page = entities(at, wanted, after=doc, limit=limit, reader=reader)
        total, is_capped = page.total, page.is_capped
        scanned += len(page.items)
        told = asked([entity for _, entity in page.items])
        for (doc, _), one in zip(page.items, told, strict=True):  # noqa: B007
            if not status or one.status == status:
                found.append(one)
                if len(found) == limit:
                    break
        last = page.next_doc is None and (not page.items or doc == page.items[-1][0])
        if last or len(found) == limit or scanned >= SCANNED:
            # What is held is known and in conflict nowhere, so that a filter by these leaves it out by itself.
            n_held = page.n_held if status in ("", "unknown") else 0
            return EntityPage(tuple(found), None if last else doc, total, is_capped, n_held)


def _one(
    at: AsOf, subject: str, attribute: str, status: str, asked: Callable[[list[Entity]], list[EntityStatus]]
) -> EntityPage:
    entity = entity_named(at, subject=subject, attribute=attribute)
    answer = nothing_known(subject, attribute) if entity is None else asked([entity])[0]
    items = () if status and answer.status != status else (answer,)
    return EntityPage(items, None, len(items), is_capped=False)


def open_case(at: AsOf, *, fact: UUID) -> UUID | None:
    """The open conflict of the fact's subject and attribute, if there is one."""
    row = FactState.objects.filter(namespace=at.namespace, id=fact).values_list("subject", "attribute").first()
    if row is None:
        return None
    cases = ConflictCase.objects.filter(
        namespace=at.namespace, subject=row[0], attribute=row[1], closed_seq__isnull=True
    )
    return cases.values_list("id", flat=True).first()
