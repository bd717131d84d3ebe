"""The foreign file is read by name, never written to, and refused with a reason when it is something else."""

import hashlib
import sqlite3
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory.interchange.contextfs.kernel.cells import (
    JSON_LEVELS,
    OversizeCell,
    UndecodedText,
)
from memory.interchange.contextfs.kernel.plan import make_plan
from memory.interchange.contextfs.kernel.texts import record_texts
from memory.interchange.contextfs.kernel.vocabulary import ForeignStoreError
from memory.interchange.contextfs.reader import read_store
from tests.interchange.foreign import EDGE_COLUMNS, MEMORY_COLUMNS, ForeignFile
from tests.interchange.reading import plan_of

STORES = ("clean_small", "violations", "violations_before", "l6_twin", "large")
MEBIBYTE = 1024**2


def file_state(path: Path) -> tuple[str, list[str], int]:
    beside = sorted(entry.name for entry in path.parent.iterdir())
    return hashlib.sha256(path.read_bytes()).hexdigest(), beside, path.stat().st_mtime_ns


def refusal(path: Path, **limits: int) -> ForeignStoreError:
    with pytest.raises(ForeignStoreError) as caught:
        plan_of(path, **limits)
    return caught.value


@pytest.mark.parametrize("name", STORES)
def test_reading_leaves_the_file_and_its_folder_as_they_were(name: str, contextfs_store: Callable[[str], Path]) -> None:
    path = contextfs_store(name)
    before = file_state(path)
    with read_store(path) as store:
        make_plan(store)
        assert file_state(path) == before
    assert file_state(path) == before


def test_the_source_cannot_be_written_through_the_store(contextfs_store: Callable[[str], Path]) -> None:
    with read_store(contextfs_store("clean_small")) as store, pytest.raises(sqlite3.OperationalError, match="readonly"):
        store._connection.execute("DELETE FROM alembic_version")


@pytest.mark.parametrize("name", ["clean_small", "violations", "large"])
def test_the_file_hash_is_the_one_its_makers_wrote_down(
    name: str, contextfs_store: Callable[[str], Path], contextfs_sidecar: Callable[[str], dict[str, Any]]
) -> None:
    with read_store(contextfs_store(name)) as store:
        assert store.identity.file_sha256 == contextfs_sidecar(name)["sha256"]


def test_snapshots_of_one_store_share_a_fingerprint_and_other_stores_do_not(
    contextfs_store: Callable[[str], Path],
) -> None:
    fingerprints = {}
    for name in STORES:
        with read_store(contextfs_store(name)) as store:
            fingerprints[name] = store.identity.fingerprint
    assert fingerprints["violations"] == fingerprints["violations_before"]
    assert len(set(fingerprints.values())) == len(STORES) - 1


def test_the_fingerprint_is_the_hash_of_revision_and_oldest_row(foreign_file: ForeignFile) -> None:
    foreign_file.memory("younger", created_at="2026-02-02T00:00:00+00:00")
    foreign_file.memory("b-oldest", created_at="2026-01-01T00:00:00+00:00")
    foreign_file.memory("a-oldest", created_at="2026-01-01T00:00:00+00:00")
    expected = hashlib.sha256(b'["009","a-oldest","2026-01-01T00:00:00+00:00"]').hexdigest()
    assert plan_of(foreign_file.done()).source.fingerprint == expected


def test_a_closed_store_with_a_write_ahead_format_is_read_without_leaving_a_log(foreign_file: ForeignFile) -> None:
    foreign_file.db.execute("PRAGMA journal_mode = WAL")
    path = foreign_file.memory("one").done()
    before = file_state(path)
    assert before[1] == ["foreign.db"]
    assert plan_of(path).counts.n_records == 1
    assert file_state(path) == before


def test_a_store_whose_log_is_not_yet_in_the_file_is_refused(foreign_file: ForeignFile) -> None:
    foreign_file.db.execute("PRAGMA journal_mode = WAL")
    foreign_file.memory("one")
    assert refusal(foreign_file.path).code == "journal_left"


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.db"
    text.write_text("not a database " * 20)
    empty = tmp_path / "empty.db"
    empty.touch()
    assert refusal(text).code == "not_sqlite"
    assert refusal(empty).code == "not_sqlite"
    assert (refusal(tmp_path).code, refusal(tmp_path).expected) == ("not_a_file", "a regular file")
    absent = refusal(tmp_path / "absent.db")
    assert (absent.code, absent.expected) == ("not_a_file", "a file, and there is none of this name")


