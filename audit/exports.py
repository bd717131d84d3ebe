"""Lists as CSV and JSON: the whole filter up to a cap, written while it is read.

Invariants
- A cell of the CSV that a spreadsheet would run as a formula is led by an apostrophe.
- The JSON says at which point it was read and whether the cap cut it; the same address at the same point has the same
  bytes.

Source: OWASP, "CSV Injection".
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.http import StreamingHttpResponse

from audit.access import Visit
from audit.frame import in_url

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_answer(
    visit: Visit, name: str, *, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]
) -> StreamingHttpResponse:
    """The rows under their columns, as a file that is called after the list and the point."""
    writer = csv.writer(_Line())
    lines = (writer.writerow([inert(_cell(row[column])) for column in columns]) for row in rows)
    response = StreamingHttpResponse(_and_then(writer.writerow(columns), lines), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{visit.namespace}-{name}-seq-{visit.at.seq}.csv"'
    return response


def json_answer(visit: Visit, *, rows: Iterable[Mapping[str, Any]], most: int) -> StreamingHttpResponse:
    """The point and the rows, of which one more than `most` may be given: it is not written, but said."""
    return StreamingHttpResponse(_json(visit, rows, most), content_type="application/json; charset=utf-8")


def _json(visit: Visit, rows: Iterable[Mapping[str, Any]], most: int) -> Iterator[str]:
    point = {"valid_at": in_url(visit.at.valid_at), "seq": visit.at.seq, "provisional": visit.at.provisional}
    yield json.dumps({"namespace": visit.namespace, **point})[:-1] + ', "items": ['
    for n, row in enumerate(rows):
        if n == most:
            yield '\n], "truncated": true}\n'
            return
        yield (",\n" if n else "\n") + json.dumps(row, default=_plain, ensure_ascii=False)
    yield '\n], "truncated": false}\n'


class _Line:
    """What a csv.writer writes to: it gives each line back."""

    def write(self, line: str) -> str:
        return line


def _and_then(first: str, others: Iterable[str]) -> Iterator[str]:
    yield first
    yield from others


def _plain(value: Any) -> str:
    return in_url(value) if isinstance(value, datetime) else str(value)


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{key}={text}" for key, text in sorted(value.items()))
    return "" if value is None else _plain(value)


def inert(cell: str) -> str:
    """The cell so that no spreadsheet takes it for a formula."""
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell
