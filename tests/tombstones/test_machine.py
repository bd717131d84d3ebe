"""Any life of dead ends against a naive model that replays all events for every question.

The same state, marks, failures, false blocks and due date at random points of both clocks, to the microsecond.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from memory.agents.operations import change_setting
from memory.base import clock
from memory.base.errors import Conflict, Invalid
from memory.tombstones import queries
from memory.tombstones.content import Revival
from memory.tombstones.models import Tombstone
from memory.tombstones.operations import living
from tests.tombstones.burials import SCOPE, asked, buried
from tests.world import World

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
POINTS = 8
numbers, days = count(1), count(1)
indices, hours = st.integers(0, 3), st.integers(1, 5)


@dataclass
class Naive:
    """One dead end: (seq, what, more) of all that happened, replayed from the start for every question."""

    needed: list[int]
    due_at: datetime
    events: list[tuple[int, str, Any]] = field(default_factory=list)

    def told(self, seq: int, valid_at: datetime, limit: int) -> tuple[Any, ...]:  # noqa: C901 - as naive as can be
        state, due_at, n_failures, filed = "active", self.due_at, 1, []
        false: set[Any] = set()
        for at, what, more in self.events:
            if at > seq:
                continue
            if what == "file":
                filed.append(more)
            elif what == "judge":
                check, is_false = more
                (false.add if is_false else false.discard)(check or at)
            elif what == "revive":
                state = "revival_testing"
            elif what in ("pass", "retire"):
                state = "retired"
            elif what == "keep":
                due_at = more
            elif what == "fail":
                state, n_failures, filed = "active", n_failures + 1, []
        if state == "active" and len(false) >= limit:
            state = "audit_only"
        marks = []
        for position, n in enumerate(self.needed, start=1):
            own = [(origin, until) for where, origin, until in filed if where == position]
            live = {origin for origin, until in own if valid_at < until}
            marks.append("met" if len(live) >= n else "lapsed" if any(u <= valid_at for _, u in own) else "unmet")
        return state, tuple(marks), n_failures, len(false), None if state == "retired" else due_at


class DeadEnds(RuleBasedStateMachine):
    """The clock steps by whole hours, so that instants meet; between them an entry moves it by a microsecond."""

    world: World

    def __init__(self) -> None:
        super().__init__()
        # One namespace serves all examples, and its clock never steps back.
        self.noon = self.now = NOON + next(days) * timedelta(days=1)
        self.limits = [(0, 3)]
        self.naive: dict[UUID, Naive] = {}
        self.blocks: dict[UUID, list[UUID]] = {}
        self.routes: dict[UUID, str] = {}
        self.stack = ExitStack()
        self.stack.enter_context(clock.injected(lambda: self.now))
        self.limited(3)

    def limited(self, limit: int) -> None:
        done = change_setting(self.world.alice, name="false_block_limit", value=str(limit))
        self.limits.append((done.seq, limit))

    def any_of(self, index: int) -> UUID:
        return list(self.naive)[index % len(self.naive)]

    def state(self, one: UUID) -> str:
        return str(self.naive[one].told(10**9, self.now, self.limits[-1][1])[0])

    def happened(self, one: UUID, what: str, act: Callable[[], Any], more: Any = None, *, may: bool = True) -> None:
        """The act happens if the model says that it may, and is refused otherwise."""
        if not may:
            with pytest.raises((Conflict, Invalid)):
                act()
            return
        self.naive[one].events.append((act().seq, what, more))

    @rule(needed=st.lists(st.integers(1, 2), min_size=1, max_size=2), due=hours)
    def bury(self, needed: list[int], due: int) -> None:
        route = f"route {next(numbers)}"
        due_at = self.now + due * HOUR
        conditions = [Revival(f"condition {at}", n) for at, n in enumerate(needed, start=1)]
        one = buried(self.world, route=route, revival=conditions, review_at=due_at)
        self.naive[one], self.routes[one], self.blocks[one] = Naive(needed, due_at), route, []

    @precondition(lambda self: self.naive)
    @rule(index=indices, position=st.integers(1, 2), origin=st.sampled_from("ab"), life=hours)
    def file(self, index: int, position: int, origin: str, life: int) -> None:
        one, until = self.any_of(index), self.now + life * HOUR
        may = self.state(one) != "retired" and position <= len(self.naive[one].needed)
        self.happened(
            one, "file",
            lambda: living.file_evidence(
                self.world.scout, tombstone=one, condition=f"#{position}", valid_until=until, origin=origin
            ),
            (position, origin, until), may=may,
        )  # fmt: skip

    @precondition(lambda self: self.naive)
    @rule(index=indices, inside=st.booleans())
    def check(self, index: int, inside: bool) -> None:
        one = self.any_of(index)
        answer = asked(self.world, route=self.routes[one], scope=SCOPE if inside else {"package": "zlib"})
        words = {"active": "none", "revival_testing": "retest_only"}
        expected = words.get(self.state(one), self.state(one)) if inside else "out_of_scope"
        assert (answer.checked.verdict == "blocked") is (inside and self.state(one) == "active")
        assert answer.checked.reason == expected
        if answer.checked.verdict == "blocked":
            assert answer.id is not None
            self.blocks[one].append(answer.id)

    @precondition(lambda self: self.naive)
    @rule(index=indices, which=indices, is_false=st.booleans())
    def judge(self, index: int, which: int, is_false: bool) -> None:
        one = self.any_of(index)
        check = ([None, *self.blocks[one]])[which % (len(self.blocks[one]) + 1)]
        said = [more[1] for _, what, more in self.naive[one].events if what == "judge" and more[0] == check]
        may = is_false if check is None else said[-1:] != [is_false]
        self.happened(
            one, "judge",
            lambda: living.judge_block(self.world.scout, tombstone=one, is_false=is_false, check=check),
            (check, is_false), may=may,
        )  # fmt: skip

    @precondition(lambda self: self.naive)
    @rule(index=indices)
    def revive(self, index: int) -> None:
        one = self.any_of(index)
        _, marks, *_ = self.naive[one].told(10**9, self.now, self.limits[-1][1])
        may = self.state(one) in ("active", "audit_only") and set(marks) == {"met"}
        self.happened(one, "revive", lambda: living.revive(self.world.alice, tombstone=one), may=may)

    @precondition(lambda self: self.naive)
    @rule(index=indices, passed=st.booleans())
    def retest(self, index: int, passed: bool) -> None:
        one = self.any_of(index)
        what, may = "pass" if passed else "fail", self.state(one) == "revival_testing"
        self.happened(one, what, lambda: living.retest(self.world.alice, tombstone=one, passed=passed), may=may)

    @precondition(lambda self: self.naive)
    @rule(index=indices, later=hours)
    def keep(self, index: int, later: int) -> None:
        one, until = self.any_of(index), self.now + later * HOUR
        may = self.state(one) != "retired"
        act = lambda: living.keep(self.world.alice, tombstone=one, review_at=until, reason="so it is")  # noqa: E731
        self.happened(one, "keep", act, until, may=may)

    @precondition(lambda self: len(self.naive) > 1)
    @rule(index=indices)
    def retire(self, index: int) -> None:
        one = self.any_of(index)
        act = lambda: living.retire(self.world.alice, tombstone=one, reason="unused")  # noqa: E731
        self.happened(one, "retire", act, may=self.state(one) != "retired")

    @rule(limit=st.integers(1, 3))
    def limit(self, limit: int) -> None:
        self.limited(limit)

    @rule(step=st.integers(1, 2))
    def tick(self, step: int) -> None:
        self.now += step * HOUR

    def points(self) -> Iterator[tuple[int, datetime]]:
        random, head = Random(len(self.naive)), self.world.now().seq
        yield head, self.now
        for _ in range(POINTS):
            edge = random.choice((timedelta(0), clock.TICK, -clock.TICK))
            yield random.randint(self.limits[1][0], head), self.noon + random.randint(0, 8) * HOUR + edge

    def teardown(self) -> None:
        try:
            for seq, valid_at in self.points():
                self.agrees_at(seq, valid_at)
        finally:
            self.stack.close()

    def agrees_at(self, seq: int, valid_at: datetime) -> None:
        at = self.world.at(seq, valid_at=valid_at)
        limit = [limit for since, limit in self.limits if since <= seq][-1]
        standing = set(Tombstone.objects.filter(namespace=at.namespace, seq__lte=seq).values_list("id", flat=True))
        for one, naive in self.naive.items():
            if one in standing:
                now = queries.tombstone(at, id=one).standing
                marks = tuple(condition.mark for condition in now.conditions)
                told = (now.state, marks, now.n_failures, now.n_false, now.due_at)
                assert told == naive.told(seq, valid_at, limit)
                assert now.is_overdue is (now.due_at is not None and now.due_at <= valid_at)


N_EXAMPLES = 10 if os.environ.get("HYPOTHESIS_PROFILE") == "quick" else 15


@pytest.mark.django_db
def test_any_life_is_told_as_the_naive_model_tells_it() -> None:
    with clock.fixed(NOON - HOUR):
        DeadEnds.world = World()
    run_state_machine_as_test(
        DeadEnds, settings=hypothesis_settings(max_examples=N_EXAMPLES, stateful_step_count=20, deadline=None)
    )  # fmt: skip
