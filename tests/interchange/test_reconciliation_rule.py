"""The rule of the newest own claim over whole stores: how many records disagree without and with it, and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory.interchange.contextfs.kernel.agreement import Reconciliation, codes_by_record, reconciliation
from memory.interchange.contextfs.kernel.plan import make_plan
from memory.interchange.contextfs.kernel.rows import survey
from memory.interchange.contextfs.reader import read_store
from tests.interchange.foreign import ForeignFile

Store = Callable[[str], Path]


def compared(path: Path) -> Reconciliation:
    with read_store(path) as store:
        surveyed = survey(store)
        plan = make_plan(store, surveyed=surveyed)
        return reconciliation(surveyed, codes=codes_by_record(plan.every_finding()))


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [("large", 1_768, 42), ("violations", 8, 5), ("violations_before", 6, 3), ("clean_small", 0, 0), ("l6_twin", 0, 0)],
)
def test_the_rule_leaves_what_is_no_copy_and_each_of_it_is_explained(
    contextfs_store: Store, name: str, before: int, after: int
) -> None:
    found = compared(contextfs_store(name))
    assert (found.n_before, found.n_after, len(found.rows)) == (before, after, after)
    assert found.n_unexplained == 0
    assert sum(found.by_code.values()) >= after


def test_what_is_left_of_the_large_store_are_lost_edges_and_hard_deletes(contextfs_store: Store) -> None:
    found = compared(contextfs_store("large"))
    assert (found.n_derived, found.n_own_without_edge, found.n_edges_without_claim) == (3_077, 51, 0)
    assert found.n_inherited_without_edge == 3_371
    # An edge across namespaces can be lost like any other; its claim then is quarantined, not repaired.
    assert set(found.by_code) == {"edge-write-lost", "target-missing", "cross-namespace"}
    assert sum(len(set(row.own) - set(row.edges)) for row in found.rows) == 51


def test_a_row_shows_edges_own_claim_and_what_was_inherited(contextfs_store: Store) -> None:
    for row in compared(contextfs_store("violations")).rows:
        assert set(row.edges) != set(row.own)
        assert not set(row.own) & set(row.inherited)
        assert list(row.edges) == sorted(row.edges)


def test_rows_are_in_one_order_whatever_the_order_of_the_file(contextfs_store: Store) -> None:
    found = compared(contextfs_store("violations"))
    keys = [(row.namespace or "", row.id) for row in found.rows]
    assert keys == sorted(keys)


def test_the_file_is_not_written_to(contextfs_store: Store) -> None:
    path = contextfs_store("violations")
    before = path.read_bytes(), sorted(path.parent.iterdir())
    compared(path)
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == before


def test_a_copied_claim_alone_is_no_disagreement_after_the_rule(foreign_file: ForeignFile) -> None:
    """A record that was evolved from one that had been merged carries both claims; the older one is a copy."""
    foreign_file.memory("a").memory("b").derived("m", "merged_from", "a", "b")
    copied = {"merged_from": ["a", "b"], "merge_timestamp": "2026-03-01T00:00:00+00:00"}
    foreign_file.derived("e", "evolved_from", "m", metadata=copied)
    found = compared(foreign_file.done())
    assert (found.n_derived, found.n_before, found.n_after) == (2, 1, 0)
