"""Two points of one lineage told apart; the way to a record; the whole in pages; a source's own reading."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from memory.base.asof import AsOf
from memory.base.errors import Invalid, NotFound
from memory.lineage.kernel import way_between
from memory.lineage.models import Edge
from memory.lineage.queries.ancestry import ancestry, descendants
from memory.lineage.queries.comparing import compared, other_point
from memory.lineage.queries.graph import graph, whole_lineage
from memory.lineage.queries.pages import lineage_page
from tests.contract.callers import caller, places
from tests.histories import history
from tests.world import World

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def world() -> World:
    return World()


def test_what_came_since_is_added_and_what_stood_is_kept(world: World) -> None:
    first = world.save("one").id
    second = world.evolve(first, content="two")
    then = world.now().seq
    third = world.evolve(second, content="three")
    other = world.save("other").id
    world.link(other, "references", second)
    found = compared(world.now(), against=world.at(then), focus=second)
    assert found.nodes == {first: "kept", second: "kept", third: "added", other: "added"}
    assert {(link.older, link.newer): change for link, change in found.links.items()} == {
        (first, second): "kept",
        (second, third): "added",
        (second, other): "added",
    }
    assert (found.count("added"), found.count("kept"), found.count("removed")) == ((2, 2), (2, 1), (0, 0))
    assert found.state_against == {first: "superseded", second: "current"}
    assert {node.id: node.state for node in found.slice.nodes}[second] == "superseded"


def test_the_other_way_round_added_and_removed_change_places(world: World) -> None:
    first = world.save("one").id
    then = world.at(world.now().seq)
    second = world.evolve(first, content="two")
    found = compared(then, against=world.now(), focus=first)
    assert found.nodes == {first: "kept", second: "removed"}
    assert list(found.links.values()) == ["removed"]
    assert found.slice.n_nodes == 2


def test_where_the_focus_did_not_stand_what_did_is_kept(world: World) -> None:
    first = world.save("one").id
    then = world.at(world.now().seq)
    second = world.evolve(first, content="two")
    assert compared(world.now(), against=then, focus=second).nodes == {first: "kept", second: "added"}
    with pytest.raises(NotFound):
        compared(then, against=world.now(), focus=second)


@pytest.mark.parametrize("seed", range(4))
def test_a_comparison_is_what_two_plain_walks_say(seed: int, world: World) -> None:
    """Oracle: what hangs on the focus by all edges up to each entry, whatever the slices."""
    for _ in history(world, seed=seed, n_acts=25):
        pass
    head, random = world.now(), Random(seed)
    then = world.at(random.randint(head.seq // 2, head.seq))
    focus = random.choice(sorted(plainly(world, then.seq)))
    found = compared(head, against=then, focus=focus, up=300, down=300)
    now_at, then_at = connected(plainly(world, head.seq), focus), connected(plainly(world, then.seq), focus)
    for node, change in found.nodes.items():
        wanted = {(True, True): "kept", (True, False): "added", (False, True): "removed"}
        assert change == wanted[node in now_at, node in then_at] or not_walked(world, node, focus)
    same = compared(then, against=then, focus=focus, up=300, down=300)
    assert {*same.nodes.values(), *same.links.values()} == {"kept"}
    turned = compared(then, against=head, focus=focus, up=300, down=300)
    swap = {"added": "removed", "removed": "added", "kept": "kept"}
    assert {node: swap[change] for node, change in turned.nodes.items()} == found.nodes


def plainly(world: World, seq: int) -> dict[UUID, set[UUID]]:
    beside: dict[UUID, set[UUID]] = {}
    for source, target in Edge.objects.filter(namespace=world.namespace, seq__lte=seq).values_list("source", "target"):
        beside.setdefault(source, set()).add(target)
        beside.setdefault(target, set()).add(source)
    return beside


def connected(beside: dict[UUID, set[UUID]], focus: UUID) -> set[UUID]:
    found, ahead = {focus}, [focus]
    while ahead:
        for other in beside.get(ahead.pop(), ()):
            if other not in found:
                found.add(other)
                ahead.append(other)
    return found


def not_walked(world: World, node: UUID, focus: UUID) -> bool:
    """True for a record that hangs on the focus only by what the slice does not show."""
    shown = {end for link in whole_lineage(world.now(), focus=focus) for end in (link.older, link.newer)}
    return node not in shown


def test_a_comparison_costs_the_queries_of_one_slice(world: World) -> None:
    first = world.save("one").id
    then = world.at(world.now().seq)
    world.evolve(first, content="two")
    at = world.now()
    costs = []
    for read in (lambda: graph(at, focus=first), lambda: compared(at, against=then, focus=first)):
        with CaptureQueriesContext(connection) as captured:
            read()
        costs.append(len(captured))
    assert costs[0] == costs[1]


def test_what_was_withdrawn_and_restored_meanwhile_is_told_by_its_word_at_each_point(world: World) -> None:
    first = world.save("one").id
    second = world.evolve(first, content="two")
    world.withdraw(second)
    hidden = world.at(world.now().seq)
    world.restore(second)
    found = compared(world.now(), against=hidden, focus=first)
    assert found.state_against[second] == "withdrawn"
    assert {node.id: node.state for node in found.slice.nodes}[second] == "current"


def test_a_source_and_the_ledger_are_compared_by_what_stands_in_each(world: World) -> None:
    first = world.save("one", source_recorded_at=NOON).id
    second = world.evolve(first, content="two", source_recorded_at=NOON + DAY)
    ours = world.evolve(second, content="ours", source_recorded_at=None)
    claimed = replace(world.now(), source_at=NOON + DAY)
    found = compared(world.now(), against=claimed, focus=first, down=5)
    assert found.nodes == {first: "kept", second: "kept", ours: "added"}
    earlier = replace(world.now(), source_at=NOON)
    assert compared(claimed, against=earlier, focus=first, down=5).nodes == {first: "kept", second: "added"}


def test_the_other_point_keeps_what_is_true_on_and_is_named_where_it_is_wrong(world: World) -> None:
    at = replace(world.now(), valid_at=NOON)
    assert (other_point(at, "seq:1").seq, other_point(at, "seq:1").valid_at) == (1, NOON)
    for wrong in ("yesterday", "seq:999"):
        with pytest.raises(Invalid, match="against"):
            other_point(at, wrong)


def test_the_way_to_a_far_ancestor_is_shown_whatever_the_levels(world: World) -> None:
    chain = [world.save("version 0").id]
    for number in range(1, 6):
        chain.append(world.evolve(chain[-1], content=f"version {number}"))
    aside = world.save("aside").id
    merge = world.merge(chain[-1], aside)
    found = graph(world.now(), focus=merge, up=0, down=0, to=chain[0])
    assert found.path == (merge, *reversed(chain))
    assert {node.id: node.depth for node in found.nodes} == {id: -n for n, id in enumerate(found.path)}
    assert len(found.links) == 6
    assert graph(world.now(), focus=chain[0], up=0, down=0, to=merge).path == (*chain, merge)
    beside = graph(world.now(), focus=aside, up=0, down=0, to=chain[3])
    assert beside.path == (aside, merge, chain[5], chain[4], chain[3]) or beside.path == ()
    assert graph(world.now(), focus=merge, to=world.save("stranger").id).path == ()


NUMBERS = st.integers(0, 7)


@given(st.sets(st.tuples(NUMBERS, NUMBERS).filter(lambda pair: pair[0] != pair[1]), max_size=14), NUMBERS, NUMBERS)
def test_a_way_is_a_shortest_one_and_goes_straight_where_one_does(
    pairs: set[tuple[int, int]], start: int, to: int
) -> None:
    edges = [(UUID(int=older), UUID(int=newer)) for older, newer in sorted(pairs)]
    way = [one.int for one in way_between(UUID(int=start), UUID(int=to), edges)]
    ups = distance({(newer, older) for older, newer in pairs}, start, to)
    downs = distance(pairs, start, to)
    either = distance(pairs | {(newer, older) for older, newer in pairs}, start, to)
    wanted = next((one for one in (ups, downs, either) if one is not None), None)
    assert (len(way) - 1 if way else None) == wanted
    assert way == [one.int for one in way_between(UUID(int=start), UUID(int=to), reversed(edges))]


def distance(steps: set[tuple[int, int]], start: int, to: int) -> int | None:
    reached, level = {start}, 0
    while to not in reached:
        grown = reached | {target for source, target in steps if source in reached}
        if grown == reached:
            return None
        reached, level = grown, level + 1
    return level


def test_pages_hold_every_record_and_every_link_of_the_whole_once(world: World) -> None:
    for _ in history(world, seed=7, n_acts=40):
        pass
    at = world.now()
    focus = Edge.objects.filter(namespace=world.namespace, relation="merged_from").first().source  # type: ignore[union-attr]
    after: int | None = 0
    records, links = [], []
    while after is not None:
        page = lineage_page(at, focus=focus, after=after, limit=3)
        records += [one.row.id for one in page.items]
        links += page.links
        after = page.next
    whole = whole_lineage(at, focus=focus)
    assert len(records) == len(set(records)) == page.total
    assert {focus, *records} == {focus, *(end for link in whole for end in (link.older, link.newer))}
    assert len(links) == len(set(links))
    assert set(links) == set(whole)


def test_by_the_instants_of_the_source_only_what_it_claims_by_then_is_linked_and_the_rest_counted(
    world: World,
) -> None:
    first = world.save("one", source_recorded_at=NOON).id
    second = world.evolve(first, content="two", source_recorded_at=NOON + DAY)
    third = world.evolve(second, content="three", source_recorded_at=NOON + 2 * DAY)
    ours = world.evolve(second, content="ours, of no time there", source_recorded_at=None)

    def source(at: datetime) -> AsOf:
        return replace(world.now(), source_at=at)

    early, late = source(NOON + DAY), source(NOON + 3 * DAY)
    assert {node.id for node in graph(early, focus=first, down=5).nodes} == {first, second}
    found = graph(late, focus=first, down=5)
    assert {node.id for node in found.nodes} == {first, second, third}
    assert (found.n_nodes, found.n_descendants, found.hidden) == (3, 2, {"no_source_time": 1})
    assert [one.id for one in descendants(late, record=first).items] == [second, third]
    assert descendants(late, record=first).hidden == {"no_source_time": 1}
    assert [one.id for one in descendants(early, record=first).items] == [second]
    assert descendants(world.now(), record=first).hidden == {}
    assert ancestry(late, record=third).hidden == {}
    claimed_below = world.evolve(ours, content="claimed, of one that is not", source_recorded_at=NOON)
    of_it = ancestry(replace(late, seq=world.now().seq, head=world.now().seq), record=claimed_below)
    assert ([one.id for one in of_it.items], of_it.hidden) == ([], {"no_source_time": 1})
    with pytest.raises(NotFound):
        ancestry(source(NOON - DAY), record=first)
    with pytest.raises(NotFound):
        ancestry(late, record=ours)


def test_over_http(world: World) -> None:
    agent = caller(world, world.scout)
    first = world.save("one").id
    then = world.now().seq
    second = world.evolve(first, content="two")
    third = world.evolve(second, content="three")
    found = agent.get("/lineage", focus=str(first), against=f"seq:{then}", down=1, to=str(third)).json()
    assert {node["id"]: (node["change"], node["state_against"]) for node in found["nodes"]} == {
        str(first): ("kept", "current"),
        str(second): ("added", None),
        str(third): ("added", None),
    }
    assert found["path"] == [str(first), str(second), str(third)]
    assert (found["against"]["seq"], found["against"]["added"], found["against"]["added_links"]) == (then, 2, 2)
    cut = agent.get("/lineage", focus=str(first)).json()
    assert (cut["truncated"], cut["next"], cut["against"]) == (True, 0, None)
    page = agent.get("/lineage", focus=str(first), after=cut["next"], limit=1).json()
    assert ([node["id"] for node in page["nodes"]], page["next"], page["total"]) == ([str(second)], 1, 3)
    last = agent.get("/lineage", focus=str(first), after=1, limit=1).json()
    assert ([node["id"] for node in last["nodes"]], last["next"], last["truncated"]) == ([str(third)], None, False)
    wrong = agent.get("/lineage", focus=str(first), against="seq:999")
    assert (wrong.status_code, places(wrong)) == (422, [["against"]])
    both = agent.get("/lineage", focus=str(first), against="seq:1", after=0)
    assert (both.status_code, places(both)) == (422, [["after"]])
