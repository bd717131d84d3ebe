"""Counterexamples of a run as people read them: what breaks, where, and what to do about it.

Invariants
- Identifiers, namespaces and digests only; what joins two namespaces shows no link into the other one.
- Counts are never cut: where fewer are listed than were counted, the rest is said.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audit.access import Visit
from audit.laws.words import SCOPES, kind_words
from audit.pages.laws.remedies import remedy
from memory.checks.queries import CheckDetail, FindingRow

LISTED = 50
ABOUT_ANCESTRY = "L2"


@dataclass(frozen=True, slots=True)
class End:
    """A record that a counterexample names; without an address where it is in another namespace, or is no record."""

    id: str
    url: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """One of them. `facts` are (name, value) in words; `entry_url` leads to the entry that wrote what is wrong."""

    kind: str
    first: End | None
    relation: str
    second: End | None
    facts: tuple[tuple[str, str], ...]
    entry: int | None
    entry_url: str


@dataclass(frozen=True, slots=True)
class Kind:
    """All of one kind in one scope."""

    words: str
    code: str
    scope: str
    severity: str
    count: int
    remedy: str


@dataclass(frozen=True, slots=True)
class Beside:
    """Something that breaks no law by itself; `rows` are the first of it."""

    words: str
    code: str
    count: int
    remedy: str
    rows: tuple[Counterexample, ...]

    @property
    def n_unlisted(self) -> int:
        return self.count - len(self.rows)


def kinds_of(found: CheckDetail) -> tuple[Kind, ...]:
    """What was counted, violations first; from the findings where the report is no law's."""
    scopes = _scopes(found)
    if not scopes:
        counts: dict[str, int] = {}
        for row in found.findings:
            counts[row.kind] = counts.get(row.kind, 0) + row.count
        return tuple(Kind(kind_words(kind, n), kind, "", "violation", n, remedy(kind)) for kind, n in counts.items())
    found_kinds = [
        Kind(kind_words(kind, n), kind, SCOPES[scope["scope"]], scope["severities"][kind], n, remedy(kind))
        for scope in scopes
        for kind, n in scope["kinds"].items()
    ]
    order = ("violation", "potential", "information")
    return tuple(sorted(found_kinds, key=lambda kind: (order.index(kind.severity), kind.scope)))


def counterexamples(visit: Visit, found: CheckDetail) -> tuple[Counterexample, ...]:
    """Every counterexample that the run has kept."""
    scopes = _scopes(found)
    if not scopes:
        return tuple(_of_finding(visit, row) for row in found.findings)
    return tuple(
        _of_witness(visit, witness)
        for scope in scopes
        for witness in scope["witnesses"]
        if scope["severities"].get(witness["kind"]) == "violation"
    )


def asides(visit: Visit, found: CheckDetail) -> tuple[Beside, ...]:
    """What the pass found beside the laws. All of it is about ancestry, so the page of L2 tells it."""
    report = found.report
    if not isinstance(report, Mapping) or report.get("clause") != ABOUT_ANCESTRY:
        return ()
    return tuple(
        Beside(
            kind_words(each["kind"], each["count"]), each["kind"], each["count"], remedy(each["kind"]),
            tuple(_of_witness(visit, witness) for witness in each["witnesses"][:LISTED]),
        )
        for each in report.get("asides", ())
    )  # fmt: skip


def decided_by(found: CheckDetail) -> str:
    """What would decide an undecidable clause; "" where the report does not say."""
    return next((str(scope["decided_by"]) for scope in _scopes(found) if scope["verdict"] == "undecidable"), "")


def _scopes(found: CheckDetail) -> list[Mapping[str, Any]]:
    report = found.report
    return list(report["scopes"]) if isinstance(report, Mapping) and "scopes" in report else []


def _of_finding(visit: Visit, row: FindingRow) -> Counterexample:
    first = End(str(row.object), f"/records/{row.object}{visit.carry}") if row.object is not None else None
    facts = (("item", str(row.item)),) if row.item is not None else ()
    times = (("times", str(row.count)),) if row.count > 1 else ()
    return Counterexample(row.kind, first, "", None, (*facts, *times), row.seq, _entry_url(visit, row.seq))


def _of_witness(visit: Visit, witness: Mapping[str, Any]) -> Counterexample:
    told = dict(witness)
    kind, relation = told.pop("kind"), told.pop("relation", "")
    spaces = (told.pop("namespace", ""), told.pop("target_namespace", ""))
    crosses = bool(spaces[1]) and spaces[0] != spaces[1]
    ends = [
        _end(visit, told.pop(name, ""), space if crosses else "")
        for name, space in zip(("record", "target"), spaces, strict=True)
    ]
    entry = told.pop("entry", None)
    seq = entry if isinstance(entry, int) else None
    return Counterexample(kind, ends[0], relation, ends[1], tuple(_facts(told)), seq, _entry_url(visit, seq))


def _end(visit: Visit, id: str, namespace: str) -> End | None:
    if not id:
        return None
    is_here = _is_id(id) and namespace in ("", visit.namespace)
    return End(id, f"/records/{id}{visit.carry}" if is_here else "", namespace)


def _facts(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in told.items():
        shown = ", ".join(str(one) for one in value) if isinstance(value, list) else value
        yield name.replace("_", " "), "none" if shown is None else str(shown)


def _entry_url(visit: Visit, seq: int | None) -> str:
    return f"/ledger/{seq}{visit.carry}" if seq is not None else ""


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
