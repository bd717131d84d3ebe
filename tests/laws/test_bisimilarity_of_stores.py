"""Merges in two stores: repeated, and with their sources named the other way round."""

from __future__ import annotations

import json
import lzma
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from audit.laws.bisimilarity import contextfs, ours
from audit.laws.bisimilarity.comparing import compare_records, compare_stores
from audit.laws.bisimilarity.refinement import refined
from audit.laws.bisimilarity.values import Compared, Side
from memory.base import instants
from tests.interchange.foreign import ForeignFile
from tests.world import World

FIXTURES = Path(__file__).parent.parent / "interchange" / "fixtures"
JANUARY, MARCH = instants.read("2026-01-05T00:00:00Z"), instants.read("2026-03-01T00:00:00Z")


def rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Every row of the two tables, as it stands in the file."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as db:
        db.row_factory = sqlite3.Row
        tables = {"memories": "memories", "edges": "memory_edges"}
        return {name: [dict(row) for row in db.execute(f"SELECT * FROM {table}")] for name, table in tables.items()}


def foreign(path: Path) -> Side:
    return contextfs.side(path.name, **rows(path))


def merge_there(store: ForeignFile, identifier: str, *sources: str, **cells: Any) -> None:
    """A merge as 0.2.35 writes it: sources numbered in the order of the arguments, that order kept in metadata."""
    store.derived(
        identifier, "merged_from", *sources, content="\n\n".join(
            f"[Source {number}]: text of {source}" for number, source in enumerate(sources, start=1)
        ), summary=f"Merged from {len(sources)} memories", tags=json.dumps(["merged"]),
        metadata={"merge_strategy": "union"}, **cells,
    )  # fmt: skip


def told(found: Compared) -> tuple[bool, list[str]]:
    return found.is_same_class, [one.name for one in found.differences]


def test_in_contextfs_a_merge_repeated_is_the_same_and_one_turned_round_is_not(tmp_path: Path) -> None:
    store = ForeignFile(tmp_path / "store.db").memory("a").memory("b")
    for identifier, sources in (("once", "ab"), ("again", "ab"), ("turned", "ba")):
        merge_there(store, identifier, *sources)
    side = foreign(store.done())
    assert told(compare_records((side,), (0, "once"), (0, "again"))) == (True, [])
    assert told(compare_records((side,), (0, "once"), (0, "turned"))) == (False, ["content", "merged_from"])
    assert compare_records((side,), (0, "once"), (0, "turned")).parted_at == 0


def test_in_contextfs_a_merge_made_again_changes_no_class_of_what_was_there(tmp_path: Path) -> None:
    made = [ForeignFile(tmp_path / name).memory("a").memory("b") for name in ("once.db", "twice.db")]
    for store in made:
        merge_there(store, "once", "a", "b")
    merge_there(made[1], "again", "a", "b")
    compared = compare_stores(*(foreign(store.done()) for store in made))
    assert (compared.only_first, compared.only_second) == ((), ())
    assert [(one.first, one.second) for one in compared.both if "once" in one.first] == [(("once",), ("again", "once"))]


def test_in_contextfs_more_fields_hang_on_the_order_when_the_sources_differ_in_more(tmp_path: Path) -> None:
    store = ForeignFile(tmp_path / "store.db").memory("a", "one", project="p").memory("b", "two", project="q")
    merge_there(store, "once", "a", "b", namespace="one", project="p")
    merge_there(store, "turned", "b", "a", namespace="two", project="q")
    side = foreign(store.done())
    found = told(compare_records((side,), (0, "once"), (0, "turned")))
    assert found == (False, ["content", "namespace_id", "project", "merged_from"])


def test_in_contextfs_tags_are_a_set_and_marks_of_deletion_are_seen(tmp_path: Path) -> None:
    store = ForeignFile(tmp_path / "store.db")
    for identifier, cells in (
        ("a", {"tags": '["x", "y"]'}),
        ("b", {"tags": '["y", "x", "y"]', "session_id": "another", "updated_at": "later"}),
        ("gone", {"tags": '["x", "y"]', "deleted_at": "2026-03-01"}),
        ("gone later", {"tags": '["x", "y"]', "deleted_at": "2026-04-01"}),
    ):
        store.memory(identifier, content="said", **cells)
    side = foreign(store.done())
    assert told(compare_records((side,), (0, "a"), (0, "b"))) == (True, [])
    assert told(compare_records((side,), (0, "a"), (0, "gone"))) == (False, ["marked deleted"])
    assert told(compare_records((side,), (0, "gone"), (0, "gone later"))) == (True, [])


@pytest.mark.parametrize("name", ["clean_small", "violations"])
def test_a_store_under_other_names_and_clocks_is_the_same_store(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.db"
    path.write_bytes(lzma.decompress((FIXTURES / f"{name}.db.xz").read_bytes()))
    stored = rows(path)
    ends = {end for edge in stored["edges"] for end in (edge["from_id"], edge["to_id"])}
    names = {
        id: f"named-{number}" for number, id in enumerate(sorted(ends | {row["id"] for row in stored["memories"]}))
    }

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(one) for one in value]
        return names.get(value, value) if isinstance(value, str) else value

    def otherwise(row: dict[str, Any]) -> dict[str, Any]:
        cells = {key: "later" if key in ("created_at", "updated_at") else renamed(cell) for key, cell in row.items()}
        metadata = json.loads(row["metadata"] or "{}")
        moved = {key: "later" if key.endswith("_timestamp") else renamed(value) for key, value in metadata.items()}
        return {**cells, "metadata": json.dumps(moved)}

    twin = contextfs.side("twin", **{table: list(map(otherwise, found)) for table, found in stored.items()})
    side = contextfs.side("store", **stored)
    compared = compare_stores(side, twin)
    assert (compared.only_first, compared.only_second, compared.n_unequal) == ((), (), 0)
    assert len(side.records) == len(stored["memories"]) > 0
    changed = [dict(row) for row in stored["memories"]]
    changed[0]["content"] += "!"
    other = contextfs.side("changed", memories=changed, edges=stored["edges"])
    assert compare_stores(side, other).only_first != ()


