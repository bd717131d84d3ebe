"""The checkers over snapshots that a test makes up: against the bare definitions, and against each fault by itself."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as some

from audit.laws import contextfs
from audit.laws.cycles import components
from audit.laws.fragment import Fragment
from audit.laws.locality import resolution_independence
from audit.laws.redundancy import edge_record_agreement, inverse_closure
from audit.laws.relations import ANCESTRY, DERIVED, INVERSE, ONE_WAY, PAIRS, SYMMETRIC
from audit.laws.snapshots import check
from audit.laws.structure import Abbreviations, referential_integrity
from audit.laws.tally import Tally
from audit.laws.values import (
    CLAUSE_NAMES,
    Claim,
    ClauseName,
    Finding,
    Report,
    Severity,
    Snapshot,
    SnapshotEdge,
    SnapshotRecord,
    Witness,
    worst,
)
from audit.laws.words import KINDS, report_words
from tests.interchange.foreign import ForeignFile
from tests.laws.planting import FAULTS

IDS = [f"{letter}{number}" for letter in "abc" for number in range(3)]
RELATIONS = sorted({*INVERSE, *ONE_WAY})


def test_the_table_of_inverses_is_the_one_of_the_laws() -> None:
    assert len({*INVERSE, *ONE_WAY}) == 22
    assert all(INVERSE[INVERSE[relation]] == relation for relation in INVERSE)
    assert {relation for relation in INVERSE if INVERSE[relation] == relation} == set(SYMMETRIC)
    assert len(PAIRS) == 9


def snapshot(records: dict[str, SnapshotRecord], edges: set[tuple[str, str, str]]) -> Snapshot:
    rows = tuple(SnapshotEdge(*edge, payload=repr(edge).encode()) for edge in sorted(edges))
    return Snapshot("made up", records, rows, ("t.created_at",), ())


@some.composite
def snapshots(draw: some.DrawFn) -> Snapshot:
    present = draw(some.lists(some.sampled_from(IDS), unique=True))
    claims = some.builds(Claim, some.sampled_from(ANCESTRY), some.sampled_from(IDS), some.booleans())
    records = {
        id: SnapshotRecord(
            id, draw(some.sampled_from(["n", "m"])), draw(some.sampled_from(["fact", "doc"])), id.encode(),
            claims=tuple(draw(some.lists(claims, max_size=3, unique_by=lambda claim: (claim.relation, claim.target)))),
            is_marked_deleted=draw(some.booleans()),
        )
        for id in present
    }  # fmt: skip
    edge = some.tuples(some.sampled_from(IDS), some.sampled_from(RELATIONS), some.sampled_from(IDS))
    return snapshot(records, draw(some.sets(edge, max_size=14)))


def witnesses(findings: list[Finding], *kinds: str) -> list[tuple[str, str, str]]:
    found = [witness for finding in findings for witness in finding.witnesses]
    return [(each.record, each.relation, each.target) for each in found if not kinds or each.kind in kinds]


@given(snapshots())
def test_agreement_is_equality_of_what_edges_and_claims_say(store: Snapshot) -> None:
    edges = {edge.key for edge in store.edges if edge.relation in ANCESTRY}
    claims = {(id, each.relation, each.target) for id, row in store.records.items() for each in row.claims}
    found = edge_record_agreement(store)
    assert sorted(witnesses(found.findings, "edge_without_claim")) == sorted(edges - claims)
    lacking = ("claim_without_edge_own", "claim_without_edge_inherited")
    assert sorted(witnesses(found.findings, *lacking)) == sorted(claims - edges)
    assert worst(finding.verdict for finding in found.findings) == ("holds" if edges == claims else "violated")


@given(snapshots())
def test_closure_is_the_presence_of_every_inverse(store: Snapshot) -> None:
    edges = {edge.key for edge in store.edges}
    lonely = {
        (source, relation, target)
        for source, relation, target in edges
        if relation in DERIVED and (target, INVERSE[relation], source) not in edges
    }
    findings = inverse_closure(store)
    assert sorted(witnesses(findings, "unpaired", "interrupted_derivation")) == sorted(lonely)
    assert worst(finding.verdict for finding in findings) == ("violated" if lonely else "holds")
    fragment = Fragment.of(store)
    assert {key for key in witnesses(findings, "interrupted_derivation") if key[1] in ANCESTRY} == {
        key for key in lonely if key in fragment.own
    }


@given(snapshots())
def test_integrity_is_the_presence_of_every_end(store: Snapshot) -> None:
    findings = referential_integrity(store)
    dangling = {edge.key for edge in store.edges if not {edge.source, edge.target} <= store.records.keys()}
    assert sorted(witnesses(findings, "edge_end_missing", "edge_end_abbreviated")) == sorted(dangling)
    told = {key for finding in findings for key in witnesses([finding], "end_marked_deleted")}
    assert not told & dangling


@given(snapshots())
def test_a_report_counts_every_witness_it_shows_and_can_be_told_in_words_and_json(store: Snapshot) -> None:
    report = check(store)
    for finding in report.findings:
        assert {kind.kind: kind.count for kind in finding.kinds} == {
            kind.kind: sum(witness.kind == kind.kind for witness in finding.witnesses) for kind in finding.kinds
        }
        assert (finding.verdict == "violated") == (finding.n_violations > 0)
    assert [each["clause"] for each in report.as_json()["clauses"]] == [each.clause for each in report.findings]
    words = report_words(report)
    assert all(f"{clause:<4} " in words for clause in CLAUSE_NAMES)


@given(some.sets(some.tuples(some.sampled_from(IDS), some.sampled_from(IDS)), max_size=25))
def test_cycles_are_the_strongly_connected_parts(pairs: set[tuple[str, str]]) -> None:
    graph: dict[str, list[str]] = defaultdict(list)
    for source, target in sorted(pairs):
        graph[source].append(target)
    drawn = nx.DiGraph(sorted(pairs))
    expected = [
        sorted(part)
        for part in nx.strongly_connected_components(drawn)
        if len(part) > 1 or drawn.has_edge(*(2 * list(part)))
    ]
    assert sorted(components(graph)) == sorted(expected)


def test_a_long_chain_is_walked_without_recursion() -> None:
    chain = {str(number): [str(number + 1)] for number in range(20_000)}
    assert list(components(chain)) == []
    (ring,) = components({**chain, "20000": ["0"]})
    assert len(ring) == 20_001


# One fault in one small store, by itself, and the clause and kind by which it must be told.
Made = Callable[[ForeignFile], ForeignFile]
FOREIGN: dict[str, tuple[ClauseName, Made]] = {
    "content_changed_in_place": ("L1", lambda file: file.memory("x", content_hash="0" * 16)),
    "deletion_mark": ("L1", lambda file: file.memory("x", deleted_at="2026-03-02T00:00:00")),
    "edge_older_than_target": (
        "L1",
        lambda file: file.memory("x", created_at="2099-01-01T00:00:00").derived("y", "evolved_from", "x"),
    ),
    "claimed_record_missing": ("L1", lambda file: file.derived("x", "evolved_from", "gone", edges=False)),
    "claim_without_edge_own": ("L2", lambda file: file.derived("x", "evolved_from", "a", edges=False)),
    "claim_without_edge_inherited": (
        "L2",
        lambda file: file.derived(
            "x", "evolved_from", "a", metadata={"merged_from": ["a"], "merge_timestamp": "2001-01-01T00:00:00+00:00"}
        ),
    ),
    "edge_without_claim": ("L2", lambda file: file.pair("b", "evolved_from", "a")),
    "unpaired": ("L3", lambda file: file.edge("b", "supersedes", "a")),
    "interrupted_derivation": (
        "L3",
        lambda file: file.derived("x", "evolved_from", "a", edges=False).edge("x", "evolved_from", "a"),
    ),
    "no_inverse": ("L3", lambda file: file.edge("b", "implements", "a")),
    "cross_namespace_ancestry": ("L4ii", lambda file: file.derived("x", "evolved_from", "a", namespace="other")),
    "cross_namespace_claim": (
        "L4ii",
        lambda file: file.derived("x", "evolved_from", "a", namespace="other", edges=False),
    ),
    "cross_namespace_edge": ("L4ii", lambda file: file.memory("x", "other").pair("x", "references", "a")),
    "merge_type_tie": ("L5", lambda file: file.memory("x", type="doc").derived("y", "merged_from", "a", "x")),
    "shared_prefix": ("L5", lambda file: file.memory("12345678-1").memory("12345678-2")),
    "id_is_prefix": ("L5", lambda file: file.memory("note").memory("note-1")),
    "edge_end_missing": ("L7", lambda file: file.pair("a", "references", "nowhere")),
    "edge_end_abbreviated": ("L7", lambda file: file.memory("12345678-1").pair("a", "references", "12345678")),
    "end_marked_deleted": (
        "L7",
        lambda file: file.memory("x", deleted_at="2026-03-02T00:00:00").pair("a", "references", "x"),
    ),
    "claim_about_missing": ("L7", lambda file: file.derived("x", "evolved_from", "gone", edges=False)),
}


def judged(path: Path, made: Made) -> Report:
    file = made(ForeignFile(path).memory("a").memory("b"))
    return check(contextfs.load(file.done()))


def told(report: Report, clause: ClauseName, kind: str) -> list[Witness]:
    return [each for finding in report.of(clause) for each in finding.witnesses if each.kind == kind]


@pytest.mark.parametrize("kind", FOREIGN)
def test_each_fault_by_itself_is_told_by_its_clause(kind: str, tmp_path: Path) -> None:
    clause, made = FOREIGN[kind]
    assert told(judged(tmp_path / "made.db", made), clause, kind)
    assert not told(judged(tmp_path / "bare.db", lambda file: file), clause, kind)


@pytest.mark.parametrize("clause", [*dict.fromkeys(clause for clause, _ in FOREIGN.values())])
def test_a_checker_that_is_switched_off_tells_none_of_its_faults(
    clause: ClauseName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Tally.add

    def add_unless_off(tally: Tally, witness: Witness, severity: Severity = "violation") -> None:
        if tally.clause != clause:
            add(tally, witness, severity)

    monkeypatch.setattr(Tally, "add", add_unless_off)
    for kind, (its_clause, made) in FOREIGN.items():
        is_told = bool(told(judged(tmp_path / f"{kind}.db", made), its_clause, kind))
        assert is_told == (its_clause != clause)


@pytest.mark.parametrize(
    ("made", "scope"),
    [
        (lambda file: file.derived("x", "evolved_from", "a", edges=False).edge("a", "evolved_into", "x"), "fragment"),
        (lambda file: file.edge("a", "evolved_into", "b"), "store"),
        (lambda file: file.edge("b", "supersedes", "a", metadata={"superseded_at": "now"}), "fragment"),
        (lambda file: file.edge("a", "superseded_by", "b"), "store"),
    ],
)
def test_half_a_pair_belongs_to_the_fragment_where_its_newer_end_says_so(
    made: Made, scope: str, tmp_path: Path
) -> None:
    findings = judged(tmp_path / "half.db", made).of("L3")
    assert [finding.scope for finding in findings if finding.verdict == "violated"] == [scope]


@pytest.mark.parametrize(
    ("edge", "target", "is_older"),
    [
        ("2026-03-01T00:00:00", "2026-03-01T00:00:00", False),
        ("2026-03-01T00:00:00", "2026-03-01T00:00:01", True),
        ("2026-03-01T00:00:00+02:00", "2026-03-01T00:00:00+00:00", True),
        ("2026-03-01T02:00:00+02:00", "2026-03-01T00:00:00+00:00", False),
        # A clock without an offset can mean any time up to 12 hours later and 14 hours earlier in UTC.
        ("2026-03-01T00:00:00", "2026-03-01T12:00:00+00:00", False),
        ("2026-03-01T00:00:00", "2026-03-01T12:00:01+00:00", True),
        ("2026-03-01T00:00:00+00:00", "2026-03-01T14:00:00", False),
        ("2026-03-01T00:00:00+00:00", "2026-03-01T14:00:01", True),
        ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", True),
        ("9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00", False),
        ("yesterday", "2026-03-01T00:00:00", False),
    ],
)  # fmt: skip
def test_an_edge_is_older_than_its_target_only_where_every_reading_of_their_clocks_says_so(
    edge: str, target: str, is_older: bool, tmp_path: Path
) -> None:
    file = ForeignFile(tmp_path / "made.db").memory("old", created_at=target).memory("new")
    file.edge("new", "evolved_from", "old", created_at=edge).edge("new", "references", "old", created_at=edge)
    found = told(check(contextfs.load(file.done())), "L1", "edge_older_than_target")
    assert [(each.record, each.target) for each in found] == [("new", "old")] * is_older


def test_both_halves_of_a_supersession_belong_together() -> None:
    edges = {("b", "supersedes", "a"), ("a", "superseded_by", "b")}
    rows = tuple(SnapshotEdge(*edge, payload=b"", has_derivation_mark=edge[1] == "supersedes") for edge in edges)
    fragment = Fragment.of(Snapshot("made up", {}, rows, (), ()))
    assert [fragment.scope(row) for row in rows] == ["fragment", "fragment"]


def test_a_store_with_a_valid_time_column_has_the_second_axis(tmp_path: Path) -> None:
    columns = ("id TEXT", "content TEXT", "type TEXT", "namespace_id TEXT", "created_at TEXT", "valid_from TEXT")
    path = ForeignFile(tmp_path / "two.db", memory_columns=columns).done()
    report = check(contextfs.load(path))
    assert report.verdict("L6") == "holds"


def test_an_identifier_is_told_with_the_longest_that_begins_it_so_that_a_chain_is_no_longer_than_itself() -> None:
    ids = ["b", *("a" * length for length in range(1, 60)), "aab", "ab"]
    store = snapshot({id: SnapshotRecord(id, "n", "fact", id.encode()) for id in ids}, set())
    found = resolution_independence(store).witnesses
    told = {(each.record, each.target) for each in found if each.kind == "id_is_prefix"}
    chain = {("a" * length, "a" * (length + 1)) for length in range(1, 59)}
    assert told == {*chain, ("aa", "aab"), ("a", "ab")}


class Counted(list[str]):
    """A list that counts what is read of it."""

    n_read = 0

    def __getitem__(self, at: Any) -> Any:
        self.n_read += 1
        return super().__getitem__(at)


def test_an_abbreviation_of_very_many_is_given_up_at_the_second() -> None:
    ordered = Counted(f"same-{number:05}" for number in range(5_000))
    assert Abbreviations(ordered)("same-") == []
    assert ordered.n_read < 40
    assert Abbreviations(ordered)("same-0499") == []
    assert Abbreviations([*ordered, "unlike-1"])("unlike") == ["unlike-1"]


def test_hostile_cells_are_judged_and_never_stop_the_reader(tmp_path: Path) -> None:
    file = ForeignFile(tmp_path / "hostile.db")
    file.memory("deep", metadata="[" * 100_000).memory("bytes", content=b"\xff\x00", metadata=b"\xff")
    file.memory(7, metadata={"merged_from": [{"a": 1}, None, ["x"]], "evolved_from": 3})
    file.edge("deep", b"\xff", 7).edge(b"\x00", "evolved_from", "'; DROP TABLE memories; --")
    report = check(contextfs.load(file.done()))
    assert (report.n_records, report.n_edges) == (3, 2)
    assert report.verdict("L7") == "violated"
    assert report_words(report).encode()


def test_names_that_a_terminal_obeys_or_cannot_write_are_told_by_number(tmp_path: Path) -> None:
    file = ForeignFile(tmp_path / "loud.db").memory("loud\x1b[2J", content_hash="0" * 16)
    file.memory("x", metadata='{"evolved_from": "half \\ud800", "evolution_timestamp": "now"}')
    told = report_words(check(contextfs.load(file.edge("loud\x1b[2J", "evolved_from", "no\nwhere").done())))
    assert "half \\ud800" in told.encode().decode()
    assert "loud\\u001b[2J evolved_from no\\u000awhere" in told
    assert "\x1b" not in told


def every_kind() -> Iterator[str]:
    yield from FOREIGN
    yield from (fault.kind for fault in FAULTS)
    # What two snapshots show, and what is told beside the clauses.
    yield from ("record_gone", "record_altered", "record_marked_deleted", "record_mark_removed")
    yield from ("edge_gone", "edge_altered")
    yield from ("ancestry_cycle", "ancestor_not_earlier")


def test_every_kind_has_its_words_and_a_test() -> None:
    assert set(every_kind()) == set(KINDS)
