"""Reads about agents, tokens, members, freezes, holds, settings and runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from memory.agents.models import (
    SCOPES,
    Agent,
    Freeze,
    Hold,
    Membership,
    Run,
    RunEnd,
    RunReference,
    Setting,
    Token,
    TokenRevocation,
)
from memory.base import sql
from memory.base.asof import AsOf
from memory.base.errors import Invalid, NotFound
from memory.ledger.models import Content, Entry, Item, Name, Refusal
from memory.ledger.queries.contents import contents_of, name_ids
from memory.ledger.queries.entries import EntryRow, entry_rows

DAY = timedelta(days=1)
OBJECTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token as people recognise it. It opens nothing once `revoked_seq` is set or `expires_at` has passed."""

    id: UUID
    prefix: str
    scopes: tuple[str, ...]
    seq: int
    expires_at: datetime
    revoked_seq: int | None


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent with its tokens, newest first. `last_seq` is its last entry; the counts are those of the last day."""

    id: UUID
    name: str
    operator: int | None
    seq: int
    created_at: datetime
    is_frozen: bool
    last_seq: int | None
    last_at: datetime | None
    n_writes: int
    n_refusals: int
    tokens: tuple[TokenRow, ...]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list. `seq` opened it; `agent` or `person` did; what was erased reads as empty."""

    id: UUID
    kind: str
    title: str
    refs: Mapping[str, str]
    runtime: Mapping[str, str]
    seq: int
    started_at: datetime
    agent: UUID | None
    person: int | None
    n_entries: int
    last_seq: int
    last_at: datetime
    ended_seq: int | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunList:
    """A page of runs, newest first, and the cursor of the next one."""

    items: tuple[RunRow, ...]
    total: int
    next: str


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One entry of a run: how long after its start, and the first objects that it is about, as (kind, id)."""

    row: EntryRow
    since_start: timedelta
    objects: tuple[tuple[str, UUID], ...]


@dataclass(frozen=True, slots=True)
class RunPage:
    """A run with its entries in the order of the ledger; `next` is the seq to go on after, None at the end."""

    row: RunRow
    entries: tuple[RunEntry, ...]
    total: int
    next: int | None


def scope_bits(scopes: Sequence[str]) -> int:
    """A bit for each of SCOPES."""
    return sum(1 << index for index, name in enumerate(SCOPES) if name in scopes)


def scopes_of(bits: int) -> tuple[str, ...]:
    """The inverse of `scope_bits`."""
    return tuple(name for index, name in enumerate(SCOPES) if bits >> index & 1)


def token_with(namespace: int, secret_hash: bytes, now: datetime) -> Token | None:
    """The live token with that hash; None if there is none, or it is expired or revoked."""
    token = Token.in_force.filter(namespace=namespace, secret_hash=secret_hash).first()
    if token is None or token.expires_at <= now:
        return None
    revoked = TokenRevocation.objects.filter(namespace=namespace, token=token.id).exists()
    return None if revoked else token


def token_opens(namespace: str, secret_hash: bytes, now: datetime) -> tuple[int, UUID, UUID, tuple[str, ...]] | None:
    """(namespace, agent, token, scopes) of the live token with that hash in the namespace of that name. One query."""
    rows = sql.fetch(
        "SELECT t.namespace_id, t.agent, t.id, t.scopes FROM memory_namespace n"
        " JOIN memory_token t ON t.namespace_id = n.id"
        " WHERE n.name = %s AND t.secret_hash = %s AND t.expires_at > %s AND NOT EXISTS"
        " (SELECT 1 FROM memory_tokenrevocation r WHERE r.namespace_id = t.namespace_id AND r.token = t.id)"
        " AND NOT EXISTS (SELECT 1 FROM memory_restoration a"
        " WHERE a.namespace_id = t.namespace_id AND a.seq >= t.seq AND NOT a.keeps_people)",
        [namespace, secret_hash, now],
    )
    if not rows:
        return None
    store, agent, token, scopes = rows[0]
    return store, sql.as_id(agent), sql.as_id(token), scopes_of(scopes)


def token_namespaces(secret_hash: bytes) -> list[int]:
    """The namespaces that a secret opens, by id."""
    return sorted(Token.objects.filter(secret_hash=secret_hash).values_list("namespace_id", flat=True))


def token_opens_any(secret_hash: bytes, now: datetime) -> bool:
    """True if a secret opens any namespace."""
    return any(token_with(namespace, secret_hash, now) for namespace in token_namespaces(secret_hash))


def frozen(namespace: int, agent: UUID) -> bool:
    """True if the newest word on the agent is a freeze."""
    rows = sql.fetch(
        "SELECT frozen FROM memory_freeze WHERE namespace_id = %s AND agent = %s ORDER BY seq DESC LIMIT 1",
        [namespace, agent],
    )
    return bool(rows and rows[0][0])


def membership_of(namespace: int, person: int) -> Membership | None:
    """The person's newest membership row, whatever it says."""
    return Membership.in_force.filter(namespace=namespace, person=person).order_by("-seq").first()