def test_a_damaged_database_is_refused_and_not_half_read(
    contextfs_store: Callable[[str], Path], tmp_path: Path
) -> None:
    whole = contextfs_store("violations").read_bytes()
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(whole[: len(whole) // 3])
    assert refusal(damaged).code == "unreadable"


@pytest.mark.parametrize("table", ["memories", "memory_edges"])
def test_a_missing_table_is_named(table: str, foreign_file: ForeignFile) -> None:
    foreign_file.db.execute(f"DROP TABLE {table}")
    error = refusal(foreign_file.done())
    assert (error.code, error.expected) == ("missing_table", f"a table {table}")


def test_a_view_is_no_table(foreign_file: ForeignFile) -> None:
    foreign_file.db.execute("ALTER TABLE memories RENAME TO hidden")
    foreign_file.db.execute("CREATE VIEW memories AS SELECT * FROM hidden")
    assert refusal(foreign_file.done()).code == "missing_table"


def test_a_virtual_table_is_no_table(foreign_file: ForeignFile) -> None:
    foreign_file.db.execute("DROP TABLE memories")
    columns = "id, content, type, namespace_id, created_at, updated_at"
    foreign_file.db.execute(f"CREATE VIRTUAL TABLE memories USING fts5({columns})")
    assert refusal(foreign_file.done()).code == "missing_table"


@pytest.mark.parametrize("column", ["id", "content", "type", "namespace_id", "created_at", "updated_at"])
def test_a_missing_required_column_is_named(column: str, tmp_path: Path) -> None:
    kept = tuple(declared for declared in MEMORY_COLUMNS if not declared.startswith(f"{column} "))
    error = refusal(ForeignFile(tmp_path / "foreign.db", memory_columns=kept).done())
    assert error.code == "missing_column"
    assert column in error.expected


@pytest.mark.parametrize(
    ("revision", "code"),
    [
        ("010", "schema_revision_newer"),
        ("999", "schema_revision_newer"),
        ("9", "schema_revision_unknown"),
        ("a3f9c1", "schema_revision_unknown"),
        ("", "schema_revision_unknown"),
    ],
)
def test_a_revision_that_is_newer_or_unknown_is_refused(revision: str, code: str, tmp_path: Path) -> None:
    assert refusal(ForeignFile(tmp_path / "foreign.db", revision=revision).done()).code == code


def test_two_revisions_at_once_are_refused(foreign_file: ForeignFile) -> None:
    foreign_file.row("alembic_version", version_num="008")
    assert refusal(foreign_file.done()).code == "schema_revision_unknown"


def test_a_store_without_a_revision_is_read_and_says_so(tmp_path: Path) -> None:
    plan = plan_of(ForeignFile(tmp_path / "foreign.db", revision=None).memory("one").done())
    assert plan.source.revision is None
    assert [finding.code for finding in plan.findings] == ["revision-missing"]


def test_sizes_are_bounded_before_anything_is_parsed(foreign_file: ForeignFile) -> None:
    path = foreign_file.memory("one").memory("two").edge("one", "references", "two").done()
    assert refusal(path, rows=2).code == "too_many_rows"
    assert refusal(path, columns=10).code == "too_many_columns"
    assert refusal(path, file_bytes=path.stat().st_size - 1).code == "file_too_large"
    assert plan_of(path, rows=3, file_bytes=path.stat().st_size).counts.n_records == 2


def test_columns_are_found_by_name_whatever_their_order(tmp_path: Path) -> None:
    plain = ForeignFile(tmp_path / "plain.db")
    shuffled = ForeignFile(
        tmp_path / "shuffled.db",
        memory_columns=("surprise BLOB", *reversed(MEMORY_COLUMNS)),
        edge_columns=(*reversed(EDGE_COLUMNS[:-1]), "mood TEXT", EDGE_COLUMNS[-1]),
    )
    for file in (plain, shuffled):
        file.memory("old", tags='["b", "a"]').derived("new", "evolved_from", "old").pair("new", "references", "old")
    shuffled.db.execute("UPDATE memories SET surprise = x'00ff' WHERE id = 'old'")
    plans = [plan_of(file.done()) for file in (plain, shuffled)]
    shapes = [
        [(r.foreign_id, r.type, r.recorded, [p.parent_id for p in r.parents]) for r in plan.namespaces[0].records]
        for plan in plans
    ]
    assert shapes[0] == shapes[1]
    with read_store(shuffled.path) as store:
        texts = {t.raw.ref.key[0]: t for t in record_texts(store, refs=[r.ref for r in plans[1].namespaces[0].records])}
    assert texts["old"].raw.cells["surprise"] == {"$blob": "AP8="}
    assert texts["new"].raw.cells["surprise"] is None
    assert texts["old"].tags == ("a", "b")


def test_a_missing_optional_column_reads_as_null(tmp_path: Path) -> None:
    kept = tuple(c for c in MEMORY_COLUMNS if c.split()[0] not in {"metadata", "tags", "deleted_at", "authoritative"})
    file = ForeignFile(tmp_path / "foreign.db", memory_columns=kept)
    at = "2026-01-01T00:00:00+00:00"
    cells = {"id": "one", "content": "text", "type": "fact", "namespace_id": "app", "created_at": at, "updated_at": at}
    path = file.row("memories", **cells).done()
    plan = plan_of(path)
    record = plan.namespaces[0].records[0]
    assert (record.withdrawn, record.derivation, plan.namespaces[0].findings) == (None, None, ())
    with read_store(path) as store:
        text = next(record_texts(store, refs=[record.ref]))
    assert (text.tags, text.metadata, text.is_authoritative, text.unread) == ((), {}, False, {})
    assert "metadata" not in text.raw.cells


def test_generated_columns_are_never_computed(tmp_path: Path) -> None:
    trap = "trap TEXT GENERATED ALWAYS AS (printf('%.2000000c', 'x')) VIRTUAL"
    path = ForeignFile(tmp_path / "foreign.db", memory_columns=(*MEMORY_COLUMNS, trap)).memory("one").done()
    plan = plan_of(path)
    assert plan.counts.n_records == 1
    with read_store(path) as store:
        assert "trap" not in next(store.rows("memories")).cells


def test_a_server_named_by_the_sync_state_appears_nowhere(foreign_file: ForeignFile) -> None:
    foreign_file.db.execute("CREATE TABLE sync_state (id INTEGER PRIMARY KEY, device_id TEXT, server_url TEXT)")
    foreign_file.row("sync_state", device_id="laptop-7", server_url="https://sync.example")
    plan = plan_of(foreign_file.memory("one").done())
    assert "sync.example" not in repr(plan)
    assert "laptop-7" not in repr(plan)
    assert [finding.before for finding in plan.findings] == [{"table": "sync_state", "rows": 1, "kept": False}]


def test_a_damaged_search_index_is_no_obstacle(foreign_file: ForeignFile) -> None:
    foreign_file.db.execute("CREATE VIRTUAL TABLE memories_fts USING fts5(content)")
    foreign_file.db.execute("INSERT INTO memories_fts VALUES ('words')")
    foreign_file.db.execute("UPDATE memories_fts_data SET block = x'deadbeef'")
    plan = plan_of(foreign_file.memory("one").done())
    assert plan.counts.n_records == 1
    assert plan.every_finding() == ()


def test_text_that_looks_like_code_is_kept_as_text(foreign_file: ForeignFile) -> None:
    hostile = "<script>alert(1)</script> {{ 7*7 }} {0.__class__} %s '; DROP TABLE memories; --"
    path = foreign_file.memory(hostile, hostile, content=hostile, metadata={hostile: hostile}).done()
    plan = plan_of(path)
    assert [part.namespace for part in plan.namespaces] == [hostile]
    with read_store(path) as store:
        text = next(record_texts(store, refs=[plan.namespaces[0].records[0].ref]))
    assert (text.content, text.metadata) == (hostile, {hostile: hostile})


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ({"content": "a\0b"}, "content: NUL character"),
        ({"content": b"blob"}, "content: bytes instead of text"),
        ({"namespace_id": ""}, "namespace_id: empty"),
        ({"summary": "x" * (MEBIBYTE + 1)}, f"summary: {MEBIBYTE + 1} bytes, above the limit"),
    ],
)
def test_a_row_that_cannot_be_stored_is_quarantined_with_its_fault(
    cells: dict[str, Any], fault: str, foreign_file: ForeignFile
) -> None:
    plan = plan_of(foreign_file.memory("good").memory("bad", **cells).done())
    assert [record.foreign_id for part in plan.namespaces for record in part.records] == ["good"]
    (finding,) = plan.every_finding()
    assert (finding.code, finding.ids) == ("row-unusable", ("bad",))
    assert finding.before == {"table": "memories", "faults": [fault]}


