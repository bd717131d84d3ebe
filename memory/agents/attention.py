"""What the frame around every page needs: where a person is a member, and what stands in one namespace.

Invariants
- One query each, whatever the number of rows; neither reads a clock: expiry is worked out from the reading given.
- Which pages have rows and what waits for a person is told by the slices above, which register it here.
- Of several rows about one thing the newest seq counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Subquery

from memory.agents.models import Agent, Freeze, Hold, Membership, Setting
from memory.base.actor import Role
from memory.base.canonical import strict_loads
from memory.base.errors import NotFound
from memory.ledger.models import Content, Entry, Name, Namespace

WaitingRows = Callable[[datetime], "models.QuerySet[Any]"]

_populated: dict[str, type[models.Model]] = {}
_waiting: dict[str, WaitingRows] = {}


@dataclass(frozen=True, slots=True)
class Member:
    """A namespace of a person and the role held there; `expires_at` is an auditor's end."""

    namespace: int
    name: str
    role: Role
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Standing:
    """A hold or a freeze that stands: since which entry, on whose word and why. `agent` names who is frozen."""

    seq: int
    recorded_at: datetime
    person: int | None
    reason: str
    until_at: datetime | None = None
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Open:
    """What waits on one page: how many, and since when the oldest does."""

    count: int
    oldest_at: datetime | None


@dataclass(frozen=True, slots=True)
class Attention:
    """One namespace as its frame shows it.

    `instants` holds the recorded instant of the entry asked for and of the one after it, where they exist.
    `populated` are the keys of pages that have rows; `frozen` is the newest of `n_frozen` standing freezes.
    """

    head: int
    last_at: datetime
    is_replay: bool
    single_owner: bool
    hold: Standing | None
    frozen: Standing | None
    n_frozen: int
    populated: frozenset[str]
    waiting: Mapping[str, Open] = field(default_factory=dict)
    instants: Mapping[int, datetime] = field(default_factory=dict)


def populated_by(key: str, model: type[models.Model]) -> None:
    """Register that the page `key` has something to show where `model` has a row of the namespace."""
    _populated[key] = model


def waiting_on(key: str, rows: WaitingRows) -> None:
    """Register what waits for a person on `key`: rows with `seq`, of `namespace=OuterRef("pk")`, at a reading."""
    _waiting[key] = rows


def memberships(person: int, *, now: datetime) -> list[Member]:
    """The namespaces in which the person has a role, oldest first; ended and expired ones are left out."""
    newer = Membership.objects.filter(namespace=OuterRef("namespace"), person=person, seq__gt=OuterRef("seq"))
    rows = Membership.objects.filter(~Exists(newer), person=person).exclude(role="none").order_by("namespace_id")
    found = rows.values_list("namespace_id", "namespace__name", "role", "expires_at")
    return [
        Member(namespace, name, cast(Role, role), expires_at)
        for namespace, name, role, expires_at in found
        if expires_at is None or expires_at > now
    ]


def attention(namespace: int, *, now: datetime, seq: int | None = None) -> Attention:
    """What stands in the namespace; with the instants around entry `seq`, where one is given. Raises NotFound."""
    wanted = {
        **_mode(), **_hold(), **_freezes(),
        **{f"has_{key}": Exists(_of(model)) for key, model in _populated.items()},
        **{name: value for key, rows in _waiting.items() for name, value in _open(key, rows(now)).items()},
    }  # fmt: skip
    if seq is not None:
        wanted |= {f"at_{n}": Subquery(_of(Entry).filter(seq=n).values("recorded_at")[:1]) for n in (seq, seq + 1)}
    rows = Namespace.objects.filter(pk=namespace)
    for name, value in wanted.items():
        rows = rows.annotate(**{name: value})
    row = rows.values("clock", "head__size", "head__last_at", *wanted).first()
    if row is None:
        raise NotFound("There is no such namespace.")
    return Attention(
        head=row["head__size"], last_at=row["head__last_at"], is_replay=row["clock"] == "replay",
        single_owner=_value(row["mode"]) == "single_owner", hold=_standing_hold(row, now), frozen=_newest_freeze(row),
        n_frozen=row["n_frozen"] or 0, populated=frozenset(key for key in _populated if row[f"has_{key}"]),
        waiting={key: Open(row[f"{key}_n"], row[f"{key}_at"]) for key in _waiting if row[f"{key}_n"]},
        instants={n: row[f"at_{n}"] for n in (seq, (seq or 0) + 1) if n is not None and row.get(f"at_{n}")},
    )  # fmt: skip