def role_of(namespace: int, person: int, now: datetime | None = None) -> str | None:
    """The person's role; None for none, or (where `now` is given) one that has expired."""
    newest = membership_of(namespace, person)
    if newest is None or newest.role == "none":
        return None
    if now is not None and newest.expires_at is not None and newest.expires_at <= now:
        return None
    return newest.role


def namespaces_of(person: int, now: datetime) -> dict[int, str]:
    """{namespace id: role} of the person, expired ones left out."""
    newest: dict[int, Membership] = {}
    for row in Membership.in_force.filter(person=person).order_by("seq"):
        newest[row.namespace_id] = row
    return {
        namespace: row.role
        for namespace, row in sorted(newest.items())
        if row.role != "none" and (row.expires_at is None or row.expires_at > now)
    }


def standing_hold(namespace: int, now: datetime) -> Hold | None:
    """The hold in force, or None."""
    newest = Hold.objects.filter(namespace=namespace).order_by("-seq").first()
    if newest is None or not newest.held or (newest.until_at is not None and newest.until_at <= now):
        return None
    return newest


def setting(namespace: int, name: str, default: str, *, seq: int | None = None) -> str:
    """The newest value of a setting, or the newest by entry `seq`. One query."""
    rows = Setting.objects.filter(namespace=namespace, name=name)
    if seq is not None:
        rows = rows.filter(seq__lte=seq)
    told = Content.objects.filter(
        namespace=OuterRef("namespace"), seq=OuterRef("seq"), item=OuterRef("item"), part="value"
    )
    payload = rows.order_by("-seq").annotate(told=Subquery(told.values("payload")[:1])).values_list("told", flat=True)
    text = payload.first()
    return default if text is None else text.strip('"')


def agent_named(namespace: int, name: UUID) -> Agent | None:
    """The agent with that name id."""
    return Agent.objects.filter(namespace=namespace, name=name).first()


def agent_by_name(namespace: int, name: str) -> Agent | None:
    """The agent of that name."""
    identity = name_ids(namespace, [name]).get(name)
    return None if identity is None else agent_named(namespace, identity)


def person_with_address(address: str) -> int | None:
    """The account of that e-mail address, whatever its case."""
    return User.objects.filter(username=address.strip().lower()).values_list("pk", flat=True).first()


def _name_of(column: str) -> Subquery:
    named = Name.objects.filter(namespace=OuterRef("namespace"), id=OuterRef(column))
    return Subquery(named.values("text")[:1])


