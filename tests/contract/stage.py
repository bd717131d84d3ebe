"""A world with one of everything that a route can name, and for each route a request that succeeds in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from memory.agents import operations as agents
from memory.agents import runs
from memory.base import clock
from memory.base.actor import Actor, RunGiven
from memory.checks import operations as checks
from memory.facts.kernel.conflict import case_id
from memory.facts.models import FactState
from memory.interchange.api import RAW
from memory.interchange.contextfs.operations import Options
from memory.interchange.operations import import_file
from memory.ledger.operations import checkpoints
from tests.calibration.labelling import alarmed
from tests.contract.callers import JSON
from tests.interchange.archives import an_archive
from tests.interchange.foreign import foreign_bytes
from tests.tombstones.burials import REVIVAL, ROUTE, SCOPE, blocked, buried, revived, spoken_for
from tests.world import World


class Stage(World):
    """What stands before any request."""

    def __init__(self, name: str = "lab") -> None:
        super().__init__(name)
        self.first, self.second = self.save_all("the first of two notes", "the second of two notes")
        self.withdrawn = self.save("a note that is withdrawn").id
        self.withdraw(self.withdrawn)
        opener = replace(self.scout, run=RunGiven(title="night build", refs=(("ticket", "4411"),)))
        agents.change_setting(self.alice, name="review_policy", value="type=procedure -> hold 14 d")
        self.held = self.save("a procedure that waits for a person", type="procedure").id
        self.run: UUID = runs.open_run(opener)[0]
        self.helper = agents.create_agent(self.alice, name="helper").id
        self.frozen = agents.create_agent(self.alice, name="frozen").id
        agents.freeze(self.alice, agent=self.frozen)
        self.token = agents.issue_token(self.alice, agent=self.helper).id
        self.check = checks.record_run(
            self.alice, name="ledger_scan", version=1, verdict="ok", at_seq=1, n_checked=1, found=[], report={"n": 1}
        ).id  # fmt: skip
        self.declare("city")
        self.fact = self.tell("anna", "city", "Oslo", origin="a letter").id
        self.other_fact = self.tell("anna", "city", "Bergen", origin="a call").id
        self.lone_fact = self.tell("berta", "city", "Rome").id
        self.conflict = case_id(*FactState.objects.values_list("subject", "attribute").get(id=self.fact))
        self.dead_end = buried(self)
        self.block = blocked(self)
        self.spoken_for = buried(self, route="another route")
        spoken_for(self, self.spoken_for)
        self.revived = buried(self, route="a third route")
        revived(self, self.revived)
        self.relation, self.seen = f"same host in {name}", f"probe 1 in {name}"
        self.bind(self.relation, "cyclic:2")
        self.observe(self.seen, "a", "b", [0.9, 0.1], relation_type=self.relation)
        self.monitor, self.oracle = f"strict run of {name}", f"oracle of {name}"
        self.alarm = alarmed(self, relation_type=self.relation, observation_id=f"sure of {name}", run_id=self.monitor)
        self.observe(self.oracle, "a", "b", [0.6, 0.4], relation_type=self.relation)
        checkpoints.checkpoint(self.namespace, make_key=True)

    def imported(self) -> UUID:
        """An import into the namespace, made when it is first asked for."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "other.db"
            path.write_bytes(foreign_bytes("another note"))
            options = Options(self.name, source="another")
            (applied,) = import_file(self.alice, path, format="contextfs", options=options).applied
        assert applied.run is not None
        return applied.run


@dataclass(frozen=True, slots=True)
class Example:
    """A request that succeeds. `path` begins after the namespace."""

    path: str
    body: Any = None
    query: dict[str, Any] = field(default_factory=dict)
    content_type: str = JSON
    by: Callable[[Stage], Actor] = lambda stage: stage.scout
    status: int = 200


def owner(stage: Stage) -> Actor:
    return stage.alice


def reviewer(stage: Stage) -> Actor:
    return stage.bob


def auditor(stage: Stage) -> Actor:
    return stage.charlie


def question(stage: Stage) -> dict[str, Any]:
    """What is asked of the two nodes that something was observed of."""
    return {
        "schema_version": 2, "relation_type": stage.relation, "nodes": ["a", "b"], "root": "a", "as_of": 200,
    }  # fmt: skip


def observation(stage: Stage, id: str) -> dict[str, Any]:
    """The payload of an observation of the law that stands."""
    return {
        "schema_version": 2, "observation_id": id, "relation_type": stage.relation, "source": "a", "target": "b",
        "posterior": {"0": 0.8, "1": 0.2}, "evidence_family": f"probe {id}", "observed_at": 100,
    }  # fmt: skip


