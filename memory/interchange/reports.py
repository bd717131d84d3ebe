"""What an import says of itself, as JSON for pages and the API, and as text for a command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from memory.interchange.contextfs.kernel.agreement import Reconciliation
from memory.interchange.contextfs.kernel.findings import CODES
from memory.interchange.contextfs.operations import Report
from memory.interchange.posterior.kernel import findings as posterior

MEANINGS = {**CODES, **posterior.CODES}
SEVERITIES = ("quarantined", "repaired", "information")
ROWS_TOLD = 200


def as_json(report: Report) -> dict[str, Any]:
    """The report with each code's severity, clause and meaning."""
    applied = [asdict(one) | {"run": str(one.run) if one.run else None} for one in report.applied]
    return {
        "source": report.source, "fingerprint": report.fingerprint, "file_sha256": report.file_sha256,
        "is_dry_run": report.is_dry_run, "targets": dict(report.targets), "applied": applied,
        "counts": {name: _plain(value) for name, value in report.counts.items()}, "codes": told_codes(report.codes),
        "resembles": dict(report.resembles), "reconciliation": _reconciliation(report.reconciliation),
        "preview": [asdict(row) for row in report.preview],
    }  # fmt: skip


def _reconciliation(found: Reconciliation) -> dict[str, Any]:
    """The comparison with the first rows that still disagree; the page of an import has all of them."""
    told = {**asdict(found), "by_code": dict(found.by_code), "n_unexplained": found.n_unexplained}
    return {**told, "rows": [asdict(row) for row in found.rows[:ROWS_TOLD]]}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def told_codes(codes: Mapping[str, int]) -> list[dict[str, Any]]:
    """Each code with its meaning, quarantines first."""
    told = [
        {
            "code": code, "count": count, "severity": MEANINGS[code].severity, "clause": MEANINGS[code].clause,
            "meaning": MEANINGS[code].meaning,
        }
        for code, count in codes.items()
    ]  # fmt: skip
    return sorted(told, key=lambda one: (SEVERITIES.index(str(one["severity"])), one["code"]))


def as_text(report: Report) -> str:
    """The report in lines: where rows went, what was repaired and quarantined and why, and what was not repaired."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    counts = report.counts
    would = " would take" if report.is_dry_run else " took"
    yield f"source {report.source}"
    is_beliefs = report.format == "posterior"
    noun = "observation" if is_beliefs else "record"
    also = _n(counts["n_labels"], "label") if is_beliefs else _n(counts["n_edges"], "edge")
    yield (
        f"  {_n(counts['n_records'], noun)} ({counts['n_live']} live), {also}, "
        f"{len(report.targets)} of {_n(len(counts['by_namespace']), 'namespace')}"
    )
    for other, shared in report.resembles.items():
        yield f"  perhaps the same as {other}: {_n(shared, 'row')} coincide; --source settles it"
    by_target = {one.namespace: one for one in report.applied}
    for name, target in report.targets.items():
        one = by_target[target]
        entry = f", entry {one.seq}" if one.seq is not None else ""
        also = _n(one.n_edges, "edge")
        if is_beliefs:
            also = f"{_n(one.n_labels, 'label')}, {_n(one.n_revocations, 'revocation')}"
        yield (
            f"{name} -> {target}{would} {_n(one.n_records, noun)}, {also}, "
            f"{_n(one.n_findings, 'finding')} ({one.n_quarantined} quarantined); {one.n_skipped} here before{entry}"
        )
    yield from _code_lines(told_codes(report.codes))
    yield from _reconciliation_lines(report.reconciliation)
    yield "Everything imported is relayed: it stands here on the word of the source."


def _reconciliation_lines(found: Reconciliation) -> Iterator[str]:
    if not found.n_records:
        return
    derived = _n(found.n_derived, "derived record")
    yield f"edges beside claims: {found.n_before} of {derived} disagree, {found.n_after} after the newest own claim"
    for code, count in found.by_code.items():
        yield f"  {count:>6} of them by {code}"


def _n(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _code_lines(told: list[dict[str, Any]]) -> Iterator[str]:
    for severity, title in zip(SEVERITIES, ("quarantined, not repaired", "repaired", "noticed"), strict=True):
        cases = [case for case in told if case["severity"] == severity]
        yield f"{title}: {sum(case['count'] for case in cases)}"
        for case in cases:
            clause = f" ({case['clause']})" if case["clause"] else ""
            yield f"  {case['count']:>6} x {case['code']}{clause}: {case['meaning']}"
