"""Routes of imports, exports and restores: taking a file in, giving one out, and reading what came of it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Annotated, Any, BinaryIO, cast

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from ninja import Path, Query
from ninja.responses import Status

from memory.base import gate, jobs
from memory.base.bodies import NDJSON, require_type
from memory.base.doors import Entered, Routes, actor, made, namespace, page
from memory.base.errors import Invalid, NotFound, TooLarge
from memory.base.schemas import Id
from memory.interchange import exporting, queries
from memory.interchange.erased_lists import read_list
from memory.interchange.operations import restore_archive
from memory.interchange.schemas import (
    ExportIn,
    FileOut,
    ImportDetailOut,
    ImportIn,
    ImportOut,
    RestoreOut,
    of_job,
    of_run,
)
from memory.interchange.tasks import KIND, ask_import
from memory.ledger.queries import asof
from memory.ledger.schemas import Point, rests_on

routes = Routes("interchange")

RAW = "application/octet-stream"
FORM = "multipart/form-data"
PIECE_BYTES = 64 * 1024
MOST_RESTORED_BYTES = 64 * 1024**2
STREAMED_BYTES = 4 * 1024**2
LINES: dict[str, Any] = {
    "responses": {200: {"content": {NDJSON: {"schema": {"type": "string", "description": "one object on each line"}}}}}
}
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


@routes.read("/export", answer=FileOut, codes=("too_large", "conflict"), extra=LINES)
def export(request: Entered, what: Query[ExportIn], point: Query[Point]) -> HttpResponseBase:
    """A file: the archive (jsonl), provenance of a slice (prov, openlineage), or what is public. Nothing is written."""
    by, at = actor(request), point.at(request.auth.namespace)
    stream = cast(BinaryIO, TemporaryFile())  # noqa: SIM115 - the answer closes it
    try:
        done = exporting.export(by, at, stream, format=what.format, selection=what.selection(by.namespace))
    except BaseException:
        stream.close()
        raise
    headers = {
        "Content-Disposition": f'attachment; filename="{exporting.file_name(namespace(request), done)}"',
        "Content-Type": exporting.MEDIA[done.format], "Content-Length": str(done.n_bytes),
        "Palimpsest-Seq": str(done.at_seq), "Repr-Digest": f"sha-256=:{b64encode(done.sha256).decode()}:",
    }  # fmt: skip
    if at.closed_seq is not None:
        headers["Palimpsest-Closed"] = str(at.closed_seq)
    if done.n_bytes > STREAMED_BYTES:
        return FileResponse(stream, headers=headers)
    with stream:
        return HttpResponse(stream.read(), headers=headers)


@routes.write("/restore", need=gate.OWN, answer=RestoreOut, makes=True, extra=UPLOAD)
def restore(request: Entered) -> Status[RestoreOut]:
    """Restore an archive verbatim under its own name, which must be free here; nothing stands unless all of it holds.

    As a form it takes `erased` too: a list of commitments, as a receipt carries it, of what must not come back.
    """
    by = actor(request)
    with TemporaryFile() as stream:
        _, pieces = _upload(request)
        for piece in pieces:
            stream.write(piece)
            if stream.tell() > MOST_RESTORED_BYTES:
                raise TooLarge(
                    f"At most {MOST_RESTORED_BYTES} bytes come this way; `manage.py restore` takes any file."
                )
        stream.seek(0)
        listed = request.FILES.get("erased")
        erased = (
            read_list(cast(BinaryIO, listed)) if listed is not None and not isinstance(listed, list) else frozenset()
        )
        done = restore_archive(by, cast(BinaryIO, stream), erased=erased)
    answer = RestoreOut(
        namespace=done.namespace, size=done.size, root=done.root.hex(), sha256=done.archive.hex(),
        n_erased=done.n_erased, seq=done.seq or 0, url=page(request, "/imports"), replayed=done.replayed,
    )  # fmt: skip
    return made(answer, is_new=not done.replayed)


def _upload(request: HttpRequest) -> tuple[str, Iterator[bytes]]:
    """The name and the bytes of the file, as the body or as the field `file` of a form.   Raises Invalid."""
    content_type = request.headers.get("Content-Type", "")
    if require_type(content_type, allowed=(RAW, FORM)) == RAW:
        return "", iter(lambda: request.read(PIECE_BYTES), b"")
    file = request.FILES.get("file")
    if file is None or isinstance(file, list):
        raise Invalid.at("file", expected="one file in the field `file`", got="none")
    return file.name or "", iter(file.chunks(PIECE_BYTES))
