"""Whole stores beside each other by class: this namespace at two points, or beside what an import brought.

Invariants
- Classes, not identifiers, are compared: a record that was imported is the same record where it says and rests on the
  same. What stands in one only is counted, and its largest classes are listed.
- A large namespace is compared by a task, asked for by a POST; its answer is the same page.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from audit.access import Visit, page
from audit.laws.bisimilarity import tasks
from audit.navigation import Link, breadcrumbs
from audit.pages.laws.asking import Comparison, shown
from audit.pages.ledger.filtering import seq_of
from audit.secrets import covered
from audit.templatetags.console import count
from memory.base.errors import Invalid
from memory.interchange.queries import became, import_run, import_runs
from memory.ledger.queries import asof
from memory.records.queries import detail as reads

SOURCE_CHARS = 24
# Where a source keeps the records that are compared.
TABLE = "memories"


@dataclass(frozen=True, slots=True)
class ClassLine:
    """A class that stands on one side only: how many records, and the first of them; no address for a row that
    became no record here."""

    n_records: int
    id: str
    url: str
    line: str

    @property
    def n_more(self) -> int:
        return self.n_records - 1


@dataclass(frozen=True, slots=True)
class OneSide:
    """One side: what it is called, its records, and the classes that only it has."""

    name: str
    n_records: int
    n_classes: int
    n_only: int
    classes: tuple[ClassLine, ...]


@require_http_methods(["GET", "HEAD", "POST"])
@page("laws", power="read")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The form, and the answer where another store is named; a POST has a large one compared by a worker."""
    asked = {name: request.GET.get(name, "").strip() for name in ("against", "import")}
    comparison = Comparison("laws/stores.html", frame_of, _given, answer)
    return shown(request, visit, comparison, asked=asked, is_asked=any(asked.values()))


def frame_of(visit: Visit) -> dict[str, Any]:
    """What the page shows whatever was asked: the imports that can be compared with."""
    return {
        "trail": (*breadcrumbs("laws", carry=visit.carry), Link("Compare stores", "")),
        "carried": visit.frame.carried,
        "imports": [
            {
                "id": str(row.id),
                "words": f"seq {count(row.seq)}, {count(row.n_records)} records of {_short(row.source)}",
            }
            for row in import_runs(visit.at, limit=50)
        ],
    }


def _short(source: str) -> str:
    """A source without a name of its own goes by a digest, of which the beginning is enough."""
    return source if len(source) <= SOURCE_CHARS else f"{source[: SOURCE_CHARS - 1]}…"


def _given(visit: Visit, asked: dict[str, str]) -> dict[str, Any]:
    """What is compared. Raises Invalid, NotFound."""
    if all(asked.values()):
        raise Invalid.at("against", expected="either another point or an import")
    if asked["import"]:
        try:
            run = UUID(asked["import"])
        except ValueError as error:
            raise Invalid.at("import", expected="the id of an import", got=asked["import"][:60]) from error
        return tasks.given_stores(seq=visit.at.seq, run=import_run(visit.at, id=run).row.id)
    against = seq_of("against", asked["against"].removeprefix("seq:"))
    asof.resolve(visit.at.namespace, known_at=f"seq:{against}")
    return tasks.given_stores(seq=visit.at.seq, against=against)


def answer(visit: Visit, given: dict[str, Any], outcome: dict[str, Any]) -> dict[str, Any]:
    """The answer in words and numbers."""
    is_import = given["run"] is not None
    second = "what the import brought" if is_import else f"{visit.namespace} as of seq {count(given['against'])}"
    records = _records(visit, given, outcome)
    lines = _lines(visit, records.values(), last=given["against"] or 0)
    sides = (
        _side(visit, f"{visit.namespace} as of seq {count(given['seq'])}", outcome, "first", records, lines),
        _side(visit, second, outcome, "second", records, lines),
    )
    return {
        "sides": sides,
        "sentence": _sentence(outcome),
        "outcome": outcome,
        "is_import": is_import,
        "unequal": [
            {**one, "url": f"/records/{one['id']}{visit.carry}", "line": lines.get(records[one["id"]], "")}
            for one in outcome["most_in_both"]
        ],
    }


def _records(visit: Visit, given: dict[str, Any], outcome: dict[str, Any]) -> dict[str, UUID]:
    """{id that is listed: the record of this namespace}; a row of a source stands for what it became."""
    first, second = ([one["id"] for one in outcome[f"only_{key}"]["largest"]] for key in ("first", "second"))
    own = [*first, *(one["id"] for one in outcome["most_in_both"])]
    if given["run"] is None:
        return {id: UUID(id) for id in (*own, *second)}
    return {**became(visit.at, run=UUID(given["run"]), table=TABLE, keys=second), **{id: UUID(id) for id in own}}


def _lines(visit: Visit, records: Iterable[UUID], *, last: int) -> dict[UUID, str]:
    """{id: first line} of records of this namespace, read at the later of the two points."""
    at = visit.at if visit.at.seq >= last else asof.resolve(visit.at.namespace, known_at=f"seq:{last}")
    rows = reads.rows_by_id(at, sorted(set(records)))
    return {id: covered(row.first_line) or "No text" for id, row in rows.items()}


def _side(
    visit: Visit, name: str, outcome: dict[str, Any], key: str, records: dict[str, UUID], lines: dict[UUID, str]
) -> OneSide:
    only = outcome[f"only_{key}"]
    classes = []
    for one in only["largest"]:
        record = records.get(one["id"])
        url = f"/records/{record}{visit.carry}" if record in lines else ""
        classes.append(ClassLine(one["records"], one["id"], url, lines.get(record, "") if record else ""))
    return OneSide(name, outcome[key], only["classes"], only["records"], tuple(classes))


def _sentence(outcome: dict[str, Any]) -> str:
    n_only = outcome["only_first"]["classes"] + outcome["only_second"]["classes"]
    n_both = outcome["classes_in_both"]
    if not n_only:
        unequal = outcome["unequal_in_number"]
        told = f", {count(unequal)} of them with more records on one side" if unequal else ""
        return f"The same store: all {count(n_both)} classes stand in both{told}."
    only = "class stands" if n_only == 1 else "classes stand"
    both = "stands" if n_both == 1 else "stand"
    return f"{count(n_only)} {only} in one of them only; {count(n_both)} {both} in both."
