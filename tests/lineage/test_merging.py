"""The merge: canonical, blind to the order of its arguments, and silent about nothing.

Source: laws of the store, section 3.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.canonical import canonical
from memory.base.errors import Conflict, Invalid, NotFound
from memory.base.intervals import DisjointIntervals, Interval
from memory.ledger.models import Content
from memory.lineage.kernel import SEPARATOR, TYPE_RANK, merged, merged_interval
from memory.lineage.models import Derivation, Edge
from memory.lineage.queries.ancestry import ancestry
from memory.records.models import Record
from memory.records.queries import detail
from tests.lineage.sources import FOUR, payload, source
from tests.states import row_counts
from tests.world import World

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("strategy", ["union", "intersection"])
def test_every_order_of_the_sources_gives_the_same_bytes(strategy: str) -> None:
    assert len({payload(list(order), strategy) for order in permutations(FOUR)}) == 1


PROGRAM = """
from tests.lineage.sources import FOUR, payload, source
tied = [source(n, type=name, tags=("z", "y", "x")) for n, name in enumerate(["user", "fact", "zebra", "api"], 1)]
print(payload(FOUR).hex(), payload(tied).hex(), payload(tied[2:]).hex())
"""


def test_ten_hash_seeds_give_the_same_bytes() -> None:
    """Traps: a merged type and an order of tags that depend on the enumeration of a set."""
    answers = set()
    for seed in range(10):
        variables = {**os.environ, "PYTHONHASHSEED": str(seed)}
        answers.add(subprocess.check_output([sys.executable, "-c", PROGRAM], cwd=ROOT, env=variables, text=True))
    assert len(answers) == 1
    assert len(answers.pop().split()) == 3


# Fields.


def test_the_type_is_the_most_frequent_and_a_tie_goes_to_the_lowest_rank() -> None:
    def chosen(*types: str) -> tuple[str, str]:
        result = merged([source(number, type=name) for number, name in enumerate(types, 1)], strategy="union")
        return result.type, result.type_rule

    assert chosen("doc", "doc", "fact") == ("doc", "majority")
    assert chosen("doc", "fact") == ("fact", "tie-break")
    assert chosen("agent_run", "zebra") == ("agent_run", "tie-break")
    assert chosen("zebra", "aardvark") == ("aardvark", "tie-break")
    assert chosen(*reversed(TYPE_RANK)) == ("fact", "tie-break")


def test_generated_text_joins_the_distinct_texts_whole_and_unnumbered() -> None:
    """Trap: generated text that numbers its sources and cuts them."""
    long, other = "x" * 10_000, "ähnlich"
    result = merged([source(1, content=other), source(2, content=long), source(3, content=other)], strategy="union")
    assert result.content == SEPARATOR.join([long, other])


def test_tags_are_a_sorted_set_without_marks_of_the_merge() -> None:
    assert merged(FOUR, strategy="union").tags == ("a", "b", "c")
    assert merged(FOUR[:2], strategy="intersection").tags == ()
    assert merged([FOUR[0], FOUR[2]], strategy="intersection").tags == ("a",)


def test_differing_metadata_is_left_out_and_shown_as_a_conflict_with_who_says_what() -> None:
    result = merged(FOUR, strategy="union")
    assert dict(result.metadata) == {"n": 1, "same": [1], "only": None}
    assert result.conflicts["owner"] == [
        {"value": "Ann", "sources": [str(UUID(int=1)), str(UUID(int=3))]},
        {"value": "Bob", "sources": [str(UUID(int=2))]},
    ]
    assert set(result.conflicts) == {"owner", "source.origin", "source.pointer"}


def test_the_intersection_keeps_what_all_sources_say() -> None:
    result = merged(FOUR[:2], strategy="intersection")
    assert (dict(result.metadata), set(result.conflicts)) == ({"same": [1]}, {"owner"})


def test_a_source_field_is_carried_where_all_agree() -> None:
    result = merged(FOUR[:2], strategy="union")
    assert (result.origin, result.pointer) == ("log", "")


VALUES = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 1.0, "a", "b", [1], [1.0]])
SOURCES = st.lists(
    st.builds(
        lambda type, content, tags, metadata, origin: {
            "type": type, "content": content, "tags": tuple(sorted(tags)), "metadata": metadata, "origin": origin,
        },
        st.sampled_from(["fact", "doc", "issue", "zebra"]), st.sampled_from(["a", "b", "ä", "B"]),
        st.sets(st.sampled_from("xyz")), st.dictionaries(st.sampled_from("klm"), VALUES, max_size=3),
        st.sampled_from(["", "log"]),
    ),
    min_size=2,
    max_size=5,
)  # fmt: skip


@given(SOURCES, st.sampled_from(["union", "intersection"]), st.randoms(use_true_random=False))
def test_a_merge_is_commutative_and_loses_no_value(
    given_: list[dict[str, object]], strategy: str, random: object
) -> None:
    sources = [source(number, **fields) for number, fields in enumerate(given_, 1)]
    shuffled = list(sources)
    random.shuffle(shuffled)
    assert payload(shuffled, strategy) == payload(sources, strategy)
    result = merged(sources, strategy=strategy)  # type: ignore[arg-type]
    if strategy == "union":
        for one in sources:
            for key, value in one.metadata.items():
                told = [canonical(group["value"]) for group in result.conflicts.get(key, [])]
                told += [canonical(result.metadata[key])] if key in result.metadata else []
                assert canonical(value) in told


# Valid time.

DAY = timedelta(days=1)
START = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return START + number * DAY


def between(first: int | None, last: int | None) -> Interval:
    return Interval(None if first is None else day(first), None if last is None else day(last))


ENDS = st.none() | st.integers(0, 8)
INTERVALS = st.lists(
    st.tuples(ENDS, ENDS)
    .filter(lambda ends: ends[0] is None or ends[1] is None or ends[0] < ends[1])
    .map(lambda ends: between(*ends)),
    min_size=2,
    max_size=4,
)
MOMENTS = [START - DAY, *(day(0) + number * DAY / 2 for number in range(18)), day(30)]


@given(INTERVALS)
def test_the_intersection_is_the_largest_interval_in_which_all_sources_hold(intervals: list[Interval]) -> None:
    in_all = [at for at in MOMENTS if all(interval.contains(at) for interval in intervals)]
    try:
        together = merged_interval(intervals, rule="intersection")
    except DisjointIntervals:
        assert in_all == []
        return
    assert [at for at in MOMENTS if together.contains(at)] == in_all


@given(INTERVALS)
def test_the_hull_is_the_least_interval_that_holds_every_source(intervals: list[Interval]) -> None:
    together = merged_interval(intervals, rule="hull")
    assert all(together.covers(interval) for interval in intervals)
    # Each end is that of a source, so none could be nearer.
    assert together.start in [interval.start for interval in intervals]
    assert together.end in [interval.end for interval in intervals]


def test_the_counterexamples_of_the_two_rules() -> None:
    first, second = between(1, 3), between(2, 5)
    common, hull = (merged_interval([first, second], rule=rule) for rule in ("intersection", "hull"))
    assert (common, hull) == (between(2, 3), between(1, 5))
    assert second.contains(day(4))
    assert not common.contains(day(4))
    assert hull.contains(day(1))
    assert not second.contains(day(1))
    gap = merged_interval([between(1, 2), between(4, 5)], rule="hull")
    assert gap.contains(day(3))


# Through the operation.


@pytest.mark.django_db
def test_a_merge_and_its_reverse_say_the_same_and_keep_the_order_in_which_sources_were_named() -> None:
    world = World()
    ids = [
        world.save(one.content, type=one.type, tags=one.tags, metadata=one.metadata, origin=one.origin).id
        for one in FOUR
    ]
    said, orders = set(), []
    for order in permutations(ids):
        made = world.merge(*order)
        found = detail.record(world.now(), id=made)
        said.add(canonical([found.row.type, found.content, found.summary, found.tags, found.metadata, found.origin]))
        assert {step.id for step in ancestry(world.now(), record=made).items} == set(ids)
        edges = Edge.objects.filter(namespace=world.namespace, source=made).order_by("ordinal")
        orders.append(tuple(edges.values_list("target", flat=True)))
    assert len(said) == 1
    assert orders == list(permutations(ids))
    rows = Content.objects.filter(namespace=world.namespace, part="conflicts").values_list("payload", flat=True)
    assert len(set(rows)) == 1


@pytest.mark.django_db
def test_a_merge_leaves_its_sources_current_and_opens_a_line() -> None:
    world = World()
    one, two = world.save("one").id, world.save("two").id
    made = world.merge(one, two)
    states = [detail.record(world.now(), id=id).row.state for id in (one, two, made)]
    assert states == ["current"] * 3
    assert Record.objects.get(namespace=world.namespace, id=made).line == made


@pytest.mark.django_db
def test_the_rules_that_chose_are_recorded() -> None:
    world = World()
    one, two = world.save("one", type="doc").id, world.save("two", type="fact").id
    world.merge(one, two)
    world.merge(one, two, content="both", type="issue", valid_time="hull", strategy="intersection")
    rows = Derivation.objects.filter(namespace=world.namespace).order_by("seq")
    assert list(rows.values_list("content_rule", "type_rule", "valid_rule")) == [
        ("generated", "tie-break", "intersection"), ("explicit", "explicit", "hull"),
    ]  # fmt: skip


@pytest.mark.django_db
def test_the_number_of_conflicts_stands_in_the_row_and_their_values_in_content() -> None:
    world = World()
    one, two = world.save("one", metadata={"k": 1}).id, world.save("two", metadata={"k": 2}).id
    made = world.merge(one, two)
    row = Derivation.objects.get(namespace=world.namespace)
    assert row.n_conflicts == 1
    text = Content.objects.get(namespace=world.namespace, seq=row.seq, item=row.item, part="conflicts").payload
    assert str(one) in text
    assert str(two) in text
    assert detail.record(world.now(), id=made).metadata == {}


@pytest.mark.django_db
def test_the_valid_time_of_a_merge_follows_its_rule() -> None:
    world = World()
    one = world.save("one", valid_from=day(1), valid_to=day(3)).id
    two = world.save("two", valid_from=day(2), valid_to=day(5)).id
    made = [world.merge(one, two, valid_time=rule) for rule in ("intersection", "hull")]
    found = [detail.record(world.now(), id=id).row for id in made]
    assert [(row.valid_from, row.valid_to) for row in found] == [(day(2), day(3)), (day(1), day(5))]


@pytest.mark.django_db
def test_sources_that_never_hold_together_are_refused_with_their_intervals() -> None:
    world = World()
    one = world.save("one", valid_from=day(1), valid_to=day(2)).id
    two = world.save("two", valid_from=day(4), valid_to=day(5)).id
    before = row_counts()
    with pytest.raises(Conflict) as refusal:
        world.merge(one, two)
    assert "2026-01-02" in refusal.value.detail
    assert "2026-01-06" in refusal.value.detail
    assert row_counts() == before
    hull = world.merge(one, two, valid_time="hull")
    assert detail.record(world.now(), id=hull).row.valid_to == day(5)


@pytest.mark.django_db
def test_a_merge_needs_two_distinct_records_that_exist() -> None:
    """Trap: a merge that leaves out what is missing and takes one record twice."""
    world = World()
    one, two = world.save("one").id, world.save("two").id
    before = row_counts()
    for sources, error in (((), Invalid), ((one,), Invalid), ((one, one), Invalid), ((one, two, one), Invalid)):
        with pytest.raises(error):
            world.merge(*sources)
    with pytest.raises(NotFound):
        world.merge(one, two, UUID(int=1))
    assert row_counts() == before


@pytest.mark.django_db
def test_provenance_comes_from_edges_and_survives_the_text() -> None:
    world = World()
    one, two = world.save("one").id, world.save("two").id
    made = world.merge(one, two)
    before = ancestry(world.now(), record=made)
    world.erase(made, one, two)
    assert ancestry(world.now(), record=made) == before