def _of(model: type[models.Model]) -> models.QuerySet[Any]:
    return model._default_manager.filter(namespace=OuterRef("pk"))


def _part(seq: str, item: str, part: str) -> Subquery:
    return Subquery(_of(Content).filter(seq=OuterRef(seq), item=OuterRef(item), part=part).values("payload")[:1])


def _told(prefix: str) -> dict[str, Any]:
    """Who wrote the entry `<prefix>_seq`, when, and the note of its item `<prefix>_item`."""
    entry = _of(Entry).filter(seq=OuterRef(f"{prefix}_seq"))
    return {
        f"{prefix}_at": Subquery(entry.values("recorded_at")[:1]),
        f"{prefix}_person": Subquery(entry.values("person")[:1]),
        f"{prefix}_note": _part(f"{prefix}_seq", f"{prefix}_item", "note"),
    }


def _mode() -> dict[str, Any]:
    newest = _of(Setting).filter(name="approval_mode").order_by("-seq")
    return {
        "mode_seq": Subquery(newest.values("seq")[:1]),
        "mode_item": Subquery(newest.values("item")[:1]),
        "mode": _part("mode_seq", "mode_item", "value"),
    }


def _hold() -> dict[str, Any]:
    newest = _of(Hold).order_by("-seq")
    return {
        "held": Subquery(newest.values("held")[:1]),
        "hold_until": Subquery(newest.values("until_at")[:1]),
        "hold_seq": Subquery(newest.values("seq")[:1]),
        "hold_item": Subquery(newest.values("item")[:1]),
        **_told("hold"),
    }


def _freezes() -> dict[str, Any]:
    newer = Freeze.objects.filter(namespace=OuterRef("namespace"), agent=OuterRef("agent"), seq__gt=OuterRef("seq"))
    standing = _of(Freeze).filter(~Exists(newer), frozen=True)
    newest = standing.order_by("-seq")
    name = Name.objects.filter(
        namespace=OuterRef("namespace"),
        id=Subquery(
            Agent.objects.filter(namespace=OuterRef(OuterRef("namespace")), id=OuterRef(OuterRef("agent"))).values(
                "name"
            )[:1]
        ),
    )
    return {
        "n_frozen": Subquery(standing.order_by().values("namespace").annotate(n=Count("agent")).values("n")[:1]),
        "freeze_seq": Subquery(newest.values("seq")[:1]),
        "freeze_item": Subquery(newest.values("item")[:1]),
        "freeze_agent": Subquery(newest.annotate(named=Subquery(name.values("text")[:1])).values(shown=F("named"))[:1]),
        **_told("freeze"),
    }


def _open(key: str, rows: models.QuerySet[Any]) -> dict[str, Any]:
    entry = _of(Entry).filter(seq=OuterRef(f"{key}_seq"))
    return {
        f"{key}_n": Subquery(rows.order_by().values("namespace").annotate(n=Count("seq")).values("n")[:1]),
        f"{key}_seq": Subquery(rows.order_by("seq").values("seq")[:1]),
        f"{key}_at": Subquery(entry.values("recorded_at")[:1]),
    }


def _value(payload: str | None) -> str:
    """A stored text; what was erased reads as empty."""
    return "" if payload is None else str(strict_loads(payload))


def _standing_hold(row: Mapping[str, Any], now: datetime) -> Standing | None:
    until = row["hold_until"]
    if not row["held"] or (until is not None and until <= now):
        return None
    return Standing(row["hold_seq"], row["hold_at"], row["hold_person"], _value(row["hold_note"]), until_at=until)


def _newest_freeze(row: Mapping[str, Any]) -> Standing | None:
    if not row["n_frozen"]:
        return None
    return Standing(
        row["freeze_seq"], row["freeze_at"], row["freeze_person"], _value(row["freeze_note"]),
        agent=row["freeze_agent"] or "",
    )  # fmt: skip
