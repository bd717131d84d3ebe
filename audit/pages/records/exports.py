"""The list of records as CSV and as JSON: the whole filter, up to a cap."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.exports import csv_answer, json_answer
from audit.pages.records.filtering import asked
from memory.records.queries.detail import RecordRow
from memory.records.queries.lists import CAP, RANKED, every_record

COLUMNS = (
    "id", "seq", "recorded_at", "type", "first_line", "state", "agent", "run", "source_class", "valid_from", "valid_to",
    "n_parents", "n_children",
)  # fmt: skip


@require_safe
@page("records")
def as_csv(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    given = asked(request)
    rows = every_record(visit.at, where=given.where, sort=given.sort)
    return csv_answer(visit, "records", columns=COLUMNS, rows=map(_fields, rows))


@require_safe
@page("records")
def as_json(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    given = asked(request)
    most = RANKED if given.where.query else CAP
    rows = every_record(visit.at, where=given.where, sort=given.sort, most=most + 1)
    return json_answer(visit, rows=map(_fields, rows), most=most)


def _fields(row: RecordRow) -> dict[str, Any]:
    return {
        "id": row.id, "seq": row.seq, "recorded_at": row.recorded_at, "type": row.type, "first_line": row.first_line,
        "state": row.state, "agent": row.agent_name, "run": row.run, "source_class": row.source_class,
        "valid_from": row.valid_from, "valid_to": row.valid_to, "n_parents": row.n_parents,
        "n_children": row.n_children,
    }  # fmt: skip
