"""What the checkers read and what they answer: snapshots of stores, counterexamples, verdicts, a report.

Invariants
- A verdict is `violated` with at least one counterexample, `holds` where the evidence decides the clause and shows
  none, `undecidable` where the evidence is of the wrong kind.
- Findings of the derivation fragment and of the whole store stand apart; no number adds the two up.
- A potential finding or one for information never makes a clause violated.
- A report holds no text of a record, so that it may be shown to whoever may see identifiers.

Source: laws of the store, 2.1 to 2.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

ClauseName = Literal["L1", "L2", "L3", "L4i", "L4ii", "L5", "L6", "L7"]
Verdict = Literal["holds", "violated", "undecidable"]
Scope = Literal["fragment", "store"]
Severity = Literal["violation", "potential", "information"]

CLAUSE_NAMES: tuple[ClauseName, ...] = get_args(ClauseName)
SCOPES: tuple[Scope, ...] = get_args(Scope)

# The worst of several scopes stands for the clause.
_RANK: dict[Verdict, int] = {"holds": 0, "undecidable": 1, "violated": 2}


@dataclass(frozen=True, slots=True)
class Claim:
    """A record says that it came from `target` by `relation`; `is_own` where its own derivation wrote that.

    A claim that is not its own was copied from a parent together with the rest of the parent's metadata.
    """

    relation: str
    target: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """One record of a store, without its text.

    payload : SHA-256 of all columns but the deletion mark.
    is_stale : the store's own content hash does not fit the content; None where it holds no hash.
    claims : in the order of the record, repetitions kept.
    created_at : as the store says; naive where it names no offset, None where it says nothing that can be read.
    """

    id: str
    namespace: str
    type: str
    payload: bytes
    claims: tuple[Claim, ...] = ()
    is_marked_deleted: bool = False
    is_stale: bool | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SnapshotEdge:
    """One stored edge, read `source relation target`.

    has_derivation_mark : its metadata names a supersession.   created_at : as that of a record.
    """

    source: str
    relation: str
    target: str
    payload: bytes
    is_marked_deleted: bool = False
    has_derivation_mark: bool = False
    created_at: datetime | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.source, self.relation, self.target


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A store at one moment. Records by identifier, in the order of the store; `time_columns` as table.column.

    `valid_time_columns` are those that say when something held in the world.
    """

    store: str
    records: Mapping[str, SnapshotRecord]
    edges: tuple[SnapshotEdge, ...]
    time_columns: tuple[str, ...]
    valid_time_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """A counterexample. `record` is the newer end, or the only one; `facts` what else the clause's shape asks for.

    Where two namespaces are joined, both stand here, and nothing of what the records say.
    """

    kind: str
    record: str = ""
    relation: str = ""
    target: str = ""
    namespace: str = ""
    target_namespace: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """What is known of it; empty fields are left out."""
        named = {
            "kind": self.kind, "record": self.record, "relation": self.relation, "target": self.target,
            "namespace": self.namespace, "target_namespace": self.target_namespace,
        }  # fmt: skip
        return {name: value for name, value in named.items() if value} | dict(self.facts)


@dataclass(frozen=True, slots=True)
class KindCount:
    """How many findings there are of one kind, and whether one of them breaks the clause."""

    kind: str
    severity: Severity
    count: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One clause over one scope. `witnesses` are the first of each kind; `kinds` count all.

    decided_by : what would decide the clause where it is undecidable, else what decided it.
    """

    clause: ClauseName
    scope: Scope
    verdict: Verdict
    kinds: tuple[KindCount, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    decided_by: str = ""

    @property
    def n_violations(self) -> int:
        return sum(kind.count for kind in self.kinds if kind.severity == "violation")

    def as_json(self) -> dict[str, Any]:
        return {
            "clause": self.clause, "verdict": self.verdict, "scope": self.scope,
            "kinds": {kind.kind: kind.count for kind in self.kinds},
            "severities": {kind.kind: kind.severity for kind in self.kinds},
            "witnesses": [witness.as_json() for witness in self.witnesses], "decided_by": self.decided_by,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Aside:
    """Something worth knowing that breaks no clause by itself."""

    kind: str
    count: int
    witnesses: tuple[Witness, ...] = ()

    def as_json(self) -> dict[str, Any]:
        witnesses = [witness.as_json() for witness in self.witnesses]
        return {"kind": self.kind, "count": self.count, "witnesses": witnesses}


@dataclass(frozen=True, slots=True)
class Report:
    """The clauses over one store. `asides` belong to no clause; `measures` are further counts."""

    store: str
    findings: tuple[Finding, ...]
    n_records: int = 0
    n_edges: int = 0
    asides: tuple[Aside, ...] = ()
    measures: Mapping[str, int] = field(default_factory=dict)
    input_digest: bytes = b""

    def of(self, clause: ClauseName) -> tuple[Finding, ...]:
        """The findings of one clause, one for each scope that it speaks about."""
        return tuple(finding for finding in self.findings if finding.clause == clause)

    def verdict(self, clause: ClauseName) -> Verdict:
        """The worst over its scopes.   Raises ValueError where the report says nothing of the clause."""
        return worst(finding.verdict for finding in self.of(clause))

    def count(self, kind: str) -> int:
        """How many findings of the kind there are, over all scopes, asides among them."""
        in_findings = sum(each.count for finding in self.findings for each in finding.kinds if each.kind == kind)
        return in_findings + sum(aside.count for aside in self.asides if aside.kind == kind)

    @property
    def is_violated(self) -> bool:
        return any(finding.verdict == "violated" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """The shape of `check_laws --format json`."""
        return {
            "store": self.store, "records": self.n_records, "edges": self.n_edges,
            "clauses": [finding.as_json() for finding in self.findings],
            "asides": [aside.as_json() for aside in self.asides], "measures": dict(self.measures),
        }  # fmt: skip


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Violated before undecidable before holds.   Raises ValueError for none."""
    return max(verdicts, key=_RANK.__getitem__)


def verdict_of(kinds: Sequence[KindCount], *, is_decidable: bool) -> Verdict:
    """A violation needs no further evidence; without one, only evidence of the right kind lets a clause hold."""
    if any(kind.severity == "violation" and kind.count for kind in kinds):
        return "violated"
    return "holds" if is_decidable else "undecidable"
