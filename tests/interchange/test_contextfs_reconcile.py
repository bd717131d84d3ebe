"""Parentage from edges and metadata: each line of the table of rules, on real stores and on planted cases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory.interchange.contextfs.kernel.plan import Plan
from memory.interchange.contextfs.reader import read_store
from tests.interchange.foreign import ForeignFile
from tests.interchange.reading import by_code, parents_of, plan_of, records_of


@pytest.fixture(scope="module")
def violations(contextfs_store: Callable[[str], Path]) -> Plan:
    return plan_of(contextfs_store("violations"))


def ids_of(sidecar: dict[str, Any], kind: str) -> list[list[str]]:
    return [one["ids"] for one in sidecar["violations"] if one["kind"] == kind]


def test_edges_equal_to_the_claim_are_accepted(violations: Plan) -> None:
    parents = parents_of(violations)
    assert parents["239049cf-109"] == [
        ("merged_from", "ffeed75a-0e4", ("agreed",)),
        ("merged_from", "794248e0-054", ("agreed",)),
    ]


def test_parents_keep_the_order_in_which_the_caller_named_them(violations: Plan) -> None:
    record = records_of(violations)["7fc435c4-b2a"]
    assert [(parent.ordinal, parent.parent_id) for parent in record.parents] == [
        (0, "4c1e4d6c-02d"),
        (1, "a69cdc52-e10"),
        (2, "d128dd6b-374"),
    ]


def test_a_lost_edge_is_repaired_from_the_claim(violations: Plan, contextfs_sidecar: Callable[[str], Any]) -> None:
    lost = [
        (child, source)
        for child, *sources in ids_of(contextfs_sidecar("violations"), "meta_without_edge")
        for source in sources
    ]
    parents = parents_of(violations)
    for child, source in lost:
        assert source in [parent for _, parent, reasons in parents[child] if reasons == ("edge-write-lost",)]
    repaired = by_code(violations)["edge-write-lost"]
    assert sorted(finding.ids for finding in repaired) == sorted(lost)
    assert {finding.severity for finding in repaired} == {"repaired"}
    assert repaired[0].before == {"claim": [repaired[0].ids[1]], "edge": False}
    assert repaired[0].after == {"parent": repaired[0].ids[1]}


def test_a_missing_target_is_quarantined_and_the_ancestry_marked_incomplete(violations: Plan) -> None:
    found = {finding.ids: finding for finding in by_code(violations)["target-missing"]}
    hard_deleted, namespace_deleted = ("e3f53611-da6", "f2caae22-f70"), ("781bf5fb-e5e", "a5574ab6-de4")
    assert found.keys() == {hard_deleted, namespace_deleted}
    assert found[hard_deleted].rows == ()
    assert sorted(ref.key for ref in found[namespace_deleted].rows) == [
        ("781bf5fb-e5e", "a5574ab6-de4", "merged_from"),
        ("a5574ab6-de4", "781bf5fb-e5e", "merged_into"),
    ]
    records = records_of(violations)
    for child, kept in (("e3f53611-da6", []), ("781bf5fb-e5e", ["3bd42858-f7d"])):
        assert [parent.parent_id for parent in records[child].parents] == kept
        assert (records[child].n_quarantined, records[child].is_ancestry_incomplete) == (1, True)
        assert not records[child].holds_foreign_text


def test_an_edge_that_no_derivation_wrote_is_quarantined(
    violations: Plan, contextfs_sidecar: Callable[[str], Any]
) -> None:
    (linked,) = ids_of(contextfs_sidecar("violations"), "edge_without_meta")
    (finding,) = by_code(violations)["edge-without-claim"]
    assert list(finding.ids) == linked
    record = records_of(violations)[linked[0]]
    assert (record.parents, record.derivation, record.n_quarantined) == ((), None, 1)


def test_an_abbreviation_is_expanded_to_the_one_record_it_fits(
    violations: Plan, contextfs_sidecar: Callable[[str], Any]
) -> None:
    expected = {
        (child, one["full_id"])
        for one in contextfs_sidecar("violations")["violations"]
        if one["kind"] == "dangling_edge_prefix"
        for child in one["ids"][:-1]
    }
    assert {finding.ids for finding in by_code(violations)["abbreviation-expanded"]} == expected
    parents = parents_of(violations)
    for child, full_id in expected:
        ((_, parent, reasons),) = parents[child]
        assert (parent, reasons) == (full_id, ("abbreviation-expanded",))


def test_a_captured_abbreviation_is_quarantined_and_the_own_candidate_offered(
    violations: Plan, contextfs_sidecar: Callable[[str], Any]
) -> None:
    (one,) = [v for v in contextfs_sidecar("violations")["violations"] if v["kind"] == "dangling_edge_captured"]
    (finding,) = by_code(violations)["captured"]
    assert list(finding.ids) == one["ids"]
    assert finding.before == {"claimed": True, "edge": True, "namespaces": one["namespaces"]}
    assert finding.after == {"candidates": [one["full_id"]]}
    record = records_of(violations)[one["ids"][0]]
    assert (record.parents, record.n_quarantined, record.holds_foreign_text) == ((), 1, False)


def test_the_edge_without_a_claim_that_closes_a_cycle_is_quarantined(
    violations: Plan, contextfs_sidecar: Callable[[str], Any]
) -> None:
    (cycle,) = ids_of(contextfs_sidecar("violations"), "ancestry_cycle")
    (finding,) = by_code(violations)["cycle"]
    assert list(finding.ids) == cycle
    assert parents_of(violations)[cycle[1]] == [("evolved_from", cycle[0], ("agreed",))]


def test_a_merge_across_namespaces_keeps_its_own_parents_and_says_that_it_holds_foreign_text(
    violations: Plan, contextfs_sidecar: Callable[[str], Any]
) -> None:
    records = records_of(violations)
    namespaces = {record.foreign_id: part.namespace for part in violations.namespaces for record in part.records}
    quarantined = {finding.ids for finding in by_code(violations)["cross-namespace"]}
    for child, *sources in ids_of(contextfs_sidecar("violations"), "cross_namespace_merge"):
        own = [source for source in sources if namespaces[source] == namespaces[child]]
        assert [parent.parent_id for parent in records[child].parents] == own
        assert records[child].n_quarantined == len(sources) - len(own)
        assert records[child].holds_foreign_text
        assert {(child, source) for source in sources if source not in own} <= quarantined


def test_findings_across_namespaces_hold_no_text(violations: Plan, contextfs_store: Callable[[str], Path]) -> None:
    with read_store(contextfs_store("violations")) as store:
        texts = [str(row.cells["content"]) for row in store.rows("memories")]
    said = repr(violations.every_finding())
    assert not [text for text in texts if text in said]


def test_inherited_claims_are_dropped_with_what_they_said(violations: Plan) -> None:
    found = {finding.ids: finding for finding in by_code(violations)["inherited-claim-dropped"]}
    assert found.keys() == {("b74684e9-b6f",), ("b9b25073-0d9",), ("988d025c-a10",)}
    assert found["b9b25073-0d9",].before == {
        "evolved_from": ["239049cf-109"],
        "merged_from": ["ffeed75a-0e4", "794248e0-054"],
    }
    assert found["b9b25073-0d9",].after == {"split_from": ["b74684e9-b6f"]}


def test_unpaired_derivation_edges_are_told_by_scope(violations: Plan, contextfs_sidecar: Callable[[str], Any]) -> None:
    found = [*by_code(violations)["unpaired"], *by_code(violations)["unpaired-outside"]]
    witnesses = contextfs_sidecar("violations")["all_witnesses"]["L3.derivation_label_unpaired"]
    told = [[finding.ids[0], finding.relation, finding.ids[1]] for finding in found]
    assert sorted(map(repr, told)) == sorted(map(repr, witnesses))
    scopes = [finding.before["scope"] for finding in found if finding.before]
    assert sorted(map(str, scopes)) == ["derivation fragment"] + ["whole store"] * 3


def test_an_ambiguous_abbreviation_is_quarantined_with_its_candidates(foreign_file: ForeignFile) -> None:
    foreign_file.memory("abcd1234-001").memory("abcd1234-002").derived("child", "evolved_from", "abcd1234")
    plan = plan_of(foreign_file.done())
    (finding,) = by_code(plan)["abbreviation-ambiguous"]
    assert finding.after == {"candidates": ["abcd1234-001", "abcd1234-002"]}
    assert records_of(plan)["child"].n_quarantined == 1
    assert len(finding.rows) == 2


def test_an_abbreviation_is_looked_up_in_the_own_namespace_only(foreign_file: ForeignFile) -> None:
    foreign_file.memory("abcd1234-001", "other").memory("abcd1234-002")
    plan = plan_of(foreign_file.derived("child", "evolved_from", "abcd1234").done())
    assert parents_of(plan)["child"] == [("evolved_from", "abcd1234-002", ("abbreviation-expanded",))]


def test_a_record_is_never_the_expansion_of_what_it_mentions_itself(foreign_file: ForeignFile) -> None:
    foreign_file.memory("abcd1234-old").derived("abcd1234-new", "evolved_from", "abcd1234")
    plan = plan_of(foreign_file.done())
    assert parents_of(plan)["abcd1234-new"] == [("evolved_from", "abcd1234-old", ("abbreviation-expanded",))]


def test_an_edge_across_namespaces_that_nobody_claims_brings_no_foreign_text(foreign_file: ForeignFile) -> None:
    foreign_file.memory("far", "other").memory("near").pair("near", "evolved_from", "far")
    plan = plan_of(foreign_file.done())
    (finding,) = by_code(plan)["cross-namespace"]
    assert finding.before == {"claimed": False, "edge": True, "namespaces": ["app", "other"]}
    assert (records_of(plan)["near"].n_quarantined, records_of(plan)["near"].holds_foreign_text) == (1, False)


def test_a_parent_is_called_younger_only_on_clocks_that_are_known(foreign_file: ForeignFile) -> None:
    foreign_file.memory("surely", created_at="2027-01-01T00:00:00+00:00")
    foreign_file.memory("perhaps", created_at="2027-01-01T00:00:00")
    foreign_file.derived("child", "merged_from", "surely", "perhaps")
    plan = plan_of(foreign_file.done())
    assert records_of(plan)["perhaps"].recorded.how == "assumed"
    assert [finding.ids for finding in by_code(plan)["target-younger"]] == [("child", "surely")]


def test_a_lost_edge_to_an_abbreviation_is_repaired_by_both_rules(foreign_file: ForeignFile) -> None:
    foreign_file.memory("abcd1234-001").derived("child", "split_from", "abcd1234", edges=False)
    plan = plan_of(foreign_file.done())
    assert parents_of(plan)["child"] == [("split_from", "abcd1234-001", ("abbreviation-expanded", "edge-write-lost"))]


def test_an_edge_and_a_claim_that_spell_one_parent_differently_are_one_parent(foreign_file: ForeignFile) -> None:
    foreign_file.memory("abcd1234-001").derived("child", "evolved_from", "abcd1234", edges=False)
    foreign_file.pair("child", "evolved_from", "abcd1234-001")
    plan = plan_of(foreign_file.done())
    assert parents_of(plan)["child"] == [("evolved_from", "abcd1234-001", ("abbreviation-expanded",))]
    assert records_of(plan)["child"].n_quarantined == 0


def test_a_missing_source_of_a_merge_is_never_expanded(foreign_file: ForeignFile) -> None:
    foreign_file.memory("ticket-10").memory("other").derived("child", "merged_from", "ticket-1", "other")
    plan = plan_of(foreign_file.done())
    assert parents_of(plan)["child"] == [("merged_from", "other", ("agreed",))]
    assert [finding.ids for finding in by_code(plan)["target-missing"]] == [("child", "ticket-1")]


def test_of_two_records_that_claim_each_other_the_older_one_loses_its_claim(foreign_file: ForeignFile) -> None:
    foreign_file.derived("older", "evolved_from", "younger").derived("younger", "evolved_from", "older")
    plan = plan_of(foreign_file.done())
    (finding,) = by_code(plan)["cycle"]
    assert finding.ids == ("older", "younger")
    assert finding.before == {"claimed": True, "edge": True}
    assert parents_of(plan)["younger"] == [("evolved_from", "older", ("agreed",))]
    assert [record.foreign_id for record in plan.namespaces[0].records] == ["older", "younger"]


def test_a_record_that_claims_itself_is_no_parent_of_itself(foreign_file: ForeignFile) -> None:
    plan = plan_of(foreign_file.derived("one", "evolved_from", "one").done())
    assert [finding.ids for finding in by_code(plan)["cycle"]] == [("one", "one")]
    assert records_of(plan)["one"].n_quarantined == 1
    assert plan.counts.n_ancestry_cycles == 1


def test_an_edge_backed_by_an_inherited_claim_alone_is_quarantined(foreign_file: ForeignFile) -> None:
    foreign_file.memory("a").memory("b").derived("merged", "merged_from", "a", "b")
    inherited = {"merged_from": ["a", "b"], "merge_timestamp": "2026-03-01T00:00:00+00:00"}
    foreign_file.derived("evolved", "evolved_from", "merged", metadata=inherited).edge("evolved", "merged_from", "a")
    plan = plan_of(foreign_file.done())
    assert [finding.ids for finding in by_code(plan)["edge-without-claim"]] == [("evolved", "a")]
    assert parents_of(plan)["evolved"] == [("evolved_from", "merged", ("agreed",))]


def test_an_inverse_row_alone_is_folded_into_the_repaired_edge_or_quarantined(foreign_file: ForeignFile) -> None:
    foreign_file.memory("root").derived("claimed", "evolved_from", "root", edges=False).memory("unclaimed")
    foreign_file.edge("root", "evolved_into", "claimed").edge("root", "evolved_into", "unclaimed")
    plan = plan_of(foreign_file.done())
    (parent,) = records_of(plan)["claimed"].parents
    assert (parent.reasons, parent.rows, [ref.key for ref in parent.inverse_rows]) == (
        ("edge-write-lost",),
        (),
        [("root", "claimed", "evolved_into")],
    )
    (finding,) = by_code(plan)["edge-without-claim"]
    assert finding.ids == ("unclaimed", "root")
    assert finding.before == {"claimed": False, "edge": False}


def test_an_ancestry_edge_of_no_record_is_filed_with_its_other_end_or_with_the_store(foreign_file: ForeignFile) -> None:
    foreign_file.memory("real").edge("ghost", "evolved_from", "real").edge("ghost", "evolved_from", "phantom")
    plan = plan_of(foreign_file.done())
    assert [finding.ids for finding in plan.namespaces[0].findings if finding.is_quarantine] == [("ghost", "real")]
    assert [finding.ids for finding in plan.findings if finding.is_quarantine] == [("ghost", "phantom")]


def test_claims_that_nothing_tells_apart_are_all_quarantined(foreign_file: ForeignFile) -> None:
    foreign_file.memory("a").memory("b").memory("child", metadata={"evolved_from": "a", "split_from": "b"})
    plan = plan_of(foreign_file.done())
    (finding,) = by_code(plan)["claim-ambiguous"]
    assert finding.before == {"evolved_from": ["a"], "split_from": ["b"]}
    record = records_of(plan)["child"]
    assert (record.parents, record.derivation, record.n_quarantined) == ((), None, 2)


def test_the_derivation_of_a_record_is_told_by_its_own_claim(foreign_file: ForeignFile) -> None:
    foreign_file.memory("root")
    for name, reason in (("plain", "observation"), ("fixed", "correction"), ("odd", "because"), ("none", None)):
        foreign_file.derived(name, "evolved_from", "root", metadata={"change_reason": reason})
    foreign_file.derived("merged", "merged_from", "plain", "fixed", metadata={"merge_strategy": "weighted"})
    stamp = "2026-03-01T10:00:00+00:00"
    for part in (1, 2):
        keys = {"split_from": "merged", "split_timestamp": stamp, "split_part": part, "split_total": 2}
        foreign_file.memory(f"part-{part}", metadata=keys)
    inherited = {"split_from": "merged", "split_timestamp": stamp, "split_part": 1, "split_total": 2}
    foreign_file.derived("evolved-part", "evolved_from", "part-1", metadata=inherited)
    derivations = {name: record.derivation for name, record in records_of(plan_of(foreign_file.done())).items()}
    told = {
        name: (one.kind, one.change_reason, one.is_default_reason, one.merge_strategy, one.split_part, one.split_total)
        for name, one in derivations.items()
        if one is not None
    }
    assert told == {
        "plain": ("evolve", "observation", True, None, None, None),
        "fixed": ("evolve", "correction", False, None, None, None),
        "odd": ("evolve", "observation", True, None, None, None),
        "none": ("evolve", "observation", True, None, None, None),
        "merged": ("merge", None, False, "weighted", None, None),
        "part-1": ("split", None, False, None, 1, 2),
        "part-2": ("split", None, False, None, 2, 2),
        "evolved-part": ("evolve", "observation", True, None, None, None),
    }
    groups = {name: one.group for name, one in derivations.items() if one is not None}
    assert groups["part-1"] == groups["part-2"]
    assert len(set(groups.values())) == len(groups) - 1
    first_part = derivations["part-1"]
    assert first_part is not None
    assert first_part.claimed_at is not None
    assert first_part.claimed_at.text == stamp
