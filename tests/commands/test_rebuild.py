"""`rebuild`: each fault in each projection is found, told and mended."""

import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from memory.agents.models import RunReference
from memory.agents.setup import ensure_namespace, found_replay, system
from memory.base import projections
from memory.base.actor import Actor, RunGiven
from memory.beliefs.kernel.acts import OutcomeDocument, RevocationDocument
from memory.beliefs.kernel.documents import observation_document
from memory.beliefs.kernel.laws import built_in
from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.beliefs.models import MonitorTally, ObservationReach, ObservationState, ObservationTag
from memory.beliefs.operations.binding import Binding
from memory.beliefs.operations.observing import Asked, observe
from memory.beliefs.operations.revoking import revoke
from memory.calibration.models import ForecastState, LabelState, SegmentState
from memory.calibration.operations.recording import record
from memory.checks.models import CheckRun, Finding
from memory.checks.rebuilding import _encoded, compared, rebuild
from memory.facts.content import NewFact
from memory.facts.models import ConflictCase, FactRect, FactState, FactTally
from memory.facts.operations.asserting import assert_facts
from memory.facts.operations.declaring import Declaration, declare
from memory.ledger.models import Content, Entry, Head, Node
from memory.ledger.queries.contents import contents_of
from memory.lineage.models import CoveredRecord
from memory.lineage.operations.compiling import Recipe, compile_record
from memory.lineage.operations.derivations import evolve
from memory.lineage.operations.deriving import Cause
from memory.records import fulltext
from memory.records.content import NewRecord
from memory.records.models import RecordState
from memory.records.operations import save, withdraw

pytestmark = pytest.mark.django_db

Plant = Callable[[int], object]


@pytest.fixture
def store() -> int:
    """A namespace with a row in every projection."""
    namespace = ensure_namespace("lab")
    by = Actor(namespace, "system", run=RunGiven(title="a run", refs=(("ticket", "4411"),)))
    first, second, third = save(by, records=[NewRecord("note", f"text of leaf {n}", tags=("t",)) for n in range(3)])
    evolve(by, record=first.id, base="", changes={"content": "text that changed"}, cause=Cause())
    digest = Recipe("digest", "1", covers="t")
    compile_record(by, sources=[second.id], recipe=digest, cause=Cause(), content="digest of leaf 1")
    withdraw(system(namespace), record=second.id, reason="twice")
    declare(by, attribute="city", declaration=Declaration("one"))
    assert_facts(by, facts=[NewFact("anna", "city", city) for city in ("Oslo", "Bergen")])
    _observed(by)
    save(by, records=[NewRecord("note", "the last", tags=("t",))])
    assert third.seq
    return namespace


def _observed(by: Actor) -> None:
    law, taken = Binding("rel", built_in("cyclic:2")), Asked("native", watch=MonitorConfig())
    base = {"namespace": "lab", "relation_type": "rel", "source": "a", "target": "b", "posterior": [0.9, 0.1]}
    given = {**base, "observation_id": "o1", "evidence_family": "f", "observed_at": 1, "tags": ["t"]}
    observe(by, documents=[observation_document(given, profile="native")], asked=replace(taken, bind=law))
    record(by, documents=[OutcomeDocument("o1", "1", labeled_at=2.0)])
    revoke(by, observation_id="o1", asked=RevocationDocument(at=2.0))


def state_of(store: int) -> RecordState:
    found = RecordState.objects.filter(namespace=store, superseded_seq=None, withdrawn_seq=None).order_by("doc").first()
    assert found is not None
    return found


def set_state(**values: object) -> Plant:
    def plant(store: int) -> object:
        state = state_of(store)
        return RecordState.objects.filter(namespace=store, id=state.id).update(**values)

    return plant


def drop_posting(store: int) -> None:
    state = state_of(store)
    fulltext.remove(store, [(state.doc, "text of leaf 2\nt")])


def alter_posting(store: int) -> None:
    drop_posting(store)
    fulltext.add(store, [(state_of(store).doc, "text of loaf 2\nt")])


