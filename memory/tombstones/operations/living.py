"""What happens to a tombstone after it was buried: evidence, verdicts on its blocks, turns that owners give it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.base import gate, ids, instants
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.asof import AsOf
from memory.base.errors import Conflict, Invalid, NotFound, Place
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import OpenEntry, book_for, opened, retried
from memory.ledger.operations.referring import reference_drafts
from memory.ledger.queries.contents import contents_of
from memory.tombstones.keeping import kept
from memory.tombstones.kernel.life import Standing
from memory.tombstones.kernel.scope import folded
from memory.tombstones.lives import standings
from memory.tombstones.models import (
    EVIDENCE,
    BlockVerdict,
    RevivalCondition,
    RevivalEvidence,
    RouteHit,
    Tombstone,
    TombstoneTurn,
)


@dataclass(frozen=True, slots=True)
class Filed:
    """The answer to evidence: which condition it speaks for."""

    id: UUID
    position: int
    seq: int
    replayed: bool = False


@retried
def file_evidence(
    by: Actor, *, tombstone: UUID, condition: str, valid_until: datetime, origin: str = "", note: str = "",
    references: Sequence[UUID] = (),
) -> Filed:  # fmt: skip
    """Evidence that a condition holds until an instant. `condition` is its text, or #1, #2 and so on.

    Locks: the namespace head. Appends: `file_evidence`. Raises NotFound (tombstone, reference), Invalid (no such
    condition, an instant that has passed), Conflict (retired), Forbidden, Stopped.
    """
    book = book_for(by)
    root = " ".join(origin.split())
    book.learn([root])
    request = {
        "tombstone": str(tombstone), "condition": condition, "valid_until": instants.text(valid_until),
        "origin": root, "note": note, "references": [str(one) for one in references],
    }  # fmt: skip
    with opened(by, verb="file_evidence", need=gate.WRITE, request=request, names=book) as entry:
        if entry.replayed_seq is not None:
            first = RevivalEvidence.objects.get(namespace=by.namespace, seq=entry.replayed_seq)
            return Filed(first.id, first.position, first.seq, replayed=True)
        _, now = _standing(by, entry, tombstone)
        if now.state == "retired":
            raise Conflict("It is retired: nothing can be filed for it any more.")
        if valid_until <= entry.recorded_at:
            raise Invalid.at("valid_until", expected="an instant to come", got=instants.text(valid_until))
        position = _position(by.namespace, tombstone, condition)
        identity = ids.new_id()
        row = {
            "id": identity, "tombstone": tombstone, "position": position, "origin": book.id(root),
            "valid_until": valid_until,
        }  # fmt: skip
        parts = {"note": note} if note else {}
        _add(entry, Draft("revival_evidence", identity, RevivalEvidence, row, parts), references)
    return Filed(identity, position, entry.seq)


def _position(namespace: int, tombstone: UUID, condition: str) -> int:
    """The number of the condition.   Raises Invalid (none of that text or number)."""
    rows = RevivalCondition.objects.filter(namespace=namespace, tombstone=tombstone).order_by("position")
    texts = _texts(namespace, list(rows))
    named = {folded(text): at for at, text in texts.items() if text is not None}
    found = named.get(folded(condition), {f"#{at}": at for at in texts}.get(condition.strip()))
    if found is None:
        known = "; ".join(f"#{at} {text or '(erased)'}" for at, text in texts.items())
        raise Invalid.at("condition", expected=f"one of its conditions: {known}"[:400], got=condition)
    return found


def _texts(namespace: int, rows: Sequence[RevivalCondition]) -> dict[int, str | None]:
    told = contents_of(namespace, [(row.seq, row.item) for row in rows])
    return {row.position: told[row.seq, row.item].get("content") for row in rows}


@retried
def judge_block(
    by: Actor, *, tombstone: UUID, is_false: bool, check: UUID | None = None, note: str = "",
    references: Sequence[UUID] = (),
) -> Appended:  # fmt: skip
    """Say of a block that it was false, or right. A report of a false block may name no check.

    Locks: the namespace head. Appends: `judge_block`. Raises NotFound (tombstone, reference), Invalid (no block of this
    tombstone), Conflict (said already), Forbidden, Stopped.
    """
    request = {
        "tombstone": str(tombstone), "false": is_false, "check": None if check is None else str(check), "note": note,
        "references": [str(one) for one in references],
    }  # fmt: skip
    with opened(by, verb="judge_block", need=gate.WRITE, request=request) as entry:
        if entry.is_replay:
            return entry.answer
        require(by.namespace, tombstone)
        if check is None and not is_false:
            raise Invalid.at("check", expected="the check that it blocked rightly", code="missing")
        if check is not None:
            _require_unsaid(by.namespace, tombstone, check, is_false=is_false)
        row = {"tombstone": tombstone, "route_check": check, "is_false": is_false}
        _add(entry, Draft("block_verdict", tombstone, BlockVerdict, row, {"note": note} if note else {}), references)
    return entry.answer


def _require_unsaid(namespace: int, tombstone: UUID, check: UUID, *, is_false: bool) -> None:
    hits = RouteHit.objects.filter(namespace=namespace, tombstone=tombstone, route_check=check, reason="blocked")
    if not hits.exists():
        raise Invalid.at("check", expected="a check that this tombstone blocked", got=check)
    said = BlockVerdict.objects.filter(namespace=namespace, tombstone=tombstone, route_check=check).order_by("-seq")
    if said.values_list("is_false", flat=True).first() == is_false:
        raise Conflict(f"This block is said to be {'false' if is_false else 'right'} already.")


@retried
def revive(by: Actor, *, tombstone: UUID, note: str = "") -> Appended:
    """Open the route for its re-test. Owners only, and only while every condition is met.

    Locks: the namespace head. Appends: `revive`. Raises NotFound, Invalid (`revival_unmet`, each condition that is not
    met), Conflict (retired, or revived already), Forbidden.
    """
    with opened(by, verb="revive", need=gate.OWN, request=["revive", str(tombstone), note]) as entry:
        if entry.is_replay:
            return entry.answer
        _, now = _standing(by, entry, tombstone)
        _require_state(now, "active", "audit_only")
        if now.unmet:
            raise _unmet(by.namespace, tombstone, now)
        _turn(entry, tombstone, "revive", note=note)
    return entry.answer


def _unmet(namespace: int, tombstone: UUID, now: Standing) -> Invalid:
    rows = RevivalCondition.objects.filter(namespace=namespace, tombstone=tombstone)
    texts = _texts(namespace, list(rows))
    unmet = sorted((texts[at] or f"condition {at}", at) for at in now.unmet)
    marks = {one.position: one.mark for one in now.conditions}
    places = [
        Place(("revival", at - 1), "revival_unmet", f"met, by evidence that is valid now; it is {marks[at]}", text)
        for text, at in unmet
    ]
    return Invalid(f"Not every condition is met: {', '.join(text for text, _ in unmet)}.", errors=places)


@retried
def retest(
    by: Actor, *, tombstone: UUID, passed: bool, note: str = "", next_at: datetime | None = None,
    references: Sequence[UUID] = (),
) -> Appended:  # fmt: skip
    """What the re-test of a revived route showed: retired if it passed, else active again with one more failure.

    `next_at` is when to look again after a failure. Owners only. Locks: the namespace head. Appends: `retest`.
    Raises NotFound, Conflict (not revived), Invalid (a next date after a pass), Forbidden.
    """
    if passed and next_at is not None:
        raise Invalid.at("next_at", expected="nothing: what passed is retired", got=instants.text(next_at))
    request = ["retest", str(tombstone), passed, note, instants.text_or_none(next_at), [str(one) for one in references]]
    with opened(by, verb="retest", need=gate.OWN, request=request) as entry:
        if entry.is_replay:
            return entry.answer
        _, now = _standing(by, entry, tombstone)
        _require_state(now, "revival_testing")
        kind = "retest_passed" if passed else "retest_failed"
        _turn(entry, tombstone, kind, note=note, due_at=next_at, references=references)
    return entry.answer


@retried
def retire(by: Actor, *, tombstone: UUID, reason: str) -> Appended:
    """End a tombstone; its whole life stays. Owners only.

    Locks: the namespace head. Appends: `retire`. Raises NotFound, Invalid (no reason), Conflict (retired), Forbidden.
    """
    if not reason.strip():
        raise Invalid.at("reason", expected="why, in a few words")
    with opened(by, verb="retire", need=gate.OWN, request=["retire", str(tombstone), reason]) as entry:
        if entry.is_replay:
            return entry.answer
        _, now = _standing(by, entry, tombstone)
        _require_state(now, "active", "audit_only", "revival_testing")
        _turn(entry, tombstone, "retire", note=reason)
    return entry.answer


@retried
def keep(by: Actor, *, tombstone: UUID, review_at: datetime, reason: str) -> Appended:
    """Let a tombstone stand after its review, until another date. Owners only.

    Locks: the namespace head. Appends: `keep`. Raises NotFound, Invalid (no reason, a date that has passed), Conflict
    (retired), Forbidden.
    """
    if not reason.strip():
        raise Invalid.at("reason", expected="why, in a few words")
    request = ["keep", str(tombstone), instants.text(review_at), reason]
    with opened(by, verb="keep", need=gate.OWN, request=request) as entry:
        if entry.is_replay:
            return entry.answer
        _, now = _standing(by, entry, tombstone)
        _require_state(now, "active", "audit_only", "revival_testing")
        if review_at <= entry.recorded_at:
            raise Invalid.at("review_at", expected="an instant to come", got=instants.text(review_at))
        _turn(entry, tombstone, "keep", note=reason, due_at=review_at)
    return entry.answer


def require(namespace: int, tombstone: UUID) -> Tombstone:
    """The row.   Raises NotFound."""
    found = Tombstone.objects.filter(namespace=namespace, id=tombstone).first()
    if found is None:
        raise NotFound(f"There is no dead end {tombstone}.")
    return found


def _standing(by: Actor, entry: OpenEntry, tombstone: UUID) -> tuple[Tombstone, Standing]:
    """The tombstone as it stands before this entry, at its instant."""
    row = require(by.namespace, tombstone)
    at = AsOf(by.namespace, seq=entry.seq - 1, head=entry.seq - 1, valid_at=entry.recorded_at)
    return row, standings(at, [row], kept(at, [row]))[row.id]


def _require_state(now: Standing, *states: str) -> None:
    if now.state not in states:
        wanted = " or ".join(state.replace("_", " ") for state in states)
        raise Conflict(f"It is {now.state.replace('_', ' ')}; this act asks for {wanted}.", state=now.state)


def _turn(
    entry: OpenEntry, tombstone: UUID, kind: str, *, note: str = "", due_at: datetime | None = None,
    references: Sequence[UUID] = (),
) -> None:  # fmt: skip
    row = {"tombstone": tombstone, "kind": kind, "due_at": due_at}
    parts = {"note": note} if note else {}
    _add(entry, Draft("tombstone_turn", tombstone, TombstoneTurn, row, parts), references)


def _add(entry: OpenEntry, draft: Draft, references: Sequence[UUID]) -> None:
    index = entry.add(draft)
    entry.add(*reference_drafts(entry.by, from_item=index, to=references, kind=EVIDENCE))