def agent_rows(at: AsOf) -> list[AgentRow]:
    """Every agent known at the point, in the order in which they were registered. Three queries."""
    until = at.known_at if at.pinned and at.known_at is not None else at.valid_at
    recent = Entry.objects.filter(namespace=at.namespace, seq__lte=at.seq, recorded_at__gt=until - DAY)
    since = recent.order_by("recorded_at").values_list("seq", flat=True).first() or at.seq + 1
    own = {"namespace": OuterRef("namespace"), "agent": OuterRef("id"), "seq__lte": at.seq}
    last = Entry.objects.filter(**own).order_by("-seq")
    rows = Agent.objects.filter(namespace=at.namespace, seq__lte=at.seq).annotate(
        shown=_name_of("name"),
        created_at=_instant_of(OuterRef("seq")),
        is_frozen=Subquery(Freeze.objects.filter(**own).order_by("-seq").values("frozen")[:1]),
        last_seq=Subquery(last.values("seq")[:1]),
        last_at=Subquery(last.values("recorded_at")[:1]),
        n_writes=_count(Entry.objects.filter(**own, seq__gte=since)),
        n_refusals=_total(Refusal.objects.filter(**own, seq__gte=since)),
    )
    tokens = _tokens(at)
    return [
        AgentRow(
            row.id, row.shown or "erased", row.operator, row.seq, row.created_at, bool(row.is_frozen), row.last_seq,
            row.last_at, row.n_writes or 0, row.n_refusals or 0, tuple(tokens[row.id]),
        )
        for row in rows.order_by("seq", "item")
    ]  # fmt: skip


def _count(rows: models.QuerySet[Any]) -> Subquery:
    return Subquery(rows.order_by().values("namespace").annotate(n=Count("seq")).values("n")[:1])


def _total(rows: models.QuerySet[Any]) -> Subquery:
    return Subquery(rows.order_by().values("namespace").annotate(n=models.Sum("count")).values("n")[:1])


def _instant_of(seq: Any) -> Subquery:
    return Subquery(Entry.objects.filter(namespace=OuterRef("namespace"), seq=seq).values("recorded_at")[:1])


def _tokens(at: AsOf) -> dict[UUID, list[TokenRow]]:
    ended = TokenRevocation.objects.filter(namespace=OuterRef("namespace"), token=OuterRef("id"), seq__lte=at.seq)
    rows = Token.in_force.filter(namespace=at.namespace, seq__lte=at.seq).annotate(
        revoked_seq=Subquery(ended.values("seq")[:1])
    )
    found: dict[UUID, list[TokenRow]] = defaultdict(list)
    for row in rows.order_by("-seq", "-item"):
        token = TokenRow(row.id, row.prefix, scopes_of(row.scopes), row.seq, row.expires_at, row.revoked_seq)
        found[row.agent].append(token)
    return found


def run_rows(at: AsOf, *, q: str = "", after: str = "", limit: int = 50) -> RunList:
    """Runs opened by the point, newest first; `q` is looked for in ids, references and titles. Three queries.

    Raises Invalid (cursor).
    """
    rows = Run.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    if q:
        rows = _mentioning(rows, q.strip())
    total = rows.count()
    if after:
        rows = _before(rows, after)
    found = list(with_entries(at, rows).order_by("-seq", "-item")[: limit + 1])
    last = found[limit - 1] if len(found) > limit else None
    return RunList(tuple(rows_of_runs(at, found[:limit])), total, f"{last.seq}.{last.item}" if last is not None else "")


def _mentioning(rows: models.QuerySet[Run], q: str) -> models.QuerySet[Run]:
    own = {"namespace": OuterRef("namespace"), "seq": OuterRef("seq"), "item": OuterRef("item")}
    told = Content.objects.filter(**own, part="run").annotate(
        title=KeyTextTransform("title", Cast("payload", models.JSONField()))
    )
    named = RunReference.objects.filter(namespace=OuterRef("namespace"), run_id=OuterRef("id"), value__icontains=q)
    digits = q.replace("-", "").lower()
    low, high = digits.ljust(32, "0"), digits.ljust(32, "f")
    is_prefix = 4 <= len(digits) <= 32 and all(digit in "0123456789abcdef" for digit in digits)
    of_id = Q(id__gte=UUID(low), id__lte=UUID(high)) if is_prefix else Q()
    return rows.filter(Exists(named) | Exists(told.filter(title__icontains=q)) | of_id)


