"""An erasure before it is done: what was asked for, what it would take, and why it would be refused.

Nothing is written and nothing is locked; the act asks again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memory.base import gate
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.base.errors import DomainError, OnHold
from memory.ledger.models import Item
from memory.ledger.operations.erasing import Erased
from memory.ledger.queries import asof, radius
from memory.ledger.queries.addressed import Address, items_about, items_at
from memory.ledger.queries.radius import Radius
from memory.ledger.queries.reaching import going, with_unused_names
from memory.ledger.queries.subjects import Naming, naming_items, subject_of


@dataclass(frozen=True, slots=True)
class Asked:
    """The items that a request names; `namings` where it named a subject."""

    items: tuple[Address, ...]
    namings: tuple[Naming, ...] = ()

    @property
    def n_within_words(self) -> int:
        """How many items name the subject inside longer words only; these are not among `items`."""
        return sum(not naming.is_whole for naming in self.namings)


@dataclass(frozen=True, slots=True)
class Preview:
    """What the erasure would take at `at`. `refusal` is the code of why it would be refused now, `hold` who holds."""

    at: AsOf
    items: tuple[Item, ...]
    radius: Radius
    refusal: str | None
    hold: Mapping[str, Any] | None = field(default=None)


def asked(
    namespace: int, *, records: Sequence[UUID] | None = None, facts: Sequence[UUID] | None = None,
    items: Sequence[Address] | None = None, subject: str | None = None,
) -> Asked:  # fmt: skip
    """What is to be erased, of exactly one of the four.   Raises NotFound (record, fact), Invalid (subject)."""
    if subject is not None:
        namings = naming_items(namespace, subject_of(subject))
        return Asked(tuple((one.seq, one.item) for one in namings if one.is_whole), tuple(namings))
    for kind, objects in (("record", records), ("fact", facts)):
        if objects is not None:
            found = items_about(namespace, kind=kind, objects=objects)
            return Asked(tuple((item.seq, item.item) for item in found))
    return Asked(tuple(items or ()))


def preview(by: Actor, *, found: Asked, quoting: bool = False) -> Preview:
    """What erasing these items would take.   Raises NotFound (no such item)."""
    at = asof.now(by.namespace)
    items = with_unused_names(by.namespace, going(by.namespace, found.items, quoting=quoting))
    refused, hold = refusal(by)
    return Preview(at, tuple(items), radius.radius(at, items=items), refused, hold)


@dataclass(frozen=True, slots=True)
class Look:
    """The named items with all their parts, and what repeats a line of them: what a person ticks."""

    parts: tuple[radius.Part, ...]
    quotes: tuple[radius.Quote, ...]


def look(at: AsOf, *, records: Sequence[UUID] = (), items: Sequence[Address] = ()) -> Look:
    """The records and items as they stand, before anything is worked out that would go with them.   Raises NotFound."""
    about = items_about(at.namespace, kind="record", objects=records) if records else []
    named = [*about, *items_at(at.namespace, items)] if items else about
    return Look(radius.parts(at.namespace, items=named), tuple(radius.quotes_of(at, items=named)))


def done(namespace: int, erased: Erased) -> Radius:
    """What an erasure took, and what rested on it."""
    items = items_at(namespace, [(seq, item) for seq, item, _ in erased.refs])
    return radius.radius(asof.now(namespace), items=items)


def refusal(by: Actor) -> tuple[str | None, Mapping[str, Any] | None]:
    """The code of why an erasure would be refused now, and the hold that forbids it."""
    try:
        gate.passes(by, gate.ERASE)
    except OnHold as error:
        hold = error.extra.get("hold")
        return error.code, hold if isinstance(hold, Mapping) else None
    except DomainError as error:
        return error.code, None
    return None, None