def test_text_that_is_not_utf8_spoils_its_own_row_only(foreign_file: ForeignFile) -> None:
    foreign_file.memory("good").memory("bad")
    foreign_file.db.execute("UPDATE memories SET content = CAST(x'666fff' AS TEXT) WHERE id = 'bad'")
    path = foreign_file.done()
    plan = plan_of(path)
    (finding,) = plan.every_finding()
    assert finding.before == {"table": "memories", "faults": ["content: not UTF-8"]}
    with read_store(path) as store:
        (row,) = store.rows_of(finding.rows)
    assert row.cells["content"] == UndecodedText(b"fo\xff")


def test_an_oversize_cell_is_known_by_size_and_hash_without_entering_memory(foreign_file: ForeignFile) -> None:
    size = 40 * MEBIBYTE
    foreign_file.memory("big")
    foreign_file.db.execute("UPDATE memories SET content = printf('%.*c', ?, 'x') WHERE id = 'big'", (size,))
    path = foreign_file.done()
    tracemalloc.start()
    with read_store(path) as store:
        (row,) = store.rows("memories")
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert row.cells["content"] == OversizeCell(size, hashlib.sha256(b"x" * size).hexdigest())
    assert peak_bytes < size / 4


def test_memory_grows_with_the_rows_and_not_with_their_texts(foreign_file: ForeignFile) -> None:
    n_rows, text_bytes = 400, 200_000
    foreign_file.db.execute("BEGIN")
    for number in range(n_rows):
        foreign_file.memory(f"record-{number:04d}", content=f"{number} " + "x" * text_bytes)
    foreign_file.db.execute("COMMIT")
    path = foreign_file.done()
    tracemalloc.start()
    with read_store(path) as store:
        plan = make_plan(store)
        n_read = sum(1 for _ in record_texts(store, refs=[record.ref for record in plan.namespaces[0].records]))
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_read == n_rows
    assert peak_bytes < n_rows * text_bytes / 8


