"""What is held, as the queue shows it: which row of which policy holds it, until when, what it says, what is near."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Subquery

from memory.agents.models import Setting
from memory.agents.policy import parsed
from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.ledger.models import Content, Entry
from memory.ledger.queries.contents import contents_of
from memory.records.models import NOT_REVIEWED, Held, Review, Withdrawal
from memory.records.review import Shown, kind_named


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A held thing. `rule` is the row of the policy as text, `row` its number from 1; `shown` None where nothing is."""

    kind: str
    id: UUID
    seq: int
    until_at: datetime | None
    row: int
    rule: str
    policy_seq: int
    origins_needed: int
    shown: Shown | None


@dataclass(frozen=True, slots=True)
class Settled:
    """A held thing that was turned down or lapsed. `cause` and `reason` say why, entry `seq` when."""

    kind: str
    id: UUID
    seq: int
    at: datetime
    cause: str
    reason: str
    person: int | None


def held_rows(at: AsOf, targets: Iterable[tuple[str, UUID]]) -> dict[tuple[str, UUID], HeldRow]:
    """{(kind, id): the row} of those that are held; what they say is told by their kinds."""
    wanted = set(targets)
    if not wanted:
        return {}
    rows = Held.objects.filter(namespace=at.namespace, object__in={id for _, id in wanted})
    found = [row for row in _with_policies(at, rows) if (row.kind, row.object) in wanted]
    shown: dict[tuple[str, UUID], Shown] = {}
    for name in sorted({row.kind for row in found}):
        tell = kind_named(name).shown
        if tell is not None:
            told = tell(at, [row.object for row in found if row.kind == name])
            shown |= {(name, id): one for id, one in told.items()}
    return {(row.kind, row.object): _row(row, shown) for row in found}


def _with_policies(at: AsOf, rows: Any) -> list[Any]:
    setting = Setting.objects.filter(namespace=at.namespace, seq=OuterRef("policy_seq"), name="review_policy")
    value = Content.objects.filter(
        namespace=at.namespace, seq=OuterRef("policy_seq"), item=OuterRef("policy_item"), part="value"
    )
    told = rows.annotate(policy_item=Subquery(setting.values("item")[:1]))
    return list(told.annotate(policy=Subquery(value.values("payload")[:1])))


def _row(row: Any, shown: Mapping[tuple[str, UUID], Shown]) -> HeldRow:
    rules = parsed(str(strict_loads(row.policy))).rules if row.policy is not None else ()
    rule = rules[row.rule].text if row.rule < len(rules) else "a policy whose text is gone"
    return HeldRow(
        row.kind, row.object, row.seq, row.until_at, row.rule + 1, rule, row.policy_seq, row.origins_needed,
        shown.get((row.kind, row.object)),
    )  # fmt: skip


def turned_down(at: AsOf, *, limit: int = 50, offset: int = 0) -> list[Settled]:
    """What was held and is not confirmed: rejected, taken back by its author, or lapsed; the newest first.

    Three queries.
    """
    later = Review.objects.filter(
        namespace=at.namespace, kind=OuterRef("kind"), object=OuterRef("object"), seq__gt=OuterRef("seq")
    )
    entry = Entry.objects.filter(namespace=at.namespace, seq=OuterRef("seq"))
    hidden = Withdrawal.objects.filter(namespace=at.namespace, seq=OuterRef("seq"), record=OuterRef("object"))
    rows: Any = Review.objects.filter(namespace=at.namespace, confirmed=False, seq__lte=at.seq).annotate(
        at=Subquery(entry.values("recorded_at")[:1]), person=Subquery(entry.values("person")[:1]),
        hidden_item=Subquery(hidden.values("item")[:1]), confirmed_later=Subquery(later.values("seq")[:1]),
    )  # fmt: skip
    found = list(rows.filter(confirmed_later=None).order_by(F("seq").desc(), "item")[offset : offset + limit])
    return list(_settled(at, found))


def _settled(at: AsOf, rows: Sequence[Any]) -> Iterable[Settled]:
    places = {row.pk: (row.seq, row.item if row.hidden_item is None else row.hidden_item) for row in rows}
    notes = contents_of(at.namespace, places.values())
    for row in rows:
        reason = notes[places[row.pk]].get("note", NOT_REVIEWED if row.cause == "lapse" else "")
        yield Settled(row.kind, row.object, row.seq, row.at, row.cause, reason, row.person)