def outcome(stage: Stage) -> dict[str, Any]:
    """The payload of a label of an observation that has none."""
    return {
        "observation_id": stage.oracle, "true_relation": "0", "outcome_event_id": f"label of {stage.oracle}",
        "labeled_at": 300,
    }  # fmt: skip


EXAMPLES: dict[str, Callable[[Stage], Example]] = {
    "ledger_checkpoint": lambda s: Example("/ledger/checkpoint", by=auditor),
    "ledger_entries": lambda s: Example("/ledger/entries", query={"limit": 2, "sort": "seq"}),
    "ledger_entry": lambda s: Example("/ledger/entries/1"),
    "ledger_proof": lambda s: Example("/ledger/proof", query={"seq": 1, "kept": 2}),
    "ledger_consistency": lambda s: Example("/ledger/consistency", query={"first": 1, "second": 2}),
    "ledger_verify": lambda s: Example("/ledger/verify", {}, by=auditor),
    "ledger_erase": lambda s: Example(
        "/erasures", {"records": [str(s.first.id)], "reason": "request", "note": "asked for"}, by=owner, status=201
    ),
    "ledger_erasures": lambda s: Example("/erasures", by=auditor),
    "ledger_erasure": lambda s: Example(f"/erasures/{s.erase(s.second.id).seq}", by=auditor),
    "agents_run_list": lambda s: Example("/runs", query={"q": "4411"}),
    "agents_run": lambda s: Example(f"/runs/{s.run}"),
    "agents_open_run": lambda s: Example("/runs", {"title": "morning build"}, status=201),
    "agents_end_run": lambda s: Example(f"/runs/{s.run}/end", {"note": "done"}),
    "agents_agents": lambda s: Example("/agents"),
    "agents_create_agent": lambda s: Example("/agents", {"name": "another"}, by=owner, status=201),
    "agents_issue_token": lambda s: Example(f"/agents/{s.helper}/tokens", {"scopes": ["read"]}, by=owner, status=201),
    "agents_freeze": lambda s: Example(f"/agents/{s.helper}/freeze", {"reason": "on leave"}, by=owner),
    "agents_unfreeze": lambda s: Example(f"/agents/{s.frozen}/unfreeze", {}, by=owner),
    "agents_rotate_token": lambda s: Example(f"/tokens/{s.token}/rotate", {}, by=owner, status=201),
    "agents_revoke_token": lambda s: Example(f"/tokens/{s.token}/revoke", {}, by=owner),
    "agents_admit_member": lambda s: Example("/members", {"email": "dora@example.org", "role": "auditor"}, by=owner),
    "agents_change_setting": lambda s: Example("/settings/approval_mode", {"value": "single_owner"}, by=owner),
    "agents_hold": lambda s: Example("/hold", {"held": True, "reason": "an audit"}, by=owner),
    "checks_checks": lambda s: Example("/checks"),
    "checks_check": lambda s: Example(f"/checks/{s.check}"),
    "checks_run": lambda s: Example("/checks/ledger_scan/run", {}, by=auditor, status=201),
    "checks_waive": lambda s: Example(
        "/laws/L4i/waive",
        {"reason": "known", "expires_at": f"{clock.now().date() + timedelta(days=30)}T00:00:00Z"},
        by=owner,
    ),
    "records_save": lambda s: Example(
        "/records",
        {
            "type": "note",
            "content": "water boils at 100 degrees",
            "tags": ["physics"],
            "source": {"class": "first_hand", "origin": "thermometer"},
        },
        status=201,
    ),
    "records_save_batch": lambda s: Example(
        "/records/batch", [{"type": "note", "content": "one"}, {"type": "note", "content": "two"}], status=201
    ),
    "records_index": lambda s: Example("/records", query={"type": "note", "agent": "scout", "include": "withdrawn"}),
    "records_resolve": lambda s: Example("/records/resolve", query={"prefix": str(s.first.id)}),
    "records_record": lambda s: Example(f"/records/{s.first.id}"),
    "records_recall": lambda s: Example("/recall", {"query": "which notes are there"}),
    "records_review": lambda s: Example(
        "/records/reviews", {"confirm": [{"kind": "record", "id": str(s.held)}], "reason": "read it"}, by=reviewer
    ),
    "records_confirm": lambda s: Example(f"/records/{s.held}/confirm", {"reason": "read it"}, by=reviewer),
    "records_reject": lambda s: Example(f"/records/{s.held}/reject", {"reason": "it is not so"}, by=reviewer),
    "records_withdraw": lambda s: Example(f"/records/{s.first.id}/withdraw", {"reason": "wrong"}, by=reviewer),
    "records_restore": lambda s: Example(f"/records/{s.withdrawn}/restore", {"reason": "right"}, by=reviewer),
    "lineage_derive": lambda s: Example(
        "/derivations",
        {
            "kind": "evolve",
            "record": str(s.first.id),
            "base": s.first.digest.hex(),
            "content": "the first, reworded",
            "reason": "correction",
        },
        status=201,
    ),
    "lineage_compiled": lambda s: Example("/compilations", query={"output": "compiled"}),
    "lineage_link": lambda s: Example(
        "/edges", {"source": str(s.first.id), "relation": "references", "target": str(s.second.id)}, status=201
    ),
    "lineage_ancestry": lambda s: Example(f"/records/{s.first.id}/ancestry"),
    "lineage_descendants": lambda s: Example(f"/records/{s.first.id}/descendants"),
    "lineage_timeline": lambda s: Example(f"/records/{s.first.id}/timeline"),
    "lineage_derivation": lambda s: Example(f"/records/{s.first.id}/derivation"),
    "lineage_suggestions": lambda s: Example(f"/records/{s.first.id}/suggestions"),
    "lineage_diff": lambda s: Example(f"/records/{s.first.id}/diff", query={"with": str(s.second.id)}),
    "facts_declare": lambda s: Example(
        "/attributes/height", {"cardinality": "one", "value_type": "number", "freshness_seconds": 86400}, status=201
    ),
    "facts_assert_fact": lambda s: Example(
        "/facts",
        {
            "subject": "anna",
            "attribute": "height",
            "value": 178,
            "valid_from": "2026-01-01T00:00:00Z",
            "source": {"class": "first_hand", "origin": "a tape"},
            "confidence": {"value": 0.9, "scale": "probability"},
            "references": [str(s.first.id)],
        },
        status=201,
    ),
    "facts_assert_batch": lambda s: Example(
        "/facts/batch",
        [{"subject": "anna", "attribute": "speaks", "value": word} for word in ("en", "no")],
        status=201,
    ),
    "facts_index": lambda s: Example("/facts", query={"subject": "anna", "include": "superseded"}),
    "facts_timeline": lambda s: Example("/facts/timeline", query={"subject": "anna", "attribute": "city"}),
    "facts_cases": lambda s: Example("/facts/conflicts"),
    "facts_case": lambda s: Example(f"/facts/conflicts/{s.conflict}"),
    "facts_verdict": lambda s: Example(
        f"/facts/conflicts/{s.conflict}/verdict", {"verdict": "keep_b", "reason": "the call was later"}, by=reviewer
    ),
    "facts_fact": lambda s: Example(f"/facts/{s.fact}"),
    "facts_supersede": lambda s: Example(
        f"/facts/{s.lone_fact}/supersede", {"at": "2030-01-01T00:00:00Z", "reason": "moved away"}
    ),
    "facts_retract": lambda s: Example(f"/facts/{s.fact}/retract", {"as": "wrong", "reason": "misheard"}, by=reviewer),
    "tombstones_index": lambda s: Example("/tombstones", query={"state": "active", "limit": 1}),
    "tombstones_tombstone": lambda s: Example(f"/tombstones/{s.dead_end}"),
    "tombstones_bury": lambda s: Example(
        "/tombstones",
        {
            "route": "cache in memory",
            "scope": {"service": "a", "size": ">1GB"},
            "out_of_scope": {"node": ["big-1", "big-2"]},
            "evidence": {"text": "killed by the kernel", "references": [str(s.first.id)]},
            "revival": ["lib>=2.0", {"condition": "twice the memory", "origins": 2}],
            "retest": {"plan": "a bounded load run", "at": "2030-01-01T00:00:00Z"},
            "review_at": "2030-02-01T00:00:00Z",
        },
        status=201,
    ),
    "tombstones_check": lambda s: Example("/tombstones/check", {"route": ROUTE, "scope": SCOPE}),
    "tombstones_file_evidence": lambda s: Example(
        f"/tombstones/{s.dead_end}/evidence",
        {
            "condition": REVIVAL,
            "valid_until": f"{clock.now().date() + timedelta(days=30)}T00:00:00Z",
            "origin": "upstream",
            "evidence": "released",
        },
        status=201,
    ),
    "tombstones_false_block": lambda s: Example(
        f"/tombstones/{s.dead_end}/false-block", {"check": str(s.block), "reason": "the old code"}
    ),
    "tombstones_right_block": lambda s: Example(
        f"/tombstones/{s.dead_end}/right-block", {"check": str(s.block), "reason": "it would have failed"}
    ),
    "tombstones_revive": lambda s: Example(f"/tombstones/{s.spoken_for}/revive", {"reason": "it is met"}, by=owner),
    "tombstones_retest": lambda s: Example(
        f"/tombstones/{s.revived}/retest", {"passed": True, "reason": "it ran"}, by=owner
    ),
    "tombstones_retire": lambda s: Example(f"/tombstones/{s.dead_end}/retire", {"reason": "unused"}, by=owner),
    "tombstones_keep": lambda s: Example(
        f"/tombstones/{s.dead_end}/keep", {"reason": "still so", "review_at": "2031-01-01T00:00:00Z"}, by=owner
    ),
    "beliefs_register": lambda s: Example("/relations/turn", {"law": "s3", "lineage_key": "edge"}, status=201),
    "beliefs_relations": lambda s: Example("/relations"),
    "beliefs_observe": lambda s: Example("/observations", observation(s, "o2"), status=201),
    "beliefs_observations": lambda s: Example("/observations", query={"node": "a", "limit": 1}),
    "beliefs_observation": lambda s: Example(f"/observations/{s.seen}"),
    "beliefs_observe_batch": lambda s: Example(
        "/observations/batch", [observation(s, "o2"), observation(s, "o3")], query={"atomic": "true"}, status=201
    ),
    "beliefs_revoke": lambda s: Example(f"/observations/{s.seen}/revoke", {"reason": "a wrong reading", "at": 200}),
    "beliefs_query": lambda s: Example("/beliefs/query", question(s)),
    "beliefs_decision_of": lambda s: Example(
        "/beliefs/decision", {**question(s), "focus_node": "b", "alternatives": 1}
    ),
    "beliefs_save_query": lambda s: Example("/beliefs/saved", {"name": "hosts", "query": question(s)}, status=201),
    "beliefs_saved": lambda s: Example("/beliefs/saved"),
    "beliefs_open_monitor": lambda s: Example(
        "/monitors/nightly", {"reference_size": 20, "current_size": 40}, status=201
    ),
    "calibration_record": lambda s: Example("/outcomes", outcome(s), status=201),
    "calibration_label": lambda s: Example("/labels", outcome(s), status=201),
    "calibration_record_batch": lambda s: Example("/outcomes/batch", [outcome(s)], status=201),
    "calibration_label_batch": lambda s: Example("/labels/batch", [outcome(s)], status=201),
    "calibration_report": lambda s: Example(f"/monitors/{s.monitor}/report", query={"relation_type": s.relation}),
    "calibration_acknowledge": lambda s: Example(
        f"/alarms/{s.alarm}/acknowledge", {"reason": "looking into it"}, by=reviewer
    ),
    "calibration_close": lambda s: Example(f"/alarms/{s.alarm}/close", {"reason": "repaired"}, by=reviewer),
    "interchange_start": lambda s: Example(
        "/imports", foreign_bytes(), query={"format": "contextfs"}, content_type=RAW, by=owner, status=201
    ),
    "interchange_detail": lambda s: Example(f"/imports/{s.imported()}"),
    "interchange_export": lambda s: Example("/export", query={"format": "prov", "focus": str(s.first.id)}),
    "interchange_restore": lambda s: Example("/restore", an_archive(), content_type=RAW, by=owner, status=201),
    "lineage_graph": lambda s: Example("/lineage", query={"focus": str(s.first.id)}),
}

