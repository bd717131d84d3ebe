"""Cells of a foreign row come back from their canonical bytes; JSON in them is read strictly or not at all."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.canonical import canonical, strict_loads
from memory.interchange.contextfs.kernel.cells import (
    OversizeCell,
    UndecodedText,
    decode_cell,
    encode_cell,
    parsed_object,
    parsed_tags,
)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (None, ()),
        ("", ()),
        ("[]", ()),
        ('["b", "a", "b"]', ("a", "b")),
        ('["a", 1]', None),
        ('{"a": 1}', None),
        ("a,b", None),
    ],
)
def test_tags_are_a_sorted_list_of_text_or_unread(text: str | None, tags: tuple[str, ...] | None) -> None:
    assert parsed_tags(text) == tags


def test_metadata_is_an_object_or_unread() -> None:
    assert parsed_object(None) == {}
    assert parsed_object('{"a": [1.5, null]}') == {"a": [1.5, None]}
    assert parsed_object("[1]") is None


cells = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.binary(),
    st.binary().map(lambda body: UndecodedText(b"\xff" + body)),
    st.builds(OversizeCell, st.integers(0, 2**50), st.text("0123456789abcdef", min_size=64, max_size=64)),
)


@given(cells)
def test_a_cell_comes_back_from_its_canonical_bytes(cell: Any) -> None:
    back = decode_cell(strict_loads(canonical(encode_cell(cell))))  # type: ignore[arg-type]
    assert back == cell
    if not isinstance(cell, float):
        assert type(back) is type(cell)


def test_a_cell_that_is_not_a_number_comes_back() -> None:
    back = decode_cell(encode_cell(math.nan))
    assert isinstance(back, float)
    assert math.isnan(back)


@pytest.mark.parametrize("value", [True, [], {}, {"$text": 1}, {"$other": "x"}, {"$text": "eA==", "$blob": "eA=="}])
def test_what_no_cell_is_written_as_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="expected an encoded cell"):
        decode_cell(value)
