"""Relation laws: the recorded ones, what is refused and where, and the rules of a group on whatever is a table."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.errors import Invalid
from memory.beliefs.kernel.laws import Law, built_in, fingerprint, law_document, opposite, parse_law, read_law
from tests.beliefs.cases import law_named, recorded


@pytest.mark.parametrize("row", recorded("laws"), ids=lambda row: row["name"])
def test_a_recorded_law_keeps_its_document_and_its_fingerprint(row: dict[str, Any]) -> None:
    law = read_law(row["spec"])
    assert law_document(law) == row["law"]
    assert fingerprint(law) == row["fingerprint"]
    assert law_document(parse_law(row["law"])) == row["law"]


# Where each refused document is wrong; the peer names no place.
PLACES = {
    "missing name": ("name",),
    "wrong identity": ("table", 0),
    "dup labels": ("labels", 1),
    "empty label": ("labels", 0),
    "label control": ("labels", 0),
    "empty name": ("name",),
    "table shape": ("table",),
    "ragged": ("table",),
    "inverse value -1": ("inverse", 1),
    "wrong inverse": ("table", 1),
}


@pytest.mark.parametrize("row", recorded("law_validation"), ids=lambda row: row["note"])
def test_a_law_document_is_coerced_or_refused_as_the_peer_does(row: dict[str, Any]) -> None:
    expected = row["expected"]
    if not expected["ok"]:
        with pytest.raises(Invalid) as refusal:
            parse_law(row["law"])
        assert refusal.value.errors[0].loc == PLACES[row["note"]]
        return
    law = parse_law(row["law"])
    assert law_document(law) == expected["canonical"]
    assert fingerprint(law) == expected["fingerprint"]


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ("cyclic:0", ("law",)),
        ("cyclic:257", ("law",)),
        ("cyclic:-4", ("law",)),
        ("cyclic:4x", ("law",)),
        ("S3", ("law",)),
        (None, ("law",)),
        ({"name": "T", "labels": "e", "table": [[0]], "inverse": [0]}, ("labels",)),
        ({"name": "T", "labels": ["e"], "table": [["x"]], "inverse": [0]}, ("table", 0, 0)),
        ({"name": "T", "labels": ["e"], "table": [[float("nan")]], "inverse": [0]}, ("table", 0, 0)),
        ({"name": "T", "labels": ["e"], "table": [[2**80]], "inverse": [0]}, ("table", 0, 0)),
        ({"name": "T", "labels": ["e"], "table": [[0]], "inverse": [0], "identity": 1}, ("identity",)),
        ({"name": "T", "labels": ["e"], "table": [[0]], "inverse": [0], "identity": None}, ("identity",)),
        ({"name": "\ud800", "labels": ["e"], "table": [[0]], "inverse": [0]}, ("name",)),
        ({"name": "T", "labels": [str(label) for label in range(257)], "table": [], "inverse": []}, ("labels",)),
    ],
)
def test_what_is_no_law_is_refused_at_its_place(spec: object, place: tuple[str | int, ...]) -> None:
    with pytest.raises(Invalid) as refusal:
        read_law(spec)
    assert refusal.value.errors[0].loc == place
    refusal.value.detail.encode()


def test_texts_of_numbers_and_further_keys_are_accepted() -> None:
    law = parse_law({"name": 7, "labels": [True, None], "table": [["0", 1.9], [1, -0.5]], "inverse": [0, 1], "x": 1})
    assert (law.name, law.labels, law.table.tolist()) == ("7", ("True", "None"), [[0, 1], [1, 0]])


def test_the_largest_law_is_validated_whole() -> None:
    law = built_in("cyclic:256")
    assert fingerprint(parse_law(law_document(law))) == fingerprint(law)
    spoiled = law_document(law)
    table = np.array(spoiled["table"])
    # Still a quasigroup with identity and inverses: an intercalate is turned over, and only products tell.
    table[np.ix_([1, 129], [2, 130])] = table[np.ix_([129, 1], [2, 130])]
    with pytest.raises(Invalid, match="associative"):
        parse_law(spoiled | {"table": table.tolist()})


def test_an_opposite_law_has_its_products_turned_round() -> None:
    law = built_in("s3")
    turned = opposite(law)
    assert turned.name == "S3_opposite"
    assert (turned.table == law.table.T).all()
    assert law_document(opposite(turned)) | {"name": "S3"} == law_document(law)
    assert parse_law(law_document(turned)).size == 6


def _is_group(table: np.ndarray[Any, Any], inverse: list[int]) -> bool:
    """By the axioms alone, one product at a time; the identity is 0."""
    size = len(table)
    return (
        all(table[0, a] == table[a, 0] == a for a in range(size))
        and all(table[a, inverse[a]] == table[inverse[a], a] == 0 for a in range(size))
        and all(table[table[a, b], c] == table[a, table[b, c]] for a, b, c in product(range(size), repeat=3))
    )


@given(st.sampled_from(["cyclic:5", "cyclic:6", "s3", "V4"]), st.data())
def test_a_table_passes_exactly_if_it_is_a_group(spec: str, data: st.DataObject) -> None:
    law: Law = law_named(spec)
    table = law.table.copy()
    entries = st.tuples(*[st.integers(1, law.size - 1)] * 2, st.integers(0, law.size - 1))
    for row, column, value in data.draw(st.lists(entries, max_size=2)):
        table[row, column] = value
    inverse = law.inverse.tolist()
    document = law_document(law) | {"table": table.tolist()}
    try:
        parse_law(document)
        passed = True
    except Invalid:
        passed = False
    assert passed == _is_group(table, inverse)
