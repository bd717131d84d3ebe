"""Any history of facts against a naive model: the same status at every point of both clocks, on both databases.

- Intervals are half-open to the microsecond; equal instants in different zones are equal.
- Projections made anew are those that the writes made; cases of conflict are those of a replay.
- What was answered for a pinned entry stays, but for erasure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from random import Random
from typing import Any, Literal
from uuid import UUID, uuid5

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.agents import operations as agents
from memory.base import clock
from memory.base.errors import DomainError
from memory.facts import rectangles
from memory.facts.content import NewFact
from memory.facts.kernel.conflict import case_id
from memory.facts.models import ConflictCase, FactState
from memory.facts.operations.asserting import assert_facts
from memory.facts.operations.declaring import Declaration, declare
from memory.facts.operations.ending import retract, supersede
from memory.facts.queries.entities import entity_named
from memory.facts.queries.status import EntityStatus, statuses
from memory.ledger.models import Entry
from memory.ledger.operations.erasing import erase
from memory.records.reviewing import Target, review
from tests.facts.naive import Declared, Entity, Facts, Told
from tests.states import projected, rebuilt
from tests.world import World

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY, MICROSECOND = timedelta(days=1), timedelta(microseconds=1)
SUBJECTS, ATTRIBUTES = ("P1", "P2"), ("city", "held_city")
ENTITIES = [(subject, attribute) for subject in SUBJECTS for attribute in ATTRIBUTES]
VALUES = ("Rome", " rome", "Oslo", 2, 2.5, "2", True, 1, "2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00")
ZONES = (UTC, timezone(timedelta(hours=5, minutes=45)), timezone(timedelta(hours=-9)))
Kind = Literal["assert", "supersede", "retract", "declare", "erase", "confirm", "reject", "wait"]
KINDS: tuple[Kind, ...] = ("assert",) * 8 + ("supersede",) * 4 + (
    "retract", "retract", "declare", "declare", "erase", "confirm", "confirm", "reject", "wait",
)  # fmt: skip

INSTANTS = [NOON + days * DAY + ticks * MICROSECOND for days in range(4) for ticks in (-1, 0, 1)]
instants = st.builds(lambda at, zone: at.astimezone(zone), st.sampled_from(INSTANTS), st.sampled_from(ZONES))


def in_order(one: dict[str, Any]) -> dict[str, Any]:
    """The assertion with its two instants as an interval."""
    return one | _in_order(one["valid_from"], one["valid_to"])


def _in_order(start: datetime | None, end: datetime | None) -> dict[str, datetime | None]:
    """The two instants as an interval, open where they are one."""
    if start is None or end is None or start < end:
        return {"valid_from": start, "valid_to": end}
    return {"valid_from": end, "valid_to": None if start == end else start}


assertions = st.fixed_dictionaries({
    "entity": st.sampled_from(ENTITIES + ENTITIES[:1] * 4), "value": st.sampled_from(VALUES),
    "stance": st.sampled_from(["asserts", "asserts", "asserts", "denies"]),
    "valid_from": st.none() | instants, "valid_to": st.none() | st.none() | instants,
    "candidate": st.sampled_from([False] * 5 + [True]), "by_agent": st.booleans(),
}).map(in_order)  # fmt: skip


declarations = st.builds(
    Declared, st.sampled_from(["one", "one", "many"]), st.sampled_from(["exact", "folded", "number", "instant"]),
    st.none() | st.sampled_from([1, 86_400]), st.sampled_from([(), (("Rome", "Oslo"), (2, True))]),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One act; `pick` chooses what it is about, and another fact of the same entity where it needs one."""

    kind: Kind
    pick: int
    at: datetime
    given: dict[str, Any]
    declared: Declared


steps = st.builds(
    Step, st.sampled_from(KINDS), st.integers(0, 9), instants, assertions, declarations
)  # fmt: skip
numbers = count(1)


