"""The slice of a lineage: against a plain walk over all edges, and at its caps."""

from collections import defaultdict
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.base.errors import Invalid, NotFound
from memory.lineage.models import Edge
from memory.lineage.queries import graph as slices
from memory.lineage.queries.graph import GROUP_OF, GROUPS, Slice, graph, whole_lineage
from memory.records.content import NewRecord
from memory.records.operations import save
from tests.world import World

pytestmark = pytest.mark.django_db

Link = tuple[UUID, UUID, str]


@pytest.fixture
def world() -> World:
    return World()


def tangle(world: World) -> list[UUID]:
    """Sixteen records with derivations that share ancestors, a supersession, and links of every other kind."""
    ids = [saved.id for saved in world.save_all(*(f"seen {n}" for n in range(6)))]
    first = world.evolve(ids[0], content="said better")
    sum_up = world.merge(first, ids[1], ids[2])
    parts = world.split(sum_up, "one half", "other half")
    again = world.merge(parts[0], ids[1], ids[3])
    last = world.evolve(again, content="last word")
    world.supersede(ids[4], last)
    world.link(ids[5], "contradicts", sum_up)
    world.link(ids[5], "parent_of", parts[1])
    world.link(last, "references", ids[2])
    world.link(ids[3], "caused_by", ids[5])
    world.link(parts[0], "related_to", parts[1])
    return [*ids, first, sum_up, *parts, again, last]


def stored(world: World, groups: set[str]) -> set[Link]:
    """(older, newer, relation) of every stored edge of the groups."""
    rows = Edge.objects.filter(namespace=world.namespace).values_list("source", "relation", "target")
    return {
        (source, target, relation) if relation == "parent_of" else (target, source, relation)
        for source, relation, target in rows
        if not groups or GROUP_OF[relation] in groups
    }


def naive(links: set[Link], focus: UUID, up: int, down: int, opened: set[tuple[UUID, str]]) -> dict[UUID, int]:
    """{node: depth}, walked level by level over all edges at once."""
    depths, front = {focus: 0}, {"up": {focus}, "down": {focus}}
    walked = {"up": {focus}, "down": {focus}}
    left, level = set(opened), 0
    while True:
        level += 1
        asked = {side: front[side] if level <= most else set() for side, most in (("up", up), ("down", down))}
        ready = {pair for pair in left if pair[0] in depths}
        left -= ready
        if not any(asked.values()) and not ready:
            return depths
        for side, step in (("up", -1), ("down", 1)):
            near = asked[side] | {node for node, way in ready if way == side}
            onward = set()
            for older, newer, relation in links:
                both = relation in ("related_to", "contradicts")
                ends = [(newer, older)] if side == "up" else [(older, newer)]
                ends = ([] if side == "up" else [(older, newer), (newer, older)]) if both else ends
                for here, far in ends:
                    if here not in near:
                        continue
                    depths.setdefault(far, depths[here] + step)
                    leads_on = here in asked[side] and GROUP_OF[relation] in ("derived", "supersedes")
                    if leads_on and far not in walked[side]:
                        walked[side].add(far)
                        onward.add(far)
            front[side] = onward


def reached(links: set[Link], focus: UUID) -> set[UUID]:
    found = {focus}
    for near, far in ((0, 1), (1, 0)):
        ahead = [focus]
        while ahead:
            here = ahead.pop()
            for link in links:
                if link[near] == here and GROUP_OF[link[2]] in ("derived", "supersedes") and link[far] not in found:
                    ahead.append(link[far])
                    found.add(link[far])
    return found


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_slice_shows_what_a_walk_over_all_edges_reaches(world: World, data: st.DataObject) -> None:
    ids = list(Edge.objects.filter(namespace=world.namespace).values_list("source", flat=True)) or tangle(world)
    ids = sorted({*ids, *Edge.objects.filter(namespace=world.namespace).values_list("target", flat=True)})
    focus = data.draw(st.sampled_from(ids))
    up, down = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    opened = data.draw(st.sets(st.tuples(st.sampled_from(ids), st.sampled_from(["up", "down"])), max_size=5))
    groups = data.draw(st.sets(st.sampled_from(sorted(GROUPS))))
    found = graph(world.now(), focus=focus, up=up, down=down, opened=opened, groups=groups)
    links = stored(world, groups)
    depths = naive(links, focus, up, down, opened)
    shown = {(link.older, link.newer, link.relation) for link in found.links}
    assert {node.id for node in found.nodes} == depths.keys()
    assert shown == {link for link in links if link[0] in depths and link[1] in depths}
    assert hidden_of(found) == expected_hidden(links - shown, set(depths))
    assert found.n_nodes == len(reached(links, focus) | depths.keys())
    assert next(node.depth for node in found.nodes if node.id == focus) == 0


