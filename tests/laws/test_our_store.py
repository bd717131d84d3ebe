"""The laws over our own namespaces: what operations make holds; what is planted is found with its counterexample."""

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as some

from audit.laws import ours, ours_digests, ours_rows
from audit.laws.ours_rows import windows
from audit.laws.tally import Tally
from audit.laws.values import CLAUSE_NAMES, ClauseName, Report, Severity, Witness
from memory.ledger.kernel import commitment
from memory.ledger.models import PART_CODE, Entry, Name
from memory.ledger.queries import asof
from memory.ledger.queries.asof import namespace_named
from memory.lineage import kernel, models
from tests.interchange.importing import imported
from tests.laws.planting import FAULTS, Fault, Scene, planted
from tests.world import World

pytestmark = pytest.mark.django_db

SOUND = {
    "L1": "holds", "L2": "holds", "L3": "holds", "L4i": "holds", "L4ii": "holds", "L5": "undecidable", "L6": "holds",
    "L7": "holds",
}  # fmt: skip


def verdicts(report: Report) -> dict[str, str]:
    return {finding.clause: report.verdict(finding.clause) for finding in report.findings}


def test_a_store_made_by_every_operation_holds_every_clause_that_the_evidence_decides() -> None:
    world = World()
    first, second = world.save("the limit is 40"), world.save("the limit is 50", type="fact")
    newer = world.evolve(first.id, content="the limit is 41")
    merged = world.merge(newer, second.id)
    parts = world.split(merged, "one half", "the other half")
    world.supersede(second.id, parts[0])
    world.link(parts[0], "related_to", parts[1])
    world.link(parts[0], "depends_on", first.id)
    world.withdraw(parts[1])
    world.erase(first.id)
    report = ours.check(world.now())
    assert verdicts(report) == SOUND
    assert (report.n_records, report.n_edges, report.count("no_inverse")) == (6, 8, 1)
    assert report.measures == {"seq": world.now().seq, "derived_records": 4, "records_disagreeing": 0}
    assert report.asides == ()


def name_of(fault: Fault) -> str:
    return fault.plant.__name__


@pytest.fixture
def scene() -> Scene:
    return Scene()


def look(scene: Scene, fault: Fault) -> tuple[UUID | None, Report]:
    """Plant the fault, check, and take it back."""
    with planted():
        named = fault.plant(scene)
        return named, ours.check(scene.world.now())


def must_be_found(scene: Scene, fault: Fault) -> None:
    named, report = look(scene, fault)
    assert report.verdict(fault.clause) == "violated"
    found = [each for finding in report.of(fault.clause) for each in finding.witnesses if each.kind == fault.kind]
    assert found, report.as_json()
    if named is not None:
        assert str(named) in {witness.record for witness in found}


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
def test_a_planted_fault_is_found_with_its_counterexample(fault: Fault, scene: Scene) -> None:
    must_be_found(scene, fault)
    assert verdicts(ours.check(scene.world.now())) == SOUND, "the fault was taken back"


