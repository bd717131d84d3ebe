"""Entries of the ledger in words: who did what to which object, and where it leads.

Invariants
- Every verb that an operation writes has words here; so has every kind of object that a line may name.
- A link leads to a page of the console or there is none: an object without a page of its own is only named.
"""

import re
from dataclasses import dataclass
from uuid import UUID

from audit.navigation import Link
from audit.templatetags.console import count
from memory.agents.activity import COUNTED, ToldEntry

VERBS = {
    "create_namespace": "founded the namespace",
    "publish_key": "published the key that signs checkpoints",
    "erase": "erased",
    "close_namespace": "closed the namespace and erased all that it held",
    "refuse": "was refused",
    "create_agent": "registered the agent",
    "issue_token": "issued",
    "rotate_token": "replaced",
    "revoke_token": "revoked",
    "freeze": "froze the agent",
    "unfreeze": "unfroze the agent",
    "admit_member": "set the role of",
    "hold": "placed a hold on the namespace",
    "lift_hold": "lifted the hold on the namespace",
    "change_setting": "changed",
    "open_run": "opened the run",
    "end_run": "ended the run",
    "record_check": "ran",
    "waive": "waived",
    "save": "saved",
    "withdraw": "withdrew",
    "restore": "restored",
    "confirm": "confirmed",
    "reject": "rejected",
    "review": "confirmed and rejected",
    "lapse": "withdrew unreviewed",
    "evolve": "evolved",
    "merge": "merged into",
    "split": "split into",
    "supersede": "superseded",
    "compile": "compiled",
    "link": "linked",
    "assert": "asserted a fact of",
    "supersede_fact": "superseded a fact of",
    "retract": "retracted a fact of",
    "adjudicate": "settled a conflict of",
    "declare_attribute": "declared the attribute",
    "bury": "buried the route",
    "check_route": "checked the route",
    "file_evidence": "filed",
    "judge_block": "judged a block by",
    "revive": "revived",
    "retest": "reported the re-test of",
    "retire": "retired",
    "keep": "let stand after its review",
    "register": "bound the relation type",
    "observe": "observed",
    "revoke": "revoked",
    "monitor": "opened the monitor run",
    "label": "labelled",
    "acknowledge": "acknowledged an alarm of",
    "close_alarm": "closed an alarm of",
    "save_query": "saved the question",
    "import": "imported",
    "undo_import": "undid an import: withdrew",
    "reconcile": "linked what an import had quarantined:",
    "export": "exported",
    "restore_namespace": "restored from an archive",
}

NOUNS = {
    "record": "a record",
    "withdrawal": "a record",
    "review": "a held memory",
    "held": "a held memory",
    "derivation": "a record",
    "edge": "a record",
    "compilation": "a record",
    "fact": "a subject",
    "supersession": "a subject",
    "retraction": "a subject",
    "adjudication": "a subject",
    "attribute_spec": "an attribute",
    "relation_law": "a relation type",
    "observation": "an observation",
    "revocation": "an observation",
    "monitor_run": "a monitor run",
    "label_outcome": "a label",
    "alarm": "an alarm",
    "alarm_turn": "an alarm",
    "saved_query": "a question",
    "erasure": "content",
    "token": "a token",
    "token_revocation": "a token",
    "membership": "a person",
    "setting": "a setting",
    "check_run": "a check",
    "waiver": "a finding",
    "export_run": "a file",
    "restore_run": "a namespace",
    "import_run": "a store",
    "tombstone": "a dead end",
    "route_hit": "a dead end",
    "block_verdict": "a dead end",
    "tombstone_turn": "a dead end",
    "revival_evidence": "evidence for a dead end",
}
"""What an object is called where it has no name of its own; a kind that is not listed adds nothing to its verb."""

