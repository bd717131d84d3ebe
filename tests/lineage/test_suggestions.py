"""What a record is offered to be linked to or merged with, and that being offered changes nothing."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from memory.base.asof import AsOf
from memory.base.word_diff import shared_words
from memory.ledger.models import Entry
from memory.lineage.models import Edge
from memory.lineage.queries.suggestions import Suggestion, suggestions
from memory.records.queries import detail
from tests.contract.callers import caller
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def offered(world: World, record: UUID) -> dict[UUID, Suggestion]:
    return {one.record: one for one in told(world.now(), record)}


def told(at: AsOf, record: UUID) -> tuple[Suggestion, ...]:
    return suggestions(at, of=detail.record(at, id=record))


def test_a_text_that_names_another_record_is_offered_as_a_reference_at_both(world: World) -> None:
    cause = world.save("the printer is broken").id
    effect = world.save(f"no invoices went out, see {cause}.").id
    world.save(f"an id of nobody, {UUID(int=1)}")
    found = offered(world, effect)
    assert {id: (one.kind, one.source, one.relation, one.target) for id, one in found.items()} == {
        cause: ("mentions", effect, "references", cause)
    }
    back = offered(world, cause)
    assert [(one.kind, one.source, one.target) for one in back.values()] == [("mentioned_by", effect, cause)]
    assert not back[effect].may_merge


def test_equal_and_nearly_equal_texts_are_offered_with_the_share_of_their_words(world: World) -> None:
    one = world.save("refunds above 100 EUR need a second signature").id
    same = world.save("refunds above 100 EUR need a second signature").id
    near = world.save("refunds above 200 EUR need a second signature").id
    world.save("the office is in Graz")
    found = offered(world, one)
    assert {id: (said.kind, said.share) for id, said in found.items()} == {
        same: ("same_text", 1.0),
        near: ("near_text", 7 / 9),
    }
    assert list(found) == [same, near]
    assert all(said.may_merge and said.relation == "related_to" for said in found.values())


def test_what_is_related_already_and_the_versions_of_its_line_are_not_offered(world: World) -> None:
    one = world.save("the same words again and again").id
    linked = world.save("the same words again and again").id
    version = world.evolve(one, content="the same words again and again and more")
    assert set(offered(world, one)) == {linked}
    world.link(one, "related_to", linked)
    assert offered(world, one) == {}
    assert set(offered(world, version)) == {linked}


def test_nothing_is_offered_of_another_namespace_of_the_future_or_of_what_is_erased(world: World) -> None:
    one = world.save("a text that is found elsewhere too").id
    then = world.at(world.now().seq)
    World("other").save("a text that is found elsewhere too")
    later = world.save("a text that is found elsewhere too").id
    assert told(then, one) == ()
    assert set(offered(world, one)) == {later}
    world.erase(later)
    assert offered(world, one) == {}
    world.erase(one)
    assert offered(world, one) == {}


def test_being_told_writes_nothing_and_a_confirmation_is_an_ordinary_link(world: World) -> None:
    agent = caller(world, world.scout)
    one = world.save("the same words").id
    world.save("the same words")
    before = Entry.objects.filter(namespace=world.namespace).count()
    (item,) = agent.get(f"/records/{one}/suggestions").json()["items"]
    assert (Entry.objects.filter(namespace=world.namespace).count(), Edge.objects.count()) == (before, 0)
    assert (item["kind"], item["share"], item["first_line"], item["may_merge"]) == (
        "same_text",
        1.0,
        "the same words",
        True,
    )
    body = {name: item[name] for name in ("source", "relation", "target")}
    assert agent.post("/edges", body).status_code == 201
    assert agent.get(f"/records/{one}/suggestions").json()["items"] == []


def test_the_number_of_queries_does_not_grow(world: World) -> None:
    costs = []
    for n in (2, 30):
        for number in range(n):
            here = world.save(f"a text that is nearly the same, number {number}").id
        at = world.now()
        of = detail.record(at, id=here)
        with CaptureQueriesContext(connection) as captured:
            found = suggestions(at, of=of)
        costs.append(len(captured))
    assert len(found) == 20
    assert costs == [5, 5]


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_share_is_that_of_the_distinct_words_whatever_the_order(one: str, other: str) -> None:
    assert shared_words(one, other) == shared_words(other, one)
    assert 0 <= shared_words(one, other) <= 1
    assert shared_words(f"{one} word", f"word {one}") == 1
