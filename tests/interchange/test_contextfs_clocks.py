"""Instants of a source that leaves the offset out, and the own claim that the newest clock tells."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.interchange.contextfs.kernel.claims import claims_of, own_claim
from memory.interchange.contextfs.kernel.clocks import (
    ClaimedInstant,
    OffsetSupport,
    agreed_offset,
    aware_instant,
    claimed_instant,
    inferred_offset,
    offset_support,
    parsed,
)
from tests.interchange.foreign import ForeignFile
from tests.interchange.reading import plan_of, records_of

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NAIVE_NOON = NOON.replace(tzinfo=None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-02T12:00:00+00:00", NOON),
        ("2026-03-02T12:00:00Z", NOON),
        ("2026-03-02 06:00:00-06:00", NOON),
        ("2026-03-02T17:30:00+05:30", NOON),
        ("2026-03-02T12:00:00", None),
        ("2026-03-02", None),
        ("20260302T120000Z", None),
        ("noon", None),
        ("", None),
        (None, None),
        ("2026-13-02T12:00:00Z", None),
        ("0001-01-01T00:00:00+12:00", None),
    ],
)
def test_an_aware_text_is_an_instant_in_utc_and_nothing_else_is(text: str | None, expected: datetime | None) -> None:
    assert aware_instant(text) == expected


@given(
    st.integers(-56, 56),
    st.integers(-200, 200),
    st.datetimes(NAIVE_NOON - timedelta(days=20_000), NAIVE_NOON + timedelta(days=20_000)),
)
def test_every_quarter_hour_of_offset_is_found_again(quarters: int, rest_seconds: int, local: datetime) -> None:
    offset = timedelta(minutes=15 * quarters)
    claimed_at = (local - offset - timedelta(seconds=rest_seconds)).replace(tzinfo=UTC)
    assert inferred_offset(local.isoformat(), claimed_at=claimed_at) == offset
    assert claimed_instant(local.isoformat(), inferred=offset).at == (local - offset).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("created", "reason"),
    [
        ("2026-03-02T12:07:00", "seven minutes are no quarter hour and no delay"),
        ("2026-03-03T03:00:00", "no clock is 15 hours ahead"),
        ("2026-03-02T12:00:00+00:00", "an aware text needs no offset"),
        ("soon", "no instant"),
    ],
)
def test_no_offset_is_inferred_from_unrelated_clocks(created: str, reason: str) -> None:
    assert inferred_offset(created, claimed_at=NOON) is None, reason
    assert inferred_offset("2026-03-02T12:00:00", claimed_at=None) is None


def test_the_zone_in_which_the_derivation_is_told_makes_no_difference() -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=9)))
    assert inferred_offset("2026-03-02T06:00:01", claimed_at=elsewhere) == timedelta(hours=-6)


def test_offsets_agree_only_if_there_is_one() -> None:
    hours = [timedelta(hours=-6), timedelta(hours=-5), timedelta(hours=-6)]
    assert offset_support(hours) == (OffsetSupport(-21600, 2), OffsetSupport(-18000, 1))
    assert agreed_offset(offset_support(hours)) is None
    assert agreed_offset(offset_support(hours[:1])) == hours[0]
    assert agreed_offset(()) is None


def test_what_an_instant_rests_on_is_told() -> None:
    naive, west = "2026-03-02T06:00:00", timedelta(hours=-6)
    assert claimed_instant("2026-03-02T12:00:00Z", agreed=west) == ClaimedInstant("2026-03-02T12:00:00Z", NOON, "aware")
    assert claimed_instant(naive, inferred=west) == ClaimedInstant(naive, NOON, "inferred", -21600)
    assert claimed_instant(naive, inferred=west, agreed=timedelta()) == ClaimedInstant(naive, NOON, "inferred", -21600)
    assert claimed_instant(naive, agreed=west) == ClaimedInstant(naive, NOON, "assumed", -21600)
    assert claimed_instant(naive) == ClaimedInstant(naive, None, "unknown")
    assert claimed_instant("never", agreed=west) == ClaimedInstant("never", None, "unknown")
    edge_of_time = claimed_instant("0001-01-01T00:00:00", inferred=timedelta(hours=9))
    assert (edge_of_time.at, edge_of_time.how) == (None, "unknown")


@pytest.mark.parametrize("name", ["clean_small", "violations", "large"])
def test_every_derived_record_of_a_real_store_gives_the_offset_of_its_clock(
    name: str, contextfs_store: Callable[[str], Path], contextfs_sidecar: Callable[[str], dict[str, Any]]
) -> None:
    plan = plan_of(contextfs_store(name))
    sidecar = contextfs_sidecar(name)
    zone_seconds = {"UTC": 0, "America/Chicago": -6 * 3600}[sidecar["tz"]]
    assert plan.offsets == (OffsetSupport(zone_seconds, sidecar["expected"]["derived_records"]),)


def test_a_derived_record_is_younger_than_its_parents_once_the_offset_is_known(
    contextfs_store: Callable[[str], Path],
) -> None:
    records = records_of(plan_of(contextfs_store("violations")))
    pairs = [(record, records[parent.parent_id]) for record in records.values() for parent in record.parents]
    misled = [1 for child, parent in pairs if child.recorded.text < parent.recorded.text]
    late = [
        (child.foreign_id, parent.foreign_id)
        for child, parent in pairs
        if child.recorded.at is None or parent.recorded.at is None or child.recorded.at <= parent.recorded.at
    ]
    assert len(misled) > len(pairs) // 2
    # This parent was saved anew under its identifier after its child had been derived.
    assert late == [("d9083cbd-847", "817ad27b-c62")]


def test_daylight_saving_within_one_file_is_told_apart_record_by_record(foreign_file: ForeignFile) -> None:
    foreign_file.memory("root", created_at="2026-03-07T00:00:00+00:00")
    for name, local, stamp in (
        ("winter", "2026-03-07T12:00:00", "2026-03-07T18:00:00+00:00"),
        ("summer", "2026-03-09T12:00:00", "2026-03-09T17:00:00+00:00"),
    ):
        metadata = {"evolved_from": "root", "evolution_timestamp": stamp}
        foreign_file.memory(name, created_at=local, metadata=metadata).pair(
            name, "evolved_from", "root", created_at=local
        )
    foreign_file.memory("plain", created_at="2026-03-10T12:00:00")
    plan = plan_of(foreign_file.done())
    records = records_of(plan)
    assert records["winter"].recorded.at == datetime(2026, 3, 7, 18, tzinfo=UTC)
    assert records["summer"].recorded.at == datetime(2026, 3, 9, 17, tzinfo=UTC)
    assert records["plain"].recorded == ClaimedInstant("2026-03-10T12:00:00", None, "unknown")
    assert records["winter"].parents[0].recorded == records["winter"].recorded
    assert records["summer"].parents[0].recorded == records["summer"].recorded
    (finding,) = plan.findings
    assert (finding.code, finding.before) == (
        "offsets-disagree",
        {"records_by_offset_seconds": {"-21600": 1, "-18000": 1}},
    )


def test_a_plain_naive_record_takes_the_only_offset_of_the_store_as_an_assumption(foreign_file: ForeignFile) -> None:
    foreign_file.memory("root").derived("child", "evolved_from", "root")
    foreign_file.memory("plain", created_at="2026-03-10T12:00:00", deleted_at="2026-03-11T12:00:00")
    foreign_file.memory("gone", deleted_at="yes")
    records = records_of(plan_of(foreign_file.done()))
    assert records["plain"].recorded.how == "assumed"
    assert records["plain"].recorded.at == datetime(2026, 3, 10, 12, tzinfo=UTC)
    withdrawn = records["plain"].withdrawn
    assert withdrawn is not None
    assert (withdrawn.how, withdrawn.at) == ("assumed", datetime(2026, 3, 11, 12, tzinfo=UTC))
    assert records["gone"].withdrawn == ClaimedInstant("yes", None, "unknown")
    assert records["root"].withdrawn is None


def test_the_newest_clock_tells_the_own_claim_from_inherited_ones() -> None:
    claims = claims_of(
        {
            "merged_from": ["a", "b"],
            "merge_timestamp": "2026-03-01T10:00:00+00:00",
            "evolved_from": "m",
            # Later, although its text sorts first.
            "evolution_timestamp": "2026-03-01T09:00:00-06:00",
            "split_from": "z",
        }
    )
    own = own_claim(claims, edges=())
    assert own is not None
    assert (own.relation, own.targets, own.at) == ("evolved_from", ("m",), datetime(2026, 3, 1, 15, tzinfo=UTC))
    assert [claim.relation for claim in claims.inherited] == ["merged_from", "split_from"]


def test_a_single_claim_without_a_clock_is_its_own() -> None:
    claims = claims_of({"evolved_from": "a", "evolution_timestamp": "2026-03-01 yesterday"})
    own = own_claim(claims, edges=())
    assert own is not None
    assert (own.targets, own.at) == (("a",), None)
    assert claims.unreadable_clocks == ("evolution_timestamp",)


@pytest.mark.parametrize("stamp", ["2026-03-01T10:00:00+00:00", "2026-03-01T10:00:00", None])
def test_claims_that_clocks_do_not_separate_are_told_apart_by_edges_or_not_at_all(stamp: str | None) -> None:
    claims = claims_of({"evolved_from": "a", "evolution_timestamp": stamp, "split_from": "b", "split_timestamp": stamp})
    assert own_claim(claims, edges=()) is None
    assert own_claim(claims, edges=[("evolved_from", "a"), ("split_from", "b")]) is None
    assert own_claim(claims, edges=[("evolved_from", "b")]) is None
    own = own_claim(claims, edges=[("split_from", "b"), ("evolved_from", "other")])
    assert own is not None
    assert own.relation == "split_from"


@pytest.mark.parametrize("value", [None, 7, "", ["a"], {"id": "a"}])
def test_a_claim_of_the_wrong_shape_names_nobody_but_stays_the_own_one(value: Any) -> None:
    stamp = "2026-03-02T10:00:00+00:00"
    claims = claims_of(
        {
            "merged_from": ["a", "b"],
            "merge_timestamp": "2026-03-01T10:00:00+00:00",
            "evolved_from": value,
            "evolution_timestamp": stamp,
        }
    )
    own = own_claim(claims, edges=())
    assert own is not None
    assert (own.relation, own.targets, own.is_malformed) == ("evolved_from", (), True)


@pytest.mark.parametrize("value", ["a", [], ["a", 1], ["a", ""], {"a": 1}, None])
def test_a_merge_that_names_no_list_of_sources_is_malformed(value: Any) -> None:
    (claim,) = claims_of({"merged_from": value}).candidates
    assert claim.is_malformed
    assert claim.targets == ()


def test_metadata_without_lineage_keys_claims_nothing() -> None:
    claims = claims_of({"owner": "ops", "change_reason": "decay"})
    assert claims.every == ()
    assert own_claim(claims, edges=[("evolved_from", "a")]) is None


@given(st.text())
def test_reading_a_clock_never_fails(text: str) -> None:
    instant = parsed(text)
    reading = claimed_instant(text, agreed=timedelta(hours=3))
    assert reading.text == text
    assert (reading.at is None) == (reading.how == "unknown")
    assert instant is not None or reading.at is None
