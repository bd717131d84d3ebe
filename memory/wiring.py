"""Which slice adds what to the mechanisms below it: one list, in the order in which things happen."""

from __future__ import annotations

from memory.agents.activity import labelled_by
from memory.agents.attention import populated_by, waiting_on
from memory.agents.guards import not_on_hold, still_stands
from memory.agents.models import Agent, Run
from memory.agents.overview import counted_by, evidence_of, scanned_by
from memory.agents.projection import RunReferences
from memory.agents.runs import attach
from memory.base import gate, projections
from memory.beliefs.erasing import forecasts_of_observations
from memory.beliefs.models import Forecast, MonitorRun, Observation, RelationLaw, SavedQuery
from memory.beliefs.projection import MonitorTallies, ObservationReaches, ObservationStates, ObservationTags
from memory.calibration.attention import OPEN_ALARMS
from memory.calibration.erasing import labels_of_observations
from memory.calibration.models import Alarm, LabelOutcome, LockedReference, ProcessRestart
from memory.calibration.operations.following import followed
from memory.calibration.projection import ForecastStates, LabelStates, SegmentStates
from memory.checks.attention import BROKEN_LAWS, FAILING_SCANS
from memory.checks.ledger_scan import NAME as LEDGER_SCAN
from memory.checks.models import CheckRun
from memory.checks.running import run_by_name
from memory.checks.scan_on_demand import SCAN_ON_DEMAND
from memory.checks.scrubbing import scrubbed_after
from memory.facts.attention import FACT_TOLD, OPEN_CONFLICTS
from memory.facts.erasing import facts_of_subject, notes_of_facts
from memory.facts.models import AttributeSpec, ConflictCase, Fact, FactState
from memory.facts.projection import ConflictCases, FactRects, FactStates, FactTallies
from memory.facts.queries.recalled import facts_of_subjects
from memory.facts.reviewing import REVIEWED as FACTS_REVIEWED
from memory.interchange.exports import exports_that_held, exports_with_text
from memory.interchange.models import ImportRun
from memory.interchange.sources import raw_rows_of_records
from memory.interchange.sweeping import staged_rows, task_results, uploads_and_results
from memory.ledger.models import Entry, Name
from memory.ledger.operations.appending import accompany
from memory.ledger.operations.erasing import sweep_by
from memory.ledger.operations.referring import refuse_references_by
from memory.ledger.operations.scrubbing import text_in
from memory.ledger.projection import Heads, Nodes
from memory.ledger.queries import radius
from memory.ledger.queries.naming import held_in
from memory.ledger.queries.reaching import reach
from memory.ledger.queries.receipts import scrubs_told_by
from memory.ledger.queries.subjects import find_by
from memory.ledger.queries.verification import verify_also
from memory.ledger.queries.withheld import withhold_by
from memory.lineage.covering import CoveredRecords
from memory.lineage.models import Compilation
from memory.lineage.operations.covering import covered
from memory.lineage.projection import children_at, texts_of_derivations
from memory.lineage.projection import contribute as lineage_contribution
from memory.lineage.queries.digests import digest_faults
from memory.lineage.queries.freshness import words_of_compiled
from memory.lineage.queries.quoting import quoting_records
from memory.lineage.queries.resting import derived_records
from memory.records import fulltext, held
from memory.records.attention import RECORD_TOLD, held_statement
from memory.records.models import CONFIRMED, Record, RecordState, count_children_by
from memory.records.operations import hide_rejected
from memory.records.projection import RecordStates, RecordTexts, contribute, notes_of_records
from memory.records.queries import near
from memory.records.queries.recall import judge_answers_by, recall_also
from memory.records.review import Kind, reviewed, unreferable, withheld_items
from memory.tombstones.attention import DUE_TOMBSTONES
from memory.tombstones.erasing import texts_of_tombstones
from memory.tombstones.models import RevivalEvidence, RouteCheck, Tombstone


def connect() -> None:
    """Idempotent: called once when the app is ready."""
    gate.register(still_stands)
    gate.register(not_on_hold)
    accompany(attach)
    accompany(covered)
    accompany(followed)
    contribute(lineage_contribution)
    count_children_by(children_at)
    recall_also(facts_of_subjects)
    judge_answers_by(words_of_compiled)
    _connect_review()
    _connect_erasure()
    run_by_name(LEDGER_SCAN, SCAN_ON_DEMAND)
    verify_also(digest_faults)
    _connect_derived_tables()
    for page, model in (("runs", Run), ("imports", ImportRun), ("tombstones", Tombstone), ("facts", Fact),
                        ("beliefs", Observation), ("calibration", MonitorRun)):  # fmt: skip
        populated_by(page, model)
    waiting_on("ledger", FAILING_SCANS)
    for versions in (Record, Fact):
        populated_by("timeline", versions)
    waiting_on("inbox", held_statement({"record": RECORD_TOLD, "fact": FACT_TOLD}))
    waiting_on("conflicts", OPEN_CONFLICTS)
    waiting_on("laws", BROKEN_LAWS)
    waiting_on("tombstones", DUE_TOMBSTONES)
    waiting_on("calibration", OPEN_ALARMS)
    for key, rows in (
        ("records", RecordState.objects.current),
        ("held", RecordState.objects.waiting),
        ("every_record", evidence_of(Record)),
        ("runs", evidence_of(Run)),
        ("imports", evidence_of(ImportRun)),
    ):
        counted_by(key, rows)
    scanned_by(lambda at: evidence_of(CheckRun)(at).filter(check_name=LEDGER_SCAN))
    _connect_labels()


