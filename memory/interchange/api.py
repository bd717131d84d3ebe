"""Routes of imports: taking an uploaded store in, and reading what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Path, Query
from ninja.responses import Status

from memory.base import gate, jobs
from memory.base.bodies import require_type
from memory.base.doors import Entered, Routes, actor, made, namespace, page
from memory.base.errors import Invalid, NotFound
from memory.base.schemas import Id
from memory.interchange import queries
from memory.interchange.schemas import ImportDetailOut, ImportIn, ImportOut, of_job, of_run
from memory.interchange.tasks import KIND, ask_import
from memory.ledger.queries import asof
from memory.ledger.schemas import Point, rests_on

routes = Routes("interchange")

RAW = "application/octet-stream"
FORM = "multipart/form-data"
PIECE_BYTES = 64 * 1024
UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            RAW: {"schema": {"type": "string", "format": "binary"}},
            FORM: {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            },
        },
    }
}


@routes.write("/imports", need=gate.OWN, answer=ImportOut, makes=True, extra=UPLOAD)
def start(request: Entered, how: Query[ImportIn]) -> Status[ImportOut]:
    """Import an uploaded store, or with `dry_run` say what that would do. A large one is a task: ask for it again."""
    by = actor(request)
    name, pieces = _upload(request)
    asked = how.asked(name=name, here=namespace(request))
    answered = ask_import(by, pieces=pieces, asked=asked)
    job = answered.job
    if job.state == "failed":
        raise jobs.refusal(job)
    url = page(request, f"/imports/tasks/{job.id}")
    answer = ImportOut(**of_job(job), seq=asof.now(by.namespace).seq, url=url, replayed=answered.replayed)
    is_new = not asked.dry_run and (answer.report is None or any(one.seq for one in answer.report.applied))
    return made(answer, is_new=is_new and not answered.replayed)


@routes.read("/imports/{import_id}", answer=ImportDetailOut)
def detail(request: Entered, import_id: Annotated[Id, Path()], point: Query[Point]) -> ImportDetailOut:
    """One import: a task by its own id for a day, and for ever each import by its."""
    at = point.at(request.auth.namespace)
    try:
        fields = of_job(jobs.job(import_id, namespace=at.namespace, kind=KIND))
    except NotFound:
        fields = of_run(queries.import_run(at, id=import_id), namespace=namespace(request))
    return ImportDetailOut(**fields, **rests_on(at))


def _upload(request: HttpRequest) -> tuple[str, Iterator[bytes]]:
    """The name and the bytes of the file, as the body or as the field `file` of a form.   Raises Invalid."""
    content_type = request.headers.get("Content-Type", "")
    if require_type(content_type, allowed=(RAW, FORM)) == RAW:
        return "", iter(lambda: request.read(PIECE_BYTES), b"")
    file = request.FILES.get("file")
    if file is None or isinstance(file, list):
        raise Invalid.at("file", expected="one file in the field `file`", got="none")
    return file.name or "", iter(file.chunks(PIECE_BYTES))
