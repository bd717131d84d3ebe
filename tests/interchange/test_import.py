"""A whole ContextFS store taken in: every row accounted for, nothing twice, nothing lost, nothing believed too much."""

import hashlib
import secrets
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from memory.agents.models import Membership
from memory.base import projections
from memory.base.actor import Actor
from memory.base.errors import Conflict, Forbidden, Invalid
from memory.interchange import queries
from memory.interchange.models import ImportFinding, ImportRun, StagedRow
from memory.ledger.models import Content, Entry, Namespace
from memory.ledger.operations.erasing import erase
from memory.ledger.queries import asof
from memory.ledger.queries.verification import scan
from memory.lineage.models import Edge
from memory.lineage.queries.ancestry import ancestry
from memory.records.models import Record, RecordState
from memory.records.queries.lists import Filter, records
from tests.dumps import logical
from tests.interchange.foreign import ForeignFile
from tests.interchange.importing import (
    added,
    fates,
    imported,
    n_rows,
    namespaces,
    raw_contents,
    rebuilt,
    source_tables,
)
from tests.world import World

pytestmark = pytest.mark.django_db

Store = Callable[[str], Path]
Sidecar = Callable[[str], dict[str, Any]]
STORES = ("clean_small", "violations", pytest.param("large", marks=[pytest.mark.slow, pytest.mark.sqlite_only]))


def pointers() -> dict[str, UUID]:
    """{identifier of the source: record}."""
    return {raw["key"][1]: record for became, record, raw in raw_contents() if became == "record"}


@pytest.mark.parametrize("name", STORES)
def test_a_store_is_taken_in_whole_once_and_can_be_built_again(
    name: str, contextfs_store: Store, contextfs_sidecar: Sidecar
) -> None:
    expected = contextfs_sidecar(name)["expected"]
    report = imported(contextfs_store(name))
    here = namespaces(report)
    counted = {source: Record.objects.filter(namespace=target).count() for source, target in here.items()}
    assert counted == expected["namespaces"]
    assert fates()["record"] == expected["records"] == added(report)["n_records"]
    assert RecordState.objects.filter(withdrawn_seq__isnull=True).count() == expected["live"]
    assert sum(fates().values()) == expected["records"] + expected["edges"]
    assert set(Record.objects.values_list("source_class", flat=True)) == {"relayed"}
    assert not StagedRow.objects.exists()
    for target in here.values():
        found = scan(target)
        assert (found.content, found.faults) == ("ok", [])
        for projector in projections.registered():
            before = list(projector.dump(target))
            projector.rebuild(target)
            assert list(projector.dump(target)) == before, projector.name
    assert rebuilt() == source_tables(contextfs_store(name))
    before, dump = n_rows(), logical()
    again = imported(contextfs_store(name))
    assert added(again) == {"n_records": 0, "n_edges": 0, "n_quarantined": 0, "n_findings": 0}
    assert n_rows() == before
    assert logical() == dump


def test_one_target_for_one_source_namespace_and_one_entry_for_each(contextfs_store: Store) -> None:
    report = imported(contextfs_store("violations"))
    assert report.targets == {
        name: f"kept.{name}" for name in ("app-core", "billing-svc", "docs-site", "infra", "search-svc", "web-console")
    }
    assert Entry.objects.filter(verb="import").count() == 6
    assert imported(contextfs_store("clean_small"), "small").targets == {"app-core": "small"}


def test_parents_of_a_clean_store_are_those_of_its_operations(contextfs_store: Store) -> None:
    imported(contextfs_store("clean_small"))
    relations = Counter(Edge.objects.values_list("relation", flat=True))
    assert {name: relations[name] for name in ("evolved_from", "merged_from", "split_from")} == {
        "evolved_from": 5,
        "merged_from": 9,
        "split_from": 4,
    }


@pytest.mark.parametrize("name", ["clean_small", "violations"])
def test_every_source_row_is_found_from_what_it_became(name: str, contextfs_store: Store) -> None:
    report = imported(contextfs_store(name))
    reached = 0
    for target in namespaces(report).values():
        at = asof.now(target)
        for record in Record.objects.filter(namespace=target).values_list("id", flat=True):
            reached += sum(row.value is not None for row in queries.raw_rows(at, about=record))
        for finding in ImportFinding.objects.filter(namespace=target).values_list("id", flat=True):
            reached += sum(row.value is not None for row in queries.raw_rows(at, about=finding))
    tables = source_tables(contextfs_store(name))
    assert reached == len(tables["memories"]) + len(tables["memory_edges"])


