"""Verdicts on conflicts: what a person decides of two facts that cannot both hold.

A verdict is one entry: the adjudication, and the retractions, supersessions, restatements or declaration that carry it
out. Nothing is settled by recency; the losing facts stay on record, taken back as wrong by that entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import gate, ids, instants
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.errors import Conflict, Invalid, NotFound, StaleVersion
from memory.facts import states
from memory.facts.kernel.conflict import Clash
from memory.facts.kernel.status import Statement, end_of
from memory.facts.kernel.values import Spec, Value
from memory.facts.models import REPEATS, VERDICTS, Adjudication, Fact, FactState
from memory.facts.operations import declaring
from memory.facts.operations.declaring import Declaration
from memory.facts.operations.ending import Ending, enter, retracting, superseding
from memory.facts.projecting import project_new
from memory.facts.queries.conflicts import Clashing, clashing
from memory.facts.specs import specs_at
from memory.facts.states import Stated, value_of
from memory.ledger.drafts import Draft
from memory.ledger.models import Reference
from memory.ledger.operations.appending import OpenEntry, opened, retried
from memory.ledger.queries import asof
from memory.ledger.queries.contents import contents_of

OWNERS_VERDICT = "both_hold"


@dataclass(frozen=True, slots=True)
class Asked:
    """A verdict to be given. `a` and `b` are the two facts that were shown; None for the oldest pair."""

    verdict: str
    reason: str
    a: UUID | None = None
    b: UUID | None = None
    split_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Restated:
    """A fact that holds for less than it said: the row that it repeats, from when, and until when; None is open.

    The end is the one that was declared for the first, so that nothing is fresh again because somebody decided.
    """

    row: FactState
    valid_from: datetime
    valid_to: datetime | None
    id: UUID = field(default_factory=ids.new_id)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a verdict appends beside the adjudication itself."""

    pair: Clash
    endings: tuple[Ending, ...] = ()
    restated: tuple[Restated, ...] = ()
    declaration: Declaration | None = None

    @property
    def n_items(self) -> int:
        """How many items the entry will have."""
        return 1 + len(self.endings) + 2 * len(self.restated) + (self.declaration is not None)


def need_of(verdict: str) -> gate.Requirement:
    """Who may give the verdict: changing the attribute is an owner's."""
    return gate.OWN if verdict == OWNERS_VERDICT else gate.REVIEW


@retried
def adjudicate(by: Actor, *, case: UUID, asked: Asked, base: str = "") -> Appended:
    """Decide the case. `base` is the version that the decider has seen; "" to not ask.

    Locks: the namespace head. Appends: `adjudicate`.
    Raises NotFound, StaleVersion (the case moved), Conflict (nothing clashes any more), Invalid, Forbidden.
    """
    _require_known(asked)
    request = {
        "case": str(case), "verdict": asked.verdict, "reason": asked.reason, "a": str(asked.a), "b": str(asked.b),
        "split_at": None if asked.split_at is None else instants.text(asked.split_at), "base": base,
    }  # fmt: skip
    with opened(by, verb="adjudicate", need=need_of(asked.verdict), request=request) as entry:
        if entry.is_replay:
            return entry.answer
        found = clashing(by.namespace, case, seq=entry.seq - 1)
        if base and base != found.version:
            raise StaleVersion("The case has moved since it was shown.", current={"version": found.version})
        plan = planned(by.namespace, case, asked, found)
        row = {
            "case": case, "a": plan.pair.a.id, "b": plan.pair.b.id, "verdict": asked.verdict,
            "split_at": asked.split_at,
        }  # fmt: skip
        entry.add(Draft("adjudication", case, Adjudication, row, {"note": asked.reason}))
        _carry_out(entry, plan)
    return entry.answer


def preview(by: Actor, *, case: UUID, asked: Asked) -> Plan:
    """What the verdict would append now; nothing is written. Raises as `adjudicate` does."""
    gate.permits(by, need_of(asked.verdict))
    _require_known(asked, needs_reason=False)
    return planned(by.namespace, case, asked, clashing(by.namespace, case, seq=asof.now(by.namespace).seq))


def planned(namespace: int, case: UUID, asked: Asked, found: Clashing) -> Plan:
    """How the verdict is carried out. Raises NotFound, Conflict, Invalid."""
    pair = found.shown(asked.a, asked.b) if found.pairs else None
    if pair is None:
        raise Conflict("Nothing clashes in this case any more; it is settled.", id=str(case))
    losers: Sequence[UUID] = ()
    if asked.verdict in ("keep_a", "retract_both"):
        losers = [*losers, *found.members(pair.b, pair.a)]
    if asked.verdict in ("keep_b", "retract_both"):
        losers = [*losers, *found.members(pair.a, pair.b)]
    if losers:
        told = tuple(retracting(one, retracted_as="wrong", reason=asked.reason) for one in dict.fromkeys(losers))
        return Plan(pair, told)
    if asked.verdict == "split_at":
        return _split(asked, found, pair)
    if asked.verdict == OWNERS_VERDICT:
        return Plan(pair, declaration=_many(namespace, found, pair))
    return Plan(pair)


def _require_known(asked: Asked, *, needs_reason: bool = True) -> None:
    if asked.verdict not in VERDICTS:
        raise Invalid.at("verdict", expected=" or ".join(VERDICTS), got=asked.verdict)
    if needs_reason and not asked.reason.strip():
        raise Invalid.at("reason", expected="why, in a few words")
    if (asked.verdict == "split_at") != (asked.split_at is not None):
        expected = "an instant, with the verdict split_at" if asked.split_at is None else "none, but for split_at"
        raise Invalid.at("split_at", expected=expected)


