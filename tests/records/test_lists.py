"""Lists: every record once over all pages, in one order, with counts that agree with what is shown."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.base.errors import Invalid
from memory.records.queries import lists
from tests.world import World

pytestmark = pytest.mark.django_db

JANUARY, MARCH = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
ALL = lists.Filter(include=frozenset({"superseded", "withdrawn", "erased", "not_valid"}))


def walked(world: World, *, limit: int, sort: str = "-recorded_at") -> list[UUID]:
    """All pages, forwards."""
    found, after = [], ""
    while True:
        page = lists.records(world.now(), where=lists.Filter(), sort=sort, after=after, limit=limit)
        found += [row.id for row in page.items]
        after = page.next
        if not after:
            return found


@pytest.mark.parametrize("limit", [1, 3, 7, 20])
@pytest.mark.parametrize("sort", ["-recorded_at", "recorded_at"])
def test_pages_hold_every_record_once_in_order(limit: int, sort: str) -> None:
    world = World()
    saved = [one.id for _ in range(4) for one in world.save_all("a", "b", "c")]
    assert walked(world, limit=limit, sort=sort) == (saved if sort == "recorded_at" else saved[::-1])


def test_the_page_before_is_the_page_that_one_came_from() -> None:
    world = World()
    for number in range(9):
        world.save(f"note {number}")
    first = lists.records(world.now(), where=lists.Filter(), limit=4)
    second = lists.records(world.now(), where=lists.Filter(), limit=4, after=first.next)
    back = lists.records(world.now(), where=lists.Filter(), limit=4, after=second.previous)
    assert (first.previous, back.items) == ("", first.items)
    last = lists.records(world.now(), where=lists.Filter(), limit=4, after=second.next)
    assert (len(last.items), last.next) == (1, "")


def test_a_record_saved_meanwhile_moves_nothing_between_pages() -> None:
    world = World()
    saved = [world.save(f"note {number}").id for number in range(6)]
    first = lists.records(world.now(), where=lists.Filter(), limit=3)
    world.save("meanwhile")
    second = lists.records(world.now(), where=lists.Filter(), limit=3, after=first.next)
    assert [row.id for row in (*first.items, *second.items)] == saved[::-1]


def several(world: World) -> dict[str, UUID]:
    """One record in each state."""
    made = {state: world.save(f"it is {state}").id for state in ("current", "superseded", "withdrawn", "erased")}
    world.supersede(made["superseded"], made["current"])
    world.withdraw(made["withdrawn"])
    world.erase(made["erased"])
    made["not_valid"] = world.save("it is not valid", valid_from=JANUARY, valid_to=MARCH).id
    return made


def test_the_default_list_hides_and_counts_what_include_shows() -> None:
    world = World()
    made = several(world)
    page = lists.records(world.now(), where=lists.Filter())
    assert [row.id for row in page.items] == [made["current"]]
    assert page.hidden == {"erased": 1, "not_valid": 1, "superseded": 1, "withdrawn": 1}
    for state in page.hidden:
        shown = lists.records(world.now(), where=lists.Filter(include=frozenset({state})))
        assert {row.id for row in shown.items} == {made["current"], made[state]}
        assert state not in shown.hidden
    whole = lists.records(world.now(), where=ALL)
    assert ({row.id for row in whole.items}, whole.hidden, whole.total) == (set(made.values()), {}, 5)


def test_a_list_of_one_state_shows_that_state_alone() -> None:
    world = World()
    made = several(world)
    for state, id in made.items():
        page = lists.records(world.now(), where=lists.Filter(states=(state,)))
        assert [row.id for row in page.items] == [id]


def test_facets_count_what_is_listed_and_narrow_it_to_just_that() -> None:
    world = World()
    other = world.agent("other")
    for number in range(3):
        world.save(f"note {number}")
    world.save("a fact", type="fact", source_class="first_hand")
    world.save("theirs", by=other)
    facets = lists.records(world.now(), where=lists.Filter()).facets
    assert {facet.value: facet.count for facet in facets["type"]} == {"note": 4, "fact": 1}
    assert {facet.label: facet.count for facet in facets["agent"]} == {"scout": 4, "other": 1}
    for facet in facets["type"]:
        assert lists.records(world.now(), where=lists.Filter(types=(facet.value,))).total == facet.count
    for facet in facets["agent"]:
        assert lists.records(world.now(), where=lists.Filter(agents=(UUID(facet.value),))).total == facet.count
    for facet in facets["source"]:
        assert lists.records(world.now(), where=lists.Filter(source_classes=(facet.value,))).total == facet.count


@pytest.mark.parametrize(
    "asked",
    [{"sort": "name"}, {"sort": "rank"}, {"after": "x"}, {"after": "1" * 30}, {"after": "-1"}, {"after": "1; DROP"}],
    ids=str,
)
def test_what_is_no_sort_and_no_cursor_is_refused(asked: dict[str, str]) -> None:
    world = World()
    world.save()
    with pytest.raises(Invalid):
        lists.records(world.now(), where=lists.Filter(), **asked)


@pytest.mark.parametrize(
    "where", [{"states": ("gone",)}, {"include": frozenset({"everything"})}, {"source_classes": ("x",)}]
)
def test_a_word_that_names_no_state_is_refused(where: dict[str, object]) -> None:
    world = World()
    with pytest.raises(Invalid):
        lists.records(world.now(), where=lists.Filter(**where))


def test_the_number_of_queries_does_not_grow_with_the_rows() -> None:
    counts = []
    for n_records in (3, 40):
        world = World(f"of-{n_records}")
        world.save_all(*(f"note {number}" for number in range(n_records)))
        at = world.now()
        with CaptureQueriesContext(connection) as captured:
            lists.records(at, where=lists.Filter(), limit=50)
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_a_namespace_lists_nothing_of_another() -> None:
    here, there = World("here"), World("there")
    there.save_all("a", "b")
    assert lists.records(here.now(), where=ALL).total == 0