def test_edges_that_join_two_namespaces_are_quarantined_as_ids_alone(contextfs_store: Store) -> None:
    imported(contextfs_store("violations"))
    crossing = ImportFinding.objects.filter(code__in=["cross-namespace", "captured"])
    ancestral = [row for row in crossing if _report(row)["relation"] in ("merged_from", "evolved_from", "split_from")]
    assert len(ancestral) == 4
    assert {key for row in ancestral for key in _report(row)} == {"ids", "relation", "before", "after"}


def _report(row: ImportFinding) -> Any:
    return queries.finding(asof.now(row.namespace_id), id=row.id).report


def test_a_dry_run_says_what_the_import_then_does_and_writes_nothing(contextfs_store: Store) -> None:
    path = contextfs_store("violations")
    before = (hashlib.sha256(path.read_bytes()).hexdigest(), sorted(p.name for p in path.parent.iterdir()))
    would = imported(path, dry_run=True)
    assert sum(n_rows().values()) == 0
    assert len(would.preview) == 50
    did = imported(path)
    assert [
        (one.namespace, one.n_records, one.n_edges, one.n_quarantined, one.n_findings) for one in would.applied
    ] == [(one.namespace, one.n_records, one.n_edges, one.n_quarantined, one.n_findings) for one in did.applied]
    assert (would.codes, would.counts, would.targets) == (did.codes, did.counts, did.targets)
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), sorted(p.name for p in path.parent.iterdir())) == before


def test_a_later_snapshot_adds_what_is_new_and_tells_what_is_gone(contextfs_store: Store) -> None:
    imported(contextfs_store("violations_before"), source="team-store")
    n_before = Record.objects.count()
    old = {row.id: row.ancestry_digest for row in Record.objects.all()}
    imported(contextfs_store("violations"), source="team-store")
    assert Record.objects.count() - n_before == 15
    gone = [_report(row) for row in ImportFinding.objects.filter(code="row-gone")]
    assert [report["ids"] for report in gone if report["before"] == {"table": "memories"}] == [["a5574ab6-de4"]]
    assert not ImportFinding.objects.filter(code="row-altered").exists()
    assert {row.id: row.ancestry_digest for row in Record.objects.filter(id__in=old)} == old


def test_a_row_that_was_altered_in_between_is_told_and_the_older_one_stays(
    contextfs_store: Store, tmp_path: Path
) -> None:
    imported(contextfs_store("clean_small"))
    edited = tmp_path / "edited.db"
    edited.write_bytes(contextfs_store("clean_small").read_bytes())
    with sqlite3.connect(edited) as db:
        (altered,) = db.execute("SELECT id FROM memories ORDER BY id LIMIT 1").fetchone()
        db.execute("UPDATE memories SET content = 'another text' WHERE id = ?", (altered,))
    db.close()
    record = pointers()[altered]
    before = queries.raw_rows(asof.now(_only().pk), about=record)
    report = imported(edited)
    assert added(report) == {"n_records": 0, "n_edges": 0, "n_quarantined": 1, "n_findings": 1}
    (finding,) = ImportFinding.objects.filter(code="row-altered")
    assert (finding.record, finding.clause) == (record, "L1")
    assert queries.raw_rows(asof.now(_only().pk), about=record) == before
    (kept,) = queries.raw_rows(asof.now(_only().pk), about=finding.id)
    assert kept.value["row"]["content"] == "another text"


def _only() -> Namespace:
    return Namespace.objects.get()


def test_what_the_source_deleted_is_hidden_and_can_be_shown(foreign_file: ForeignFile) -> None:
    foreign_file.memory("kept").memory("gone", deleted_at="2026-03-05T10:00:00+00:00")
    imported(foreign_file.done())
    at = asof.now(_only().pk)
    shown = records(at, where=Filter())
    assert [row.first_line for row in shown.items] == ["text of kept"]
    assert shown.hidden == {"withdrawn": 1}
    with_hidden = records(at, where=Filter(include=frozenset({"withdrawn"})))
    assert {row.first_line: row.state for row in with_hidden.items} == {
        "text of kept": "current",
        "text of gone": "withdrawn",
    }


