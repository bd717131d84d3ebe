"""The word diff gives back both texts byte for byte and marks only what differs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.word_diff import MOST_WORDS, DiffPart, word_diff

WORDS = st.lists(st.sampled_from(["a", "b", "limit", " ", "\n", ".", "100", "é", "\u202e"]), max_size=25).map("".join)


@given(before=WORDS | st.text(max_size=60), after=WORDS | st.text(max_size=60))
def test_both_texts_can_be_read_back_from_the_parts(before: str, after: str) -> None:
    diff = word_diff(before, after=after)
    assert "".join(part.text for part in diff.before) == before
    assert "".join(part.text for part in diff.after) == after
    assert all(part.text for part in diff.parts)
    assert diff.is_same == (before == after)


def test_only_the_words_that_differ_are_marked() -> None:
    diff = word_diff("refunds above 100 EUR", after="refunds above 200 EUR")
    assert diff.parts == (
        DiffPart("kept", "refunds above "),
        DiffPart("removed", "100"),
        DiffPart("added", "200"),
        DiffPart("kept", " EUR"),
    )
    assert (diff.n_removed, diff.n_added) == (1, 1)


@pytest.mark.parametrize(("before", "after", "kinds"), [("", "new", ["added"]), ("old", "", ["removed"]), ("", "", [])])
def test_an_empty_side_is_all_of_the_other(before: str, after: str, kinds: list[str]) -> None:
    assert [part.kind for part in word_diff(before, after=after).parts] == kinds


def test_a_middle_above_the_bound_is_replaced_whole_between_its_common_ends() -> None:
    before = "head " + "x y " * MOST_WORDS + "tail"
    after = "head " + "y x " * MOST_WORDS + "tail"
    diff = word_diff(before, after=after)
    assert [part.kind for part in diff.parts] == ["kept", "removed", "added", "kept"]
    assert diff.parts[0].text == "head "
