"""Imports of uploaded files as jobs: a dry run first, then the same file in earnest; large ones by a worker.

Invariants
- The file lies in the job's folder, for this user of the host alone. It goes as soon as it is imported or discarded,
  and with the job after a day.
- Who may is asked again when the work begins: a role that ended in between opens nothing.
- Sent again under the same key, the same upload is answered by the same job for as long as that stands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from django.tasks import task

from memory.agents.identity import by_person
from memory.base import clock, gate, jobs
from memory.base.actor import Actor
from memory.base.canonical import canonical
from memory.base.errors import Conflict, IdempotencyMismatch, Invalid, TooLarge
from memory.base.jobs import Job
from memory.base.text import NAME_CHARS
from memory.interchange.contextfs.operations import Options
from memory.interchange.operations import IMPORTERS, import_file
from memory.interchange.reports import as_json
from memory.ledger.models import Namespace
from memory.ledger.queries.closed import require_open

KIND = "import"
MOST_BYTES = 512 * 1024**2
IN_REQUEST_BYTES = 1024**2
FILE = "store"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted of an uploaded file. `name` is what it was called; `base` where its namespaces go."""

    name: str
    base: str
    format: str = "contextfs"
    mapping: Mapping[str, str] = field(default_factory=dict)
    only: str = ""
    source: str = ""
    erase_deleted: bool = False
    laws: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = True

    @property
    def options(self) -> Options:
        return Options(self.base, dict(self.mapping), self.only, self.source, self.erase_deleted, dict(self.laws))


def asked_of(job: Job) -> Asked:
    """What the job was asked for."""
    return Asked(**job.given["asked"])


@dataclass(frozen=True, slots=True)
class Answer:
    """The job, and whether it was asked for before under the same key."""

    job: Job
    replayed: bool = False


def ask_import(by: Actor, *, pieces: Iterable[bytes], asked: Asked) -> Answer:
    """Take an uploaded file in and import it, or say what an import would do.

    Raises Forbidden (owners only; the namespace is closed), Invalid (format, names), TooLarge, IdempotencyMismatch
    (key of another upload).
    """
    gate.permits(by, gate.OWN)
    require_open(by.namespace)
    if asked.format not in IMPORTERS:
        raise Invalid.at("format", expected=" or ".join(sorted(IMPORTERS)), got=asked.format)
    for name in ("base", "only", "source"):
        if len(getattr(asked, name)) > NAME_CHARS:
            raise Invalid.at(name, expected=f"at most {NAME_CHARS} characters")
    name = Namespace.objects.get(pk=by.namespace).name
    job = jobs.ask(by, kind=KIND, given={"asked": _plain(asked), "namespace": name})
    try:
        size_bytes, file_digest = _take(job.folder / FILE, pieces)
        key = {"digest": _key(by), "request": _request(asked, file_digest)} if by.idempotency_key else {}
        if (earlier := _under(key, job)) is not None:
            jobs.drop(job)
            return Answer(earlier, replayed=True)
    except (TooLarge, IdempotencyMismatch):
        jobs.drop(job)
        raise
    return Answer(_start(jobs.again(job, given={**job.given, "key": key}), size_bytes))


def _key(by: Actor) -> str:
    return hashlib.sha256(f"{by.person}/{by.idempotency_key}".encode()).hexdigest()


def _request(asked: Asked, file_digest: str) -> str:
    return hashlib.sha256(canonical([_plain(asked) | {"name": ""}, file_digest])).hexdigest()


def _under(key: Mapping[str, str], job: Job) -> Job | None:
    """The job that was asked for under the key before.   Raises IdempotencyMismatch."""
    for earlier in jobs.jobs(namespace=job.namespace, kind=KIND) if key else ():
        told = earlier.given.get("key", {})
        if told.get("digest") == key["digest"]:
            if told["request"] != key["request"]:
                raise IdempotencyMismatch("This Idempotency-Key was used for another upload.")
            return earlier
    return None


def _plain(asked: Asked) -> dict[str, Any]:
    return asdict(asked) | {"mapping": dict(asked.mapping), "laws": dict(asked.laws)}


def _take(path: Path, pieces: Iterable[bytes]) -> tuple[int, str]:
    """Write the file; answers its size and its SHA-256 in hex.   Raises TooLarge."""
    size_bytes, digest = 0, hashlib.sha256()
    with path.open("xb") as file:
        for piece in pieces:
            size_bytes += len(piece)
            if size_bytes > MOST_BYTES:
                raise TooLarge(f"An upload has at most {MOST_BYTES} bytes; `manage.py import` takes any file here.")
            file.write(piece)
            digest.update(piece)
    return size_bytes, digest.hexdigest()


def proceed(by: Actor, job: Job) -> Job:
    """Import in earnest the file of which the job was the dry run.

    Raises Forbidden (owners only), Conflict (no dry run, or none that ended well).
    """
    gate.permits(by, gate.OWN)
    asked = asked_of(job)
    if not asked.dry_run or job.state != "done" or not (job.folder / FILE).exists():
        raise Conflict("This upload cannot be imported now: it was imported, discarded, or its dry run has not ended.")
    given = {**job.given, "asked": _plain(asked) | {"dry_run": False}}
    return _start(jobs.again(job, given=given), (job.folder / FILE).stat().st_size)


def _start(job: Job, size_bytes: int) -> Job:
    if size_bytes > IN_REQUEST_BYTES:
        import_upload.enqueue(str(job.id))
    else:
        run_import(job.id)
    return jobs.job(job.id, namespace=job.namespace, kind=KIND)


@task()
def import_upload(job: str) -> None:
    run_import(UUID(job))


def run_import(id: UUID) -> None:
    """Do the work of an import that was asked for; a dry run leaves the file for the import itself."""
    with jobs.running(id) as work:
        asked = asked_of(work.job)
        by = _asker(work.job)
        report = import_file(
            by, work.job.folder / FILE, format=asked.format, options=asked.options, dry_run=asked.dry_run,
            progress=work.tell,
        )  # fmt: skip
        if not asked.dry_run:
            (work.job.folder / FILE).unlink()
        work.end(as_json(report))


def _asker(job: Job) -> Actor:
    if job.person is None:
        return Actor(job.namespace, "system")
    by = by_person(job.person, namespace=job.given["namespace"], now=clock.now())
    gate.permits(by, gate.OWN)
    return by