# Routes whose example names things of its namespace.
NAMING = frozenset(
    {
        "agents_end_run",
        "agents_freeze",
        "agents_issue_token",
        "agents_revoke_token",
        "agents_rotate_token",
        "agents_run",
        "agents_unfreeze",
        "beliefs_decision_of",
        "beliefs_observation",
        "beliefs_observe",
        "beliefs_observe_batch",
        "beliefs_query",
        "beliefs_revoke",
        "beliefs_save_query",
        "calibration_acknowledge",
        "calibration_close",
        "calibration_label",
        "calibration_label_batch",
        "calibration_record",
        "calibration_record_batch",
        "calibration_report",
        "checks_check",
        "facts_assert_fact",
        "facts_case",
        "facts_fact",
        "facts_retract",
        "facts_supersede",
        "facts_verdict",
        "interchange_detail",
        "interchange_export",
        "ledger_erase",
        "lineage_ancestry",
        "lineage_derivation",
        "lineage_derive",
        "lineage_descendants",
        "lineage_diff",
        "lineage_graph",
        "lineage_link",
        "lineage_suggestions",
        "lineage_timeline",
        "records_confirm",
        "records_record",
        "records_reject",
        "records_review",
        "records_resolve",
        "records_restore",
        "records_withdraw",
        "tombstones_bury",
        "tombstones_false_block",
        "tombstones_file_evidence",
        "tombstones_keep",
        "tombstones_retest",
        "tombstones_retire",
        "tombstones_revive",
        "tombstones_right_block",
        "tombstones_tombstone",
    }
)
