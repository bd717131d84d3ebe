"""One import with what it found, and one finding with the rows of the source that it keeps."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, is_partial, page
from audit.components import Definition, Facet, FacetValue, FilterPart, Pager
from audit.frame import address, pairs_of
from audit.navigation import Link, breadcrumbs
from audit.templatetags.console import count
from memory.interchange import queries
from memory.interchange.queries import FindingRow, RunDetail
from memory.interchange.reports import told_codes

DIGEST_CHARS = 64
TONES = {"quarantined": "held", "repaired": "ok", "information": "known"}
SEVERITIES = {"quarantined": "quarantined, not repaired", "repaired": "repaired", "information": "noticed"}


@dataclass(frozen=True, slots=True)
class FindingLine:
    """A finding with its meaning, the identifiers of the source that it is about, and what was made of them."""

    row: FindingRow
    meaning: str
    ids: tuple[str, ...]
    relation: str
    before: str
    after: str
    url: str
    record_url: str
    is_erased: bool


@dataclass(frozen=True, slots=True)
class RawLine:
    """A row of the source as it was read; `text` is "" where it is erased or was left out."""

    table: str
    became: str
    text: str
    digest: str
    url: str


@require_safe
@page("imports")
def run(request: HttpRequest, visit: Visit, run: UUID) -> HttpResponse:
    found = queries.import_run(visit.at, id=run)
    pairs = pairs_of(request, without=("after",))
    given = dict(pairs)
    listed = queries.findings(
        visit.at, run=run, severity=given.get("severity", ""), code=given.get("code", ""),
        after=request.GET.get("after", ""),
    )  # fmt: skip
    told = {one["code"]: one for one in told_codes({code: n for _, code, n in found.codes})}
    context = {
        "trail": (*breadcrumbs("imports", carry=visit.carry), Link(called(found), "")),
        "title": called(found),
        "found": found,
        "facts": _facts(visit, found),
        "facets": _facets(visit, found, pairs),
        "parts": _parts(visit, found, pairs),
        "clear_url": _address(visit, found, [pair for pair in pairs if pair[0] not in ("severity", "code")]),
        "total_text": f"{count(listed.total)} finding{'' if listed.total == 1 else 's'}",
        "lines": [finding_line(visit, row, told) for row in listed.items],
        "pager": _pager(visit, found, pairs, listed),
        "told": recorded.told(request, carry=visit.carry),
        "may_own": visit.actor.may("own") and visit.frame.can_write,
        "meanings": list(told.values()),
        "severities": SEVERITIES,
    }
    return render(request, "imports/run.html#findings" if is_partial(request) else "imports/run.html", context)


def called(found: RunDetail) -> str:
    """A source that was given no name goes by the digest of its beginning."""
    source = found.row.source
    is_digest = len(source) == DIGEST_CHARS and set(source) <= set("0123456789abcdef")
    return f"{source[:12]}…" if is_digest else source


def _facts(visit: Visit, found: RunDetail) -> tuple[Definition, ...]:
    row, told = found.row, found.report or {}
    return (
        Definition("format", row.format),
        Definition("source namespace", told.get("namespace")),
        Definition("target namespace", visit.namespace),
        Definition("recorded as", f"seq {count(row.seq)}", f"/ledger/{row.seq}{visit.carry}"),
        Definition("source", row.source, is_code=len(row.source) == DIGEST_CHARS),
        Definition("file", told.get("file"), is_code=True, title="SHA-256 of the file"),
    )


def _address(visit: Visit, found: RunDetail, pairs: list[tuple[str, str]]) -> str:
    return address(f"/imports/{found.row.id}", pairs)


def _facets(visit: Visit, found: RunDetail, pairs: list[tuple[str, str]]) -> tuple[Facet, ...]:
    given = dict(pairs)
    by_severity: dict[str, int] = {}
    for severity, _, n in found.codes:
        by_severity[severity] = by_severity.get(severity, 0) + n

    def value(name: str, key: str, label: str, n: int) -> FacetValue:
        is_active = given.get(name) == key
        kept = [pair for pair in pairs if pair[0] != name]
        return FacetValue(label, count(n), _address(visit, found, [*kept, (name, "" if is_active else key)]), is_active)

    severities = [value("severity", key, SEVERITIES[key], n) for key, n in by_severity.items()]
    codes = [
        value("code", code, code, n) for severity, code, n in found.codes if given.get("severity", severity) == severity
    ]
    return (Facet("What was done", tuple(severities)), Facet("Code", tuple(codes))) if found.codes else ()


def _parts(visit: Visit, found: RunDetail, pairs: list[tuple[str, str]]) -> tuple[FilterPart, ...]:
    def without(name: str) -> str:
        return _address(visit, found, [pair for pair in pairs if pair[0] != name])

    given = dict(pairs)
    shown = []
    if severity := given.get("severity"):
        shown.append(FilterPart(SEVERITIES.get(severity, severity), without("severity")))
    if code := given.get("code"):
        shown.append(FilterPart(f"code is {code}", without("code")))
    return tuple(shown)


def _pager(visit: Visit, found: RunDetail, pairs: list[tuple[str, str]], listed: queries.FindingPage) -> Pager:
    before = _address(visit, found, [*pairs, ("after", listed.previous)]) if listed.previous else ""
    behind = _address(visit, found, [*pairs, ("after", listed.next)]) if listed.next else ""
    return Pager(before, behind, f"{count(len(listed.items))} of {count(listed.total)}" if listed.total else "")


def finding_line(visit: Visit, row: FindingRow, told: Mapping[str, Mapping[str, Any]]) -> FindingLine:
    """The finding in words. Its identifiers come from the source: they are untrusted text."""
    report = row.report or {}
    return FindingLine(
        row, str(told[row.code]["meaning"]), tuple(report.get("ids", ())), report.get("relation") or "",
        _spelled(report.get("before")), _spelled(report.get("after")), f"/imports/findings/{row.id}{visit.carry}",
        f"/records/{row.record}{visit.carry}" if row.record is not None else "", row.report is None,
    )  # fmt: skip


def _spelled(value: Any) -> str:
    """A small object in one line: `claimed: yes, edge: no`."""
    if not isinstance(value, Mapping):
        return ""
    return ", ".join(f"{name}: {_word(one)}" for name, one in value.items())


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(_word(one) for one in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else str(value)


@require_safe
@page("imports")
def finding(request: HttpRequest, visit: Visit, finding: UUID) -> HttpResponse:
    """One finding: what the source says, what was made of it, and the rows that it keeps."""
    row = queries.finding(visit.at, id=finding)
    told = {one["code"]: one for one in told_codes({row.code: 1})}
    kept = queries.raw_rows(visit.at, about=row.id)
    about = queries.raw_rows(visit.at, about=row.record) if row.record is not None else []
    context = {
        "trail": (
            *breadcrumbs("imports", carry=visit.carry),
            Link("import", f"/imports/{row.run}{visit.carry}"),
            Link(row.code, ""),
        ),
        "line": finding_line(visit, row, told),
        "severity": SEVERITIES[row.severity],
        "tone": TONES[row.severity],
        "kept": [_raw(visit, one) for one in kept],
        "about": [_raw(visit, one) for one in about],
    }
    return render(request, "imports/finding.html", context)


def _raw(visit: Visit, row: queries.RawRow) -> RawLine:
    url = f"/ledger/{row.seq}{visit.carry}{'&' if visit.carry else '?'}item={row.item}"
    if row.value is None:
        return RawLine("", row.became, "", "", url)
    text = json.dumps(row.value["row"], ensure_ascii=False, indent=1, sort_keys=True)
    return RawLine(row.value["key"][0], row.became, text, row.value["hash"], url)
