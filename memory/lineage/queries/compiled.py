"""Compiled records: how they were made, what they resolve to, and whether making one again gave the same text.

- Texts are compared as they are stored, never by commitments: those are salted, so equal texts have unequal ones. What
  is erased cannot be compared; the answer is then unknown.
- Reads are as of a point; an erasure shows at every one.

Source: operating contract, R03.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import connection
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.ledger.queries.contents import contents_of, names_of
from memory.lineage.functions import BUILT_IN
from memory.lineage.models import ANCESTRY, OUTPUTS, Compilation, Edge
from memory.lineage.queries.freshness import Freshness, freshness_of, tainted_below
from memory.lineage.queries.standing import standing, standing_values
from memory.records.models import Record, Withdrawal
from memory.records.queries.detail import NO_SOURCE_TIME, RecordRow, rows_by_id

CHUNK = 400
ROOTS = 1_000
LISTED_STATES = ("stale", "deleted")


@dataclass(frozen=True, slots=True)
class Rebuild:
    """The comparison with the newest earlier record of the same function, version, output and sources.

    `is_equal` is None where a text is erased. Two texts of equal inputs that differ show that the function is not
    deterministic at this version.
    """

    of: UUID
    is_equal: bool | None
    text_digest: str
    earlier_digest: str

    @property
    def told(self) -> bool | Literal["unknown"]:
        """As the API says it."""
        return "unknown" if self.is_equal is None else self.is_equal


@dataclass(frozen=True, slots=True)
class Statement:
    """How a record was compiled, as its entry states it. A name that is erased is ""; `covers` is None for no topic."""

    record: UUID
    seq: int
    output: str
    function: str
    version: str
    redacted: bool
    covers: str | None
    inputs: str

    @property
    def runs_here(self) -> bool:
        """True if the store itself can run the function again."""
        return (self.function, self.version) in BUILT_IN


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled record as of the point. `roots` are the raw records that it resolves to, at most 1,000."""

    statement: Statement
    sources: tuple[UUID, ...]
    roots: tuple[UUID, ...]
    freshness: Freshness
    rebuild: Rebuild | None


@dataclass(frozen=True, slots=True)
class ListedCompiled:
    """One row of the list."""

    row: RecordRow
    statement: Statement
    freshness: Freshness


