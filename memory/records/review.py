"""Held memories: what a review policy keeps out of sight until a person, or enough independent origins, confirm it.

Invariants
- Only what an agent writes is held; a person has looked by writing, and the system repeats what others wrote.
- A held thing and its Held row are items of one entry, so it is never seen unheld. It ends waiting by a Review row.
- Nothing rests on a held thing: derivations, links and references that name one are refused, and so are derivations
  that the policy would hold, since they would take their sources out of sight before anybody looked.
- Two words are independent where neither a writer nor an origin ties them, also by way of others. An agent names its
  origins itself, so one agent with two names of origins is one word; two agents that relay one origin are one origin.
  What names no origin goes back to its writer where it is first-hand, and to nothing known where it is not.
- What a person turned down is not confirmed by any number of origins that repeat it.
- To agents other than its author, what waits does not exist: neither its text nor its names, by whatever door.
- The functions speak of a kind and ids; a slice above registers its kind by `reviewed`.

Source: laws of the store, "Review policy".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import models
from django.db.models import Exists, OuterRef

from memory.agents.policies import policy_for
from memory.agents.policy import Policy, Write
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.base.errors import Conflict, DomainError, NotFound
from memory.ledger.drafts import Draft
from memory.ledger.models import Entry, Erasure, Item
from memory.ledger.operations.appending import OpenEntry
from memory.ledger.queries.addressed import Address
from memory.records.models import Held, Review


@dataclass(frozen=True, slots=True)
class Statement:
    """What is written, as a policy and its origins see it. `item` is its place in the entry.

    `same` is what statements share that say the same: the digest of a text, or of a subject, attribute and value.
    """

    kind: str
    object: UUID
    item: int
    same: bytes
    source_class: str
    origin: str = ""
    type: str = ""
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class Peer:
    """A stored statement that says the same. `waits` for origins, or was `turned_down` by a person.

    `writer` is the agent's id or the person's number as text.
    """

    object: UUID
    writer: str
    origin: str
    waits: bool = False
    turned_down: bool = False


@dataclass(frozen=True, slots=True)
class Holding:
    """How a statement of this entry is held. `until_at` is its last instant, exclusive; `confirmed` by its origins."""

    until_at: datetime | None
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Near:
    """The memory that stands and comes nearest to a held one."""

    id: UUID
    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A held thing as a person reviews it: what it says, of what kind it is, and what comes nearest to it."""

    text: str
    word: str
    near: Near | None


@dataclass(frozen=True, slots=True)
class Kind:
    """What a slice tells of its kind of held things.

    peers : the standing statements that share each of the digests; asked under the lock, before the entry is written.
    hide : further items that hide the things turned down, given the entry, their ids and the reason; None where the
        review alone hides them, which then keeps the reason.
    shown : what reviewers read of the things, at a point; nothing is said of a kind that has none.
    project : changes the derived rows after the entry: its namespace, its seq, the ids confirmed, the ids turned down.
    """

    name: str
    peers: Callable[[int, Sequence[bytes]], Mapping[bytes, Sequence[Peer]]]
    hide: Callable[[OpenEntry, Sequence[UUID], str], None] | None
    project: Callable[[int, int, Sequence[UUID], Sequence[UUID]], None]
    shown: Callable[[AsOf, Sequence[UUID]], Mapping[UUID, Shown]] | None = None


_kinds: dict[str, Kind] = {}


def reviewed(kind: Kind) -> None:
    """Register a kind of things that can be held."""
    _kinds[kind.name] = kind


def kind_named(name: str) -> Kind:
    """The registered kind.   Raises KeyError."""
    return _kinds[name]


def origin_of(source_class: str, origin: str, writer: str) -> str:
    """The origin that a statement counts for; "" where none is known."""
    named = " ".join(origin.split()).casefold()
    if named:
        return named
    return f"writer {writer}" if source_class == "first_hand" else ""


def writer_of(agent: UUID | None, person: int | None) -> str:
    """What tells writers apart."""
    return str(agent) if agent is not None else f"person {person}"


def independent(pairs: Iterable[tuple[str, str]]) -> bool:
    """True if the (writer, origin) pairs fall into two groups that share no writer and no origin.

    A pair without an origin counts for none.
    """
    known = sorted({pair for pair in pairs if pair[1]})
    tied = {known[0]} if known else set()
    grown = True
    while grown:
        ends = {name for writer, origin in tied for name in (("writer", writer), ("origin", origin))}
        reached = {pair for pair in known if ("writer", pair[0]) in ends or ("origin", pair[1]) in ends}
        grown, tied = len(reached) > len(tied), reached
    return len(tied) < len(known)


