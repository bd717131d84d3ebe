"""Ancestry is whole, each record in it once, and never changes; what comes after a record only grows."""

from __future__ import annotations

from random import Random
from uuid import UUID, uuid4

import networkx as nx
import pytest

from memory.base.errors import NotFound
from memory.ledger.kernel import commitment
from memory.ledger.models import Item
from memory.lineage.kernel import Step, walked
from memory.lineage.models import ANCESTRY, Edge
from memory.lineage.queries.ancestry import ancestry, descendants
from memory.records.models import Record, RecordState
from tests.histories import history
from tests.world import World


def above(world: World, record: UUID) -> list[UUID]:
    return [step.id for step in ancestry(world.now(), record=record).items]


def below(world: World, record: UUID) -> list[UUID]:
    return [step.id for step in descendants(world.now(), record=record).items]


@pytest.mark.slow
@pytest.mark.django_db
def test_a_chain_of_a_thousand_is_answered_to_its_root() -> None:
    """Trap: lineage that stops at depth 10 and calls the tenth the root."""
    world = World()
    root = record = world.save("version 0").id
    for number in range(1, 1001):
        record = world.evolve(record, content=f"version {number}")
    found = ancestry(world.now(), record=record)
    assert (found.total, found.truncated, len(found.items)) == (1000, False, 1000)
    assert [step.depth for step in found.items] == list(range(1, 1001))
    assert found.items[-1].id == root
    assert below(world, root)[-1] == record
    assert len(below(world, root)) == 1000


@pytest.mark.django_db
def test_a_ladder_of_ten_diamonds_has_twenty_ancestors_and_not_two_thousand_paths() -> None:
    world = World()
    rung = world.save_all("left 0", "right 0")
    sides = [one.id for one in rung]
    for number in range(1, 11):
        sides = [world.merge(*sides, content=f"{side} {number}") for side in ("left", "right")]
    found = ancestry(world.now(), record=sides[0])
    assert (found.total, len({step.id for step in found.items})) == (20, 20)
    assert [step.depth for step in found.items] == [depth for depth in range(1, 11) for _ in range(2)]


@pytest.mark.django_db
def test_an_answer_that_is_cut_says_so_and_how_much_there_is() -> None:
    world = World()
    record = world.save("version 0").id
    for number in range(1, 6):
        record = world.evolve(record, content=f"version {number}")
    found = ancestry(world.now(), record=record, limit=2)
    assert (len(found.items), found.total, found.truncated) == (2, 5, True)


@pytest.mark.django_db
def test_ancestors_and_descendants_are_two_sets() -> None:
    """Trap: each neighbour classified as both."""
    world = World()
    first = world.save("one").id
    second = world.evolve(first, content="two")
    third, fourth = world.split(second, "three", "four")
    assert (above(world, second), below(world, second)) == ([first], sorted([third, fourth]))
    for record in (first, second, third, fourth):
        assert set(above(world, record)).isdisjoint(below(world, record))
        assert record not in above(world, record) + below(world, record)


@pytest.mark.django_db
def test_descendants_are_those_of_the_point_and_ancestors_those_of_all_times() -> None:
    world = World()
    first = world.save("one")
    second = world.evolve(first.id, content="two")
    at = world.at(first.seq)
    assert descendants(at, record=first.id).items == ()
    assert below(world, first.id) == [second]
    with pytest.raises(NotFound):
        ancestry(at, record=second)
    with pytest.raises(NotFound):
        ancestry(world.now(), record=uuid4())


@pytest.mark.django_db
def test_links_and_supersessions_are_no_ancestry() -> None:
    world = World()
    one, two = world.save("one").id, world.save("two").id
    world.link(one, "part_of", two)
    world.supersede(one, two)
    assert above(world, one) == above(world, two) == below(world, one) == below(world, two) == []


def test_a_walk_ends_on_a_cycle_and_names_each_node_once() -> None:
    a, b, c = (UUID(int=number) for number in (1, 2, 3))
    steps = [
        Step(a, "evolved_from", b),
        Step(b, "evolved_from", a),
        Step(b, "merged_from", c),
        Step(a, "split_from", c),
    ]
    found = walked(a, steps)
    assert [(step.id, step.depth) for step in found] == [(b, 1), (c, 1)]


# Against an oracle, with the digests.


def drawn(world: World) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(Record.objects.filter(namespace=world.namespace).values_list("id", flat=True))
    edges = Edge.objects.filter(namespace=world.namespace, relation__in=ANCESTRY)
    graph.add_edges_from(edges.values_list("source", "target"))
    return graph


