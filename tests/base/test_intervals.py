"""The algebra of half-open intervals, held against membership of single instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import combinations, permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory.base.intervals import ALWAYS, DisjointIntervals, EmptyInterval, Interval, NotUtc, hull_of, intersection_of

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)
# Few instants, so that ends meet often.
TICKS = range(-1, 9)


def at(tick: int) -> datetime:
    return EPOCH + tick * TICK


def between(start: int | None, end: int | None) -> Interval:
    return Interval(None if start is None else at(start), None if end is None else at(end))


def members(interval: Interval) -> set[int]:
    """The ticks of the interval by the definition of half-open, without its own code."""
    return {
        tick
        for tick in TICKS
        if (interval.start is None or not at(tick) < interval.start)
        and (interval.end is None or at(tick) < interval.end)
    }


ends = st.none() | st.integers(0, 7)
intervals = (
    st.tuples(ends, ends)
    .filter(lambda pair: pair[0] is None or pair[1] is None or pair[0] < pair[1])
    .map(lambda pair: between(*pair))
)


@given(intervals)
def test_an_interval_holds_its_start_and_not_its_end(interval: Interval) -> None:
    assert members(interval) == {tick for tick in TICKS if interval.contains(at(tick))}
    assert interval.start is None or interval.contains(interval.start)
    assert interval.end is None or not interval.contains(interval.end)
    assert interval.end is None or interval.contains(interval.end - TICK)


@given(intervals, intervals)
def test_intervals_overlap_exactly_if_an_instant_lies_in_both(first: Interval, second: Interval) -> None:
    assert first.overlaps(second) == second.overlaps(first) == bool(members(first) & members(second))


@given(intervals, intervals)
def test_one_interval_covers_another_exactly_if_it_holds_all_its_instants(first: Interval, second: Interval) -> None:
    assert first.covers(second) == (members(second) <= members(first))


@given(intervals, intervals)
def test_the_intersection_holds_the_instants_of_both_and_disjoint_ones_have_none(
    first: Interval, second: Interval
) -> None:
    common = members(first) & members(second)
    if common:
        assert members(first.intersection(second)) == common
    else:
        with pytest.raises(DisjointIntervals) as refused:
            first.intersection(second)
        assert refused.value.intervals == (first, second)


@given(intervals, intervals)
def test_intersection_and_hull_are_commutative(first: Interval, second: Interval) -> None:
    assert first.hull(second) == second.hull(first)
    if first.overlaps(second):
        assert first.intersection(second) == second.intersection(first)


@given(intervals, intervals, intervals)
def test_intersection_and_hull_are_associative(first: Interval, second: Interval, third: Interval) -> None:
    assert first.hull(second).hull(third) == first.hull(second.hull(third))
    assume(members(first) & members(second) & members(third))
    assert first.intersection(second).intersection(third) == first.intersection(second.intersection(third))


@given(intervals)
def test_intersection_and_hull_are_idempotent_and_always_is_neutral_or_absorbing(interval: Interval) -> None:
    assert interval.intersection(interval) == interval.hull(interval) == interval
    assert interval.intersection(ALWAYS) == interval
    assert interval.hull(ALWAYS) == ALWAYS


@given(intervals, intervals)
def test_intersection_and_hull_absorb_each_other(first: Interval, second: Interval) -> None:
    assert first.intersection(first.hull(second)) == first
    assume(first.overlaps(second))
    assert first.hull(first.intersection(second)) == first


@given(st.lists(intervals, min_size=1, max_size=4))
def test_the_order_of_sources_changes_neither_result_nor_refusal(sources: list[Interval]) -> None:
    assert len({hull_of(order) for order in permutations(sources)}) == 1
    results: set[Interval | None] = set()
    for order in permutations(sources):
        try:
            results.add(intersection_of(order))
        except DisjointIntervals:
            results.add(None)
    assert len(results) == 1


@given(st.lists(intervals, min_size=1, max_size=4))
def test_intervals_of_which_each_two_overlap_have_an_intersection(sources: list[Interval]) -> None:
    if all(first.overlaps(second) for first, second in combinations(sources, 2)):
        assert members(intersection_of(sources)) == set.intersection(*map(members, sources))
    else:
        with pytest.raises(DisjointIntervals) as refused:
            intersection_of(sources)
        assert refused.value.intervals == tuple(sources)
        assert all(str(source) in str(refused.value) for source in sources)


@given(st.lists(intervals, min_size=1, max_size=4), intervals)
def test_v_all_holds_for_the_intersection_and_for_no_larger_interval(sources: list[Interval], other: Interval) -> None:
    shared = set.intersection(*map(members, sources))
    assume(shared)
    merged = intersection_of(sources)
    assert members(merged) <= shared
    if members(other) <= shared:
        assert merged.covers(other)


@given(st.lists(intervals, min_size=1, max_size=4), intervals)
def test_v_some_holds_for_the_hull_and_for_no_smaller_interval(sources: list[Interval], other: Interval) -> None:
    some = set.union(*map(members, sources))
    merged = hull_of(sources)
    assert some <= members(merged)
    if some <= members(other):
        assert other.covers(merged)


def test_the_intersection_fails_v_some_and_the_hull_fails_v_all() -> None:
    first, second = between(1, 3), between(2, 5)
    assert first.intersection(second) == between(2, 3)
    assert second.contains(at(4))
    assert not first.intersection(second).contains(at(4))
    assert first.hull(second) == between(1, 5)
    assert first.hull(second).contains(at(1))
    assert not second.contains(at(1))


def test_a_hull_over_a_gap_holds_an_instant_at_which_no_source_holds() -> None:
    first, second = between(1, 2), between(4, 5)
    assert first.hull(second).contains(at(3))
    assert not first.contains(at(3))
    assert not second.contains(at(3))


def test_intervals_that_touch_do_not_overlap() -> None:
    assert not between(1, 3).overlaps(between(3, 5))
    with pytest.raises(DisjointIntervals):
        between(1, 3).intersection(between(3, 5))


@pytest.mark.parametrize(("start", "end"), [(3, 3), (4, 3)])
def test_an_empty_interval_is_refused_naming_both_ends(start: int, end: int) -> None:
    with pytest.raises(EmptyInterval) as refused:
        between(start, end)
    assert (refused.value.start, refused.value.end) == (at(start), at(end))
    assert f"2026-01-01T00:00:00.00000{start}Z" in str(refused.value)
    assert f"2026-01-01T00:00:00.00000{end}Z" in str(refused.value)


@pytest.mark.parametrize(
    "instant",
    [datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2)))],  # noqa: DTZ001 - the fault
    ids=["naive", "another zone"],
)
def test_an_instant_that_is_not_utc_is_refused_on_either_side(instant: datetime) -> None:
    with pytest.raises(NotUtc, match="aware instant in UTC, got 2026-01-01T00:00:00"):
        Interval(instant, None)
    with pytest.raises(NotUtc, match="aware instant in UTC, got 2026-01-01T00:00:00"):
        Interval(None, instant)


def test_nothing_has_always_as_intersection_and_no_hull() -> None:
    assert intersection_of([]) == ALWAYS
    with pytest.raises(ValueError, match="got none"):
        hull_of([])


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (between(1, None), "[2026-01-01T00:00:00.000001Z, open)"),
        (between(None, 2), "(open, 2026-01-01T00:00:00.000002Z)"),
        (ALWAYS, "(open, open)"),
    ],
)
def test_an_interval_is_written_with_its_open_sides(interval: Interval, text: str) -> None:
    assert str(interval) == text