def test_an_owner_may_leave_the_text_of_deleted_rows_out(foreign_file: ForeignFile) -> None:
    canary = secrets.token_hex(12)
    foreign_file.memory("gone", content=canary, deleted_at="2026-03-05T10:00:00+00:00", summary=canary)
    imported(foreign_file.done(), erase_deleted=True)
    assert Record.objects.count() == 1
    assert not Content.objects.filter(payload__contains=canary).exists()


def test_an_erased_record_stays_erased_through_another_import(foreign_file: ForeignFile) -> None:
    canary = secrets.token_hex(12)
    foreign_file.memory("kept").memory("secret", content=f"the canary {canary}", summary=canary)
    path = foreign_file.done()
    imported(path)
    here = _only()
    row = Record.objects.get(id=pointers()["secret"])
    by = Actor(here.pk, "system")
    erase(by, items=[(row.seq, row.item)], reason="request")
    assert not Content.objects.filter(payload__contains=canary).exists()
    assert [raw.value for raw in queries.raw_rows(asof.now(here.pk), about=row.id)] == [None]
    before = n_rows()
    report = imported(path)
    assert added(report)["n_records"] == 0
    assert n_rows() == before
    assert not Content.objects.filter(payload__contains=canary).exists()
    assert scan(here.pk).content == "erased"


@pytest.mark.parametrize(("shape", "n_ancestors"), [("chain", 200), ("ladder", 20)])
def test_the_whole_ancestry_comes_over(shape: str, n_ancestors: int, foreign_file: ForeignFile) -> None:
    foreign_file.memory("start")
    top = "start"
    if shape == "chain":
        for step in range(n_ancestors):
            foreign_file.derived(f"step-{step:03d}", "evolved_from", top)
            top = f"step-{step:03d}"
    else:
        sides = ("start",)
        for step in range(10):
            new = (f"left-{step}", f"right-{step}")
            for side in new:
                relation = "merged_from" if len(sides) == 2 else "evolved_from"
                foreign_file.derived(side, relation, *sides)
            sides = new
        foreign_file.derived("top", "merged_from", *sides)
        top, n_ancestors = "top", 21
    imported(foreign_file.done())
    found = ancestry(asof.now(_only().pk), record=pointers()[top])
    assert found.total == n_ancestors
    assert pointers()["start"] in {one.id for one in found.items}


def test_ancestry_is_that_of_the_edges_of_a_clean_store(contextfs_store: Store) -> None:
    path = contextfs_store("clean_small")
    imported(path)
    edges = [
        (row["from_id"], row["to_id"])
        for row in source_tables(path)["memory_edges"]
        if row["relation"] in ("evolved_from", "merged_from", "split_from")
    ]
    ids, at = pointers(), asof.now(_only().pk)
    for name, record in ids.items():
        above, front = set(), {name}
        while front := {old for new, old in edges if new in front} - above:
            above |= front
        assert {one.id for one in ancestry(at, record=record).items} == {ids[one] for one in above}


def test_a_line_goes_on_where_an_earlier_import_left_its_head(foreign_file: ForeignFile) -> None:
    foreign_file.memory("first").derived("second", "evolved_from", "first")
    imported(foreign_file.path)
    foreign_file.derived("third", "evolved_from", "second").derived("branch", "evolved_from", "first")
    imported(foreign_file.done())
    lines = {name: Record.objects.get(id=record).line for name, record in pointers().items()}
    assert lines["first"] == lines["second"] == lines["third"]
    assert lines["branch"] == pointers()["branch"]


def test_a_key_that_the_source_repeats_keeps_both_rows_and_is_told_once(tmp_path: Path) -> None:
    foreign = ForeignFile(tmp_path / "copied.db", memory_columns=_without_key())
    foreign.memory("twin", content="the first").memory("twin", content="the second").memory("other")
    path = foreign.done()
    imported(path)
    assert Counter(fates()) == {"record": 2, "finding": 1}
    texts = sorted(raw["row"]["content"] for _, _, raw in raw_contents())
    assert texts == ["text of other", "the first", "the second"]
    before = n_rows()
    imported(path)
    assert n_rows() == before


