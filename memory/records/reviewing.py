"""Writes of reviews: confirm, reject, and the lapse of what nobody reviewed in time. People's acts, and the clock's.

Invariants
- One act is one entry, however many things it speaks of and whatever their kinds; all or nothing.
- Confirming and turning down need the power to review, which no token has. Whoever holds it did not write what is held,
  since only agents' writes are held.
- What is turned down or lapsed is hidden as anything withdrawn is, stays readable, and waits no more.
- Past its date nothing can be confirmed, whether or not the lapse has been written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from memory.base import clock, gate
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.errors import Conflict, DomainError, Erased, Invalid, NotFound
from memory.ledger.models import Item
from memory.ledger.operations.appending import OpenEntry, opened, retried
from memory.records.models import NOT_REVIEWED, Held, Review
from memory.records.review import kind_named, project_after, review_draft, waiting

CHUNK = 400
MOST = 1_000
LAPSED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """A held thing: its kind and id."""

    kind: str
    id: UUID


@dataclass(frozen=True, slots=True)
class Preview:
    """What a review would append: `n_items` of one entry."""

    n_confirmed: int
    n_rejected: int
    n_items: int

    @property
    def words(self) -> str:
        """What it would do, for people."""
        entry = f"appends 1 entry of {self.n_items} item{'' if self.n_items == 1 else 's'}"
        return f"confirms {self.n_confirmed}, rejects {self.n_rejected}, {entry}"


@retried
def review(by: Actor, *, confirm: Sequence[Target] = (), reject: Sequence[Target] = (), reason: str = "") -> Appended:
    """Confirm held things and turn others down, as one entry. People only.

    Locks: the namespace head. Appends: `confirm`, `reject`, or `review` for both; an item `review` for each thing, and
    what hides it for each one turned down.
    Raises Forbidden, Invalid (nothing named, one twice, rejecting without a reason), NotFound, Conflict (not held,
    reviewed before, past its date), Erased.
    """
    _require_request(confirm, reject, reason)
    verb = "review" if confirm and reject else "confirm" if confirm else "reject"
    request = {"confirm": _named(confirm), "reject": _named(reject), "reason": reason}
    with opened(by, verb=verb, need=gate.REVIEW, request=request) as entry:
        if entry.is_replay:
            return entry.answer
        _require_waiting(by.namespace, [*confirm, *reject], entry.recorded_at)
        _settle(entry, confirm, confirmed=True, cause="person", reason=reason)
        _settle(entry, reject, confirmed=False, cause="person", reason=reason)
    return entry.answer


def preview(by: Actor, *, confirm: Sequence[Target] = (), reject: Sequence[Target] = ()) -> Preview:
    """What `review` would append; nothing is written.   Raises as `review` does, but asks for no reason."""
    gate.passes(by, gate.REVIEW)
    _require_request(confirm, reject, reason="any")
    _require_waiting(by.namespace, [*confirm, *reject], by.event_at or clock.now())
    n_hiding = sum(kind_named(target.kind).hide is not None for target in reject)
    return Preview(len(confirm), len(reject), len(confirm) + len(reject) + n_hiding)


@retried
def lapse(by: Actor) -> Appended | None:
    """Withdraw what nobody reviewed by its date, at most LAPSED_AT_ONCE; None where nothing is due. The system's act.

    Locks: the namespace head. Appends: `lapse`.
    """
    with opened(by, verb="lapse", need=gate.WRITE) as entry:
        overdue = waiting(by.namespace).filter(until_at__lte=entry.recorded_at).order_by("until_at", "seq", "item")
        targets = [Target(*row) for row in overdue.values_list("kind", "object")[:LAPSED_AT_ONCE]]
        if not targets:
            entry.void()
            return None
        _settle(entry, targets, confirmed=False, cause="lapse", reason=NOT_REVIEWED)
    return entry.answer


def overdue(now: datetime) -> list[int]:
    """The namespaces in which something held is past its date; a replay's clock is its loader's, a closed one ends."""
    open_ones = {"namespace__clock": "host", "namespace__head__closed_seq": None}
    rows = Held.objects.filter(until_at__lte=now, **open_ones).order_by("namespace")
    namespaces = rows.values_list("namespace", flat=True).distinct()
    return [one for one in namespaces if waiting(one).filter(until_at__lte=now).exists()]


def _require_request(confirm: Sequence[Target], reject: Sequence[Target], reason: str) -> None:
    named = [*confirm, *reject]
    if not 1 <= len(named) <= MOST:
        raise Invalid.at("confirm", expected=f"1 to {MOST} held things to confirm or reject", got=len(named))
    if len(set(named)) < len(named):
        raise Invalid.at("confirm", expected="each thing once")
    if reject and not reason.strip():
        raise Invalid.at("reason", expected="why it is turned down, in a few words")


def _require_waiting(namespace: int, targets: Sequence[Target], instant: datetime) -> None:
    """Raise the first refusal: unknown, never held, reviewed before, erased, past its date."""
    ids = [target.id for target in targets]
    held = {Target(row.kind, row.object): row for row in _among(Held.objects.filter(namespace=namespace), ids)}
    waits = {Target(row.kind, row.object) for row in _among(waiting(namespace), ids)}
    for target in targets:
        row = held.get(target)
        if row is None:
            if Item.objects.filter(namespace=namespace, kind=target.kind, object=target.id).exists():
                raise Conflict(f"The {target.kind} {target.id} is not held.", id=str(target.id))
            raise NotFound(f"There is no {target.kind} {target.id}.", id=str(target.id))
        if target not in waits:
            raise _settled_before(namespace, target)
        if row.until_at is not None and row.until_at <= instant:
            raise Conflict(f"The {target.kind} {target.id} was {NOT_REVIEWED}.", id=str(target.id))


def _among(rows: QuerySet[Held], ids: Sequence[UUID]) -> Iterator[Held]:
    for start in range(0, len(ids), CHUNK):
        yield from rows.filter(object__in=ids[start : start + CHUNK])


def _settled_before(namespace: int, target: Target) -> DomainError:
    reviews = Review.objects.filter(namespace=namespace, kind=target.kind, object=target.id).order_by("-seq")
    last = reviews.first()
    if last is None:
        return Erased(f"The {target.kind} {target.id} is erased.", id=str(target.id))
    word = "confirmed" if last.confirmed else "turned down"
    return Conflict(f"The {target.kind} {target.id} was {word} already, by entry {last.seq}.", id=str(target.id))


def _settle(entry: OpenEntry, targets: Sequence[Target], *, confirmed: bool, cause: str, reason: str) -> None:
    for name in sorted({target.kind for target in targets}):
        kind, ids = kind_named(name), [target.id for target in targets if target.kind == name]
        hides = not confirmed and kind.hide is not None
        note = "" if hides else reason
        entry.add(*(review_draft(name, one, confirmed=confirmed, cause=cause, note=note) for one in ids))
        if hides and kind.hide is not None:
            kind.hide(entry, ids, reason)
        project_after(entry, kind, ids if confirmed else (), () if confirmed else ids)


def _named(targets: Sequence[Target]) -> list[list[str]]:
    return sorted([target.kind, str(target.id)] for target in targets)
