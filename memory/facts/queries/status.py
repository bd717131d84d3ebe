"""The status of entities at a point of both clocks, with what it rests on and what it leaves out.

A page of entities is answered by a fixed number of queries, and one more for each that turns out unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.agents.labels import labels
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.facts import tallies
from memory.facts.kernel.conflict import case_id
from memory.facts.kernel.status import EXPIRED, NO_EVIDENCE, UNKNOWN, Statement, Status, end_of, status_of
from memory.facts.kernel.values import UNDECLARED, Spec, Value
from memory.facts.models import FactState
from memory.facts.queries.standing import hidden_at, lasts_before, standing
from memory.facts.specs import specs_at
from memory.facts.states import Entity, statement, value_of, word

# The words of `include`, and how facts that they bring to light stand.
INCLUDED = {
    "superseded": ("superseded",), "withdrawn": ("retracted", "rejected"), "held": ("held",), "erased": ("erased",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FactLine:
    """One fact in an answer. `state` is its word at the point; `value` None once erased."""

    id: UUID
    seq: int
    recorded_at: datetime
    stance: str
    value: Value | None
    state: str
    valid_from: datetime
    valid_to: datetime | None
    superseded_at: datetime | None
    superseded_by: UUID | None
    retracted_as: str | None
    source_class: str
    origin: str
    authenticated: bool
    confidence: float | None
    scale: str
    agent: UUID | None
    agent_name: str
    person: int | None


@dataclass(frozen=True, slots=True)
class ValueLine:
    """One side of an answer: the value, the facts for it, and the origins that they come from."""

    value: Value
    stance: str
    facts: tuple[UUID, ...]
    origins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntityStatus:
    """The answer for one entity. `hidden` counts by why; lists of ids hold what would cover the instant.

    `fresh_until` is where the declared freshness ends the newest support, where it does.
    """

    subject: str
    attribute: str
    entity: Entity | None
    status: str
    why: str | None
    values: tuple[ValueLine, ...]
    facts: tuple[FactLine, ...]
    superseded: tuple[UUID, ...] = ()
    retracted: tuple[UUID, ...] = ()
    candidates: tuple[UUID, ...] = ()
    erased: tuple[UUID, ...] = ()
    last_known: UUID | None = None
    hidden: Mapping[str, int] | None = None
    spec: Spec = UNDECLARED
    case: UUID | None = None
    fresh_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """Everything of one entity at the point, before names."""

    entity: Entity
    status: Status
    spec: Spec
    counted: tuple[FactState, ...]
    others: tuple[FactState, ...]
    hidden: Mapping[str, int]
    fresh_until: datetime | None


def nothing_known(subject: str, attribute: str) -> EntityStatus:
    """The answer where nothing was ever said."""
    return EntityStatus(subject, attribute, None, UNKNOWN, NO_EVIDENCE, (), (), hidden={})


def statuses(
    at: AsOf, entities: Sequence[Entity], *, include: frozenset[str] = frozenset(), reader: Actor | None = None,
    tells_hidden: bool = True,
) -> list[EntityStatus]:  # fmt: skip
    """The status of each of the entities, in their order. Held facts are counted and, unless asked for, not told.

    reader : an agent is told of its own held facts alone.
    tells_hidden : whether what would cover the instant and does not count is named; it is counted in any case.
    """
    counted = standing(at, entities)
    others = hidden_at(at, entities) if tells_hidden or include else dict[Entity, list[FactState]]()
    known = _known_seq(at)
    specs = specs_at(at.namespace, {attribute for _, attribute in entities}, known)
    hidden = _hidden(at, entities)
    told = {entity: [_statement(row, at) for row in counted[entity]] for entity in entities}
    first = {entity: status_of(told[entity], specs[entity[1]], at.valid_at) for entity in entities}
    lasts = lasts_before(at, [entity for entity, status in first.items() if status.why in (NO_EVIDENCE, EXPIRED)])
    found = [
        _found(
            at, entity, specs[entity[1]], counted[entity], others.get(entity, ()), hidden.get(entity, {}),
            first[entity], lasts.get(entity),
        )
        for entity in entities
    ]  # fmt: skip
    return _named(at, found, include, reader)


def _known_seq(at: AsOf) -> int:
    return at.head if at.source_at is not None else at.seq


def _found(
    at: AsOf, entity: Entity, spec: Spec, counted: Sequence[FactState], others: Sequence[FactState],
    hidden: Mapping[str, int], status: Status, last: FactState | None,
) -> _Found:  # fmt: skip
    """`status` is what those that count say alone; `last` is what ended before, where they leave it unknown."""
    told = [_statement(row, at) for row in counted]
    if last is not None:
        counted = [*counted, last]
        status = status_of(told, spec, at.valid_at, ended=[_statement(last, at)])
    ends = [end_of(one, spec) for one in told if not one.ends_itself and spec.freshness_seconds is not None]
    fresh = max((end for end in ends if end is not None), default=None)
    return _Found(entity, status, spec, tuple(counted), tuple(others), hidden, fresh)


def _statement(row: FactState, at: AsOf) -> Statement:
    return statement(row, _known_seq(at))


def _hidden(at: AsOf, entities: Sequence[Entity]) -> dict[Entity, dict[str, int]]:
    """{entity: {why: how many}} of what is known by the point and does not count."""
    found: dict[Entity, dict[str, int]] = {}
    for entity, counts in tallies.newest(at.namespace, entities, seq=_known_seq(at)).items():
        found[entity] = {
            "superseded": counts["n_superseded"], "withdrawn": counts["n_retracted"] + counts["n_rejected"],
            "held": counts["n_held"], "candidate": counts["n_candidates"],
        }  # fmt: skip
    for entity, n_erased in tallies.erased(at.namespace, entities, seq=_known_seq(at)).items():
        found.setdefault(entity, {})["erased"] = n_erased
    return {entity: {why: n for why, n in counts.items() if n} for entity, counts in found.items()}


def may_see(row: FactState, state: str, reader: Actor | None) -> bool:
    """Whether the reader may be told of the fact: a held one exists for people and for its own author."""
    return state != "held" or reader is None or reader.kind != "agent" or row.agent == reader.agent


def _named(at: AsOf, found: Sequence[_Found], include: frozenset[str], reader: Actor | None) -> list[EntityStatus]:
    rows = [row for one in found for row in (*one.counted, *one.others)]
    texts = labels(
        at.namespace,
        names={name for one in found for name in one.entity}
        | {name for row in rows for name in (row.origin, row.scale)},
        agents={row.agent for row in rows},
    )
    return [_answer(at, one, texts, include, reader) for one in found]


def _answer(at: AsOf, one: _Found, texts: Any, include: frozenset[str], reader: Actor | None) -> EntityStatus:
    shown = {state for name in include for state in INCLUDED.get(name, ())}
    lines = {row.id: line_of(row, at, texts) for row in (*one.counted, *one.others)}
    by_state: dict[str, list[UUID]] = {}
    for row in one.others:
        by_state.setdefault(lines[row.id].state, []).append(row.id)
    told = {fact for side in one.status.sides for fact in side.facts}
    told |= {
        row.id for row in one.others
        if lines[row.id].state in shown and may_see(row, lines[row.id].state, reader)
    }  # fmt: skip
    told |= {fact for fact in one.status.erased if "erased" in shown}
    values = tuple(
        ValueLine(side.value, side.side.stance, side.facts, origins_of([lines[fact] for fact in side.facts]))
        for side in one.status.sides
    )
    subject, attribute = (texts.names.get(name, "erased") for name in one.entity)
    return EntityStatus(
        subject, attribute, one.entity, one.status.status, one.status.why, values,
        tuple(line for fact, line in lines.items() if fact in told),
        superseded=tuple(by_state.get("superseded", ())), retracted=tuple(by_state.get("retracted", ())),
        candidates=tuple(by_state.get("candidate", ())), erased=one.status.erased, last_known=one.status.last_known,
        hidden=one.hidden, spec=one.spec, fresh_until=one.fresh_until,
        case=case_id(*one.entity) if one.status.status == "conflict" else None,
    )  # fmt: skip


def origins_of(lines: Sequence[FactLine]) -> tuple[str, ...]:
    """What the facts go back to, each once: the named origin, else who wrote it."""
    return tuple(dict.fromkeys(line.origin or line.agent_name or f"person {line.person}" for line in lines))


def line_of(row: FactState, at: AsOf, texts: Any) -> FactLine:
    """One fact as it stands at the point."""
    known = _known_seq(at)
    state = "erased" if row.erased_seq is not None else word(row, known)
    closed = row.superseded_seq is not None and row.superseded_seq <= known
    taken = row.retracted_seq is not None and row.retracted_seq <= known
    return FactLine(
        row.id, row.seq, row.recorded_at, row.stance, value_of(row), state, row.valid_from, row.valid_to,
        row.superseded_at if closed else None, row.superseded_by if closed else None,
        row.retracted_as if taken else None, row.source_class,
        "" if row.origin is None else texts.names.get(row.origin, "erased"), row.authenticated, row.confidence,
        "" if row.scale is None else texts.names.get(row.scale, "erased"), row.agent,
        "" if row.agent is None else texts.agents.get(row.agent, "erased"), row.person,
    )  # fmt: skip
