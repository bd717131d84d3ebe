"""Times, ids, states and untrusted text as templates print them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from audit.states import GLYPHS, STATES
from audit.templatetags.console import ago, count, day, duration, grouped, size, untrusted, utc

AT = datetime(2026, 11, 12, 14, 3, 7, 120_000, tzinfo=UTC)


def rendered(source: str, **values: object) -> str:
    return Template("{% load console %}" + source).render(Context(values))


def test_an_instant_is_printed_in_utc_to_the_second_whatever_its_zone() -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert utc(elsewhere) == "2026-11-12 14:03:07 UTC"
    assert 'datetime="2026-11-12T14:03:07.120000Z"' in rendered("{% instant at %}", at=elsewhere)


def test_an_instant_that_is_absent_says_so() -> None:
    assert "not recorded" in rendered("{% instant None %}")
    assert "never confirmed" in rendered('{% instant None absent="never confirmed" %}')


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=1), "1 second ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(days=3, hours=2), "3 days ago"),
        (timedelta(days=-400), "in 1 year"),
        (timedelta(seconds=5) - timedelta(days=90), "in 3 months"),
        (timedelta(hours=-26) - timedelta(days=85), "in 2 months"),
        (timedelta(days=89, hours=23), "2 months ago"),
    ],
)
def test_relative_times_count_from_the_reading_of_the_page(distance: timedelta, words: str) -> None:
    assert ago(AT - distance, AT) == words


def test_without_a_reading_of_the_page_no_relative_time_is_printed() -> None:
    assert ago(AT, None) == ""
    assert "<small>" not in rendered("{% instant at %}", at=AT)


def test_an_interval_is_half_open_and_an_open_end_is_a_word() -> None:
    midnight = datetime(2026, 11, 2, tzinfo=UTC)
    text = rendered("{% interval start end %}", start=midnight, end=None)
    assert ">2026-11-02</time> → open)" in text
    assert "[" in text
    assert "claimed by the source" in rendered("{% interval start None claimed=True %}", start=midnight)
    assert day(AT) == "2026-11-12 14:03:07"


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "less than a second"), (60, "1 minute"), (7200, "2 hours")])
def test_a_duration_has_its_unit(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_numbers_are_grouped_and_sizes_have_units() -> None:
    assert count(184_203) == "184\u202f203"
    assert count(None) == ""
    assert [size(n) for n in (318, 12_400, 3_100_000)] == ["318 B", "12.4 kB", "3.1 MB"]


@given(st.from_regex(r"([a-z]{2,5}_)?[0-9A-Za-z]{1,64}", fullmatch=True))
def test_an_id_is_grouped_by_elements_so_that_a_copy_holds_no_space(value: str) -> None:
    parts = grouped(value).replace('<span class="grouped">', "").replace("<span>", "").replace("</span>", "")
    assert parts == value


def test_a_shortened_id_is_copied_whole() -> None:
    text = rendered("{% copyable_id value short=4 %}", value="abcdefghij")
    assert 'data-copy="abcdefghij"' in text
    assert ">abcd<" in text


@pytest.mark.parametrize("key", STATES)
def test_every_state_has_a_word_and_a_shape(key: str) -> None:
    assert STATES[key].word
    assert STATES[key].glyph in GLYPHS
    text = rendered(f'{{% state_badge "{key}" %}}')
    assert STATES[key].word in text
    assert "<path" in text


def test_a_state_that_is_not_listed_is_refused() -> None:
    with pytest.raises(KeyError):
        rendered('{% state_badge "splendid" %}')


@pytest.mark.parametrize(
    "family",
    [
        ("current", "held", "superseded", "withdrawn", "erased"),
        ("known", "unknown", "conflict"),
        ("ok", "failed", "not_checked", "erased"),
        ("holds", "violated", "undecidable", "not_run"),
        ("permitted", "needs_approval", "blocked"),
        ("met", "unmet", "lapsed"),
        ("verified", "independent", "done"),
    ],
)
def test_states_that_meet_in_one_place_differ_in_word_and_shape(family: tuple[str, ...]) -> None:
    assert len({STATES[key].word for key in family}) == len(family)
    assert len({STATES[key].glyph for key in family}) == len(family)


def test_nothing_unknown_or_unchecked_is_drawn_like_a_good_answer() -> None:
    for key in ("unknown", "not_checked", "not_recorded", "not_reached", "undecidable", "not_run", "pending", "done"):
        assert STATES[key].tone != "ok"


def test_text_from_outside_is_escaped_and_its_unseen_characters_are_named() -> None:
    text = untrusted("<b>\u202egpj.exe\x00\n")
    assert text == (
        '&lt;b&gt;<span class="unseen" title="right-to-left override">U+202E</span>gpj.exe'
        '<span class="unseen" title="control character">U+0000</span>\n'
    )


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_any_text_becomes_bytes_without_an_element_of_its_own(value: str) -> None:
    text = untrusted(value)
    text.encode()
    assert "<" not in text.replace('<span class="unseen"', "").replace("</span>", "")