@pytest.mark.parametrize("clause", CLAUSE_NAMES)
def test_a_checker_that_is_switched_off_finds_none_of_its_faults(
    clause: ClauseName, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Tally.add

    def add_unless_off(tally: Tally, witness: Witness, severity: Severity = "violation") -> None:
        if tally.clause != clause:
            add(tally, witness, severity)

    monkeypatch.setattr(Tally, "add", add_unless_off)
    planted_for_it = [fault for fault in FAULTS if fault.clause == clause]
    assert planted_for_it
    for fault in planted_for_it:
        with pytest.raises(AssertionError):
            must_be_found(scene, fault)


def test_the_other_namespace_does_not_see_a_fault_of_this_one(scene: Scene) -> None:
    with planted():
        next(fault for fault in FAULTS if fault.kind == "record_gone").plant(scene)
        assert ours.check(scene.world.now()).is_violated
        assert verdicts(ours.check(scene.other.now())) == SOUND


def test_a_counterexample_across_namespaces_names_both_and_no_text(scene: Scene) -> None:
    fault = next(fault for fault in FAULTS if fault.clause == "L4ii")
    _, report = look(scene, fault)
    crossing = [each for finding in report.of("L4ii") for each in finding.witnesses]
    assert [(each.namespace, each.target_namespace, each.target, dict(each.facts)) for each in crossing] == [
        ("lab", "annex", str(scene.foreign), {})
    ]
    assert report.verdict("L7") == "holds", "an end in another namespace is no end in nowhere"


def test_a_digest_is_told_at_its_own_record_and_not_again_below_it(scene: Scene) -> None:
    _, report = look(scene, next(fault for fault in FAULTS if fault.kind == "digest_disagrees"))
    assert (report.count("digest_disagrees"), report.measures["records_disagreeing"]) == (1, 1)


def test_ancestry_that_leads_to_a_later_record_is_told_beside_the_clauses(scene: Scene) -> None:
    with planted():
        scene.edge(source=scene.plain, target=scene.merged)
        (aside,) = ours.check(scene.world.now()).asides
    assert (aside.kind, aside.count) == ("ancestor_not_earlier", 1)
    assert aside.witnesses[0].target == str(scene.merged)


def test_the_past_is_checked_as_it_stood(scene: Scene) -> None:
    world = scene.world
    before = world.now()
    with planted():
        scene.edge(source=scene.fact, target=scene.plain)
        assert ours.check(world.now()).is_violated
        assert not ours.check(world.at(scene.linked - 1)).is_violated
    assert ours.check(before).input_digest == ours.check(world.at(before.seq)).input_digest
    assert ours.check(world.at(before.seq - 1)).input_digest != ours.check(before).input_digest


def test_counts_go_on_where_counterexamples_are_no_longer_kept(scene: Scene) -> None:
    with planted():
        for number in range(5):
            scene.edge(source=scene.fact, target=UUID(int=number + 1), item=50 + number)
        report = ours.check(scene.world.now(), most=2)
    kept = [each for finding in report.of("L7") for each in finding.witnesses]
    assert (report.count("edge_end_missing"), len(kept)) == (5, 2)


def test_windows_meet_and_hold_every_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    scene.world.save_all(*(f"note {number}" for number in range(12)))
    whole = ours.check(scene.world.now())
    monkeypatch.setattr(ours_rows, "WINDOW_ITEMS", 5)
    monkeypatch.setattr(ours_rows, "WINDOW_ENTRIES", 3)
    cut = list(windows(scene.world.namespace, upto=scene.world.now().seq))
    assert max(len(window.entries) for window in cut) <= 3
    assert sum(len(window.entries) for window in cut) == Entry.objects.filter(namespace=scene.world.namespace).count()
    assert ours.check(scene.world.now()) == whole
    for fault in FAULTS:
        must_be_found(scene, fault)


def test_progress_is_told_up_to_the_last_entry(scene: Scene) -> None:
    told: list[tuple[int, int]] = []
    at = scene.world.now()
    ours.check(at, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (at.seq, at.seq)


@pytest.mark.parametrize("name", ["clean_small", "violations", pytest.param("large", marks=pytest.mark.slow)])
def test_what_an_import_leaves_in_our_tables_holds_every_clause(
    name: str, contextfs_store: Callable[[str], Path]
) -> None:
    report = imported(contextfs_store(name))
    assert report.applied
    for applied in report.applied:
        found = ours.check(asof.now(namespace_named(applied.namespace).pk))
        assert (verdicts(found), found.asides) == (SOUND, ())
        assert (found.n_records, found.n_edges) == (applied.n_records, applied.n_edges)


def test_names_of_types_are_looked_up_a_bounded_number_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    for type in ("fact", "doc", "task"):
        world.save(f"a {type}", type=type)
    ids = {row.hex: name for row, name in Name.objects.values_list("id", "text") if name in ("fact", "doc", "task")}
    monkeypatch.setattr(ours_rows, "CHUNK", 2)
    with CaptureQueriesContext(connection) as asked:
        assert ours_rows.type_names(world.namespace, ids) == ids
    assert len(asked) == 2


class TestTheSecondComputationAgreesWithTheFirst:
    """Two programs, one result; where they part, one of them has a bug."""

    def test_on_the_names_of_parts(self) -> None:
        assert {code: name for name, code in PART_CODE.items()} == ours_digests.PARTS

    def test_on_relations_and_the_rank_of_types(self) -> None:
        from audit.laws import ours_rules, relations

        assert ours_rules.TYPE_RANK == kernel.TYPE_RANK
        assert set(models.STORED) == relations.FORWARD
        assert {forth: relations.INVERSE[forth] for forth in models.INVERSE} == models.INVERSE
        assert (relations.ANCESTRY, relations.SYMMETRIC, relations.ONE_WAY) == (
            models.ANCESTRY, models.SYMMETRIC, models.ONE_WAY,
        )  # fmt: skip

    @given(
        row=some.dictionaries(
            some.text("abcdefghij_", min_size=1), some.none() | some.booleans() | some.integers(0, 2**53) | some.text()
        ),
        parts=some.dictionaries(some.sampled_from(sorted(PART_CODE)), some.binary(min_size=32, max_size=32)),
    )
    def test_on_commitments_of_items(self, row: dict[str, object], parts: dict[str, bytes]) -> None:
        try:
            theirs = commitment.item_commitment(row, parts)
        except ValueError:
            return
        assert ours_digests.item(row, parts) == theirs

    @given(
        id=some.uuids(), digest=some.binary(min_size=32, max_size=32), n_quarantined=some.integers(0, 9),
        parents=some.lists(some.tuples(some.sampled_from(models.ANCESTRY), some.binary(min_size=32, max_size=32))),
    )  # fmt: skip
    @settings(max_examples=50)
    def test_on_ancestry_digests(
        self, id: UUID, digest: bytes, parents: list[tuple[str, bytes]], n_quarantined: int
    ) -> None:
        assert ours_digests.ancestry(id.hex, digest, parents, n_quarantined) == commitment.ancestry_digest(
            str(id), digest, parents, n_quarantined
        )
