"""What the frame around every page needs: where a person is a member, and what stands in one namespace.

Invariants
- One query each, whatever the number of rows; neither reads a clock: expiry is worked out from the reading given.
- Which pages have rows and what waits for a person is told by the slices above, which register it here.
- Of several rows about one thing the newest seq counts.

The second query stands before every page, and building it would cost more than running it: it is written by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from django.db import connection, models
from django.db.models import Exists, OuterRef

from memory.agents.models import Membership
from memory.base.actor import Role
from memory.base.canonical import strict_loads
from memory.base.errors import NotFound
from memory.base.sql import as_instant

_populated: dict[str, dict[str, None]] = {}
_waiting: dict[str, str] = {}

_STANDING = """
WITH mode AS (
    SELECT seq, item FROM memory_setting WHERE namespace_id = %(namespace)s AND name = 'approval_mode'
    ORDER BY seq DESC LIMIT 1
), first_mode AS (
    SELECT seq, item FROM memory_setting WHERE namespace_id = %(namespace)s AND name = 'approval_mode'
    ORDER BY seq LIMIT 1
), hold AS (
    SELECT seq, item, held, until_at FROM memory_hold WHERE namespace_id = %(namespace)s ORDER BY seq DESC LIMIT 1
), frozen AS (
    SELECT f.seq, f.item, f.agent FROM memory_freeze f WHERE f.namespace_id = %(namespace)s AND f.frozen
    AND NOT EXISTS (SELECT 1 FROM memory_freeze g WHERE g.namespace_id = f.namespace_id AND g.agent = f.agent
        AND g.seq > f.seq)
), newest_freeze AS (
    SELECT seq, item, agent FROM frozen ORDER BY seq DESC LIMIT 1
)
SELECT n.clock, h.size, h.last_at,
    (SELECT p.payload FROM memory_content p JOIN mode m ON p.seq = m.seq AND p.item = m.item
        WHERE p.namespace_id = n.id AND p.part = 'value') AS mode,
    (SELECT p.payload FROM memory_content p JOIN first_mode m ON p.seq = m.seq AND p.item = m.item
        WHERE p.namespace_id = n.id AND p.part = 'note') AS notice,
    (SELECT count(*) FROM frozen) AS n_frozen,
    hold.held, hold.until_at, hold.seq AS hold_seq, he.recorded_at AS hold_at, he.person AS hold_person,
    (SELECT p.payload FROM memory_content p
        WHERE p.namespace_id = n.id AND p.seq = hold.seq AND p.item = hold.item AND p.part = 'note') AS hold_note,
    freeze_row.seq AS freeze_seq, fe.recorded_at AS freeze_at, fe.person AS freeze_person,
    (SELECT p.payload FROM memory_content p
        WHERE p.namespace_id = n.id AND p.seq = freeze_row.seq AND p.item = freeze_row.item
        AND p.part = 'note') AS freeze_note,
    (SELECT t.text FROM memory_agent a JOIN memory_name t ON t.namespace_id = a.namespace_id AND t.id = a.name
        WHERE a.namespace_id = n.id AND a.id = freeze_row.agent) AS freeze_agent,
    (SELECT e.recorded_at FROM memory_entry e WHERE e.namespace_id = n.id AND e.seq = %(seq)s) AS at_seq,
    (SELECT e.recorded_at FROM memory_entry e
        WHERE e.namespace_id = n.id AND e.seq = %(following)s) AS at_following,
    h.closed_seq, ce.recorded_at AS closed_at, ce.person AS closed_person,
    (SELECT p.payload FROM memory_content p
        WHERE p.namespace_id = n.id AND p.seq = h.closed_seq AND p.item = 0 AND p.part = 'note') AS closed_note{also}
