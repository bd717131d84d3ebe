"""What a review policy holds: out of sight, provable, and let in by a person or by two independent origins alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.agents import operations as agents
from memory.agents.policies import policy_at
from memory.agents.policy import Policy, Rule, Write, from_rows, parsed
from memory.agents.waiting import waits
from memory.base import clock
from memory.base.actor import Actor
from memory.base.errors import Conflict, Erased, Forbidden, Invalid, NotFound
from memory.checks.rebuilding import rebuild
from memory.ledger.models import Item
from memory.ledger.queries.verification import scan
from memory.records.models import Held, RecordState, Review
from memory.records.queries import detail, lists
from memory.records.queries.recall import recall
from memory.records.review import independent
from memory.records.reviewing import Target, lapse, overdue, preview, review
from memory.worker import due
from tests.interchange.archives import archive_of, lose, namespace_named, restored
from tests.world import World

pytestmark = pytest.mark.django_db

HOLD = "agent=scout type=procedure -> hold 14 d"
TWO_ORIGINS = "type=claim -> auto after 2 independent origins"


@pytest.fixture
def world() -> World:
    made = World()
    agents.change_setting(made.alice, name="review_policy", value=f"{HOLD}\n{TWO_ORIGINS}\n-> auto")
    return made


def procedure(world: World, text: str = "go back to 5.4.6 everywhere", **more: Any) -> Target:
    saved = world.save(text, type="procedure", **more)
    assert saved.state == "held"
    return Target("record", saved.id)


def state(world: World, target: Target, *, seq: int | None = None) -> str:
    at = world.now() if seq is None else world.at(seq)
    return detail.record(at, id=target.id).row.state


def assert_rebuilt_alike(world: World) -> None:
    done = rebuild(world.system, check=True)
    assert [one.projector for one in done.comparisons if one.n_differences] == []


def listed(world: World, **where: Any) -> set[Any]:
    return {row.id for row in lists.records(world.now(), where=lists.Filter(**where)).items}


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=12)
rules = st.builds(
    Rule,
    holds=st.just(True),
    days=st.integers(1, 400),
    origins=st.sampled_from([0, 2]),
    agent=st.one_of(st.just(""), words),
    type=st.one_of(st.just(""), words),
    source_class=st.sampled_from(["", "first_hand"]),
) | st.builds(Rule, holds=st.just(False), kind=st.sampled_from(["", "record", "fact"]), agent=words)


@pytest.mark.sqlite_only
@given(st.lists(rules, max_size=5))
@settings(max_examples=60)
def test_text_and_rows_of_a_policy_say_the_same(rows: list[Rule]) -> None:
    policy = Policy(tuple(rows))
    assert parsed(policy.text) == policy
    assert from_rows([{**dict(rule.conditions), "then": rule.action} for rule in rows]) == policy


@pytest.mark.sqlite_only
def test_the_first_row_that_matches_decides_and_no_row_is_auto() -> None:
    policy = parsed("agent=scout type=note -> auto\nagent=scout -> hold 3 d\nkind=fact -> hold")
    verdicts = [
        policy.held_by(Write(*words))
        for words in (("record", "scout", "note"), ("record", "scout", "plan"), ("record", "other"), ("fact", "other"))
    ]
    assert verdicts == [None, 1, None, 2]
    assert [rule.days for rule in policy.rules] == [0, 3, 30]


@pytest.mark.sqlite_only
@pytest.mark.parametrize(
    "row",
    ["agnt=x -> auto", "agent=x hold", "-> hold 0 d", "kind=thing -> auto", "agent=a agent=b -> auto", "-> maybe"],
)
def test_a_row_that_says_nothing_is_refused_by_its_number(row: str) -> None:
    with pytest.raises(Invalid) as refused:
        parsed(f"-> auto\n{row}")
    assert "row 2" in refused.value.detail


def test_a_held_record_is_provable_and_in_no_answer_until_a_person_confirms_it(world: World) -> None:
    target = procedure(world)
    before = world.now().seq
    answer = lists.records(world.now(), where=lists.Filter())
    assert target.id not in {row.id for row in answer.items}
    assert answer.hidden == {"held": 1}
    assert not recall(world.now(), query="5.4.6 everywhere").items
    assert recall(world.now(), query="5.4.6 everywhere").hidden == {"held": 1}
    assert target.id in listed(world, include=frozenset({"held"}))
    assert target.id in listed(world, states=("held",))
    assert not scan(world.namespace).faults
    twin = world.save("go back to 5.4.6 everywhere")
    assert detail.record(world.now(), id=twin.id).same_text_as == ()

    review(world.bob, confirm=[target], reason="compared with the advisory")

    assert state(world, target) == "current"
    assert state(world, target, seq=before) == "held", "the answer for an entry stays"
    assert target.id in listed(world)
    assert target.id in {one.id for one in recall(world.now(), query="5.4.6 everywhere").items}
    assert_rebuilt_alike(world)


def test_what_people_write_and_what_no_row_names_counts_at_once(world: World) -> None:
    assert world.save(type="procedure", by=world.alice).state == "current"
    assert world.save(type="note").state == "current"
    assert world.save(type="procedure", by=world.agent("other")).state == "current"


def test_a_rejected_record_reads_as_withdrawn_and_waits_no_more(world: World) -> None:
    target = procedure(world)
    before = world.now().seq
    done = review(world.bob, reject=[target], reason="the advisory says otherwise")
    found = detail.record(world.now(), id=target.id)
    assert (found.row.state, found.withdrawal_reason) == ("withdrawn", "the advisory says otherwise")
    assert state(world, target, seq=before) == "held"
    assert [item.kind for item in Item.objects.filter(namespace=world.namespace, seq=done.seq).order_by("item")] == [
        "review",
        "withdrawal",
    ]
    for again in ({"confirm": [target]}, {"reject": [target], "reason": "again"}):
        with pytest.raises(Conflict, match="turned down already"):
            review(world.bob, **again)
    assert_rebuilt_alike(world)


@pytest.mark.parametrize(
    "act",
    [
        lambda w, one, two: w.evolve(one, content="another text"),
        lambda w, one, two: w.split(one, "a part", "another part"),
        lambda w, one, two: w.merge(one, two),
        lambda w, one, two: w.supersede(two, one),
        lambda w, one, two: w.supersede(one, two),
        lambda w, one, two: w.link(two, "references", one),
        lambda w, one, two: w.link(one, "references", two),
    ],
    ids=["evolve", "split", "merge", "supersede by it", "supersede it", "link to it", "link from it"],
)
def test_nothing_can_rest_on_a_held_record(world: World, act: Callable[..., object]) -> None:
    target, other = procedure(world), world.save("a note")
    head = world.now().seq
    with pytest.raises(Conflict, match="held"):
        act(world, target.id, other.id)
    assert world.now().seq == head
    review(world.bob, confirm=[target])
    agents.change_setting(world.alice, name="review_policy", value="-> auto")
    act(world, target.id, other.id)


def test_an_agent_does_not_get_past_the_policy_by_deriving_or_by_rewriting(world: World) -> None:
    old = world.save("the way we do it", type="procedure", by=world.alice)
    parts = [world.save("one"), world.save("two")]
    with pytest.raises(Conflict, match="Row 1 of the review policy"):
        world.evolve(old.id, content="another way")
    with pytest.raises(Conflict, match="Row 1 of the review policy"):
        world.merge(*(one.id for one in parts), content="a third way", type="procedure")
    assert state(world, Target("record", old.id)) == "current"
    given = uuid4()
    target = procedure(world, id=given)
    again = world.save("go back to 5.4.6 everywhere", type="procedure", id=given)
    assert (again.replayed, again.state) == (True, "held")
    with pytest.raises(Conflict):
        world.save("go back to 5.4.6 everywhere", type="note", id=given)
    assert state(world, target) == "held"


@pytest.mark.parametrize("principal", ["scout", "charlie", "mighty"])
def test_only_who_may_review_confirms_or_rejects(world: World, principal: str) -> None:
    target = procedure(world)
    mighty = Actor(world.namespace, "agent", agent=world.scout.agent, powers=world.alice.powers)
    by = {"scout": world.scout, "charlie": world.charlie, "mighty": mighty}[principal]
    head = world.now().seq
    for asked in ({"confirm": [target]}, {"reject": [target], "reason": "no"}):
        with pytest.raises(Forbidden):
            review(by, **asked)
        with pytest.raises(Forbidden):
            preview(by, confirm=[target])
    assert world.now().seq == head


def test_an_author_may_take_a_held_record_back_and_a_person_may_show_it_again(world: World) -> None:
    target = procedure(world)
    world.withdraw(target.id)
    with pytest.raises(Conflict):
        review(world.bob, confirm=[target])
    world.restore(target.id)
    assert state(world, target) == "current"
    causes = Review.objects.filter(namespace=world.namespace, object=target.id).order_by("seq")
    assert list(causes.values_list("confirmed", "cause")) == [(False, "author"), (True, "person")]
    assert_rebuilt_alike(world)


def test_a_bulk_review_is_one_entry_that_its_preview_counts(world: World) -> None:
    targets = [procedure(world, f"step {n}") for n in range(5)]
    told = preview(world.bob, confirm=targets[:3], reject=targets[3:])
    assert told.words == "confirms 3, rejects 2, appends 1 entry of 7 items"
    head = world.now().seq
    done = review(world.bob, confirm=targets[:3], reject=targets[3:], reason="read them all")
    assert world.now().seq == head + 1 == done.seq
    assert Item.objects.filter(namespace=world.namespace, seq=done.seq).count() == told.n_items
    assert [state(world, one) for one in targets] == ["current"] * 3 + ["withdrawn"] * 2


def test_a_bulk_review_is_all_or_nothing(world: World) -> None:
    target, other = procedure(world), world.save("a note")
    head = world.now().seq
    for wrong, error in (
        (Target("record", other.id), Conflict),
        (Target("record", uuid4()), NotFound),
        (Target("fact", uuid4()), NotFound),
        (target, Invalid),
    ):
        with pytest.raises(error):
            review(world.bob, confirm=[target], reject=[wrong], reason="no")
    with pytest.raises(Invalid, match="turned down"):
        review(world.bob, reject=[target], reason="  ")
    world.erase(target.id)
    with pytest.raises(Erased):
        review(world.bob, confirm=[target])
    assert world.now().seq == head + 1
    assert state(world, target) == "erased"


def lapsing(world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[Target, Any]:
    target = procedure(world)
    until_at = Held.objects.get(namespace=world.namespace, object=target.id).until_at
    assert until_at is not None
    assert until_at == detail.record(world.now(), id=target.id).row.recorded_at + timedelta(days=14)
    monkeypatch.setattr(clock, "read", lambda: until_at)
    monkeypatch.setattr(clock, "now", lambda: until_at)
    return target, until_at


def test_what_nobody_reviews_by_its_date_lapses_at_read_and_then_by_an_entry(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = procedure(world, "confirmed in time")
    review(world.bob, confirm=[kept])
    target, until_at = lapsing(world, monkeypatch)
    head = world.now().seq
    found = detail.record(world.now(), id=target.id)
    assert (found.row.state, found.withdrawal_reason) == ("withdrawn", "not reviewed in time")
    assert state(world, target, seq=head) == "held", "the answer for an entry knows no clock"
    with pytest.raises(Conflict, match="not reviewed in time"):
        review(world.bob, confirm=[target])
    assert overdue(until_at - clock.TICK) == []
    (act,) = [one for one in due(until_at) if one.act == "lapse"]
    act.run()
    assert lapse(world.system) is None
    found = detail.record(world.now(), id=target.id)
    assert (found.row.state, found.withdrawal_reason) == ("withdrawn", "not reviewed in time")
    assert found.withdrawn_seq == head + 1
    assert state(world, kept) == "current"
    assert_rebuilt_alike(world)


def claim(world: World, agent: Actor, origin: str, **more: Any) -> Target:
    return Target("record", world.save("5.6.1 is bad", type="claim", by=agent, origin=origin, **more).id)


def test_two_independent_origins_confirm_and_two_relays_of_one_do_not(world: World) -> None:
    second, third = world.agent("second"), world.agent("third")
    first = claim(world, world.scout, "the vendor")
    same_writer = claim(world, world.scout, "another name")
    relay = claim(world, second, " The  Vendor ", source_class="relayed")
    unnamed = claim(world, second, "")
    waiting = (first, same_writer, relay, unnamed)
    assert [state(world, one) for one in waiting] == ["held"] * 4
    head = world.now().seq
    last = claim(world, third, "a mirror")
    assert [state(world, one) for one in (*waiting, last)] == ["current"] * 5
    assert [state(world, one, seq=head) for one in waiting] == ["held"] * 4
    reviews = Review.objects.filter(namespace=world.namespace, seq=world.now().seq)
    assert set(reviews.values_list("cause", flat=True)) == {"origins"}
    assert_rebuilt_alike(world)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "x", "y", "z"])), max_size=6))
@pytest.mark.sqlite_only
def test_words_are_independent_where_no_writer_and_no_origin_ties_them(pairs: list[tuple[str, str]]) -> None:
    graph = nx.Graph([(("writer", writer), ("origin", origin)) for writer, origin in pairs if origin])
    assert independent(pairs) == (nx.number_connected_components(graph) > 1)


def test_origins_confirm_neither_what_a_person_turned_down_nor_what_waits_for_a_person(world: World) -> None:
    second, third = world.agent("second"), world.agent("third")
    first = claim(world, world.scout, "the vendor")
    review(world.bob, reject=[first], reason="it is not")
    others = [claim(world, second, "a mirror"), claim(world, third, "a list")]
    assert [state(world, one) for one in (first, *others)] == ["withdrawn", "held", "held"]
    plain = procedure(world, "5.6.2 is good", origin="the vendor")
    world.save("5.6.2 is good", by=second, origin="a mirror")
    assert state(world, plain) == "held"


def test_the_policy_in_force_is_that_of_its_time_and_its_row_is_named(world: World) -> None:
    held = procedure(world)
    row = Held.objects.get(namespace=world.namespace, object=held.id)
    assert policy_at(world.namespace, row.policy_seq).rules[row.rule].text == HOLD
    agents.change_setting(world.alice, name="review_policy", value=[{"type": "procedure", "then": "auto"}])
    assert world.save("go", type="procedure").state == "current"
    assert policy_at(world.namespace, row.policy_seq).rules[row.rule].text == HOLD
    assert state(world, held) == "held"


def test_the_rows_of_the_projection_follow_the_evidence(world: World) -> None:
    target = procedure(world)
    row = RecordState.objects.get(namespace=world.namespace, id=target.id)
    assert (row.held_seq, row.confirmed_seq) == (row.seq, None)
    done = review(world.bob, confirm=[target])
    row.refresh_from_db()
    assert row.confirmed_seq == done.seq


def test_a_restored_namespace_holds_what_the_archive_held(world: World) -> None:
    held, confirmed, rejected = (procedure(world, f"step {n}") for n in range(3))
    review(world.bob, confirm=[confirmed], reject=[rejected], reason="no")
    head = world.now().seq
    before = [[state(world, one, seq=seq) for one in (held, confirmed, rejected)] for seq in (head - 1, head)]
    assert before == [["held"] * 3, ["held", "current", "withdrawn"]]
    archive = archive_of(world.namespace)
    lose(world)
    restored(archive)
    world.namespace = namespace_named(world.name)
    after = [[state(world, one, seq=seq) for one in (held, confirmed, rejected)] for seq in (head - 1, head)]
    assert after == before
    assert held.id not in listed(world)
    assert [one.about for one in waits(world.namespace, now=clock.now())] == [held.id]
