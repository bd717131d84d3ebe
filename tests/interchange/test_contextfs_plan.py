"""The plan of a whole store: the figures of its makers, every row accounted for, nothing lost, nothing random."""

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory.base.canonical import canonical, strict_loads
from memory.interchange.contextfs.kernel.accounting import accounting, all_refs, rebuild_tables
from memory.interchange.contextfs.kernel.counts import SourceCounts
from memory.interchange.contextfs.kernel.plan import make_plan
from memory.interchange.contextfs.kernel.texts import RawRow, edge_texts, raw_rows, record_text, record_texts
from memory.interchange.contextfs.kernel.vocabulary import EDGES, MEMORIES, RESERVED_METADATA_KEYS
from memory.interchange.contextfs.reader import read_store
from tests.interchange.foreign import ForeignFile
from tests.interchange.reading import plan_of, records_of

STORES = ("clean_small", "violations", "violations_before", "l6_twin", "large")
# The laws that a plan counts; L5 and L6 are judged elsewhere, from the same store.
LAW_COUNTS = {
    "L1.indicator_content_changed_in_place": "n_stale_hashes",
    "L1.indicator_soft_deleted": "n_withdrawn",
    "L2.edge_without_meta": "n_edges_without_claim",
    "L2.meta_without_edge_own": "n_own_claims_without_edge",
    "L2.meta_without_edge_inherited": "n_inherited_claims_without_edge",
    "L2.records_disagreeing": "n_disagreeing",
    "L2.records_disagreeing_after_dropping_inherited": "n_disagreeing_own",
    "L3.derivation_label_unpaired": "n_derivation_edges_unpaired",
    "L3.label_has_no_inverse(info)": "n_labels_without_inverse",
    "L4ii.cross_namespace_ancestry": "n_ancestry_across_namespaces",
    "L4.cross_namespace_nonancestry_edge(info)": "n_other_edges_across_namespaces",
    "L7.dangling_edge": "n_dangling_edges",
    "L7.endpoint_soft_deleted": "n_edges_with_withdrawn_end",
    "L7.metadata_ref_missing": "n_claims_about_missing",
    "X.ancestry_cycle": "n_ancestry_cycles",
}


@pytest.mark.parametrize("name", ["clean_small", "violations", "large"])
def test_the_source_is_counted_as_its_makers_counted_it(
    name: str, contextfs_store: Callable[[str], Path], contextfs_sidecar: Callable[[str], dict[str, Any]]
) -> None:
    counts, expected = plan_of(contextfs_store(name)).counts, contextfs_sidecar(name)["expected"]
    assert (counts.n_records, counts.n_live, counts.n_edges) == (
        expected["records"],
        expected["live"],
        expected["edges"],
    )
    assert counts.by_namespace == expected["namespaces"]
    assert counts.by_type == expected["types"]
    assert counts.n_derived == expected["derived_records"]
    assert counts.n_edges_live == expected.get("edges_live", expected["edges"])
    assert counts.n_created_naive == expected.get("created_at_naive", expected["derived_records"])
    assert counts.n_created_naive + counts.n_created_aware == expected["records"]
    assert law_counts(counts) == {law: expected["counts"].get(law, 0) for law in LAW_COUNTS}


def test_the_earlier_snapshot_is_counted_as_its_makers_counted_it(
    contextfs_store: Callable[[str], Path], contextfs_sidecar: Callable[[str], dict[str, Any]]
) -> None:
    expected = contextfs_sidecar("violations")["before"]["counts"]
    counts = plan_of(contextfs_store("violations_before")).counts
    assert law_counts(counts) == {law: expected.get(law, 0) for law in LAW_COUNTS}


def law_counts(counts: SourceCounts) -> dict[str, int]:
    return {law: getattr(counts, name) for law, name in LAW_COUNTS.items()}