class Played:
    """A namespace and the model of it, which learns what the store let in."""

    def __init__(self) -> None:
        self.world = World(f"machine-{next(numbers)}")
        self.at = NOON
        self.facts = Facts()
        self.pinned: dict[tuple[int, datetime], dict[Entity, Any]] = {}
        agents.change_setting(self.world.alice, name="review_policy", value="attribute=held_city -> hold 14 d\n-> auto")
        # The names stand however many facts are erased: an erased name said again would be another one.
        anchors = [NewFact(one, "anchor", 0) for one in SUBJECTS] + [NewFact("anchor", one, 0) for one in ATTRIBUTES]
        assert_facts(self.world.alice, facts=anchors)
        self.entities = {one: self._entity(*one) for one in ENTITIES}

    def _entity(self, subject: str, attribute: str) -> tuple[UUID, UUID]:
        found = entity_named(self.world.now(), subject=subject, attribute=attribute)
        assert found is not None
        return found

    @property
    def head(self) -> int:
        return self.world.now().seq

    def play(self, step: Step) -> None:
        """Do it in the store and, where the store let it in, in the model."""
        self.at += timedelta(hours=1)
        try:
            getattr(self, f"_{step.kind}")(step)
        except DomainError:
            assert step.kind != "wait"

    def _wait(self, step: Step) -> None:
        self.at += DAY

    def _assert(self, step: Step) -> None:
        told = dict(step.given)
        by = self.world.scout if told.pop("by_agent") else self.world.alice
        subject, attribute = entity = told.pop("entity")
        (made,) = assert_facts(by, facts=[NewFact(subject, attribute, **told)])
        recorded = Entry.objects.get(namespace=self.world.namespace, seq=made.seq).recorded_at
        self.facts.told.append(
            Told(
                made.id, made.seq, entity, told["value"], told["stance"], told["valid_from"] or recorded,
                told["valid_to"], recorded, told["candidate"], by is self.world.scout and attribute == "held_city",
            )
        )  # fmt: skip

    def _picked(self, step: Step) -> Told:
        return self.facts.told[step.pick % len(self.facts.told)]

    def _did(self, what: str, fact: Told, at: datetime | None = None) -> None:
        self.facts.acts.append((self.head, what, fact.id, at))

    def _supersede(self, step: Step) -> None:
        if self.facts.told:
            old = self._picked(step)
            others = [fact for fact in self.facts.told if fact.entity == old.entity and fact != old]
            new = others[step.pick % len(others)].id if others and step.pick % 3 else None
            supersede(self.world.scout, fact=old.id, at=step.at, new=new, reason="replaced")
            self._did("supersede", old, step.at)

    def _retract(self, step: Step) -> None:
        if self.facts.told:
            words = ("wrong", "outdated", "duplicate")
            was = self.facts.state(self._picked(step), self.head)
            retract(self.world.scout, fact=self._picked(step).id, retracted_as=words[step.pick % 3], reason="not so")
            self._did("retract", self._picked(step))
            assert was not in ("retracted", "rejected")

    def _declare(self, step: Step) -> None:
        attribute, told = ATTRIBUTES[step.pick % 2], step.declared
        declaration = Declaration(told.cardinality, None, told.normaliser, told.freshness_seconds, told.exclusive)
        declare(self.world.alice, attribute=attribute, declaration=declaration)
        self.facts.declared.append((self.head, attribute, told))

    def _erase(self, step: Step) -> None:
        if self.facts.told and step.pick < 4:
            fact = self._picked(step)
            row = FactState.objects.get(namespace=self.world.namespace, id=fact.id)
            erase(self.world.alice, items=[(row.seq, row.item)], reason="request")
            self._did("erase", fact)

    def _confirm(self, step: Step) -> None:
        if held := [fact for fact in self.facts.told if self.facts.state(fact, self.head) == "held"]:
            review(self.world.bob, confirm=[Target("fact", held[0].id)])
            self._did("confirm", held[0])

    def _reject(self, step: Step) -> None:
        if held := [fact for fact in self.facts.told if self.facts.state(fact, self.head) == "held"]:
            review(self.world.bob, reject=[Target("fact", held[0].id)], reason="nobody saw it")
            self._did("reject", held[0])

    def asked(self, valid_at: datetime, seq: int) -> dict[Entity, EntityStatus]:
        """The answers of the store for all entities."""
        at = self.world.at(seq, valid_at=valid_at)
        return dict(zip(ENTITIES, statuses(at, list(self.entities.values())), strict=True))

    def compare(self, valid_at: datetime, seq: int) -> None:
        """The answers are those of the model, and those given before where nothing was erased."""
        answers = self.asked(valid_at, seq)
        for entity, answer in answers.items():
            assert told(answer) == self.facts.status(entity, valid_at, seq), (entity, valid_at, seq)
            assert answer.hidden == self.facts.counts(entity, seq), (entity, valid_at, seq)
            hidden = self.facts.hidden(entity, valid_at, seq)
            shown = {"superseded": answer.superseded, "retracted": answer.retracted, "candidate": answer.candidates}
            assert {word: set(ids) for word, ids in shown.items()} == {word: hidden.get(word, set()) for word in shown}
        before = self.pinned.setdefault((seq, valid_at), answers)
        if not any(what == "erase" for _, what, _, _ in self.facts.acts):
            assert answers == before


def told(answer: EntityStatus) -> dict[str, Any]:
    """The answer as the model gives it."""
    return {
        "status": answer.status, "why": answer.why, "sides": sorted(list(side.facts) for side in answer.values),
        "erased": sorted(answer.erased), "last": answer.last_known,
    }  # fmt: skip