PAGES = {
    "record": "/records/{}",
    "withdrawal": "/records/{}",
    "review": "/records/{}",
    "held": "/records/{}",
    "edge": "/records/{}",
    "compilation": "/records/{}",
    "fact": "/facts/{}",
    "supersession": "/facts/{}",
    "retraction": "/facts/{}",
    "adjudication": "/facts/conflicts/{}",
    "observation": "/beliefs/observations/{}",
    "revocation": "/beliefs/observations/{}",
    "saved_query": "/beliefs/saved/{}",
    "alarm": "/calibration/alarms/{}",
    "alarm_turn": "/calibration/alarms/{}",
    "monitor_run": "/calibration",
    "run": "/runs/{}",
    "run_end": "/runs/{}",
    "import_run": "/imports/{}",
    "import_finding": "/imports/findings/{}",
    "tombstone": "/tombstones/{}",
    "revival_condition": "/tombstones/{}",
    "route_hit": "/tombstones/{}",
    "block_verdict": "/tombstones/{}",
    "tombstone_turn": "/tombstones/{}",
    "check_run": "/ledger/checks/{}",
    "agent": "/agents",
    "freeze": "/agents",
    "token": "/agents",
    "token_revocation": "/agents",
    "membership": "/agents",
    "hold": "/agents",
    "setting": "/agents",
}

DIGEST = re.compile(r"[0-9a-f]{64}")
"""A store that was given no name goes by the digest of its file."""

REFUSED = ("refuse",)
"""Verbs of entries that say that something was not done."""


@dataclass(frozen=True, slots=True)
class EntryLine:
    """One entry as a line: who, the verb in words, the object with its link, the run, and where the entry itself is.

    `who` is empty where a name was erased; `more` says how many objects beside the first. Where the entry is about its
    own run, that is the object.
    """

    told: ToldEntry
    who: str
    verb: str
    object: Link
    more: str
    run: Link | None
    entry: Link
    is_refused: bool
    is_about_run: bool


def verb_words(verb: str) -> str:
    """The verb as people say it; one that has no words yet is shown as it is written."""
    return VERBS.get(verb, verb.replace("_", " "))


def object_url(kind: str, about: UUID | None, *, carry: str) -> str:
    """The page of the object; "" where it has none."""
    path = PAGES.get(kind, "") if about is not None else ""
    return path.format(about) + carry if path else ""


def entry_line(told: ToldEntry, *, carry: str) -> EntryLine:
    """The entry in words; `carry` is the query string that links end with."""
    is_refused = told.verb in REFUSED
    run = Link(told.run_title or "a run without a title", f"/runs/{told.run}{carry}") if told.run else None
    is_about_run = run is not None and told.kind in ("", "run_end") and not is_refused
    return EntryLine(
        told=told,
        who=told.person_name or told.agent_name or ("the system" if told.principal == "system" else ""),
        verb=verb_words(told.verb),
        object=run if run is not None and is_about_run else _object(told, carry=carry),
        more=_refusals(told) if is_refused else _others(told),
        run=None if is_about_run else run,
        entry=Link(count(told.seq), f"/ledger/{told.seq}{carry}"),
        is_refused=is_refused,
        is_about_run=is_about_run,
    )


def _object(told: ToldEntry, *, carry: str) -> Link:
    """The first object by its label, else by what such things are called."""
    if told.verb in REFUSED:
        return Link("", "")
    label = told.label or NOUNS.get(told.kind, "")
    if told.kind == "import_run" and DIGEST.fullmatch(label):
        label = f"a store, {label[:12]}…"
    return Link(label, object_url(told.kind, told.object, carry=carry))


def _others(told: ToldEntry) -> str:
    if told.n_objects <= 1 or told.kind not in NOUNS:
        return ""
    if told.n_objects > COUNTED:
        return f"and {COUNTED}+ more"
    return f"and {count(told.n_objects - 1)} more"


def _refusals(told: ToldEntry) -> str:
    """The code of the refusal and for how many acts it stands."""
    return told.refused + (f", {count(told.n_refused)} times" if told.n_refused > 1 else "")