@pytest.mark.parametrize("name", ["violations", "large"])
def test_the_own_claim_rule_leaves_only_failed_writes_and_deletions_to_disagree(
    name: str, contextfs_store: Callable[[str], Path], contextfs_sidecar: Callable[[str], dict[str, Any]]
) -> None:
    plan = plan_of(contextfs_store(name))
    lost = [finding for finding in plan.every_finding() if finding.code == "edge-write-lost"]
    missing = [finding for finding in plan.every_finding() if finding.code == "target-missing" and not finding.rows]
    crossing = [finding for finding in plan.every_finding() if finding.code == "cross-namespace" and not finding.rows]
    expected = contextfs_sidecar(name)["expected"]["counts"]["L2.meta_without_edge_own"]
    assert len(lost) + len(missing) + len(crossing) == expected


def test_a_clean_store_becomes_the_operations_that_made_it(
    contextfs_store: Callable[[str], Path], contextfs_sidecar: Callable[[str], dict[str, Any]]
) -> None:
    plan = plan_of(contextfs_store("clean_small"))
    records = records_of(plan)
    operations = contextfs_sidecar("clean_small")["ops"]
    parents = Counter(parent.relation for record in records.values() for parent in record.parents)
    made = Counter(
        {
            f"{kind}_from": sum(len(one["args"]) * len(one["created"]) for one in operations if one["op"] == verb)
            for kind, verb in (("evolved", "evolve"), ("merged", "merge"), ("split", "split"))
        }
    )
    assert parents == made
    for one in operations:
        for created in one["created"]:
            derivation = records[created].derivation
            assert derivation is not None
            assert (derivation.kind, derivation.merge_strategy) == (one["op"], one.get("strategy"))
            assert [parent.parent_id for parent in records[created].parents] == one["args"]
            assert {parent.reasons for parent in records[created].parents} == {("agreed",)}
    assert plan.every_finding() == ()
    links = [(link.edge.kind, link.edge.from_id, link.edge.to_id) for link in plan.namespaces[0].links]
    assert sorted(links) == sorted(
        (one["op"], *(one["args"] if one["op"] == "link" else reversed(one["args"])))
        for one in operations
        if one["op"] in {"link", "supersede"}
    )


@pytest.mark.parametrize("name", ["violations", "large"])
def test_there_is_one_target_for_each_source_namespace_and_nothing_joins_two(
    name: str, contextfs_store: Callable[[str], Path], contextfs_sidecar: Callable[[str], dict[str, Any]]
) -> None:
    plan = plan_of(contextfs_store(name))
    expected = contextfs_sidecar(name)["expected"]
    assert {part.namespace: len(part.records) for part in plan.namespaces} == expected["namespaces"]
    assert [part.namespace for part in plan.namespaces] == sorted(expected["namespaces"])
    for part in plan.namespaces:
        placed: set[str] = set()
        for record in part.records:
            assert {parent.parent_id for parent in record.parents} <= placed
            placed.add(record.foreign_id)
        assert all({link.edge.from_id, link.edge.to_id} <= placed for link in part.links)
    crossing = [
        finding
        for finding in plan.every_finding()
        if finding.code in {"cross-namespace", "captured"}
        and finding.relation in {"evolved_from", "merged_from", "split_from"}
        and finding.rows
    ]
    assert len(crossing) == expected["counts"]["L4ii.cross_namespace_ancestry"]