@dataclass(frozen=True, slots=True)
class CompiledPage:
    """One page, newest first. `hidden` counts what the default leaves out, by why; `n_stale` those tainted, of all."""

    items: tuple[ListedCompiled, ...]
    total: int
    n_stale: int
    hidden: Mapping[str, int]
    next: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A record that stands under an id, as a payload is compared with it. `content` is None where it is erased."""

    seq: int
    type: str
    content: str | None
    details: dict[str, Any]
    valid: tuple[datetime | None, datetime | None]
    recipe: list[Any] | None
    sources: tuple[UUID, ...]
    derivation: UUID | None


def outputs_of(namespace: int, records: Sequence[UUID]) -> dict[UUID, str]:
    """{record: its output} of those among the records that are compiled; every other one is raw."""
    found: dict[UUID, str] = {}
    for start in range(0, len(records), CHUNK):
        rows = Compilation.objects.filter(namespace=namespace, record__in=records[start : start + CHUNK])
        found.update(rows.values_list("record", "output"))
    return found


def standing_under(namespace: int, record: UUID) -> Standing | None:
    """What stands under the id, or None."""
    row = Record.objects.filter(namespace=namespace, id=record).first()
    if row is None:
        return None
    made = Compilation.objects.filter(namespace=namespace, record=record).first()
    texts = names_of(namespace, [row.type, *((made.function, made.version, made.covers) if made else ())])
    parts = contents_of(namespace, [(row.seq, row.item)])[row.seq, row.item]
    edges = list(Edge.objects.filter(namespace=namespace, source=record, seq=row.seq).order_by("ordinal"))
    recipe = None
    if made is not None:
        covers = texts.get(made.covers, "") if made.covers else ""
        recipe = [texts.get(made.function), texts.get(made.version), made.output, made.redacted, covers]
    return Standing(
        row.seq, texts.get(row.type, ""), parts.get("content"), parts.get("details", {}),
        (row.valid_from, row.valid_to), recipe, tuple(edge.target for edge in edges),
        edges[0].derivation if edges and made else None,
    )  # fmt: skip


def compiled(at: AsOf, *, record: UUID) -> Compiled | None:
    """How the record was compiled, and its state as of the point; None for a raw record, and for one unknown there."""
    if at.source_at is not None:
        return None
    row = Compilation.objects.filter(namespace=at.namespace, record=record, seq__lte=at.seq).first()
    if row is None:
        return None
    (statement,) = _statements(at.namespace, [row])
    edges = Edge.objects.filter(namespace=at.namespace, source=record, seq=row.seq).order_by("ordinal")
    sources = tuple(edges.values_list("target", flat=True))
    return Compiled(statement, sources, roots(at, record=record), freshness_of(at, [record])[record], rebuild(at, row))


def roots(at: AsOf, *, record: UUID) -> tuple[UUID, ...]:
    """The raw records that a compiled one resolves to, in the order of the ledger: a walk through compiled ones."""
    first = "SELECT %s::uuid" if connection.vendor == "postgresql" else "SELECT %s"
    statement = (
        f"WITH RECURSIVE up(id) AS ({first} UNION SELECT e.target FROM memory_edge e JOIN up ON e.source = up.id"
        " JOIN memory_compilation k ON k.namespace_id = e.namespace_id AND k.record = e.source"
        f" WHERE e.relation = 'merged_from' AND {standing(at, edges='e')})"
        " SELECT r.id FROM up JOIN memory_record r ON r.id = up.id"
        " LEFT JOIN memory_compilation c ON c.namespace_id = r.namespace_id AND c.record = r.id"
        " WHERE r.namespace_id = %s AND c.record IS NULL ORDER BY r.seq, r.item LIMIT %s"
    )
    rows = sql.fetch(statement, [record, *standing_values(at), at.namespace, ROOTS])
    return tuple(sql.as_id(row[0]) for row in rows)


def rebuild_of(at: AsOf, *, record: UUID) -> Rebuild | None:
    """The comparison of a compiled record with the one that it makes again; None where there is none by the point."""
    row = Compilation.objects.filter(namespace=at.namespace, record=record, seq__lte=at.seq).first()
    return None if row is None else rebuild(at, row)


def rebuild(at: AsOf, row: Compilation) -> Rebuild | None:
    """The same for a row of the table."""
    same = {name: getattr(row, name) for name in ("inputs", "function", "version", "output")}
    earlier = Compilation.objects.filter(namespace=at.namespace, seq__lt=row.seq, **same).order_by("-seq").first()
    if earlier is None:
        return None
    records = Record.objects.filter(namespace=at.namespace, id__in=[row.record, earlier.record])
    places = {one.id: (one.seq, one.item) for one in records}
    stored = contents_of(at.namespace, places.values())
    ours, theirs = (stored[places[one]].get("content") for one in (row.record, earlier.record))
    is_equal = None if ours is None or theirs is None else ours == theirs
    return Rebuild(earlier.record, is_equal, _digest(ours), _digest(theirs))


def rerun(at: AsOf, found: Compiled) -> Rebuild | None:
    """What the function makes of the sources now, beside what it made then; None where the store cannot run it.

    Nothing is written. Sources never change, so an unequal text shows a function that did, or a store that was altered.
    """
    run = BUILT_IN.get((found.statement.function, found.statement.version))
    if run is None:
        return None
    record = found.statement.record
    records = Record.objects.filter(namespace=at.namespace, id__in=[record, *found.sources])
    places = {one.id: (one.seq, one.item) for one in records}
    stored = contents_of(at.namespace, places.values())
    then, *texts = (stored[places[one]].get("content") for one in (record, *found.sources))
    whole = [text for text in texts if text is not None]
    now = run(whole) if len(whole) == len(texts) else None
    return Rebuild(record, None if now is None or then is None else now == then, _digest(now), _digest(then))


def _digest(text: str | None) -> str:
    """The SHA-256 of a text in UTF-8; "" where it is erased."""
    return "" if text is None else hashlib.sha256(text.encode()).hexdigest()


def compiled_records(
    at: AsOf, *, output: str = "", state: str = "", after: str = "", limit: int = 50
) -> CompiledPage:  # fmt: skip
    """One page of the compiled records at the point, newest first; deleted ones only where they are asked for.

    output : "" for both.   state : "", `stale` (tainted by an erasure) or `deleted`.   after : from `next`.
    Raises Invalid.
    """
    if output and output not in OUTPUTS:
        raise Invalid.at("output", expected=" or ".join(OUTPUTS), got=output)
    if state and state not in LISTED_STATES:
        raise Invalid.at("state", expected=" or ".join(LISTED_STATES), got=state)
    if after and (not after.isdecimal() or len(after) > 18):
        raise Invalid.at("after", expected="a cursor from `next`", got=after)
    every = Compilation.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    if at.source_at is not None:
        n_unclaimed = every.count()
        return CompiledPage((), 0, 0, {NO_SOURCE_TIME: n_unclaimed} if n_unclaimed else {}, "")
    every = every.filter(output=output) if output else every
    hidden = Withdrawal.objects.filter(namespace=at.namespace, record=OuterRef("record"), seq__lte=at.seq)
    every = every.annotate(is_deleted=Coalesce(Subquery(hidden.order_by("-seq").values("withdrawn")[:1]), False))
    deleted = Q(("is_deleted", True))
    stale = ~deleted & Q(record__in=RawSQL(*tainted_below(at)))  # noqa: S611 - a statement of this module
    kept = {"": ~deleted, "stale": stale, "deleted": deleted}[state]
    n_of = every.aggregate(total=Count("seq", filter=kept), stale=Count("seq", filter=stale),
                           deleted=Count("seq", filter=deleted))  # fmt: skip
    before = every.filter(seq__lt=int(after)) if after else every
    found = list(before.filter(kept).order_by("-seq")[: limit + 1])
    return CompiledPage(
        items=_listed(at, found[:limit]), total=n_of["total"], n_stale=n_of["stale"],
        hidden={"deleted": n_of["deleted"]} if n_of["deleted"] and state != "deleted" else {},
        next=str(found[limit - 1].seq) if len(found) > limit else "",
    )  # fmt: skip


def _listed(at: AsOf, rows: Sequence[Compilation]) -> tuple[ListedCompiled, ...]:
    ids = [row.record for row in rows]
    if not ids:
        return ()
    told, fresh = rows_by_id(at, ids), freshness_of(at, ids)
    return tuple(
        ListedCompiled(told[one.record], one, fresh[one.record]) for one in _statements(at.namespace, rows)
    )  # fmt: skip


def _statements(namespace: int, rows: Sequence[Compilation]) -> list[Statement]:
    names = names_of(namespace, {name for row in rows for name in (row.function, row.version, row.covers)})
    return [
        Statement(
            row.record, row.seq, row.output, names.get(row.function, ""), names.get(row.version, ""), row.redacted,
            names.get(row.covers, "") if row.covers else None, bytes(row.inputs).hex(),
        )
        for row in rows
    ]  # fmt: skip


def public_statements(at: AsOf) -> list[Statement]:
    """How every public record was made, in the order of the ledger, whatever its state."""
    rows = Compilation.objects.filter(namespace=at.namespace, output="public", seq__lte=at.seq)
    return _statements(at.namespace, list(rows.order_by("seq", "item")))


def uncontrolled(at: AsOf, records: Iterable[UUID]) -> set[UUID]:
    """The public records that rest on something raw, whatever let them: the firewall, asked of what is stored.

    records : public ones in the order of the ledger; one that rests on an uncontrolled one is uncontrolled itself.
    """
    wanted, above = list(records), defaultdict[UUID, list[UUID]](list)
    for start in range(0, len(wanted), CHUNK):
        edges = Edge.objects.filter(namespace=at.namespace, source__in=wanted[start : start + CHUNK])
        for source, target in edges.filter(relation__in=ANCESTRY).values_list("source", "target"):
            above[source].append(target)
    outputs = outputs_of(at.namespace, sorted({target for targets in above.values() for target in targets}))
    found: set[UUID] = set()
    for record in wanted:
        if not above[record] or any(target not in outputs or target in found for target in above[record]):
            found.add(record)
    return found