def hidden_of(found: Slice) -> dict[UUID, tuple[int, int]]:
    return {node.id: (node.n_hidden_up, node.n_hidden_down) for node in found.nodes}


def expected_hidden(left_out: set[Link], nodes: set[UUID]) -> dict[UUID, tuple[int, int]]:
    counts: dict[UUID, list[int]] = defaultdict(lambda: [0, 0])
    for older, newer, relation in left_out:
        symmetric = relation in ("related_to", "contradicts")
        counts[newer][1 if symmetric else 0] += 1
        counts[older][1] += 1
    return {node: (counts[node][0], counts[node][1]) for node in nodes}


def test_the_words_of_the_filter_cover_every_stored_relation_once() -> None:
    from memory.lineage.models import STORED

    assert sorted(name for names in GROUPS.values() for name in names) == sorted(STORED)


def test_the_filter_counts_links_at_shown_nodes_whatever_it_shows(world: World) -> None:
    ids = tangle(world)
    whole = graph(world.now(), focus=ids[7], up=5, down=5)
    narrowed = graph(world.now(), focus=ids[7], up=5, down=5, groups=["derived"])
    assert {link.group for link in narrowed.links} == {"derived"}
    assert whole.groups["derived"] == narrowed.groups["derived"] == 10
    assert narrowed.groups["conflicts"] == 1


def test_a_slice_of_the_past_shows_what_was_linked_by_then(world: World) -> None:
    first = world.save("one")
    before = world.now().seq
    second = world.evolve(first.id, content="two")
    world.evolve(second, content="three")
    then = graph(world.at(before), focus=first.id, down=9)
    assert [(node.id, node.n_hidden_down) for node in then.nodes] == [(first.id, 0)]
    assert (then.groups, then.n_nodes) == ({}, 1)
    now = graph(world.now(), focus=first.id, down=1)
    assert (len(now.nodes), now.n_nodes, now.n_descendants, now.n_ancestors) == (2, 3, 2, 0)
    assert [node.state for node in now.nodes] == ["superseded", "superseded"]


def test_a_record_that_is_not_there_yet_has_no_lineage(world: World) -> None:
    before = world.now().seq
    later = world.save("later")
    for at, focus in ((world.at(before), later.id), (world.now(), uuid4())):
        with pytest.raises(NotFound):
            graph(at, focus=focus)


def test_an_erased_ancestor_keeps_its_place_without_its_text(world: World) -> None:
    source = world.save("the text of a customer")
    derived = world.evolve(source.id, content="said better")
    world.erase(source.id)
    node = graph(world.now(), focus=derived).nodes[0]
    assert (node.id, node.state, node.label, node.depth) == (source.id, "erased", "", -1)


def test_records_of_another_namespace_are_not_found(world: World) -> None:
    other = World("other")
    theirs = other.save("theirs")
    with pytest.raises(NotFound):
        graph(world.now(), focus=theirs.id)


@pytest.mark.parametrize(
    "asked",
    [{"up": -1}, {"down": 301}, {"groups": ["everything"]}, {"opened": [(UUID(int=n), "up") for n in range(61)]}],
)
def test_what_no_slice_can_be_asked_is_refused(world: World, asked: dict[str, object]) -> None:
    focus = world.save("one").id
    with pytest.raises(Invalid):
        graph(world.now(), focus=focus, **asked)  # type: ignore[arg-type]


def fan(world: World, width: int) -> UUID:
    """A record from which `width` others were split."""
    root = world.save("root").id
    for start in range(0, width, 100):
        world.split(root, *(f"part {start + n}" for n in range(min(100, width - start)))) if width - start > 1 else None
    return root