@pytest.fixture
def world(db: None) -> World:
    return World()


def here(world: World) -> Side:
    return ours.side(world.name, namespace=world.namespace, seq=world.now().seq)


def compared(world: World, first: object, second: object) -> tuple[bool, list[str]]:
    return told(compare_records((here(world),), (0, str(first)), (0, str(second))))


def test_our_merges_are_the_same_repeated_and_turned_round(world: World) -> None:
    a, b = (saved.id for saved in world.save_all("one", "two"))
    once, again, turned = world.merge(a, b), world.merge(a, b), world.merge(b, a)
    assert compared(world, once, again) == (True, [])
    assert compared(world, once, turned) == (True, [])
    assert compared(world, a, b) == (False, ["content"])


def test_our_merges_stay_the_same_where_sources_differ_in_type_tags_metadata_and_origin(world: World) -> None:
    a = world.save("one", type="fact", tags=("x",), metadata={"k": 1}, origin="north", valid_from=JANUARY).id
    b = world.save("two", type="note", tags=("y",), metadata={"k": 2, "m": 3}, origin="south", valid_from=MARCH).id
    assert compared(world, world.merge(a, b), world.merge(b, a)) == (True, [])


class TestOurMerges(TestCase):
    """In any order, with any sources."""

    @settings(max_examples=12)
    @given(
        st.lists(
            st.tuples(st.sampled_from(["fact", "note", "doc"]), st.text("ab", min_size=1, max_size=3),
                      st.dictionaries(st.sampled_from("kl"), st.integers(0, 2))),
            min_size=2, max_size=4,
        ),
        st.randoms(use_true_random=False),
    )  # fmt: skip
    def test_any_order_of_any_sources_gives_one_class(self, sources: list[Any], chance: Any) -> None:
        world = World(f"lab{chance.getrandbits(60)}")
        ids = [world.save(text, type=kind, metadata=told).id for kind, text, told in sources]
        merged = []
        for _ in range(3):
            chance.shuffle(ids)
            merged.append(str(world.merge(*ids)))
        classes = refined((here(world),)).classes
        assert len({classes[0, id] for id in merged}) == 1


def test_valid_time_comes_from_the_caller_and_is_kept(world: World) -> None:
    first, second = world.save("open at five", valid_from=JANUARY).id, world.save("open at five", valid_from=MARCH).id
    assert compared(world, first, second) == (False, ["valid from"])


def test_what_came_of_a_record_is_seen_of_it_too(world: World) -> None:
    first, second = (saved.id for saved in world.save_all("said twice", "said twice"))
    assert compared(world, first, second) == (True, [])
    world.evolve(second, content="said better")
    assert compared(world, first, second) == (False, ["evolved_into"])


def test_a_withdrawn_and_an_erased_record_are_seen_as_such(world: World) -> None:
    plain, hidden, gone, also_gone = (saved.id for saved in world.save_all(*["said"] * 4))
    world.withdraw(hidden)
    assert compared(world, plain, hidden) == (False, ["withdrawn"])
    world.restore(hidden)
    assert compared(world, plain, hidden) == (True, [])
    world.erase(gone)
    world.erase(also_gone)
    assert compared(world, plain, gone) == (False, ["content"])
    assert compared(world, gone, also_gone) == (True, [])


def test_a_record_that_says_erased_is_not_taken_for_one_whose_text_was(world: World) -> None:
    gone, saying = world.save("said").id, world.save("erased").id
    world.erase(gone)
    assert compared(world, gone, saying) == (False, ["content"])


def test_a_namespace_is_seen_as_of_a_point(world: World) -> None:
    first = world.save("said").id
    then = world.now().seq
    world.evolve(first, content="said better")
    before = ours.side("then", namespace=world.namespace, seq=then)
    assert list(before.records) == [str(first)]
    compared = compare_stores(before, here(world))
    assert [one.first for one in compared.only_first] == [(str(first),)]
    assert len(compared.only_second) == 2


def test_the_id_of_a_record_given_as_an_origin_is_a_mention_of_it(world: World) -> None:
    a, b, c = (saved.id for saved in world.save_all("said", "said", "something else"))
    first, second, third = (world.save("relayed", origin=str(one)).id for one in (a, b, c))
    assert compared(world, first, second) == (True, [])
    assert compared(world, first, third) == (False, ["origin"])


def test_no_text_is_held(world: World) -> None:
    world.save("a secret sentence", tags=("hidden-tag",), metadata={"key": "a quiet value"})
    held = repr(here(world))
    assert not any(word in held for word in ("secret", "hidden-tag", "quiet"))


def test_a_namespace_is_read_by_as_many_queries_whatever_it_holds(world: World, django_assert_num_queries: Any) -> None:
    for n in (0, 30):
        world.save_all(*(f"note {i}" for i in range(n))) if n else None
        seq = world.now().seq
        with django_assert_num_queries(5):
            ours.side("lab", namespace=world.namespace, seq=seq)
