"""Canonical JSON against the reference library and the RFC's own vectors; strict reading against every refusal."""

from __future__ import annotations

import doctest
import enum
import json
import math
import struct
from collections.abc import Callable

import pytest
import rfc8785
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memory.base import canonical as module
from memory.base.canonical import CanonicalError, MalformedJson, UnacceptableJson, canonical, strict_loads

LIMIT = 2**53 - 1

# Characters where escapes, UTF-16 order and UTF-8 order are at odds.
PIECES = ["a", "Z", '"', "\\", "\\u0000", "\n", "\x1f", "\x7f", "\u2028", "é", "\ud7ff", "\ue000", "\uffff"]
PIECES += ["\U00010000", "\U0010ffff", "1", ".0"]
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=5).map("".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
)
doubles = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds(lambda digits, power: float(f"{digits}e{power}"), st.integers(1, 10**17), st.integers(-30, 30)),
    st.sampled_from(
        [0.0, -0.0, 1e-4, 1e-5, 9.999e-6, 1e-6, 1e-7, 1e15, 1e16, 1e20, 1e21, 5e-324, 2.0**53, LIMIT * 1.0]
    ),
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-LIMIT, LIMIT), doubles, texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=25,
)


def nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@given(values)
@example({"\ue000": 1, "\U00010000": 2})
@example([1.0, -0.0, 1e-7, 1e21, 123456789012345680000.0])
def test_the_bytes_are_those_of_the_reference_library(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@given(values)
def test_what_is_written_is_read_and_written_again_byte_for_byte(value: object) -> None:
    written = canonical(value)
    assert canonical(strict_loads(written)) == written
    assert canonical(strict_loads(written.decode())) == written


@given(st.dictionaries(texts, scalars, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(members: dict[str, object], chance: object) -> None:
    keys = list(members)
    chance.shuffle(keys)  # type: ignore[attr-defined]
    assert canonical({key: members[key] for key in keys}) == canonical(members)


# RFC 8785 appendix B: the bits of a double and its spelling.
@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_doubles_are_spelled_as_the_rfc_lists_them(bits: str, expected: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(value).decode() == expected


def test_the_sorting_example_of_the_rfc_is_reproduced() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    written = canonical(dict.fromkeys(keys, 0)).decode()
    assert list(json.loads(written)) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def test_an_integral_float_and_its_integer_are_one_value() -> None:
    assert canonical({"a": 1.0, "b": [-0.0]}) == canonical({"a": 1, "b": [0]}) == b'{"a":1,"b":[0]}'


class Word(enum.StrEnum):
    KNOWN = "known"


class Size(enum.IntEnum):
    SMALL = 3


class Loud(str):
    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return self.upper().encode(encoding, errors)


class Percent(float):
    def __str__(self) -> str:
        return f"{self:.0%}"


def test_subclasses_are_written_as_what_they_hold_not_as_they_show_themselves() -> None:
    value = {Word.KNOWN: (Word.KNOWN, Size.SMALL), Loud("z"): [Loud("quiet"), Percent(0.5)]}
    assert canonical(value) == b'{"known":["known",3],"z":["quiet",0.5]}'


def test_a_text_that_spells_an_escape_is_not_taken_for_the_character() -> None:
    assert canonical({"a": "\\u0000"}) == b'{"a":"\\\\u0000"}'


REFUSED_VALUES = [
    ({"metadata": {"a": [1, 2, 3, math.nan]}}, "metadata.a[3]", "non_finite"),
    ([math.inf], "[0]", "non_finite"),
    ({"a": -math.inf}, "a", "non_finite"),
    ({"a": {"b": 2**53}}, "a.b", "out_of_range"),
    ({"a": {"b": -(2**53)}}, "a.b", "out_of_range"),
    ({"a": 10**5000}, "a", "out_of_range"),
    ({"a": "x\ud800"}, "a", "lone_surrogate"),
    ({"a": [{"b\udfff": 1}]}, "a[0].b\\udfff", "lone_surrogate"),
    ({"a": "x\0y"}, "a", "nul"),
    ({"a\0": 1}, "a\\u0000", "nul"),
    ({"a": {1: 2}}, "a", "not_json"),
    ({"a": b"bytes"}, "a", "not_json"),
    ({"a": {1, 2}}, "a", "not_json"),
    (nested(65), "[0]" * 64, "too_deep"),
    (math.nan, "", "non_finite"),
]


@pytest.mark.parametrize(("value", "path", "code"), REFUSED_VALUES)
def test_a_value_without_canonical_form_is_refused_with_its_place(value: object, path: str, code: str) -> None:
    with pytest.raises(CanonicalError) as refused:
        canonical(value)
    assert (refused.value.path, refused.value.code) == (path, code)
    assert str(refused.value).startswith(f"{path or 'the value'}: expected ")
    str(refused.value).encode()


@pytest.mark.parametrize("slow", [1e-7, {"\uffff": 0}, (1,)], ids=["small double", "late key", "tuple"])
@pytest.mark.parametrize(("value", "path", "code"), REFUSED_VALUES[:-2])
def test_refusals_are_the_same_by_the_slow_way(slow: object, value: object, path: str, code: str) -> None:
    with pytest.raises(CanonicalError) as refused:
        canonical([slow, value])
    assert (refused.value.path.removeprefix("[1]").removeprefix("."), refused.value.code) == (path, code)


def test_a_value_that_holds_itself_is_refused_as_too_deep() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(CanonicalError, match="at most 64 levels"):
        canonical(value)


def test_sixty_four_levels_are_written_and_read() -> None:
    assert strict_loads(canonical(nested(64))) == nested(64)


REFUSED_JSON = [
    ('{"a": 1, "a": 1}', ("a",), "duplicate_key"),
    ('{"b": [0, {"a": 1, "c": 2, "a": 3}]}', ("b", 1, "a"), "duplicate_key"),
    ('{"a": 1, "\\u0061": 2}', ("a",), "duplicate_key"),
    ('{"a": [NaN]}', ("a", 0), "non_finite"),
    ("Infinity", (), "non_finite"),
    ('{"a": -Infinity}', ("a",), "non_finite"),
    ('{"a": 1e999}', ("a",), "out_of_range"),
    ('{"a": 9007199254740993}', ("a",), "out_of_range"),
    ('{"a": -9007199254740993}', ("a",), "out_of_range"),
    ("1" * 5000, (), "out_of_range"),
    ('{"a": "\\ud800"}', ("a",), "lone_surrogate"),
    ('{"a": "\\udc00\\ud800"}', ("a",), "lone_surrogate"),
    ('{"a": {"\\udfff": 1}}', ("a", "\\udfff"), "lone_surrogate"),
    ('{"a": ["x", "y\\u0000"]}', ("a", 1), "nul"),
    ('{"\\u0000": 1}', ("\\u0000",), "nul"),
    ("[" * 65 + "]" * 65, (0,) * 64, "too_deep"),
    ('{"a":' * 65 + "1" + "}" * 65, ("a",) * 64, "too_deep"),
    ("[" * 200_000, (), "too_deep"),
]


@pytest.mark.parametrize("form", [str, str.encode], ids=["text", "bytes"])
@pytest.mark.parametrize(("text", "loc", "code"), REFUSED_JSON)
def test_readable_json_is_refused_with_its_place(
    form: Callable[[str], bytes | str], text: str, loc: tuple[str | int, ...], code: str
) -> None:
    with pytest.raises(UnacceptableJson) as refused:
        strict_loads(form(text))
    assert (refused.value.loc, refused.value.code) == (loc, code)
    str(refused.value).encode()


def test_a_raw_lone_surrogate_in_text_is_refused_with_its_place() -> None:
    with pytest.raises(UnacceptableJson) as refused:
        strict_loads('{"a": "\ud800"}')
    assert (refused.value.loc, refused.value.code) == (("a",), "lone_surrogate")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("   ", 3),
        ("{", 1),
        ('{"a": }', 6),
        ("[1, 2] x", 7),
        ("{'a': 1}", 1),
        ('"a\x01"', 2),
        ('"\\x"', 1),
        ("[01]", 2),
        ('[NaN, {"a": 1, "a": 2}', 22),
        ("\ufeff{}", 0),
    ],
)
def test_unreadable_json_is_malformed_at_a_position(text: str, position: int) -> None:
    with pytest.raises(MalformedJson) as refused:
        strict_loads(text)
    assert refused.value.position == position


@pytest.mark.parametrize(("data", "position"), [(b"\xff", 0), (b'["\xc3"]', 2), ('{"a": 1}'.encode("utf-16"), 0)])
def test_bytes_that_are_not_utf8_are_malformed_at_a_byte(data: bytes, position: int) -> None:
    with pytest.raises(MalformedJson, match="not UTF-8") as refused:
        strict_loads(data)
    assert refused.value.position == position


def test_unreadable_and_refused_are_told_apart_by_their_types() -> None:
    assert not issubclass(MalformedJson, CanonicalError)
    assert issubclass(UnacceptableJson, CanonicalError)


@given(values)
def test_ordinary_json_reads_as_the_standard_decoder_reads_it(value: object) -> None:
    text = json.dumps(value)
    assume(all(abs(number) <= LIMIT for number in integers_of(json.loads(text))))
    assert strict_loads(text) == json.loads(text)


def integers_of(value: object) -> list[int]:
    if isinstance(value, dict):
        return integers_of(list(value.values()))
    if isinstance(value, list):
        return [number for item in value for number in integers_of(item)]
    return [value] if type(value) is int else []


def test_an_integer_literal_is_read_as_a_double_only_if_the_double_is_spelled_so() -> None:
    assert strict_loads("[10000000000000000, 9007199254740991]") == [1e16, 9007199254740991]
    assert type(strict_loads("10000000000000000")) is float
    with pytest.raises(UnacceptableJson):
        strict_loads("1152921504606846976")  # 2**60, spelled 1152921504606847000 by RFC 8785


def test_a_shorter_depth_can_be_asked_for() -> None:
    assert strict_loads("[[1]]", max_depth=2) == [[1]]
    with pytest.raises(UnacceptableJson, match="at most 2 levels"):
        strict_loads("[[[1]]]", max_depth=2)


def test_a_long_key_is_cut_in_the_place() -> None:
    with pytest.raises(CanonicalError) as refused:
        canonical({"k" * 10_000: math.nan})
    assert len(str(refused.value)) < 200


def test_the_examples_in_the_docstrings_hold() -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
