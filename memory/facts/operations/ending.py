"""How a fact ends: superseded from an instant on, or retracted as wrong, outdated or a duplicate."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from memory.base import gate, instants, sql
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.errors import Conflict, Erased, Invalid, NotFound
from memory.facts.models import RETRACTED_AS, FactState, Retraction, Supersession
from memory.facts.projecting import project_change
from memory.facts.queries.status import may_see
from memory.facts.states import rows_with, word
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import OpenEntry, opened, retried
from memory.records import review

SUPERSEDE = gate.WITHDRAW


@dataclass(frozen=True, slots=True)
class Ending:
    """One item that ends a fact and the columns of its state row that it sets, but for the seq."""

    fact: UUID
    draft: Draft
    sets: dict[str, Any]
    seq_column: str


@retried
def supersede(by: Actor, *, fact: UUID, at: datetime, new: UUID | None, reason: str) -> Appended:
    """From the instant `at` on the fact holds no more; `new` took its place, where something did.

    Locks: the namespace head. Appends: `supersede_fact`.
    Raises NotFound, Erased, Conflict (superseded or retracted already, or held), Invalid (no reason, another entity,
    a circle, an instant outside the fact's interval).
    """
    _require_reason(reason)
    request = {"supersede": str(fact), "at": instants.text(at), "by": str(new) if new else None, "reason": reason}
    with opened(by, verb="supersede_fact", need=SUPERSEDE, request=request) as entry:
        if not entry.is_replay:
            old, replacing = _pair(by, fact, new)
            require_supersedable(old, entry.seq, at=at)
            if replacing is not None:
                _require_replacing(by.namespace, old, replacing, entry.seq)
            enter(entry, [superseding(fact, at=at, new=new, reason=reason)])
    return entry.answer


@retried
def retract(by: Actor, *, fact: UUID, retracted_as: str, reason: str) -> Appended:
    """Take the statement back. Locks: the namespace head. Appends: `retract`.

    Raises NotFound, Erased, Conflict (retracted already), Invalid (no reason, an unknown word).
    """
    _require_reason(reason)
    if retracted_as not in RETRACTED_AS:
        raise Invalid.at("as", expected=" or ".join(RETRACTED_AS), got=retracted_as)
    request = {"retract": str(fact), "as": retracted_as, "reason": reason}
    with opened(by, verb="retract", need=SUPERSEDE, request=request) as entry:
        if not entry.is_replay:
            row, _ = _pair(by, fact, None)
            require_retractable(row)
            ending = retracting(fact, retracted_as=retracted_as, reason=reason)
            if word(row, entry.seq) == "held":
                entry.add(review.settled(by, "fact", fact, confirmed=False))
                ending.sets["rejected_seq"] = entry.seq
            enter(entry, [ending])
    return entry.answer


def superseding(
    fact: UUID, *, at: datetime, new: UUID | None, reason: str, claimed_at: datetime | None = None
) -> Ending:
    """The item of a supersession."""
    row = {"old": fact, "new": new, "at": at, "claimed_at": claimed_at}
    sets = {"superseded_by": new, "superseded_at": at, "superseded_claimed_at": claimed_at}
    return Ending(fact, Draft("supersession", fact, Supersession, row, {"note": reason}), sets, "superseded_seq")


def retracting(fact: UUID, *, retracted_as: str, reason: str, claimed_at: datetime | None = None) -> Ending:
    """The item of a retraction."""
    row = {"fact": fact, "retracted_as": retracted_as, "claimed_at": claimed_at}
    sets = {"retracted_as": retracted_as, "retracted_claimed_at": claimed_at}
    return Ending(fact, Draft("retraction", fact, Retraction, row, {"note": reason}), sets, "retracted_seq")


def enter(entry: OpenEntry, endings: list[Ending]) -> None:
    """Add the items and change the derived rows after the entry."""
    entry.add(*(ending.draft for ending in endings))
    changes: dict[UUID, dict[str, Any]] = {}
    for ending in endings:
        changes.setdefault(ending.fact, {}).update(ending.sets, **{ending.seq_column: entry.seq})
    entry.then(lambda: project_change(entry.by.namespace, entry.seq, changes))


def require_supersedable(row: FactState, seq: int, *, at: datetime) -> None:
    """Raise unless the fact can end at the instant."""
    require_retractable(row)
    if row.superseded_seq is not None:
        raise Conflict(f"{row.id} is superseded already, from {_shown(row.superseded_at)} on.", id=str(row.id))
    if word(row, seq) == "held":
        raise Conflict(f"{row.id} is held for a review; reject it instead.", id=str(row.id))
    if at < row.valid_from:
        # At its beginning is the earliest: there it was never true, and a supersession corrects it whole.
        expected = f"an instant from the fact's beginning on, {_shown(row.valid_from)}"
        raise Invalid.at("at", expected=expected, got=_shown(at))
    if row.valid_to is not None and at >= row.valid_to:
        raise Invalid.at("at", expected=f"an instant before the fact ends, {_shown(row.valid_to)}", got=_shown(at))


def require_retractable(row: FactState) -> None:
    """Raise where the fact has ended already."""
    if row.erased_seq is not None:
        raise Erased(f"The fact {row.id} is erased.", id=str(row.id))
    if row.retracted_seq is not None:
        raise Conflict(f"{row.id} is retracted already, as {row.retracted_as}.", id=str(row.id))
    if row.rejected_seq is not None:
        raise Conflict(f"{row.id} was turned down by a review.", id=str(row.id))


def _require_replacing(namespace: int, old: FactState, new: FactState, seq: int) -> None:
    if (old.subject, old.attribute) != (new.subject, new.attribute):
        raise Invalid.at("by", expected="a fact of the same subject and attribute", got=new.id)
    if new.retracted_seq is not None or new.erased_seq is not None or new.rejected_seq is not None:
        raise Conflict(f"{new.id} does not stand any more, so nothing is superseded by it.", id=str(new.id))
    if word(new, seq) in ("held", "candidate"):
        raise Conflict(f"{new.id} counts for nothing yet ({word(new, seq)}), so it supersedes nothing.", id=str(new.id))
    if _leads_to(namespace, new.id, old.id):
        raise Invalid.at("by", expected="a fact that this one did not replace itself", got=new.id, code="cycle")


def _leads_to(namespace: int, start: UUID, end: UUID) -> bool:
    """Whether the one was replaced by the other, by way of any others; one statement, however long the way."""
    key = "%s::uuid" if connection.vendor == "postgresql" else "%s"
    rows = sql.fetch(
        f"WITH RECURSIVE later(id) AS (SELECT {key} UNION SELECT f.superseded_by FROM later l CROSS JOIN"
        " memory_factstate f WHERE f.namespace_id = %s AND f.id = l.id AND f.superseded_by IS NOT NULL)"
        f" SELECT count(*) FROM later WHERE id = {key}",
        [start, namespace, end],
    )
    return bool(rows[0][0])


def _pair(by: Actor, fact: UUID, new: UUID | None) -> tuple[FactState, FactState | None]:
    if fact == new:
        raise Invalid.at("by", expected="another fact than the one that ends", got=new)
    rows = rows_with(by.namespace, [fact] if new is None else [fact, new])
    for wanted in (fact, new):
        # What is held exists for people and for its author: no other agent can turn it down or learn that it is there.
        if wanted is not None and (wanted not in rows or not may_see(rows[wanted], _word_now(rows[wanted]), by)):
            raise NotFound(f"There is no fact {wanted}.")
    return rows[fact], None if new is None else rows[new]


def _word_now(row: FactState) -> str:
    return word(row, sys.maxsize)


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise Invalid.at("reason", expected="why, in a few words")


def _shown(instant: datetime | None) -> str:
    return "" if instant is None else instants.text(instant)