@pytest.mark.django_db
@pytest.mark.parametrize("seed", [1, 2])
def test_every_walk_equals_that_of_an_oracle_on_random_histories(seed: int) -> None:
    world = World()
    assert len(list(history(world, seed=seed, n_acts=40))) == 40
    graph = drawn(world)
    assert nx.is_directed_acyclic_graph(graph)
    for record in graph:
        up, down = ancestry(world.now(), record=record), descendants(world.now(), record=record)
        assert {step.id for step in up.items} == nx.descendants(graph, record)
        assert {step.id for step in down.items} == nx.ancestors(graph, record)
        depths = nx.single_source_shortest_path_length(graph, record)
        assert {step.id: step.depth for step in up.items} == {id: depth for id, depth in depths.items() if depth}
        assert [step.depth for step in up.items] == sorted(step.depth for step in up.items)


def digests(world: World) -> dict[UUID, bytes]:
    rows = Record.objects.filter(namespace=world.namespace)
    return {id: bytes(digest) for id, digest in rows.values_list("id", "ancestry_digest")}


def unfoldings(world: World) -> dict[UUID, frozenset[tuple[UUID, str, UUID]]]:
    """All ancestry edges above each record."""
    edges = Edge.objects.filter(namespace=world.namespace, relation__in=ANCESTRY).order_by("seq", "item")
    own: dict[UUID, set[tuple[UUID, str, UUID]]] = {}
    for source, relation, target in edges.values_list("source", "relation", "target"):
        own.setdefault(source, set()).add((source, relation, target))
    found: dict[UUID, frozenset[tuple[UUID, str, UUID]]] = {}
    for record in Record.objects.filter(namespace=world.namespace).order_by("seq", "item").values_list("id", flat=True):
        mine = own.get(record, set())
        found[record] = frozenset(mine).union(*(found[target] for _, _, target in mine))
    return found


@pytest.mark.slow
@pytest.mark.django_db
def test_a_thousand_operations_change_no_earlier_ancestry_and_no_earlier_digest() -> None:
    """The stability theorem: what changes about an old record is what came after it, and nothing else."""
    world = World()
    seen_digests, seen_unfoldings = digests(world), unfoldings(world)
    for number in history(world, seed=7, n_acts=1000):
        if number % 25 == 24:
            now_digests, now_unfoldings = digests(world), unfoldings(world)
            assert now_digests.items() >= seen_digests.items()
            assert now_unfoldings.items() >= seen_unfoldings.items()
            seen_digests, seen_unfoldings = now_digests, now_unfoldings
    assert len(seen_digests) > 500
    assert sum(len(edges) for edges in seen_unfoldings.values()) > 1000


@pytest.mark.django_db
def test_each_derivation_changes_no_old_ancestry_and_something_that_came_after() -> None:
    world, random = World(), Random(3)
    world.save("one")
    n_changed = 0
    for number in range(200):
        old, children = unfoldings(world), counts(world)
        if random.random() < 0.5 or len(old) < 2:
            world.evolve(random.choice(list(old)), content=f"evolved {number}")
        else:
            world.merge(*random.sample(list(old), 2), content=f"merged {number}")
        assert unfoldings(world).items() >= old.items()
        now = counts(world)
        n_changed += any(now[record] != n_children for record, n_children in children.items())
    assert n_changed == 200


def counts(world: World) -> dict[UUID, int]:
    return dict(RecordState.objects.filter(namespace=world.namespace).values_list("id", "n_children"))


# The digest.


@pytest.mark.django_db
def test_the_digest_follows_from_the_commitments_and_labels_above() -> None:
    world = World()
    one, two = world.save("one"), world.save("two")
    made = world.merge(one.id, two.id)
    (item,) = Item.objects.filter(namespace=world.namespace, object=made, kind="record")
    parents = [("merged_from", one.ancestry_digest), ("merged_from", two.ancestry_digest)]
    expected = commitment.ancestry_digest(str(made), bytes(item.commitment), parents, 0)
    assert digests(world)[made] == expected
    assert one.ancestry_digest == commitment.ancestry_digest(str(one.id), one.digest, [], 0)
    assert ancestry(world.now(), record=made).digest == expected


@pytest.mark.django_db
def test_two_lines_of_equal_words_have_no_digest_in_common() -> None:
    world = World()
    lines = []
    for _ in range(2):
        record = world.save("the same").id
        lines.append([record, world.evolve(record, content="newer")])
    found = digests(world)
    assert len({found[record] for line in lines for record in line}) == 4


@pytest.mark.django_db
def test_instants_rise_from_each_ancestor_to_its_descendants() -> None:
    world = World()
    assert len(list(history(world, seed=5, n_acts=30))) == 30
    seqs = dict(Record.objects.filter(namespace=world.namespace).values_list("id", "seq"))
    edges = Edge.objects.filter(namespace=world.namespace, relation__in=ANCESTRY)
    assert all(seqs[target] < seqs[source] for source, target in edges.values_list("source", "target"))