def _without_key() -> tuple[str, ...]:
    from tests.interchange.foreign import MEMORY_COLUMNS

    return tuple(column.replace(" PRIMARY KEY", "") for column in MEMORY_COLUMNS)


def test_two_sources_share_no_record_though_their_identifiers_coincide(tmp_path: Path) -> None:
    first = ForeignFile(tmp_path / "a.db").memory("same", content="of the first").done()
    second = ForeignFile(tmp_path / "b.db").memory("older").memory("same", content="of the second").done()
    imported(first)
    report = imported(second)
    assert added(report)["n_records"] == 2
    assert report.resembles == {imported(first, dry_run=True).source: 1}


def test_a_dangling_edge_of_one_source_is_never_caught_by_a_record_of_another(tmp_path: Path) -> None:
    first = ForeignFile(tmp_path / "a.db").memory("one").edge("one", "references", "later").done()
    second = ForeignFile(tmp_path / "b.db").memory("zero").memory("later").done()
    imported(first)
    imported(second)
    assert not Edge.objects.exists()
    assert ImportFinding.objects.filter(code="endpoint-missing").count() == 1


def test_source_namespaces_go_where_they_are_mapped_and_never_two_to_one(contextfs_store: Store) -> None:
    path = contextfs_store("violations")
    assert imported(path, only="infra").targets == {"infra": "kept"}
    assert imported(path, mapping={"infra": "metal"}, dry_run=True).targets["infra"] == "metal"
    with pytest.raises(Invalid, match="a target of its own"):
        imported(path, mapping={"infra": "metal", "docs-site": "metal"})
    with pytest.raises(Invalid, match="source_namespace"):
        imported(path, only="none-such")
    with pytest.raises(Invalid, match="namespace"):
        imported(path, "Not A Name")
    assert set(Namespace.objects.values_list("name", flat=True)) == {"kept"}


def test_who_imports_owns_what_is_founded_for_it(foreign_file: ForeignFile, world: World) -> None:
    imported(foreign_file.memory("one").done(), "lab.kept", by=world.alice)
    here = Namespace.objects.get(name="lab.kept")
    assert list(Membership.objects.filter(namespace=here).values_list("person", "role")) == [
        (world.alice.person, "owner")
    ]
    assert set(Entry.objects.filter(namespace=here).values_list("person", flat=True)) == {world.alice.person}


@pytest.mark.parametrize("who", ["alice", "bob", "charlie", "scout"])
@pytest.mark.parametrize("dry_run", [True, False])
def test_nobody_imports_into_what_they_do_not_own(
    who: str, dry_run: bool, foreign_file: ForeignFile, world: World
) -> None:
    path = foreign_file.memory("one").done()
    imported(path, "theirs")
    before = n_rows()
    with pytest.raises(Forbidden):
        imported(path, "theirs", by=getattr(world, who), dry_run=dry_run)
    assert n_rows() == before


def test_an_import_that_another_has_overtaken_is_refused_whole(foreign_file: ForeignFile) -> None:
    path = foreign_file.memory("one").memory("two").done()
    overtaken = False

    def overtake(stage: str, done: int, total: int) -> None:
        nonlocal overtaken
        if stage.startswith("applying") and not overtaken:
            overtaken = True
            imported(path)

    with pytest.raises(Conflict):
        imported(path, progress=overtake)
    assert Record.objects.count() == 2
    assert ImportRun.objects.count() == 1


def test_progress_counts_every_row_to_the_end(contextfs_store: Store) -> None:
    told: list[tuple[str, int, int]] = []
    imported(contextfs_store("violations"), progress=lambda *step: told.append(step))
    assert told[0] == ("reading", 0, 128)
    assert told[-1] == ("applying kept.web-console", 128, 128)
    done = [step[1] for step in told if not step[0].startswith("reading")]
    assert done == sorted(done)


@pytest.fixture
def world() -> World:
    return World()
