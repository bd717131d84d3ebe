"""A snapshot beside what was imported of its source before: what is gone, altered, new, and what stays as it is."""

import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from memory.interchange.contextfs.kernel.accounting import accounting
from memory.interchange.contextfs.kernel.vocabulary import EDGES, MEMORIES
from tests.interchange.foreign import ForeignFile
from tests.interchange.reading import hashes_of, plan_of, records_of


def test_a_second_reading_of_the_same_file_brings_nothing_new(contextfs_store: Callable[[str], Path]) -> None:
    path = contextfs_store("violations")
    plan = plan_of(path, hashes_of(path))
    assert {record.novelty for record in records_of(plan).values()} == {"known"}
    assert {link.novelty for part in plan.namespaces for link in part.links} == {"known"}
    assert plan.every_finding() == ()
    assert (plan.comparison.gone, plan.comparison.altered, plan.comparison.new) == ((), (), ())
    account = accounting(plan)
    assert (account.n_unaccounted, account.fates[EDGES]) == (0, {"known": plan.counts.n_edges})


def test_a_later_snapshot_says_what_is_gone_and_brings_only_what_is_new(contextfs_store: Callable[[str], Path]) -> None:
    before, after = contextfs_store("violations_before"), contextfs_store("violations")
    earlier, later = hashes_of(before), hashes_of(after)
    plan = plan_of(after, earlier)
    (gone,) = [finding for finding in plan.findings if finding.code == "row-gone"]
    assert gone.ids == ("a5574ab6-de4",)
    assert plan.comparison.gone == tuple(sorted(earlier.keys() - later.keys())) == ((MEMORIES, "a5574ab6-de4"),)
    assert plan.comparison.altered == ()
    new = Counter(ref.table for ref in plan.comparison.new)
    assert new == Counter(key[0] for key in later.keys() - earlier.keys()) == {MEMORIES: 15, EDGES: 14}
    novel = {name for name, record in records_of(plan).items() if record.novelty == "new"}
    assert novel == {key[1] for key in later.keys() - earlier.keys() if key[0] == MEMORIES}
    assert (accounting(plan).n_unaccounted, accounting(plan).contested) == (0, ())


def altered_copy(path: Path, to: Path, *statements: str) -> Path:
    copy = to / "later.db"
    copy.write_bytes(path.read_bytes())
    with sqlite3.connect(copy) as db:
        # The trigger feeds a search index that this copy can do without.
        db.execute("DROP TRIGGER memories_au")
        for statement in statements:
            db.execute(statement)
    db.close()
    return copy


def test_a_row_changed_in_place_is_reported_and_the_older_one_stays(
    contextfs_store: Callable[[str], Path], tmp_path: Path
) -> None:
    path = contextfs_store("clean_small")
    child = next(record for record in records_of(plan_of(path)).values() if record.parents)
    parent = child.parents[0]
    later = altered_copy(
        path,
        tmp_path,
        f"UPDATE memories SET content = 'other text' WHERE id = '{child.foreign_id}'",
        f"UPDATE memories SET deleted_at = '2026-09-01T00:00:00+00:00' WHERE id = '{parent.parent_id}'",
        f"UPDATE memory_edges SET weight = 0.5 WHERE from_id = '{child.foreign_id}' AND to_id = '{parent.parent_id}'",
    )
    plan = plan_of(later, hashes_of(path))
    altered = {finding.ids: finding.after for finding in plan.every_finding() if finding.code == "row-altered"}
    assert altered == {
        (child.foreign_id,): {"withdrawn": False},
        (parent.parent_id,): {"withdrawn": True},
        (child.foreign_id, parent.parent_id, parent.relation): None,
    }
    assert {finding.code for finding in plan.every_finding()} == {"row-altered"}
    records = records_of(plan)
    assert {records[child.foreign_id].novelty, records[parent.parent_id].novelty} == {"altered"}
    account = accounting(plan)
    assert (account.n_unaccounted, account.contested) == (0, ())
    assert account.fates[MEMORIES]["quarantined"] == 2
    assert account.fates[EDGES]["quarantined"] == 1


def test_an_erased_row_stays_known_whatever_it_holds_now(
    contextfs_store: Callable[[str], Path], tmp_path: Path
) -> None:
    path = contextfs_store("clean_small")
    erased = records_of(plan_of(path)).popitem()[0]
    known = {**hashes_of(path), (MEMORIES, erased): None}
    later = altered_copy(path, tmp_path, f"UPDATE memories SET content = 'back again' WHERE id = '{erased}'")
    plan = plan_of(later, known)
    assert records_of(plan)[erased].novelty == "known"
    assert plan.every_finding() == ()


def test_a_new_edge_gives_no_new_parent_to_a_record_imported_before(foreign_file: ForeignFile) -> None:
    foreign_file.memory("a").derived("child", "evolved_from", "a", edges=False)
    known = hashes_of(foreign_file.path)
    foreign_file.edge("child", "evolved_from", "a").derived("grandchild", "evolved_from", "child")
    plan = plan_of(foreign_file.done(), known)
    (late,) = [finding for finding in plan.every_finding() if finding.code == "late-ancestry"]
    assert late.ids == ("child", "a")
    assert [ref.key for ref in late.rows] == [("child", "a", "evolved_from")]
    records = records_of(plan)
    assert {name: record.novelty for name, record in records.items()} == {
        "a": "known",
        "child": "known",
        "grandchild": "new",
    }
    assert [parent.parent_id for parent in records["grandchild"].parents] == ["child"]
    assert (accounting(plan).n_unaccounted, accounting(plan).contested) == (0, ())


def test_a_quarantine_is_not_released_by_a_later_snapshot(foreign_file: ForeignFile) -> None:
    foreign_file.memory("a").derived("child", "evolved_from", "lost").edge("a", "references", "lost")
    known = hashes_of(foreign_file.path)
    plan = plan_of(foreign_file.memory("lost").done(), known)
    records = records_of(plan)
    assert (records["child"].novelty, records["lost"].novelty) == ("known", "new")
    ((link,),) = [part.links for part in plan.namespaces]
    assert link.novelty == "known"
    assert [finding.code for finding in plan.every_finding()] == []
