"""Declarations of attributes, as of a seq."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import batched
from typing import Any
from uuid import UUID

from memory.facts.kernel.values import UNDECLARED, Spec, normal
from memory.facts.models import AttributeSpec
from memory.ledger.queries.addressed import Address
from memory.ledger.queries.contents import contents_of

CHUNK = 400


def specs_at(namespace: int, attributes: Iterable[UUID], seq: int) -> dict[UUID, Spec]:
    """{attribute: its declaration as known by the seq}; UNDECLARED where there is none."""
    wanted = sorted(set(attributes))
    newest: dict[UUID, AttributeSpec] = {}
    for start in range(0, len(wanted), CHUNK):
        rows = AttributeSpec.objects.filter(
            namespace=namespace, attribute__in=wanted[start : start + CHUNK], seq__lte=seq
        )
        newest.update({row.attribute: row for row in rows.order_by("seq", "item")})
    read = _read(namespace, list(newest.values()))
    return {attribute: read.get(attribute, UNDECLARED) for attribute in wanted}


def history(
    namespace: int, attribute: UUID, *, gone: Collection[Address] = frozenset()
) -> list[tuple[int, Spec]]:  # fmt: skip
    """(seq, declaration) of every change, in order. The pairs of the items `gone` are about to be erased."""
    rows = list(AttributeSpec.objects.filter(namespace=namespace, attribute=attribute).order_by("seq", "item"))
    pairs = _exclusive(namespace, [row for row in rows if (row.seq, row.item) not in gone])
    return [(row.seq, _spec(row, pairs.get((row.seq, row.item), []))) for row in rows]


def attributes_declared_by(namespace: int, addresses: Collection[Address]) -> list[UUID]:
    """The attributes that the items declare; other items name none."""
    found: set[UUID] = set()
    for chunk in batched(sorted(addresses), CHUNK):
        rows = AttributeSpec.objects.filter(namespace=namespace, seq__in={seq for seq, _ in chunk})
        found.update(row.attribute for row in rows if (row.seq, row.item) in addresses)
    return sorted(found)


def _read(namespace: int, rows: Sequence[AttributeSpec]) -> dict[UUID, Spec]:
    pairs = _exclusive(namespace, rows)
    return {row.attribute: _spec(row, pairs.get((row.seq, row.item), [])) for row in rows}


def _exclusive(namespace: int, rows: Sequence[AttributeSpec]) -> dict[tuple[int, int], Any]:
    addresses = [(row.seq, row.item) for row in rows if row.n_exclusive]
    if not addresses:
        return {}
    return {address: parts.get("value", []) for address, parts in contents_of(namespace, addresses).items()}


def _spec(row: AttributeSpec, pairs: Sequence[Sequence[Any]]) -> Spec:
    exclusive = frozenset(frozenset(normal(value, row.normaliser) for value in pair) for pair in pairs)
    return Spec(
        row.cardinality, row.value_type, row.normaliser, row.freshness_seconds, exclusive, seq=row.seq
    )  # fmt: skip