FROM memory_namespace n JOIN memory_head h ON h.namespace_id = n.id
LEFT JOIN hold ON TRUE LEFT JOIN memory_entry he ON he.namespace_id = n.id AND he.seq = hold.seq
LEFT JOIN newest_freeze freeze_row ON TRUE
LEFT JOIN memory_entry fe ON fe.namespace_id = n.id AND fe.seq = freeze_row.seq
LEFT JOIN memory_entry ce ON ce.namespace_id = n.id AND ce.seq = h.closed_seq
WHERE n.id = %(namespace)s
"""


@dataclass(frozen=True, slots=True)
class Member:
    """A namespace of a person and the role held there; `expires_at` is an auditor's end."""

    namespace: int
    name: str
    role: Role
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Standing:
    """A hold, a freeze or a closing that stands: since which entry, on whose word and why. `agent`: who is frozen."""

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
    `notice` is what the loader of a replay says of it.
    """

    head: int
    last_at: datetime
    is_replay: bool
    notice: str
    single_owner: bool
    hold: Standing | None
    frozen: Standing | None
    n_frozen: int
    populated: frozenset[str]
    closed: Standing | None = None
    waiting: Mapping[str, Open] = field(default_factory=dict)
    instants: Mapping[int, datetime] = field(default_factory=dict)

    @property
    def closed_seq(self) -> int | None:
        return self.closed.seq if self.closed is not None else None


def populated_by(key: str, model: type[models.Model]) -> None:
    """Register that the page `key` has something to show where `model` has a row of the namespace, or another one."""
    _populated.setdefault(key, {})[model._meta.db_table] = None


def waiting_on(key: str, statement: str) -> None:
    """Register what waits for a person on the page `key`: a SELECT given %(namespace)s and %(now)s.

    It selects `seq`, since when a thing waits, and what the queue of them all says of it: `about` (its id),
    `about_kind` and `told` (what people call it, or null).
    """
    _waiting[key] = statement


def statements() -> dict[str, str]:
    """What waits, as it was registered: {page: statement}."""
    return dict(_waiting)


def memberships(person: int, *, now: datetime) -> list[Member]:
    """The namespaces in which the person has a role, oldest first; ended and expired ones are left out."""
    newer = Membership.in_force.filter(namespace=OuterRef("namespace"), person=person, seq__gt=OuterRef("seq"))
    rows = Membership.in_force.filter(~Exists(newer), person=person).exclude(role="none").order_by("namespace_id")
    found = rows.values_list("namespace_id", "namespace__name", "role", "expires_at")
    return [
        Member(namespace, name, cast(Role, role), expires_at)
        for namespace, name, role, expires_at in found
        if expires_at is None or expires_at > now
    ]


def attention(namespace: int, *, now: datetime, seq: int | None = None) -> Attention:
    """What stands in the namespace; with the instants around entry `seq`, where one is given. Raises NotFound."""
    at = -1 if seq is None else seq
    values = {
        "namespace": namespace, "now": connection.ops.adapt_datetimefield_value(now), "seq": at, "following": at + 1,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_STANDING.replace("{also}", _registered()), values)
        found = cursor.fetchone()
        names = [column[0] for column in cursor.description or ()]
    if found is None:
        raise NotFound("There is no such namespace.")
    row: dict[str, Any] = dict(zip(names, found, strict=True))
    instants = {at: row["at_seq"], at + 1: row["at_following"]}
    return Attention(
        head=row["size"], last_at=as_instant(row["last_at"]), is_replay=row["clock"] == "replay",
        notice=_value(row["notice"]), single_owner=_value(row["mode"]) == "single_owner",
        hold=_standing_hold(row, now), frozen=_newest_freeze(row), n_frozen=row["n_frozen"],
        populated=frozenset(key for key in _populated if row[f"has_{key}"]),
        waiting=_what_waits(row),
        instants={n: as_instant(instant) for n, instant in instants.items() if instant is not None},
        closed=_closed(row),
    )  # fmt: skip


def _registered() -> str:
    """The columns of what the slices above have registered."""
    columns = [
        "("
        + " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE namespace_id = %(namespace)s)" for table in tables)
        + f") AS has_{key}"
        for key, tables in _populated.items()
    ]
    for key, statement in _waiting.items():
        columns.append(f"(SELECT count(*) FROM ({statement}) AS w) AS {key}_n")
        columns.append(
            f"(SELECT e.recorded_at FROM memory_entry e WHERE e.namespace_id = n.id"
            f" AND e.seq = (SELECT min(w.seq) FROM ({statement}) AS w)) AS {key}_at"
        )
    return "".join(f",\n    {column}" for column in columns)


def _value(payload: str | None) -> str:
    """A stored text; what was erased reads as empty."""
    return "" if payload is None else str(strict_loads(payload))


def _standing_hold(row: Mapping[str, Any], now: datetime) -> Standing | None:
    until = None if row["until_at"] is None else as_instant(row["until_at"])
    if not row["held"] or (until is not None and until <= now):
        return None
    at, note = as_instant(row["hold_at"]), _value(row["hold_note"])
    return Standing(row["hold_seq"], at, row["hold_person"], note, until_at=until)


def _what_waits(row: Mapping[str, Any]) -> dict[str, Open]:
    """By page; where the namespace is closed nobody can settle anything any more."""
    pages = _waiting if row["closed_seq"] is None else ()
    return {key: Open(row[f"{key}_n"], as_instant(row[f"{key}_at"])) for key in pages if row[f"{key}_n"]}


def _closed(row: Mapping[str, Any]) -> Standing | None:
    if row["closed_seq"] is None:
        return None
    note = _value(row["closed_note"])
    return Standing(row["closed_seq"], as_instant(row["closed_at"]), row["closed_person"], note)


def _newest_freeze(row: Mapping[str, Any]) -> Standing | None:
    if not row["n_frozen"]:
        return None
    at, note = as_instant(row["freeze_at"]), _value(row["freeze_note"])
    return Standing(row["freeze_seq"], at, row["freeze_person"], note, agent=row["freeze_agent"] or "")