@pytest.mark.parametrize(
    "metadata",
    [
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        '{"a": 1e999}',
        "not json",
        "[1, 2]",
        '"text"',
        '{"a": "\\ud800"}',
        '{"a": "\\u0000"}',
        '{"a": 123456789012345678901}',
        "[" * 100_000,
        '{"a":' * (JSON_LEVELS + 1) + "1" + "}" * (JSON_LEVELS + 1),
    ],
)
def test_json_that_has_no_canonical_form_is_kept_as_text(metadata: str, foreign_file: ForeignFile) -> None:
    path = foreign_file.memory("one", metadata=metadata).done()
    plan = plan_of(path)
    (finding,) = plan.every_finding()
    assert (finding.code, finding.before) == ("bad-json", {"column": "metadata"})
    with read_store(path) as store:
        text = next(record_texts(store, refs=[plan.namespaces[0].records[0].ref]))
    assert text.unread == {"metadata": metadata}
    assert text.raw.cells["metadata"] == metadata


def test_nested_json_within_the_limit_is_read(foreign_file: ForeignFile) -> None:
    metadata = '{"a":' * JSON_LEVELS + "1" + "}" * JSON_LEVELS
    assert plan_of(foreign_file.memory("one", metadata=metadata).done()).every_finding() == ()