def hold(entry: OpenEntry, statements: Sequence[Statement]) -> dict[UUID, Holding]:
    """Hold what the policy of the namespace holds of these statements, and confirm what they confirm.

    Call it under the lock, once the statements are items of the entry and before it is written. Adds items `held` and
    `review`; answers how each held statement stands, for the caller's derived rows. Earlier statements that the new
    ones confirm are projected by their kind.
    """
    by = entry.by
    if by.kind == "system" or not statements:
        return {}
    found = policy_for(by.namespace, agent=by.agent)
    rules = _held_rules(by, found.policy, found.agent_name, statements)
    held: dict[UUID, Holding] = {}
    for statement in statements:
        if statement.object in rules:
            rule = found.policy.rules[rules[statement.object]]
            until_at = entry.recorded_at + rule.life
            held[statement.object] = Holding(until_at)
            entry.add(held_draft(
                statement, rule=rules[statement.object], policy_seq=found.policy.seq, until_at=until_at,
                origins_needed=rule.origins,
            ))  # fmt: skip
    if found.policy.seq:
        waiting = {one for one, rule in rules.items() if found.policy.rules[rule].origins}
        for confirmed in _confirm_by_origins(entry, statements, waiting):
            if confirmed in held:
                held[confirmed] = Holding(held[confirmed].until_at, confirmed=True)
    return held


def require_free(by: Actor, statements: Sequence[Statement]) -> None:
    """Raise Conflict where the policy would hold one of these statements, which take the place of others.

    Call it under the lock.
    """
    if by.kind != "agent" or not statements:
        return
    found = policy_for(by.namespace, agent=by.agent)
    rules = _held_rules(by, found.policy, found.agent_name, statements)
    if rules:
        row = min(rules.values())
        raise Conflict(
            f"Row {row + 1} of the review policy ({found.policy.rules[row].text}) holds this until a person confirms"
            " it, and what is held cannot take the place of others or rest on them: save it as one of its own."
        )


def _held_rules(by: Actor, policy: Policy, agent_name: str, statements: Sequence[Statement]) -> dict[UUID, int]:
    """{object: the row that holds it}."""
    if by.kind != "agent" or not policy.may_hold:
        return {}
    found: dict[UUID, int] = {}
    for one in statements:
        write = Write(one.kind, agent_name, one.type, one.attribute, one.source_class)
        if (row := policy.held_by(write)) is not None:
            found[one.object] = row
    return found


def _confirm_by_origins(entry: OpenEntry, statements: Sequence[Statement], waiting: set[UUID]) -> list[UUID]:
    """Confirm what has two independent origins now; answers all that were confirmed, old and new."""
    by = entry.by
    by_kind: dict[str, list[Statement]] = defaultdict(list)
    for statement in statements:
        by_kind[statement.kind].append(statement)
    done: list[UUID] = []
    for name, group in by_kind.items():
        kind = _kinds[name]
        peers = kind.peers(by.namespace, sorted({one.same for one in group}))
        confirmed = _confirmed(group, peers, writer_of(by.agent, by.person), waiting)
        confirmed = _in_time(by.namespace, name, confirmed, entry.recorded_at)
        entry.add(*(review_draft(name, one, confirmed=True, cause="origins") for one in confirmed))
        own = {one.object for one in group}
        project_after(entry, kind, [one for one in confirmed if one not in own], [])
        done.extend(confirmed)
    return done


def _confirmed(
    group: Sequence[Statement], peers: Mapping[bytes, Sequence[Peer]], writer: str, waiting: set[UUID]
) -> list[UUID]:
    found: list[UUID] = []
    for same in sorted({one.same for one in group}):
        stored = peers.get(same, ())
        fresh = [one for one in group if one.same == same]
        waits = [peer.object for peer in stored if peer.waits] + [o.object for o in fresh if o.object in waiting]
        if not waits or any(peer.turned_down for peer in stored):
            continue
        words = [(peer.writer, peer.origin) for peer in stored]
        words += [(writer, origin_of(one.source_class, one.origin, writer)) for one in fresh]
        if independent(words):
            found.extend(waits)
    return found


def _in_time(namespace: int, kind: str, ids: Sequence[UUID], instant: datetime) -> list[UUID]:
    """Those whose date has not passed: nothing confirms a thing after it, whether or not its lapse is written."""
    if not ids:
        return []
    late = Held.objects.filter(namespace=namespace, kind=kind, object__in=list(ids), until_at__lte=instant)
    gone = set(late.values_list("object", flat=True))
    return [one for one in ids if one not in gone]


def project_after(entry: OpenEntry, kind: Kind, confirmed: Sequence[UUID], rejected: Sequence[UUID]) -> None:
    """Have the kind change its derived rows once the entry stands."""
    if confirmed or rejected:
        entry.then(lambda: kind.project(entry.by.namespace, entry.seq, confirmed, rejected))


