"""Declaring attributes: how many values, of which type, compared how, and how long a statement stays fresh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.base import gate
from memory.base.actor import Actor
from memory.base.canonical import canonical
from memory.base.errors import Forbidden, Invalid, StaleVersion
from memory.facts import cases
from memory.facts.kernel.values import Value, fits, normal
from memory.facts.models import AttributeSpec, ConflictCase
from memory.ledger.drafts import Draft
from memory.ledger.models import Item
from memory.ledger.operations.appending import OpenEntry, book_for, opened, retried
from memory.ledger.queries.contents import contents_of

MOST_PAIRS = 200


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is declared of an attribute. `exclusive` are pairs of values that cannot both hold."""

    cardinality: str
    value_type: str | None = None
    normaliser: str = "exact"
    freshness_seconds: int | None = None
    exclusive: tuple[tuple[Value, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """The answer: the declaration's digest, which is the version to name when it is changed."""

    attribute: str
    declaration: Declaration
    digest: bytes
    seq: int
    replayed: bool


@retried
def declare(by: Actor, *, attribute: str, declaration: Declaration, base: str = "") -> Declared:
    """Declare an attribute. The same declaration again changes nothing; another one in its place is an owner's act.

    Locks: the namespace head. Appends: `declare_attribute`.   base : the digest of the declaration that is known.
    Raises Invalid (pairs), Forbidden (what would settle a conflict, by anybody but an owner), StaleVersion.
    """
    _require_pairs(declaration)
    book = book_for(by)
    book.learn([attribute])
    name = book.id(attribute)
    assert name is not None
    request = {"attribute": attribute, **_as_json(declaration), "base": base}
    with opened(by, verb="declare_attribute", need=gate.WRITE, request=request, names=book) as entry:
        standing = in_force(by.namespace, name)
        if entry.replayed_seq is not None:
            first = AttributeSpec.objects.get(namespace=by.namespace, seq=entry.replayed_seq)
            return Declared(attribute, declaration, _digest(first), first.seq, replayed=True)
        if standing is not None and base and base != _digest(standing).hex():
            raise StaleVersion(
                f"{attribute} is declared otherwise by now.", current={"digest": _digest(standing).hex()}
            )
        if standing is not None and _same(declaration_of(standing), declaration):
            entry.void()
            return Declared(attribute, declaration, _digest(standing), standing.seq, replayed=True)
        if standing is not None and not by.may("own"):
            # An agent could else settle any conflict by declaring it away.
            raise Forbidden(f"{attribute} is declared by entry {standing.seq}; only an owner changes a declaration.")
        if declaration.freshness_seconds is not None and not by.may("own") and _has_cases(by.namespace, name):
            raise Forbidden(f"{attribute} is in conflict; only an owner declares now that its facts expire.")
        enter(entry, name, declaration)
    written = in_force(by.namespace, name)
    assert written is not None
    return Declared(attribute, declaration, _digest(written), entry.seq, replayed=False)


def enter(entry: OpenEntry, attribute: UUID, declaration: Declaration) -> None:
    """Add the item; cases of the attribute are worked out anew after the entry."""
    row = {
        "attribute": attribute, "cardinality": declaration.cardinality, "value_type": declaration.value_type,
        "normaliser": declaration.normaliser, "freshness_seconds": declaration.freshness_seconds,
        "n_exclusive": len(declaration.exclusive),
    }  # fmt: skip
    parts = {"value": [list(pair) for pair in declaration.exclusive]} if declaration.exclusive else {}
    entry.add(Draft("attribute_spec", attribute, AttributeSpec, row, parts))
    entry.then(lambda: cases.renew(entry.by.namespace, attribute))


def in_force(namespace: int, attribute: UUID, *, seq: int | None = None) -> AttributeSpec | None:
    """The newest declaration of the attribute, by the seq where one is named."""
    rows = AttributeSpec.objects.filter(namespace=namespace, attribute=attribute)
    if seq is not None:
        rows = rows.filter(seq__lte=seq)
    return rows.order_by("-seq", "-item").first()


def _has_cases(namespace: int, attribute: UUID) -> bool:
    rows = ConflictCase.objects.filter(namespace=namespace, attribute=attribute, closed_seq__isnull=True)
    return rows.exists()


def declaration_of(row: AttributeSpec) -> Declaration:
    """The declaration that the row stands for; pairs whose text is erased are gone."""
    pairs: Sequence[Any] = ()
    if row.n_exclusive:
        pairs = contents_of(row.namespace_id, [(row.seq, row.item)])[row.seq, row.item].get("value", [])
    return Declaration(
        row.cardinality, row.value_type, row.normaliser, row.freshness_seconds,
        tuple((pair[0], pair[1]) for pair in pairs),
    )  # fmt: skip


def _same(one: Declaration, other: Declaration) -> bool:
    """As canonical bytes: in Python true equals 1."""
    return canonical(_as_json(one)) == canonical(_as_json(other))


def _digest(row: AttributeSpec) -> bytes:
    item = Item.objects.get(namespace=row.namespace_id, seq=row.seq, item=row.item)
    return bytes(item.commitment)


def _require_pairs(declaration: Declaration) -> None:
    if len(declaration.exclusive) > MOST_PAIRS:
        raise Invalid.at("exclusive", expected=f"at most {MOST_PAIRS} pairs", got=len(declaration.exclusive))
    for index, (one, other) in enumerate(declaration.exclusive):
        if normal(one, declaration.normaliser) == normal(other, declaration.normaliser):
            raise Invalid.at("exclusive", index, expected="two different values", got=one)
        for value in (one, other):
            if not fits(value, declaration.value_type):
                raise Invalid.at("exclusive", index, expected=f"values of type {declaration.value_type}", got=value)


def _as_json(declaration: Declaration) -> dict[str, Any]:
    return {
        "cardinality": declaration.cardinality, "value_type": declaration.value_type,
        "normaliser": declaration.normaliser, "freshness_seconds": declaration.freshness_seconds,
        "exclusive": [list(pair) for pair in declaration.exclusive],
    }  # fmt: skip