@pytest.mark.parametrize("name", STORES)
def test_each_source_row_becomes_exactly_one_thing(name: str, contextfs_store: Callable[[str], Path]) -> None:
    path = contextfs_store(name)
    plan = plan_of(path)
    account = accounting(plan)
    assert (account.n_unaccounted, account.contested) == (0, ())
    with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as db:
        for table in (MEMORIES, EDGES):
            (n_rows,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert sum(account.fates[table].values()) == n_rows
    assert account.fates[MEMORIES] == {"record": plan.counts.n_records}


def test_a_row_that_a_plan_forgets_or_counts_twice_is_noticed(contextfs_store: Callable[[str], Path]) -> None:
    plan = plan_of(contextfs_store("violations"))
    part = plan.namespaces[0]
    kept = plan.namespaces[1:]
    forgetful = rebuilt(plan, namespaces=[rebuilt(part, records=part.records[:-1]), *kept])
    assert accounting(forgetful).n_unaccounted >= 1
    quarantine = next(finding for finding in part.findings if finding.is_quarantine)
    greedy = rebuilt(quarantine, rows=(*quarantine.rows, part.records[0].ref))
    contested = accounting(rebuilt(plan, namespaces=[rebuilt(part, findings=(*part.findings, greedy)), *kept]))
    assert contested.contested == (part.records[0].ref,)


def rebuilt(value: Any, **changed: Any) -> Any:
    fields = {name: getattr(value, name) for name in value.__dataclass_fields__}
    return type(value)(**{**fields, **changed})


@pytest.mark.parametrize("name", STORES)
def test_both_source_tables_are_rebuilt_from_the_canonical_raw_rows(
    name: str, contextfs_store: Callable[[str], Path]
) -> None:
    path = contextfs_store(name)
    with read_store(path) as store:
        refs = all_refs(make_plan(store))
        kept = [(raw.ref, canonical(raw.cells), raw.row_hash) for raw in raw_rows(store, refs=refs)]
    rows = [RawRow(ref, strict_loads(body), row_hash) for ref, body, row_hash in kept]  # type: ignore[arg-type]
    tables = rebuild_tables(rows)
    with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as db:
        db.row_factory = sqlite3.Row
        memories = [dict(row) for row in db.execute("SELECT * FROM memories ORDER BY id")]
        edges = [dict(row) for row in db.execute("SELECT * FROM memory_edges ORDER BY from_id, to_id, relation")]
    assert tables == {MEMORIES: memories, EDGES: edges}


def test_odd_cells_are_rebuilt_too(foreign_file: ForeignFile) -> None:
    foreign_file.memory("one", metadata="{broken", vector_clock=b"\x00\xff", tags=None, authoritative=2**60)
    foreign_file.memory("two", content="nul \0 inside", metadata='{"a": NaN}')
    foreign_file.edge("one", "related_to", "two", weight=float("inf")).edge("ghost", "likes", "one", weight=0.25)
    foreign_file.db.execute("UPDATE memories SET summary = CAST(x'c328' AS TEXT) WHERE id = 'two'")
    foreign_file.db.text_factory = bytes
    foreign_file.db.row_factory = sqlite3.Row
    tables = {
        table: [dict(row) for row in foreign_file.db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")]
        for table in (MEMORIES, EDGES)
    }
    with read_store(foreign_file.done()) as store:
        plan = make_plan(store)
        rows = [
            RawRow(raw.ref, strict_loads(canonical(raw.cells)), raw.row_hash)  # type: ignore[arg-type]
            for raw in raw_rows(store, refs=all_refs(plan))
        ]
    assert (accounting(plan).n_unaccounted, accounting(plan).contested) == (0, ())
    for table, found in rebuild_tables(rows).items():
        assert [{column: stored(cell) for column, cell in row.items()} for row in found] == tables[table]


def stored(cell: Any) -> Any:
    if isinstance(cell, str):
        return cell.encode()
    return getattr(cell, "stored_bytes", cell)


def test_the_texts_of_a_record_are_all_its_own_and_without_lineage_keys(foreign_file: ForeignFile) -> None:
    foreign_file.memory("old", metadata={"owner": "ops"})
    foreign_file.derived(
        "new",
        "evolved_from",
        "old",
        metadata={"owner": "ops", "change_reason": "decay"},
        summary="short",
        tags='["evolved", "db"]',
        structured_data='{"limit": 5}',
        source_repo="repo",
        project="apollo",
        authoritative=1,
    )
    foreign_file.edge("new", "references", "old", metadata={"reason": "why", "n": 1}, weight=0.5)
    with read_store(foreign_file.done()) as store:
        part = make_plan(store).namespaces[0]
        texts = {text.raw.ref.key[0]: text for text in record_texts(store, refs=[r.ref for r in part.records])}
        (edge,) = edge_texts(store, refs=part.links[0].edge.rows)
    new = texts["new"]
    assert [record_text(text.raw.ref, text.raw.cells) for text in texts.values()] == list(texts.values())
    assert (new.content, new.summary, new.tags) == ("text of new", "short", ("db", "evolved"))
    assert new.metadata == {"owner": "ops"}
    assert new.structured == {"limit": 5}
    assert new.source_fields == {"source_repo": "repo", "project": "apollo"}
    assert (new.is_authoritative, texts["old"].is_authoritative) == (True, False)
    assert new.raw.cells.keys() == set(store.shapes[MEMORIES].columns)
    assert (edge.reason, edge.metadata, edge.weight, edge.created_by) == (
        "why",
        {"reason": "why", "n": 1},
        0.5,
        "contextfs",
    )


def test_no_text_carries_a_reserved_key_over(contextfs_store: Callable[[str], Path]) -> None:
    with read_store(contextfs_store("violations")) as store:
        refs = [record.ref for part in make_plan(store).namespaces for record in part.records]
        metadata = [text.metadata for text in record_texts(store, refs=refs)]
    assert not [one for one in metadata if one.keys() & set(RESERVED_METADATA_KEYS)]
    assert sorted(str(one["owner"]) for one in metadata if one) == ["billing", "search", "search"]


SEEDED = """
import hashlib, sys
from pathlib import Path
from memory.interchange.contextfs.kernel.plan import make_plan
from memory.interchange.contextfs.reader import read_store
for path in sys.argv[1:]:
    with read_store(Path(path)) as store:
        print(hashlib.sha256(repr(make_plan(store)).encode()).hexdigest())
"""


def test_the_plan_does_not_depend_on_the_hash_seed(contextfs_store: Callable[[str], Path]) -> None:
    root = Path(__file__).parents[2]
    paths = [str(contextfs_store(name)) for name in ("violations", "large")]
    digests = set()
    for seed in ("0", "1", "4242"):
        ran = subprocess.run(
            [sys.executable, "-c", SEEDED, *paths],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(ran.stdout)
    assert len(digests) == 1
    assert len(digests.pop().split()) == 2


def test_the_plan_is_made_without_django() -> None:
    script = (
        "import sys, memory.interchange.contextfs.kernel.accounting\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in {'django', 'ninja', 'pydantic'}]"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", script], cwd=root, check=True)


def test_sessions_and_messages_are_kept_raw_where_they_belong(foreign_file: ForeignFile) -> None:
    foreign_file.db.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, namespace_id TEXT NOT NULL, label TEXT)")
    foreign_file.db.execute("CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, content TEXT)")
    foreign_file.db.execute("CREATE TABLE leftovers (x TEXT)")
    foreign_file.memory("one").row("leftovers", x="y")
    foreign_file.row("sessions", id="s-1", namespace_id="app", label="morning").row(
        "sessions", id="s-2", namespace_id="gone"
    )
    foreign_file.row("messages", id="m-1", session_id="s-1", content="hello").row(
        "messages", id="m-2", session_id="s-1"
    )
    foreign_file.row("messages", id="m-3", session_id="s-9")
    with read_store(foreign_file.done()) as store:
        plan = make_plan(store)
        kept = {raw.ref.key: raw.cells for raw in raw_rows(store, refs=all_refs(plan))}
    assert [(finding.code, finding.before) for finding in plan.namespaces[0].findings] == [
        ("not-imported", {"table": "messages", "rows": 2, "kept": True}),
        ("not-imported", {"table": "sessions", "rows": 1, "kept": True}),
    ]
    assert {(f.before or {})["table"]: (f.namespace, (f.before or {})["kept"]) for f in plan.findings} == {
        "sessions": ("gone", True),
        "messages": (None, True),
        "leftovers": (None, False),
    }
    assert kept["m-1",] == {"id": "m-1", "session_id": "s-1", "content": "hello"}
    account = accounting(plan)
    assert (account.n_unaccounted, account.fates["messages"], account.fates["sessions"]) == (
        0,
        {"kept": 3},
        {"kept": 2},
    )


def test_a_store_without_rows_gives_an_empty_plan(foreign_file: ForeignFile) -> None:
    plan = plan_of(foreign_file.done())
    assert (plan.namespaces, plan.findings, plan.counts.n_records) == ([], (), 0)
    assert accounting(plan).n_unaccounted == 0