FAULTS: dict[str, tuple[str, Plant]] = {
    "head size": ("heads", lambda store: Head.objects.filter(namespace=store).update(size=3)),
    "node hash": ("nodes", lambda store: Node.objects.filter(namespace=store, level=1, index=0).update(hash=b"x" * 32)),
    "node lost": ("nodes", lambda store: Node.objects.filter(namespace=store, level=0, index=1).delete()),
    "node too many": ("nodes", lambda store: Node.objects.create(namespace_id=store, level=9, index=0, hash=b"y" * 32)),
    "reference": ("run_references", lambda store: RunReference.objects.filter(namespace=store).update(value="4412")),
    "reference lost": ("run_references", lambda store: RunReference.objects.filter(namespace=store).delete()),
    "state lost": ("record_states", lambda store: RecordState.objects.filter(pk=state_of(store).pk).delete()),
    "withdrawn": ("record_states", set_state(withdrawn_seq=2)),
    "erased": ("record_states", set_state(erased_seq=2)),
    "superseded": ("record_states", set_state(superseded_seq=2, superseded_by=UUID(int=7))),
    "children": ("record_states", set_state(n_children=5)),
    "first line": ("record_states", set_state(first_line="something else")),
    "digest": ("record_states", set_state(text_digest=b"z" * 16)),
    "class": ("record_states", set_state(source_class="first_hand")),
    "covered lost": ("covered_records", lambda store: CoveredRecord.objects.filter(namespace=store).delete()),
    "fact lost": ("fact_states", lambda store: FactState.objects.filter(namespace=store, value='"Oslo"').delete()),
    "fact value": ("fact_states", lambda store: FactState.objects.filter(namespace=store).update(value='"Rome"')),
    "rectangle": ("fact_rects", lambda store: FactRect.objects.filter(namespace=store).update(known_to=99)),
    "tally": ("fact_tallies", lambda store: FactTally.objects.filter(namespace=store).update(n_facts=7)),
    "case lost": ("conflict_cases", lambda store: ConflictCase.objects.filter(namespace=store).delete()),
    "observation score": (
        "observation_states", lambda store: ObservationState.objects.filter(namespace=store).update(score=0.5)
    ),
    "reach lost": ("observation_reaches", lambda store: ObservationReach.objects.filter(namespace=store).delete()),
    "tag": ("observation_tags", lambda store: ObservationTag.objects.filter(namespace=store).update(tag="u")),
    "tracked": ("monitor_tallies", lambda store: MonitorTally.objects.filter(namespace=store).update(n_tracked=7)),
    "issued": ("forecast_states", lambda store: ForecastState.objects.filter(namespace=store).update(tracked_at=9)),
    "label": ("label_states", lambda store: LabelState.objects.filter(namespace=store).update(true_index=0)),
    "wealth": ("label_states", lambda store: LabelState.objects.filter(namespace=store).update(log_evidence=7)),
    "window": ("segment_states", lambda store: SegmentState.objects.filter(namespace=store).update(reference=b"")),
    "watch": ("segment_states", lambda store: SegmentState.objects.filter(namespace=store).update(watch=b"")),
    "posting lost": ("record_texts", drop_posting),
    "posting changed": ("record_texts", alter_posting),
}  # fmt: skip


def dumps(store: int) -> dict[str, list[projections.Row]]:
    return {each.name: list(each.dump(store)) for each in projections.registered()}


def differing(store: int, *, check: bool) -> set[str]:
    done = rebuild(system(store), check=check)
    return {each.projector for each in done.comparisons if each.n_differences}


def test_every_projection_has_rows_to_lose(store: int) -> None:
    assert {name for name, rows in dumps(store).items() if not rows} == set()
    assert {projector for projector, _ in FAULTS.values()} == set(dumps(store))


def test_an_honest_store_has_no_differences(store: int) -> None:
    assert differing(store, check=True) == set()
    assert differing(store, check=False) == set()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_where_it_is_and_nowhere_else(store: int, fault: str) -> None:
    projector, plant = FAULTS[fault]
    plant(store)
    assert differing(store, check=True) == {projector}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_check_leaves_every_row_as_it_was(store: int, fault: str) -> None:
    FAULTS[fault][1](store)
    before, n_entries = dumps(store), Entry.objects.count()
    rebuild(system(store), check=True)
    after = dumps(store)
    if FAULTS[fault][0] in ("heads", "nodes"):
        assert Entry.objects.count() == n_entries
        assert after == before
        return
    # The check itself is an entry: it lengthens the log and changes nothing else.
    assert Entry.objects.count() == n_entries + 1
    for name in ("record_states", "record_texts", "run_references"):
        assert after[name] == before[name]
    assert set(before["nodes"]) < set(after["nodes"])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_rebuild_mends_the_fault(store: int, fault: str) -> None:
    honest = dumps(store)
    FAULTS[fault][1](store)
    assert dumps(store) != honest
    assert differing(store, check=False) == {FAULTS[fault][0]}
    assert differing(store, check=True) == set()
    assert dumps(store)["record_states"] == honest["record_states"]
    assert dumps(store)["record_texts"] == honest["record_texts"]


