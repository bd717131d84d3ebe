"""Facts at the edges: extreme instants and numbers, crowded entries, repeated requests, what was never confirmed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from uuid import UUID

import pytest

from memory.agents import operations as agents
from memory.base import clock
from memory.base.errors import Conflict, Forbidden, Invalid, NotFound
from memory.checks.rebuilding import rebuild
from memory.facts.content import NewFact
from memory.facts.kernel.values import normal
from memory.facts.models import AttributeSpec, Fact
from memory.facts.operations import declaring, ending
from memory.facts.operations.asserting import AssertedFact, assert_each, assert_facts
from memory.facts.operations.declaring import Declaration
from memory.facts.queries import conflicts
from memory.facts.queries.held import shown
from memory.facts.queries.timeline import timeline
from memory.ledger.operations.erasing import erase
from memory.ledger.queries.contents import name_ids
from memory.records.operations import withdraw
from memory.records.queries.held import turned_down
from memory.records.reviewing import Target, lapse, review
from tests.contract.callers import caller
from tests.facts.stating import SHOP, SPRING, SUMMER, declare, state
from tests.world import World

pytestmark = pytest.mark.django_db

FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)


@pytest.fixture
def world() -> World:
    return World()


def rebuilt_alike(world: World) -> bool:
    return not [one.projector for one in rebuild(world.system, check=True).comparisons if one.n_differences]


def test_facts_that_hold_for_all_of_time_can_be_declared_about_erased_and_rebuilt(world: World) -> None:
    always = state(world, "city", "Bonn", valid_from=FIRST, valid_to=LAST)
    state(world, "city", "Kiel", valid_from=SPRING, valid_to=SUMMER)
    state(world, "city", "Kiel", valid_from=SUMMER, valid_to=LAST)
    declare(world, "city")
    (case,) = conflicts.cases(world.now()).items
    assert case.opened_seq == world.now().seq
    assert rebuilt_alike(world)
    row = Fact.objects.get(namespace=world.namespace, id=always)
    erase(world.alice, items=[(row.seq, row.item)], reason="request", note="")
    assert conflicts.cases(world.now()).items == ()
    assert rebuilt_alike(world)


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        ("1e1000000", "10e999999", True), ("1e-1000000", "0", False), ("1e999999999999999999999", "1", False),
        (f"1.{'0' * 40}1", "1", False), (f"1.{'0' * 40}", "1", True), (-0.0, 0, True), ("-0", 0, True),
        ("NaN", "NaN", True), (1e308, "1e308", True),
    ],
)  # fmt: skip
def test_numbers_of_any_size_are_one_where_they_are_equal(
    one: str | float, other: str | float, are_equal: bool
) -> None:
    assert (normal(one, "number") == normal(other, "number")) is are_equal
    assert normal(2.50, "exact") == ("number", Decimal("2.5"))


def test_every_case_that_one_entry_opens_is_on_one_page_of_the_queue(world: World) -> None:
    declare(world, "city")
    facts = [NewFact(f"shop {n}", "city", value, valid_from=SPRING) for n in range(7) for value in ("Bonn", "Kiel")]
    assert_facts(world.scout, facts=facts)
    found: list[UUID] = []
    after: int | None = None
    totals: set[int] = set()
    for _ in range(4):
        page = conflicts.cases(world.now(), after=after, limit=2)
        found += [one.id for one in page.items]
        after = page.next_place
        totals.add(page.total)
    assert (after, totals) == (None, {7})
    assert len(found) == len(set(found)) == 7


def test_a_repeated_request_is_answered_as_it_was_whatever_is_declared_since(world: World) -> None:
    by = replace(world.scout, idempotency_key="one")
    (first,) = assert_facts(by, facts=[NewFact("xz", "size", "large")])
    declare(world, "size", value_type="number")
    (again,) = assert_facts(by, facts=[NewFact("xz", "size", "large")])
    assert (again.id, again.digest, again.replayed) == (first.id, first.digest, True)

    by = replace(world.scout, idempotency_key="many")
    facts = [NewFact("xz", "size", value) for value in ("small", 5, "huge", 5, 6)]
    before = assert_each(by, facts=facts)
    declare(world, "size", "many")
    after = assert_each(by, facts=facts)
    told = [
        [one.id if isinstance(one, AssertedFact) else None for one in answers] for answers in (before, after)
    ]  # fmt: skip
    assert told[0] == told[1]
    assert [one is None for one in told[0]] == [True, False, True, False, False]
    with pytest.raises(Conflict):
        assert_facts(replace(by, idempotency_key="own"), facts=[NewFact("xz", "size", 7, id=first.id)])


def test_pairs_that_are_erased_exclude_nothing_any_more(world: World) -> None:
    declare(world, "owner", "many", exclusive=(("Anna", "Bert"),))
    for name in ("Anna", "Bert"):
        state(world, "owner", name, valid_from=SPRING)
    row = AttributeSpec.objects.get(namespace=world.namespace)
    assert conflicts.cases(world.now()).total == 1
    erase(world.alice, items=[(row.seq, row.item)], reason="request", note="")
    assert conflicts.cases(world.now()).total == 0
    assert rebuilt_alike(world)


def test_a_pair_of_truth_values_is_another_declaration_than_one_of_numbers(world: World) -> None:
    declare(world, "flag", "many", exclusive=((1, 0),))
    told = Declaration("many", exclusive=((True, False),))
    assert not declaring.declare(world.alice, attribute="flag", declaration=told).replayed
    assert declaring.declare(world.alice, attribute="flag", declaration=told).replayed


def test_a_held_fact_is_turned_down_by_its_author_or_a_person_and_never_told_after(world: World) -> None:
    agents.change_setting(world.alice, name="review_policy", value="kind=fact -> hold 7 d")
    other, facts = world.agent("other"), [state(world, "owner", name) for name in ("Anna", "Bert")]
    for fact in facts:
        with pytest.raises(NotFound):
            ending.retract(other, fact=fact, retracted_as="wrong", reason="none of mine")
    answer = caller(world, other).post(f"/facts/{facts[0]}/supersede", {"at": "2026-01-01T00:00:00Z", "reason": "no"})
    assert answer.status_code == 404
    ending.retract(world.scout, fact=facts[0], retracted_as="wrong", reason="misread")
    review(world.bob, reject=[Target("fact", facts[1])], reason="hearsay")
    subject = name_ids(world.namespace, [SHOP])[SHOP]
    told = timeline(world.now(), subject=subject, reader=other)
    assert (told.pieces, told.hidden) == ((), {"withdrawn": 2})
    asked = timeline(world.now(), subject=subject, include=frozenset(("withdrawn",)), reader=other)
    assert [(piece.fact.id, piece.lane) for piece in asked.pieces] == [
        (facts[0], "retracted"), (facts[1], "rejected"),
    ]  # fmt: skip


def test_what_lapsed_was_turned_down_by_nobody_and_origins_can_still_confirm_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = "kind=fact -> auto after 2 independent origins within 1 d"
    agents.change_setting(world.alice, name="review_policy", value=policy)
    state(world, "safe", True, origin="a", valid_from=SPRING)
    later = clock.now() + timedelta(days=2)
    monkeypatch.setattr(clock, "read", lambda: later)
    assert lapse(world.system) is not None
    state(world, "safe", True, origin="b", by=world.agent("second"), valid_from=SPRING)
    assert world.status(SHOP, "safe").values == ()
    state(world, "safe", True, origin="c", by=world.agent("third"), valid_from=SPRING)
    assert [len(one.facts) for one in world.status(SHOP, "safe").values] == [2]


def test_a_source_is_asked_by_its_own_instants_whatever_was_written_first(world: World) -> None:
    state(world, "city", "Kiel", valid_from=SUMMER, source_recorded_at=SUMMER)
    state(world, "city", "Bonn", valid_from=FIRST, valid_to=SPRING, source_recorded_at=SPRING)
    at = replace(world.now(), source_at=SPRING, valid_at=SPRING)
    listed = world.status(SHOP, "", at=at)
    assert (listed.attribute, listed.status, listed.why) == ("city", "unknown", "expired")
    assert listed.last_known is not None


def test_a_circle_of_supersessions_is_refused_however_long_it_is(world: World) -> None:
    chain = [state(world, "city", n, valid_from=SPRING) for n in range(6)]
    for old, new in pairwise(chain):
        ending.supersede(world.scout, fact=old, at=SUMMER, new=new, reason="moved")
    with pytest.raises(Invalid, match="did not replace itself"):
        ending.supersede(world.scout, fact=chain[-1], at=SUMMER, new=chain[0], reason="back again")


def test_no_agent_settles_a_conflict_by_declaring_that_its_facts_expire(world: World) -> None:
    state(world, "open", True, valid_from=SPRING)
    state(world, "open", True, stance="denies", valid_from=SUMMER)
    expiring = Declaration("many", freshness_seconds=1)
    with pytest.raises(Forbidden):
        declaring.declare(world.scout, attribute="open", declaration=expiring)
    assert conflicts.cases(world.now()).total == 1
    declaring.declare(world.alice, attribute="open", declaration=expiring)


def test_what_stands_beside_a_held_fact_is_the_newest_of_its_point(world: World) -> None:
    confirmed = state(world, "owner", "Anna", valid_from=SPRING)
    agents.change_setting(world.alice, name="review_policy", value="kind=fact -> hold 7 d")
    held = state(world, "owner", "Bert")
    point = world.now()
    later = state(world, "owner", "Cleo", by=world.alice)
    for at, expected in ((point, confirmed), (world.now(), later)):
        near = shown(at, [held])[held].near
        assert near is not None
        assert near.id == expected


def test_a_held_record_is_withdrawn_by_its_author_or_a_person_alone(world: World) -> None:
    agents.change_setting(world.alice, name="review_policy", value="-> hold 7 d")
    record = world.save("a step").id
    with pytest.raises(NotFound):
        withdraw(world.agent("other"), record=record, reason="none of mine")
    withdraw(world.scout, record=record, reason="misread")


def test_no_origin_confirms_a_fact_past_its_date_before_its_lapse_is_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = "kind=fact -> auto after 2 independent origins within 1 d"
    agents.change_setting(world.alice, name="review_policy", value=policy)
    late = state(world, "safe", True, origin="a", valid_from=SPRING)
    later = clock.now() + timedelta(days=2)
    monkeypatch.setattr(clock, "read", lambda: later)
    fresh = state(world, "safe", True, origin="b", by=world.agent("second"), valid_from=SPRING)
    assert [one.facts for one in world.status(SHOP, "safe").values] == [(fresh,)]
    assert lapse(world.system) is not None
    assert late in {one.id for one in turned_down(world.now())}