def held_draft(
    statement: Statement, *, rule: int, policy_seq: int, until_at: datetime | None, origins_needed: int
) -> Draft:
    """The item that holds a statement of the same entry."""
    row = {
        "kind": statement.kind, "object": statement.object, "of_item": statement.item, "rule": rule,
        "policy_seq": policy_seq, "until_at": until_at, "origins_needed": origins_needed,
    }  # fmt: skip
    return Draft("held", statement.object, Held, row)


def review_draft(kind: str, identity: UUID, *, confirmed: bool, cause: str, note: str = "") -> Draft:
    """The item of a review."""
    row = {"kind": kind, "object": identity, "confirmed": confirmed, "cause": cause}
    return Draft("review", identity, Review, row, {"note": note} if note else {})


def settled(by: Actor, kind: str, identity: UUID, *, confirmed: bool) -> Draft:
    """The item that ends the waiting of a held thing which its author, or a person, hides or shows by another act."""
    return review_draft(kind, identity, confirmed=confirmed, cause="author" if by.kind == "agent" else "person")


def waiting(namespace: int) -> models.QuerySet[Held]:
    """What is held, was not reviewed and still has its text; what is past its date is among it."""
    own = {"namespace": OuterRef("namespace")}
    reviews = Review.objects.filter(**own, kind=OuterRef("kind"), object=OuterRef("object"))
    gone = Erasure.objects.filter(
        **own, target_seq=OuterRef("seq"), target_item=OuterRef("of_item"), target_part__in=("content", "value")
    )
    return Held.objects.filter(~Exists(reviews), ~Exists(gone), namespace=namespace)


def held_at_birth(namespace: int, kind: str, ids: Sequence[UUID]) -> set[UUID]:
    """Those of the things that were held, and not confirmed, by the very entry that brought them."""
    if not ids:
        return set()
    rows = Held.objects.filter(namespace=namespace, kind=kind, object__in=ids)
    at_once = Review.objects.filter(namespace=namespace, kind=kind, object=OuterRef("object"), seq=OuterRef("seq"))
    return set(rows.filter(~Exists(at_once)).values_list("object", flat=True))


def withheld(reader: Actor) -> models.QuerySet[Held]:
    """What waits and does not exist to the reader: all that an agent did not write itself, nothing to a person."""
    if reader.kind != "agent":
        return Held.objects.none()
    own = Entry.objects.filter(namespace=OuterRef("namespace"), seq=OuterRef("seq"), agent=reader.agent)
    return waiting(reader.namespace).filter(~Exists(own))


def withheld_items(reader: Actor, addresses: Collection[Address]) -> set[Address]:
    """Those of the items that are of something withheld, or may be a name that it brought. At most two queries."""
    if reader.kind != "agent" or not addresses:
        return set()
    seqs = {seq for seq, _ in addresses}
    rows = Item.objects.filter(namespace=reader.namespace, seq__in=seqs, item__in={item for _, item in addresses})
    items = {(row.seq, row.item): row for row in rows}
    about = models.Q(object__in={row.object for row in items.values()}) | models.Q(seq__in=seqs)
    kept = list(withheld(reader).filter(about).values_list("seq", "object"))
    entries, objects = {seq for seq, _ in kept}, {thing for _, thing in kept}
    return {
        address for address, row in items.items()
        if row.object in objects or (row.kind == "name" and row.seq in entries)
    }  # fmt: skip


def unreferable(by: Actor, things: Sequence[UUID]) -> dict[UUID, DomainError]:
    """{thing: the refusal} of those that nothing may mention: what waits, and for agents what was turned down too.

    People mention what they turned down: it may be the evidence that a way is a dead end.
    """
    confirmed = Review.objects.filter(
        namespace=OuterRef("namespace"), kind=OuterRef("kind"), object=OuterRef("object"), confirmed=True
    )
    held = Held.objects.filter(~Exists(confirmed), namespace=by.namespace, object__in=list(things))
    named = list(held.values_list("object", flat=True))
    if not named:
        return {}
    waits = set(waiting(by.namespace).filter(object__in=named).values_list("object", flat=True))
    hidden = set(withheld(by).filter(object__in=named).values_list("object", flat=True))
    found: dict[UUID, DomainError] = {}
    for one in named:
        if one in hidden:
            found[one] = NotFound(f"There is nothing with the id {one}.", id=str(one))
        elif one in waits:
            found[one] = Conflict(f"{one} is held for a review: nothing rests on it before.", id=str(one))
        elif by.kind == "agent":
            found[one] = Conflict(f"{one} was held and nobody confirmed it: nothing rests on it.", id=str(one))
    return found