def test_the_rows_that_differ_are_told_with_both_sides(store: int) -> None:
    state = state_of(store)
    set_state(n_children=5)(store)
    (comparison,) = [each for each in rebuild(system(store), check=True).comparisons if each.n_differences]
    (found,) = comparison.shown
    assert str(state.id) in found.key
    assert found.stored is not None
    assert found.rebuilt is not None
    assert [(a, b) for a, b in zip(found.stored, found.rebuilt, strict=True) if a != b] == [(5, 0)]


def test_a_lost_row_and_a_row_too_many_are_told_apart(store: int) -> None:
    FAULTS["node lost"][1](store)
    FAULTS["node too many"][1](store)
    (comparison,) = [each for each in rebuild(system(store), check=True).comparisons if each.n_differences]
    assert (comparison.n_wrong, comparison.n_missing) == (1, 1)
    assert sorted((each.stored is None, each.rebuilt is None) for each in comparison.shown) == [
        (False, True),
        (True, False),
    ]


def test_what_is_written_down_holds_counts_and_no_text(store: int) -> None:
    set_state(first_line="an unmistakable phrase")(store)
    rebuild(system(store), check=True)
    run = CheckRun.objects.get(namespace=store, check_name="rebuild")
    assert (run.verdict, run.n_findings) == ("failed", 1)
    assert Finding.objects.get(namespace=store).kind == "record_states"
    report = contents_of(store, [(run.seq, run.item)])[run.seq, run.item]["report"]
    assert report["projections"]["record_states"] == {"rows": 6, "wrong": 1, "missing": 1}
    assert not Content.objects.filter(namespace=store, seq=run.seq, payload__contains="unmistakable").exists()


def test_a_rebuild_of_one_namespace_touches_no_other(store: int) -> None:
    other = ensure_namespace("mill")
    save(system(other), records=[NewRecord("note", "elsewhere")])
    RecordState.objects.filter(namespace=other).update(n_children=3)
    before = dumps(other)
    rebuild(system(store), check=False)
    assert dumps(other) == before


def test_in_a_replayed_namespace_a_check_stands_at_the_time_of_its_events() -> None:
    at = datetime(2024, 2, 1, 8, 0, tzinfo=UTC)
    replayed = found_replay("story", notice="Replayed.", at=at)
    rebuild(system(replayed), check=True)
    assert Entry.objects.get(namespace=replayed, verb="record_check").recorded_at == at + timedelta(microseconds=1)


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("rebuild", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_tells_what_differs_and_ends_with_3(store: int) -> None:
    set_state(n_children=5)(store)
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("rebuild", "--check", stdout=out)
    assert caught.value.returncode == 3
    assert f"lab: {len(projections.registered())} projections compared, 1 differences" in out.getvalue()
    assert re.search(rf"record_states: 6 rows, 1 wrong, 1 missing\n +\d+, '{state_of(store).id}'", out.getvalue())


def test_the_command_rebuilds_and_ends_well(store: int) -> None:
    set_state(n_children=5)(store)
    assert f"lab: {len(projections.registered())} projections rebuilt, 1 differences" in run()
    told = run("--check", "--namespace", "lab")
    assert f"lab: {len(projections.registered())} projections compared, 0 differences" in told


def test_the_command_takes_one_namespace(store: int) -> None:
    ensure_namespace("mill")
    assert "lab:" not in run("--check", "--namespace", "mill")
    with pytest.raises(CommandError) as caught:
        run("--namespace", "nowhere")
    assert caught.value.returncode == 2


rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), max_size=12)


@given(stored=rows, rebuilt=rows)
def test_the_comparison_counts_rows_as_multisets_do(
    stored: list[tuple[int, int, int]], rebuilt: list[tuple[int, int, int]]
) -> None:
    found = compared("p", map(_encoded, stored), map(_encoded, rebuilt))
    wrong, missing = Counter(stored) - Counter(rebuilt), Counter(rebuilt) - Counter(stored)
    assert (found.n_rows, found.n_wrong, found.n_missing) == (len(rebuilt), wrong.total(), missing.total())
    told = [each.stored for each in found.shown if each.stored is not None]
    assert Counter(told) == wrong or wrong.total() > 20


def test_a_long_table_that_lost_its_first_row_differs_in_one_row() -> None:
    table = [(1, number) for number in range(5_000)]
    found = compared("p", map(_encoded, table[1:]), map(_encoded, table))
    assert (found.n_wrong, found.n_missing) == (0, 1)
    assert found.shown[0].rebuilt == (1, 0)