def _before(rows: models.QuerySet[Run], after: str) -> models.QuerySet[Run]:
    seq, _, item = after.partition(".")
    if not all(part.isascii() and part.isdecimal() and len(part) <= 15 for part in (seq, item)):
        raise Invalid.at("after", expected="a cursor from `next`", got=after)
    return rows.filter(Q(seq__lt=int(seq)) | Q(seq=int(seq), item__lt=int(item)))


def with_entries(at: AsOf, rows: models.QuerySet[Run]) -> models.QuerySet[Run]:
    """The runs with what their entries up to the point say of them."""
    own = {"namespace": OuterRef("namespace"), "run": OuterRef("id"), "seq__lte": at.seq}
    last = Entry.objects.filter(**own).order_by("-seq")
    first = Entry.objects.filter(namespace=OuterRef("namespace"), seq=OuterRef("seq"))
    return rows.annotate(
        started_at=Subquery(first.values("recorded_at")[:1]),
        agent=Subquery(first.values("agent")[:1]),
        person=Subquery(first.values("person")[:1]),
        n_entries=_count(Entry.objects.filter(**own)),
        last_seq=Subquery(last.values("seq")[:1]),
        last_at=Subquery(last.values("recorded_at")[:1]),
        ended_seq=Subquery(RunEnd.objects.filter(**own).values("seq")[:1]),
        ended_at=_instant_of(OuterRef("ended_seq")),
    )


def rows_of_runs(at: AsOf, found: Sequence[Any]) -> list[RunRow]:
    """The rows of `with_entries`, in their order, with what their contents tell. One query."""
    told = contents_of(at.namespace, [(row.seq, row.item) for row in found])
    rows = []
    for row in found:
        value = told[row.seq, row.item].get("run", {})
        rows.append(RunRow(
            row.id, row.kind, value.get("title", ""), value.get("refs", {}), value.get("runtime", {}), row.seq,
            row.started_at, row.agent, row.person, row.n_entries or 0, row.last_seq or row.seq,
            row.last_at or row.started_at, row.ended_seq, row.ended_at,
        ))  # fmt: skip
    return rows


def run_page(at: AsOf, *, run: UUID, after: int = 0, limit: int = 200) -> RunPage:
    """Everything that one run did up to the point, in the order of the ledger.   Raises NotFound."""
    found = list(with_entries(at, Run.objects.filter(namespace=at.namespace, id=run, seq__lte=at.seq)))
    if not found:
        raise NotFound(f"There is no run {run} as of entry {at.seq}.")
    (head,) = rows_of_runs(at, found)
    rows = Entry.objects.filter(namespace=at.namespace, run=run, seq__lte=at.seq, seq__gt=after).order_by("seq")
    shown = list(rows[: limit + 1])
    has_more, shown = len(shown) > limit, shown[:limit]
    objects = _objects(at.namespace, [row.seq for row in shown])
    entries = tuple(
        RunEntry(row, row.recorded_at - head.started_at, tuple(objects[row.seq]))
        for row in entry_rows(at.namespace, shown)
    )
    return RunPage(head, entries, head.n_entries, shown[-1].seq if has_more else None)


def _objects(namespace: int, seqs: Sequence[int]) -> dict[int, list[tuple[str, UUID]]]:
    """The first objects of each entry; names and the run itself tell nothing new."""
    rows = Item.objects.filter(namespace=namespace, seq__in=seqs, item__lt=OBJECTS_SHOWN)
    told = rows.exclude(kind__in=("name", "run")).order_by("seq", "item")
    found: dict[int, list[tuple[str, UUID]]] = defaultdict(list)
    for seq, kind, about in told.values_list("seq", "kind", "object"):
        if (kind, about) not in found[seq]:
            found[seq].append((kind, about))
    return found