def _connect_derived_tables() -> None:
    """In the order in which they are made anew: some follow from those before them."""
    for projector in (
        Heads(), Nodes(), RunReferences(), RecordStates(), RecordTexts(), CoveredRecords(), FactStates(), FactRects(),
        FactTallies(), ConflictCases(), ObservationStates(), ObservationReaches(), ObservationTags(), MonitorTallies(),
        ForecastStates(), LabelStates(), SegmentStates(),
    ):  # fmt: skip
        projections.register(projector)


def _connect_review() -> None:
    """What a review policy can hold, and which doors keep it from other agents."""
    reviewed(Kind("record", peers=held.peers, hide=hide_rejected, project=held.project, shown=near.shown))
    reviewed(FACTS_REVIEWED)
    withhold_by(withheld_items)
    refuse_references_by(unreferable)


def _connect_labels() -> None:
    """By what their rows are called in lines of the log."""
    told_of_records = ("record", "withdrawal", "review", "held", "edge", "compilation")
    labelled_by(told_of_records, RecordState, "first_line", shown=CONFIRMED)
    labelled_by(("import_run",), ImportRun, "source", is_name=True)
    labelled_by(("fact", "supersession", "retraction"), FactState, "subject", is_name=True, shown=CONFIRMED)
    labelled_by(("adjudication",), ConflictCase, "subject", is_name=True)
    labelled_by(("attribute_spec",), Name, "text")
    told_of_tombstones = ("tombstone", "revival_condition", "route_hit", "block_verdict", "tombstone_turn")
    labelled_by(told_of_tombstones, Tombstone, "route", is_name=True)
    labelled_by(("route_check",), RouteCheck, "route", is_name=True)
    labelled_by(("observation", "revocation"), Observation, "name", is_name=True)
    labelled_by(("relation_law",), RelationLaw, "relation_type", is_name=True)
    labelled_by(("monitor_run",), MonitorRun, "name", is_name=True)
    labelled_by(("saved_query",), SavedQuery, "name", is_name=True)
    labelled_by(("label_outcome",), LabelOutcome, "name", is_name=True)
    labelled_by(("alarm", "alarm_turn"), Alarm, "relation_type", is_name=True)


def _connect_erasure() -> None:
    """Where copies of text stand beside content and projections, and which columns hold ids of names."""
    reach(raw_rows_of_records)
    reach(notes_of_records)
    reach(notes_of_facts)
    reach(texts_of_derivations)
    reach(texts_of_tombstones)
    reach(forecasts_of_observations)
    reach(labels_of_observations)
    find_by(facts_of_subject)
    radius.contribute(derived_records)
    radius.contribute(exports_that_held)
    radius.told_of_all(exports_with_text)
    radius.quoted_by(quoting_records)
    sweep_by("staged_rows", staged_rows)
    sweep_by("uploads", uploads_and_results)
    sweep_by("task_results", task_results)
    text_in(fulltext.tables)
    scrubs_told_by(scrubbed_after)
    for model, column in (
        (Entry, "host"), (Entry, "on_behalf_of"), (Agent, "name"), (Record, "type"), (ImportRun, "source"),
        (Compilation, "function"), (Compilation, "version"), (Compilation, "covers"),
        (Fact, "origin"), (Fact, "scale"),
        (Tombstone, "route"), (Tombstone, "route_key"), (RouteCheck, "route"), (RevivalEvidence, "origin"),
        (Observation, "evidence_family"), (Observation, "source_event"), (Observation, "lineage_root"),
        (Observation, "encoder_revision"), (Observation, "calibration_revision"), (Forecast, "source_family"),
        (SavedQuery, "name"),
        (LockedReference, "relation_type"), (LockedReference, "source_family"),
        (Alarm, "relation_type"), (Alarm, "source_family"),
        (ProcessRestart, "relation_type"), (ProcessRestart, "source_family"),
    ):  # fmt: skip
        held_in(model, column)
    for about in (
        (Fact, "subject"), (Fact, "attribute"), (AttributeSpec, "attribute"), (RelationLaw, "relation_type"),
        (Observation, "name"), (Observation, "relation_type"), (Observation, "source"), (Observation, "target"),
        (MonitorRun, "name"), (SavedQuery, "relation_type"), (LabelOutcome, "name"),
    ):  # fmt: skip
        held_in(*about, outlives=True)
