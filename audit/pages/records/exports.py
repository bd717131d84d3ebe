"""The list of records as CSV and as JSON: the whole filter up to a cap, written while it is read.

A cell of the CSV that a spreadsheet would run as a formula is led by an apostrophe.

Source: OWASP, "CSV Injection".
"""

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.frame import in_url
from audit.pages.records.filtering import asked
from memory.records.queries.detail import RecordRow
from memory.records.queries.lists import CAP, RANKED, every_record

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = (
    "id", "seq", "recorded_at", "type", "first_line", "state", "agent", "run", "source_class", "valid_from", "valid_to",
    "n_parents", "n_children",
)  # fmt: skip


@require_safe
@page("records")
def as_csv(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The whole filter as CSV, written while it is read."""
    given = asked(request)
    rows = every_record(visit.at, where=given.where, sort=given.sort)
    writer = csv.writer(_Line())
    lines = (writer.writerow([inert(_cell(value)) for value in _fields(row).values()]) for row in rows)
    body = _and_then(writer.writerow(COLUMNS), lines)
    response = StreamingHttpResponse(body, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{_file_name(visit)}.csv"'
    return response


@require_safe
@page("records")
def as_json(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The whole filter as JSON: the point, the rows, and whether the cap cut it."""
    given = asked(request)
    most = RANKED if given.where.query else CAP
    rows = every_record(visit.at, where=given.where, sort=given.sort, most=most + 1)
    body = _json_pieces(visit, rows, most)
    return StreamingHttpResponse(body, content_type="application/json; charset=utf-8")


def _json_pieces(visit: Visit, rows: Iterator[RecordRow], most: int) -> Iterator[str]:
    point = {"valid_at": in_url(visit.at.valid_at), "seq": visit.at.seq, "provisional": visit.at.provisional}
    yield json.dumps({"namespace": visit.namespace, **point})[:-1] + ', "items": ['
    for n, row in enumerate(rows):
        if n == most:
            yield '\n], "truncated": true}\n'
            return
        yield (",\n" if n else "\n") + json.dumps(_fields(row), default=_plain, ensure_ascii=False)
    yield '\n], "truncated": false}\n'


class _Line:
    """What a csv.writer writes to: it gives each line back."""

    def write(self, line: str) -> str:
        return line


def _and_then(first: str, others: Iterable[str]) -> Iterator[str]:
    yield first
    yield from others


def _fields(row: RecordRow) -> dict[str, Any]:
    return {
        "id": row.id, "seq": row.seq, "recorded_at": row.recorded_at, "type": row.type, "first_line": row.first_line,
        "state": row.state, "agent": row.agent_name, "run": row.run, "source_class": row.source_class,
        "valid_from": row.valid_from, "valid_to": row.valid_to, "n_parents": row.n_parents,
        "n_children": row.n_children,
    }  # fmt: skip


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, UUID) else in_url(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, str | int) else _plain(value)


def inert(cell: str) -> str:
    """The cell so that no spreadsheet takes it for a formula."""
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell


def _file_name(visit: Visit) -> str:
    return f"{visit.namespace}-records-seq-{visit.at.seq}"