def points(played: Played, random: Random, n_points: int) -> list[tuple[datetime, int]]:
    """Points on and beside every end that the history has, at any entry."""
    ends = [one for fact in played.facts.told for one in (fact.start, fact.end, fact.recorded_at + DAY) if one]
    ends += [at for _, _, _, at in played.facts.acts if at is not None]
    spots = [at + random.choice([-1, 0, 0, 1]) * MICROSECOND for at in (ends or INSTANTS)] + INSTANTS
    return [(random.choice(spots), random.randint(1, played.head)) for _ in range(n_points)]


@settings(max_examples=14)
@given(
    first=st.lists(steps, min_size=5, max_size=5), history=st.lists(steps, min_size=10, max_size=24),
    random=st.randoms(use_true_random=False),
)  # fmt: skip
def test_any_history_has_the_status_of_the_naive_model_at_any_point(
    first: list[Step], history: list[Step], random: Random
) -> None:
    """Both attributes are declared and three facts told before anything else happens."""
    kinds: tuple[Kind, ...] = ("declare", "declare", "assert", "assert", "assert")
    history = [
        *(replace(step, kind=kind, pick=n) for n, (kind, step) in enumerate(zip(kinds, first, strict=True))),
        *history,
    ]
    played = Played()
    with clock.injected(lambda: played.at):
        for number, step in enumerate(history):
            played.play(step)
            if number % 4 == 3:
                for valid_at, seq in points(played, random, 1):
                    played.compare(valid_at, seq)
        for valid_at, seq in [*points(played, random, 6), *((at, seq) for seq, at in list(played.pinned))]:
            played.compare(valid_at, seq)
        # The very instants at which something ends as known now, freshness among them.
        ends = {end for fact in played.facts.told if (end := played.facts.end(fact, played.head))}
        for end in random.sample(sorted(ends), min(4, len(ends))):
            played.compare(end, played.head)
        assert_pieces_cover(played.world.namespace)
        assert_cases(played)
        before = projected(played.world.namespace)
        assert rebuilt(played.world.namespace) == before


def assert_pieces_cover(namespace: int) -> None:
    """The pieces of a fact never overlap; at each seq from its own on they cover its valid interval."""
    for row in FactState.objects.filter(namespace=namespace):
        pieces = list(rectangles.pieces(row))
        for seq in {row.seq, *(piece.known_from for piece in pieces), 10**6}:
            spans = sorted(
                (piece.valid_from, piece.valid_to or datetime.max.replace(tzinfo=UTC))
                for piece in pieces
                if piece.known_from <= seq and (piece.known_to is None or seq < piece.known_to)
            )
            ends = [row.valid_from, *(end for _, end in spans)]
            assert [start for start, _ in spans] == ends[:-1]
            assert ends[-1] == (row.valid_to or datetime.max.replace(tzinfo=UTC))


def assert_cases(played: Played) -> None:
    for name, entity in played.entities.items():
        rows = ConflictCase.objects.filter(namespace=played.world.namespace, id=case_id(*entity))
        assert sorted(rows.values_list("opened_seq", "closed_seq")) == played.facts.cases(name, played.head), name


independent = st.lists(assertions, min_size=2, max_size=8)


@settings(max_examples=5)
@given(given_facts=independent, declared=declarations, random=st.randoms(use_true_random=False))
def test_the_order_of_independent_arrivals_changes_no_answer(
    given_facts: list[dict[str, Any]], declared: Declared, random: Random
) -> None:
    """One by one in order, and shuffled as one batch; what is worked out from the instant of arrival is left out."""
    answers = []
    for is_shuffled in (False, True):
        played = Played()
        declaration = Declaration(declared.cardinality, None, declared.normaliser, None, declared.exclusive)
        declare(played.world.alice, attribute="city", declaration=declaration)
        facts = [_new(number, one) for number, one in enumerate(given_facts)]
        groups = [random.sample(facts, len(facts))] if is_shuffled else [[fact] for fact in facts]
        for group in groups:
            assert_facts(played.world.alice, facts=group)
        seq = played.head
        answers.append([
            {entity: _unordered(answer) for entity, answer in played.asked(at, seq).items()} for at in INSTANTS[::3]
        ])  # fmt: skip
    assert answers[0] == answers[1]


def _new(number: int, one: dict[str, Any]) -> NewFact:
    given_fact = {name: value for name, value in one.items() if name not in ("entity", "by_agent")}
    interval = _in_order(one["valid_from"] or INSTANTS[0] - DAY, one["valid_to"])
    subject, attribute = one["entity"]
    return NewFact(subject, attribute, id=uuid5(UUID(int=0), str(number)), **{**given_fact, **interval})


def _unordered(answer: EntityStatus) -> dict[str, Any]:
    # Of facts that ended at one instant the one that came last is named as the last known.
    return {
        **told(answer), "hidden": answer.hidden, "case": answer.case is not None, "last": answer.last_known is None,
        "sides": sorted(sorted(side.facts) for side in answer.values),
    }  # fmt: skip