def test_above_the_cap_the_newest_are_shown_the_rest_counted_and_the_cap_named(world: World) -> None:
    root = fan(world, 600)
    found = graph(world.now(), focus=root)
    assert (len(found.nodes), len(found.links), found.n_nodes, found.cut_by) == (500, 499, 601, "nodes")
    hub = next(node for node in found.nodes if node.id == root)
    assert hub.n_hidden_down == 601 - 500
    oldest = min(node.recorded_at for node in found.nodes if node.id != root)
    all_children = [link.newer for link in whole_lineage(world.now(), focus=root)]
    left_out = {*all_children} - {node.id for node in found.nodes}
    whole = graph(world.now(), focus=next(iter(left_out)))
    assert next(node for node in whole.nodes if node.id in left_out).recorded_at <= oldest


def test_many_new_descendants_do_not_crowd_out_an_old_ancestor(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    source = world.save("source")
    middle = world.evolve(source.id, content="middle")
    for n in range(8):
        world.evolve(middle, content=f"reading {n}")
    monkeypatch.setattr(slices, "MOST_LINKS", 3)
    monkeypatch.setattr(slices, "MOST_NODES", 4)
    found = graph(world.now(), focus=middle)
    assert source.id in {node.id for node in found.nodes}


def test_a_line_deeper_than_the_cap_names_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "MOST_DEPTH", 4)
    here = world.save("0").id
    line = [here := world.evolve(here, content=str(n)) for n in range(1, 8)]
    found = graph(world.now(), focus=line[-1], up=4)
    assert (len(found.nodes), found.n_nodes, found.cut_by) == (5, 8, "depth")
    assert graph(world.now(), focus=line[3], up=4).cut_by == ""


def test_links_above_the_cap_are_left_out_after_those_that_hold_the_slice_together(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [saved.id for saved in world.save_all(*(f"seen {n}" for n in range(5)))]
    root = world.merge(*ids)
    for n, one in enumerate(ids):
        for other in ids[:n]:
            world.link(one, "references", other)
    monkeypatch.setattr(slices, "MOST_LINKS", 6)
    found = graph(world.now(), focus=root)
    assert (len(found.links), found.n_links, found.cut_by) == (6, 15, "links")
    assert {link.older for link in found.links if link.group == "derived"} == set(ids)


def test_a_circle_from_a_broken_import_ends(world: World) -> None:
    one, two = world.save("one"), world.save("two")
    world.supersede(one.id, two.id)
    rows = Edge.objects.filter(namespace=world.namespace)
    seq = rows.get().seq
    with connection.cursor() as cursor:
        # No operation writes a circle of derivations; a restored store may hold one.
        cursor.execute(
            "INSERT INTO memory_edge (namespace_id, seq, item, source, relation, target, ordinal, derivation)"
            " SELECT namespace_id, seq, 1000, target, 'evolved_from', source, 0, NULL FROM memory_edge WHERE seq = %s",
            [seq],
        )
    found = graph(world.now(), focus=one.id, up=300, down=300)
    assert {node.id for node in found.nodes} == {one.id, two.id}
    assert len(found.links) == 2


def test_the_number_of_queries_grows_with_levels_and_not_with_rows(world: World) -> None:
    counts = {}
    for width in (2, 60):
        root = fan(world, width)
        with CaptureQueriesContext(connection) as queries:
            graph(world.now(), focus=root)
        counts[width] = len(queries)
    assert counts[2] == counts[60]


@pytest.mark.slow
def test_the_whole_of_a_large_namespace_is_counted_and_a_slice_of_it_bounded(world: World) -> None:
    leaves = [saved.id for saved in save(world.scout, records=[NewRecord("note", f"leaf {n}") for n in range(1_200)])]
    sums = [world.merge(*leaves[n : n + 200]) for n in range(0, 1_200, 200)]
    root = world.merge(*sums)
    found = graph(world.now(), focus=root, up=2)
    assert (len(found.nodes), found.cut_by, found.n_nodes, found.n_ancestors) == (500, "nodes", 1_207, 1_206)
