"""Instants as text."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base import instants

EARLY, LATE = datetime(2, 1, 1), datetime(9998, 1, 1)  # noqa: DTZ001 - the bounds of a strategy take no zone
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_is_written_is_read_back(instant: datetime) -> None:
    written = instants.text(instant)
    assert len(written) == len("2026-11-02T14:03:07.000000Z")
    assert instants.read(written) == instant


@given(st.datetimes(min_value=EARLY, max_value=LATE, timezones=OFFSETS))
def test_every_offset_is_read_as_the_same_instant(instant: datetime) -> None:
    assert instants.read(instant.isoformat()) == instant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-02",
        "2026-11-02T14:03:07",
        "20261102T140307Z",
        "2026-W01-1T00:00:00Z",
        "2026-13-02T14:03:07Z",
        "2026-11-02T14:03:60Z",
        "1762092187",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "٢٠٢٦-11-02T14:03:07Z",
        "2026-11-02T14:03:07Z\n",
    ],
)
def test_what_is_no_instant_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        instants.read(text)


def test_digits_below_the_microsecond_are_dropped() -> None:
    assert instants.read("2026-11-02t14:03:07.123456789z") == datetime(2026, 11, 2, 14, 3, 7, 123456, tzinfo=UTC)