def _split(asked: Asked, found: Clashing, pair: Clash) -> Plan:
    """The side that begins first holds until the instant, the other from then on."""
    instant = asked.split_at
    assert instant is not None
    if instant < pair.start or (pair.end is not None and instant >= pair.end):
        shown = f"{instants.text(pair.start)} up to {'open' if pair.end is None else instants.text(pair.end)}"
        raise Invalid.at("split_at", expected=f"an instant that both claim, {shown}", got=instants.text(instant))
    first, second = sorted((pair.a, pair.b), key=lambda one: (one.valid_from, one.order))
    rows = {row.id: row for row in found.rows}
    told = {one.id: one for clash in found.pairs for one in (clash.a, clash.b)}
    early = [(rows[one], _Span.of(told[one], found.spec)) for one in found.members(first, second)]
    late = [(rows[one], _Span.of(told[one], found.spec)) for one in found.members(second, first)]
    early = [(row, span) for row, span in early if span.end is None or span.end > instant]
    late = [(row, span) for row, span in late if span.start < instant]
    # A fact cannot begin later than it says, nor end twice, so what goes on beside the instant is stated anew.
    parts = [
        Restated(row, span.start, instant) for row, span in early if row.superseded_seq is not None
        and span.start < instant
    ] + [Restated(row, instant, span.end) for row, span in late if span.end is None or span.end > instant]  # fmt: skip
    anew = {part.row.id: part.id for part in parts}
    lead = anew.get(second.id, second.id)
    endings = [_cut(row, at=instant, new=lead, reason=asked.reason) for row, _ in early]
    endings += [_cut(row, at=span.start, new=anew.get(row.id, lead), reason=asked.reason) for row, span in late]
    return Plan(pair, tuple(endings), tuple(parts))


@dataclass(frozen=True, slots=True)
class _Span:
    """What a statement claims under the declaration; `end` None is open."""

    start: datetime
    end: datetime | None

    @classmethod
    def of(cls, one: Statement, spec: Spec) -> _Span:
        return cls(one.valid_from, end_of(one, spec))


def _cut(row: FactState, *, at: datetime, new: UUID, reason: str) -> Ending:
    """The end of the fact at the instant; one that a supersession has closed before is taken back instead."""
    if row.superseded_seq is not None:
        return retracting(row.id, retracted_as="wrong", reason=reason)
    return superseding(row.id, at=at, new=new, reason=reason)


def _many(namespace: int, found: Clashing, pair: Clash) -> Declaration:
    if pair.a.stance != pair.b.stance:
        raise Invalid.at("verdict", expected="another verdict: one of the two denies what the other asserts")
    standing = declaring.in_force(namespace, found.entity[1])
    if standing is None or standing.cardinality != "one":
        raise Invalid.at("verdict", expected="another verdict: the attribute declares these values exclusive")
    return replace(declaring.declaration_of(standing), cardinality="many")


def _carry_out(entry: OpenEntry, plan: Plan) -> None:
    # What is restated must stand before the supersessions that name it.
    if plan.restated:
        _restate(entry, plan.restated)
    if plan.endings:
        enter(entry, list(plan.endings))
    if plan.declaration is not None:
        attribute = FactState.objects.values_list("attribute", flat=True).get(
            namespace=entry.by.namespace, id=plan.pair.a.id
        )
        declaring.enter(entry, attribute, plan.declaration)


def _restate(entry: OpenEntry, restated: Sequence[Restated]) -> None:
    by = entry.by
    facts = {
        row.id: row for row in Fact.objects.filter(namespace=by.namespace, id__in=[one.row.id for one in restated])
    }
    parts = contents_of(by.namespace, [(one.row.seq, one.row.item) for one in restated])
    stated = []
    for one in restated:
        values = _values(facts[one.row.id], one)
        told: dict[str, Any] = {"value": _value(one.row)}
        if details := parts[one.row.seq, one.row.item].get("details"):
            told["details"] = details
        item = entry.add(Draft("fact", one.id, Fact, values, told))
        row = {"from_item": item, "to_seq": one.row.seq, "to_item": one.row.item, "kind": REPEATS}
        entry.add(Draft("reference", ids.new_id(), Reference, row))
        stated.append(Stated(values, _value(one.row), item))
    rows = states.fresh(
        by.namespace, stated, seq=entry.seq, recorded_at=entry.recorded_at, by=(by.person, by.agent), run=entry.run
    )
    specs = specs_at(by.namespace, {row.attribute for row in rows}, entry.seq)
    entry.then(lambda: project_new(by.namespace, entry.seq, rows, specs))


def _value(row: FactState) -> Value:
    value = value_of(row)
    if value is None:
        raise NotFound(f"The value of {row.id} is erased.")
    return value


def _values(fact: Fact, one: Restated) -> dict[str, Any]:
    """The columns of the fact that goes on: all as it was said, but its id and its interval; nobody saw it said."""
    kept = (
        "subject", "attribute", "stance", "source_class", "origin", "candidate", "confidence", "scale",
        "source_recorded_at",
    )  # fmt: skip
    return {
        "id": one.id, **{name: getattr(fact, name) for name in kept}, "authenticated": False,
        "valid_from": one.valid_from, "valid_to": one.valid_to,
    }  # fmt: skip
