"""Relation types as they are bound: the law of each, how its observations are read, and the cost of reading it once.

- A relation type has one law for good, so that a law which was read stays right. It is found by its text, as it stands
  in the store: an erased one is found no more, and the process that erases it forgets what it had read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast
from uuid import UUID

from memory.base import sql
from memory.base.canonical import strict_loads
from memory.base.errors import Erased, NotFound, Place
from memory.beliefs.kernel.laws import Law, fingerprint, parse_law

KEPT_LAWS = 64
_COLUMNS = "r.relation_type, r.seq, r.item, r.lineage_key, r.prior_support, r.has_zero_floor, r.is_attested"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation type: its law (None once erased) and its settings. `name` is the id of its name."""

    name: UUID
    text: str
    seq: int
    item: int
    law: Law | None
    fingerprint: str
    lineage_key: str
    prior_support: str
    has_zero_floor: bool
    is_attested: bool

    @property
    def standing_law(self) -> Law:
        """The law.   Raises Erased."""
        if self.law is None:
            raise Erased(f"The law of the relation type {self.text} is erased.", relation_type=self.text)
        return self.law


def relations(namespace: int, *, seq: int, texts: Iterable[str] | None = None) -> dict[str, Relation]:
    """The relation types bound by entry `seq`, by their names; all, or those of `texts`. One query."""
    wanted = None if texts is None else sorted(set(texts))
    if wanted is not None and not wanted:
        return {}
    only = "" if wanted is None else f" AND n.text IN ({', '.join(['%s'] * len(wanted))})"
    rows = sql.fetch(
        f"SELECT n.text, c.payload, {_COLUMNS} FROM memory_relationlaw r"
        " JOIN memory_name n ON n.namespace_id = r.namespace_id AND n.id = r.relation_type"
        " LEFT JOIN memory_content c ON c.namespace_id = r.namespace_id AND c.seq = r.seq AND c.item = r.item"
        f" AND c.part = 'value' WHERE r.namespace_id = %s AND r.seq <= %s{only} ORDER BY r.seq, r.item",
        [namespace, seq, *(wanted or [])],
    )
    return {text: _relation(text, payload, row) for text, payload, *row in rows}


def relation_named(namespace: int, text: str, *, seq: int) -> Relation:
    """The relation type of that name.   Raises NotFound."""
    found = relations(namespace, seq=seq, texts=[text]).get(text)
    if found is None:
        raise no_law(text)
    return found


def no_law(text: str) -> NotFound:
    """Nothing is bound to that name."""
    place = Place(("relation_type",), "not_found", "a relation type with a law", text[:60])
    return NotFound(
        f"The relation type {text} has no law here; bind one by PUT /relations/{text}.", errors=(place,),
        relation_type=text,
    )  # fmt: skip


def relations_by_id(namespace: int) -> Mapping[UUID, Relation]:
    """Every relation type, for whatever is made anew. One whose name is erased goes by ""."""
    rows = sql.fetch(
        f"SELECT COALESCE(n.text, ''), c.payload, {_COLUMNS} FROM memory_relationlaw r"
        " LEFT JOIN memory_name n ON n.namespace_id = r.namespace_id AND n.id = r.relation_type"
        " LEFT JOIN memory_content c ON c.namespace_id = r.namespace_id AND c.seq = r.seq AND c.item = r.item"
        " AND c.part = 'value' WHERE r.namespace_id = %s",
        [namespace],
    )
    found = (_relation(text, payload, row) for text, payload, *row in rows)
    return {one.name: one for one in found}


def _relation(text: str, payload: str | None, row: Sequence[Any]) -> Relation:
    name, seq, item, lineage_key, prior_support, has_zero_floor, is_attested = row
    law, digest = (None, "") if payload is None else _read(payload)
    return Relation(
        sql.as_id(name), text, seq, item, law, digest, lineage_key, prior_support, bool(has_zero_floor),
        bool(is_attested),
    )  # fmt: skip


def forget_laws() -> None:
    """Keep no law that was read, since the text of one goes."""
    _read.cache_clear()
    fingerprint.cache_clear()


@lru_cache(maxsize=KEPT_LAWS)
def _read(payload: str) -> tuple[Law, str]:
    """Validated once, at binding; the text that asks for it is what stands in the store now."""
    law = parse_law(cast(Mapping[str, Any], strict_loads(payload)))
    return law, fingerprint(law)
