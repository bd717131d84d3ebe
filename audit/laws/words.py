"""A report in words, for somebody who has never heard of the laws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from audit.laws.clauses import BY_CLAUSE
from audit.laws.values import CLAUSE_NAMES, Aside, ClauseName, Finding, Report, Scope, Severity, Verdict, Witness

WITNESSES_SHOWN = 3

VERDICTS: dict[Verdict, str] = {
    "holds": "holds in this data", "violated": "VIOLATED", "undecidable": "not decidable from this data",
}  # fmt: skip
SCOPES: dict[Scope, str] = {"fragment": "in what derivations wrote", "store": "in the store as a whole"}
SEVERITIES: dict[Severity, str] = {
    "violation": "", "potential": " (a sign, no proof)", "information": " (for information)",
}  # fmt: skip

# One finding of the kind, and several.
KINDS: dict[str, tuple[str, str]] = {
    "content_changed_in_place": ("text that no longer fits its hash", "texts that no longer fit their hashes"),
    "deletion_mark": ("record marked deleted", "records marked deleted"),
    "edge_older_than_target": (
        "ancestry edge older than the record it ends at",
        "ancestry edges older than the records they end at",
    ),
    "claimed_record_missing": ("claimed parent that is not there", "claimed parents that are not there"),
    "record_gone": ("record gone", "records gone"),
    "record_altered": ("record altered", "records altered"),
    "record_marked_deleted": ("record marked deleted since", "records marked deleted since"),
    "record_mark_removed": ("record whose deletion mark is gone since", "records whose deletion marks are gone since"),
    "content_altered": ("text altered", "texts altered"),
    "content_gone": ("text gone without an erasure", "texts gone without an erasure"),
    "claim_without_edge_own": ("own claim of a record without its edge", "own claims of records without their edges"),
    "claim_without_edge_inherited": (
        "claim copied from a parent, without an edge",
        "claims copied from parents, without edges",
    ),
    "edge_without_claim": ("ancestry edge that no derivation claims", "ancestry edges that no derivation claims"),
    "edge_altered": ("edge altered since it was written", "edges altered since they were written"),
    "digest_disagrees": ("ancestry digest that does not follow", "ancestry digests that do not follow"),
    "interrupted_derivation": ("derivation broken off half-way", "derivations broken off half-way"),
    "unpaired": ("edge without its inverse", "edges without their inverses"),
    "no_inverse": ("edge whose relation has no inverse", "edges whose relation has no inverse"),
    "record_of_no_entry": ("record that no entry wrote", "records that no entry wrote"),
    "edge_of_no_entry": ("edge that no entry wrote", "edges that no entry wrote"),
    "edge_gone": ("edge gone", "edges gone"),
    "cross_namespace_ancestry": ("ancestry edge across namespaces", "ancestry edges across namespaces"),
    "cross_namespace_claim": (
        "claim across namespaces that lost its edge",
        "claims across namespaces that lost their edges",
    ),
    "cross_namespace_edge": ("other edge across namespaces", "other edges across namespaces"),
    "merge_type_tie": ("merge whose type was a tie", "merges whose type was a tie"),
    "shared_prefix": ("beginning shared by several identifiers", "beginnings shared by several identifiers"),
    "id_is_prefix": ("identifier that begins another", "identifiers that begin another"),
    "rule_not_followed": ("merge whose type breaks its own rule", "merges whose types break their own rules"),
    "no_valid_time": ("schema without a valid-time column", "schemas without a valid-time column"),
    "known_instant_not_rising": ("instant set back behind the one before", "instants set back behind the one before"),
    "empty_valid_interval": ("valid interval without a moment", "valid intervals without a moment"),
    "edge_end_missing": ("edge that ends at no record", "edges that end at no record"),
    "edge_end_abbreviated": (
        "edge that holds an abbreviation instead of an identifier",
        "edges that hold an abbreviation instead of an identifier",
    ),
    "end_marked_deleted": (
        "edge that ends at a record marked deleted",
        "edges that end at a record marked deleted",
    ),
    "claim_about_missing": ("claim about a record that is missing", "claims about records that are missing"),
    "ancestry_cycle": ("cycle of ancestry", "cycles of ancestry"),
    "ancestor_not_earlier": ("ancestor that is not earlier in the log", "ancestors that are not earlier in the log"),
}  # fmt: skip


def kind_words(kind: str, count: int = 1) -> str:
    """What findings of the kind are, without their number."""
    one, several = KINDS.get(kind, (kind, kind))
    return one if count == 1 else several


def broken_words(reports: Sequence[Report]) -> str:
    """How many laws are broken, and in how many of several stores: L4i and L4ii are one law."""
    broken = {
        finding.clause[:2] for report in reports for finding in report.findings if finding.verdict == "violated"
    }  # fmt: skip
    n_stores = sum(report.is_violated for report in reports)
    where = f" in {n_stores} of {len(reports)} namespaces" if len(reports) > 1 else ""
    return f"1 law is broken{where}." if len(broken) == 1 else f"{len(broken)} laws are broken{where}."


def report_words(report: Report) -> str:
    """The whole report: a headline, one block for each clause, and what belongs to none."""
    blocks = [f"{report.store}: {report.n_records} records, {report.n_edges} edges"]
    blocks.extend(line for clause in CLAUSE_NAMES for line in _clause_lines(report, clause))
    for aside in report.asides:
        blocks.extend(_aside_lines(aside))
    blocks.extend(_measure_lines(report))
    return "\n".join(blocks)


def _clause_lines(report: Report, clause: ClauseName) -> Iterator[str]:
    findings = report.of(clause)
    yield f"{clause:<4} {BY_CLAUSE[clause].title}: {VERDICTS[report.verdict(clause)]}"
    for finding in findings:
        yield from _finding_lines(finding, is_alone=len(findings) == 1)
    if report.verdict(clause) == "undecidable":
        yield f"       What would decide it: {findings[0].decided_by}."


def _finding_lines(finding: Finding, *, is_alone: bool) -> Iterator[str]:
    where = "" if is_alone else f", {SCOPES[finding.scope]}"
    for kind in finding.kinds:
        yield f"       {kind.count} {kind_words(kind.kind, kind.count)}{where}{SEVERITIES[kind.severity]}"
        if kind.severity == "violation":
            shown = [witness for witness in finding.witnesses if witness.kind == kind.kind][:WITNESSES_SHOWN]
            yield from (f"         {witness_words(witness)}" for witness in shown)
            if kind.count > len(shown):
                yield f"         and {kind.count - len(shown)} more"


def _aside_lines(aside: Aside) -> Iterator[str]:
    yield f"     {aside.count} {kind_words(aside.kind, aside.count)}"
    yield from (f"         {witness_words(witness)}" for witness in aside.witnesses[:WITNESSES_SHOWN])


def _measure_lines(report: Report) -> Iterator[str]:
    before = report.measures.get("records_disagreeing", 0)
    after = report.measures.get("records_disagreeing_after_own_claim_rule")
    if before and after is not None:
        derived = report.measures["derived_records"]
        yield (
            f"     Edges and claims disagree at {before} of {derived} derived records; at {after}, counting only what"
            " each record's own newest derivation claims."
        )


def witness_words(witness: Witness) -> str:
    """A counterexample in one line: identifiers, relation, namespaces, and what else its clause asks for."""
    said = " ".join(part for part in (witness.record, witness.relation, witness.target) if part)
    if witness.target_namespace and witness.target_namespace != witness.namespace:
        said += f" [{witness.namespace} -> {witness.target_namespace}]"
    # Which side a claim or an edge stands on is what its kind says already.
    told = {name: value for name, value in witness.facts.items() if name != "side"}
    facts = ", ".join(f"{name.replace('_', ' ')} {_fact(value)}" for name, value in told.items())
    return _printable(f"{said}: {facts}" if said and facts else said or facts)


def _printable(text: str) -> str:
    """The text with what a terminal obeys, or cannot write, told by its number: a foreign store names as it likes."""
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)


def _fact(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(str(each) for each in value)
    if isinstance(value, dict):
        return "; ".join(f"{name} = {_fact(each)}" for name, each in value.items())
    text = "none" if value is None else str(value)
    return text if len(text) < 64 else f"{text[:12]}…"
