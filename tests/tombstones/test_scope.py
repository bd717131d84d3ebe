"""The language of scopes: what blocks, what exempts, and in which order values stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.tombstones.kernel.scope import Condition, Scope, Value, covers, exempts, faults, is_readable, satisfies

pytestmark = pytest.mark.sqlite_only

XZ: Scope = {"package": "xz", "series": "5.6"}


@pytest.mark.parametrize(
    ("scope", "asked", "is_covered"),
    [
        (XZ, {"package": "xz", "series": "5.6"}, True),
        (XZ, {"package": " XZ ", "series": "5.6", "host": "build-7"}, True),
        (XZ, {"package": "xz"}, False),
        (XZ, {"package": "xz", "series": "5.4"}, False),
        (XZ, "package xz, series 5.6", False),
        ("svc=a,size>1GB", "SVC=a,size>1GB", True),
        ("svc=a,size>1GB", "svc=b", False),
        ("everywhere", {"package": "xz"}, False),
        ({"version": ["5.6.0", "5.6.1"]}, {"version": "5.6.1"}, True),
        ({"version": ["5.6.0", "5.6.1"]}, {"version": "5.6.2"}, False),
        ({"version": ">=5.6 <5.6.2"}, {"version": "5.6.1-3"}, True),
        ({"version": ">=5.6, <5.6.2"}, {"version": "5.6.2"}, False),
        ({"is_cold": True}, {"is_cold": True}, True),
        ({"is_cold": True}, {"is_cold": 1}, False),
        ({}, {"package": "xz"}, False),
    ],
)
def test_a_scope_covers_what_satisfies_every_condition(scope: Scope, asked: Scope, is_covered: bool) -> None:
    assert covers(scope, asked) is is_covered


@pytest.mark.parametrize(
    ("condition", "value", "holds"),
    [
        (">1GB", "2 GB", True),
        (">1GB", "1000MB", False),
        (">1GB", "1GiB", True),
        (">1GB", 2_000_000_000, False),
        (">90%", "95%", True),
        ("<=1h", "60min", True),
        ("<1h", "90 s", True),
        ("<1h", "90 kB", False),
        ("<0.5", 0.25, True),
        ("<0.5", "0.25", False),
        ("<5.6", 5.1, True),
        ("<5.6", "5.10", False),
        ("<5.6", "5.4.5", True),
        ("=5.6", "5.6.0", True),
        ("!=5.6", "5.6.0", False),
        ("!=gcc", "clang", True),
        ("<5.6.1", "5.6.1rc1", True),
        (">5.6.1", "5.6.1-2", True),
        ("=5.6.1", "5.6.1+really5.4.5-1", True),
        ("<5.6", "unknown", False),
        (">1", True, False),
        (5, "5", True),
        (">=2", 2.0, True),
        (">1GB", ">1 GB", False),
        (">1GB", ">1gb", True),
    ],
)
def test_a_condition_holds_of_a_value(condition: Value, value: Value, holds: bool) -> None:
    assert satisfies(condition, value) is holds


def test_a_stated_condition_exempts_and_one_that_is_not_stated_does_not() -> None:
    out: dict[str, Condition] = {"upstream_code": "<5.6", "is_patched": True}
    assert not exempts(out, {"package": "xz", "version": "5.6.1+really5.4.5-1"})
    assert exempts(out, {"package": "xz", "upstream_code": "5.4.5"})
    assert not exempts(out, {"package": "xz", "upstream_code": "5.6.1"})
    assert exempts(out, {"is_patched": True, "upstream_code": "5.6.1"})
    assert not exempts(out, "upstream_code 5.4.5")


@pytest.mark.parametrize("condition", ["<", "<abc", ">1 GB", ">=5.6 xz", "<>5", " "])
def test_a_comparison_that_cannot_be_read_is_a_fault(condition: str) -> None:
    assert not is_readable(condition)
    assert [(one.key, one.index) for one in faults({"a": "plain", "b": condition})] == [("b", None)]
    assert [(one.key, one.index) for one in faults({"b": ["plain", condition]})] == [("b", 1)]


releases = st.lists(st.integers(0, 30), min_size=1, max_size=4)


def padded(release: list[int]) -> list[int]:
    return [*release, *([0] * (4 - len(release)))]


@given(releases, releases)
def test_versions_stand_in_the_order_of_their_numbers(one: list[int], other: list[int]) -> None:
    left, right = (".".join(map(str, release)) for release in (one, other))
    assert satisfies(f"<{right}", left) is (padded(one) < padded(other))
    assert satisfies(f"={right}", left) is (padded(one) == padded(other))
    assert satisfies(f">{right}", left) is (padded(one) > padded(other))


values = st.one_of(st.text(max_size=12), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans())
conditions = st.dictionaries(st.sampled_from("abc"), st.one_of(values, st.lists(values, min_size=1, max_size=3)))


@given(conditions, st.one_of(st.text(max_size=12), conditions), st.sampled_from("abc"))
def test_what_is_not_stated_never_blocks_and_any_text_is_answered(
    scope: dict[str, Condition], asked: str | dict[str, Condition], key: str
) -> None:
    is_covered = covers(scope, asked)
    if not isinstance(asked, str):
        less = {name: value for name, value in asked.items() if name != key}
        assert covers(scope, less) is (is_covered and key not in scope)
    assert not exempts({}, asked)
