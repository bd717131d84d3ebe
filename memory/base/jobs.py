"""Jobs: work that takes longer than a request. One is a folder that its asker, a worker and a page can read.

Invariants
- A job belongs to one namespace and one asker; nobody finds it from another namespace.
- Its state is one file, replaced whole; a reader never sees half of it.
- It holds nothing of record: what a job did stands in the ledger, and a day after it was asked its folder goes.
- A job that ends without an answer says that it failed. One whose worker died is told by its last sign of life.

The folder lives in PALIMPSEST_HOME/jobs, beside the queue of tasks: both belong to one node.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from django.conf import settings

from memory.base import clock, ids, instants
from memory.base.actor import Actor
from memory.base.errors import CODES, DomainError, NotFound, Place

KEPT = timedelta(days=1)
SILENT_AFTER = timedelta(minutes=2)
TOLD_EVERY_SECONDS = 0.25
FILE = "job.json"

State = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """One job as it stands. `given` is what was asked, `outcome` what came of it, `problem` why nothing did.

    `stage` names what is being done; `n_total` is None while the size is not known. `told_at`: last sign of life.
    """

    id: UUID
    kind: str
    namespace: int
    person: int | None
    asked_at: datetime
    told_at: datetime
    state: State = "waiting"
    stage: str = ""
    n_done: int = 0
    n_total: int | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    outcome: Mapping[str, Any] = field(default_factory=dict)
    problem: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return _home() / str(self.id)

    @property
    def has_ended(self) -> bool:
        return self.state in ("done", "failed")

    def is_silent(self, now: datetime) -> bool:
        """True if a worker has begun and nothing was heard since: it died, or the machine did."""
        return self.state == "running" and now - self.told_at > SILENT_AFTER


def _home() -> Path:
    return Path(settings.PALIMPSEST_HOME) / "jobs"


def ask(by: Actor, *, kind: str, given: Mapping[str, Any]) -> Job:
    """Make a job that waits. Folders of jobs that were asked more than a day ago go."""
    now = clock.now()
    _sweep(now)
    job = Job(ids.new_id(), kind, by.namespace, by.person, now, now, given=given)
    job.folder.mkdir(parents=True, mode=0o700)
    return _write(job)


def again(job: Job, *, given: Mapping[str, Any]) -> Job:
    """Let the job wait once more, for another turn with the same files."""
    now = clock.now()
    return _write(replace(job, state="waiting", stage="", n_done=0, n_total=None, told_at=now, given=given, problem={}))


def job(id: UUID, *, namespace: int, kind: str) -> Job:
    """The job as it stands.   Raises NotFound (none of this kind in this namespace; gone after a day)."""
    found = _read(id)
    if found is None or found.namespace != namespace or found.kind != kind:
        raise NotFound(f"There is no such task {id}; what it did is in the ledger.")
    return found


def jobs(*, namespace: int, kind: str) -> list[Job]:
    """The jobs of the kind that stand in the namespace, newest first."""
    own = [one for one in every() if one.namespace == namespace and one.kind == kind]
    return sorted(own, key=lambda one: (one.asked_at, one.id), reverse=True)


def every() -> list[Job]:
    """Every job that stands, of whatever kind and namespace, in no order."""
    names = [path.name for path in _home().iterdir()] if _home().is_dir() else []
    found = [_read(UUID(name)) for name in names if _is_id(name)]
    return [one for one in found if one is not None]


def drop(job: Job) -> None:
    """Remove the job with all its files."""
    shutil.rmtree(job.folder, ignore_errors=True)


class Running:
    """A job being worked on: tells how far it is, at most four times a second, and how it ended."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._told = 0.0

    def tell(self, stage: str, n_done: int, n_total: int | None) -> None:
        """How far the work is. A new stage is always told."""
        moment = time.monotonic()
        if stage == self.job.stage and moment - self._told < TOLD_EVERY_SECONDS:
            return
        self._told = moment
        self._put(replace(self.job, stage=stage, n_done=n_done, n_total=n_total, told_at=clock.now()))

    def end(self, outcome: Mapping[str, Any]) -> None:
        """The work is done."""
        self._put(replace(self.job, state="done", outcome=outcome, told_at=clock.now()))

    def fail(self, problem: Mapping[str, Any]) -> None:
        self._put(replace(self.job, state="failed", problem=problem, told_at=clock.now()))

    def _put(self, job: Job) -> None:
        self.job = _write(job)


@contextmanager
def running(id: UUID) -> Iterator[Running]:
    """Work on a job. A refusal of the domain ends it as failed, with its words; anything else also is raised.

    Raises NotFound (its folder is gone).
    """
    found = _read(id)
    if found is None:
        raise NotFound(f"There is no such task {id}.")
    work = Running(_write(replace(found, state="running", told_at=clock.now())))
    try:
        yield work
    except DomainError as error:
        work.fail(_problem(error))
    finally:
        if not work.job.has_ended:
            work.fail(_problem(DomainError(CODES["internal"].meaning)))


def _problem(error: DomainError) -> dict[str, Any]:
    places = [asdict(place) | {"loc": list(place.loc)} for place in error.errors]
    return {"code": error.code, "detail": error.detail, "errors": places}


def refusal(job: Job) -> DomainError:
    """Why the job failed, as it was refused."""
    classes: tuple[type[DomainError], ...] = (DomainError, *DomainError.__subclasses__())
    kinds = {kind.code: kind for kind in classes}
    places = [Place(**{**place, "loc": tuple(place["loc"])}) for place in job.problem.get("errors", ())]
    return kinds[job.problem["code"]](job.problem["detail"], errors=places)


def _write(job: Job) -> Job:
    values = asdict(job) | {
        "id": str(job.id), "asked_at": instants.text(job.asked_at), "told_at": instants.text(job.told_at),
    }  # fmt: skip
    descriptor, draft = tempfile.mkstemp(dir=job.folder, prefix=".job-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(values, stream)
    Path(draft).replace(job.folder / FILE)
    return job


def _read(id: UUID) -> Job | None:
    try:
        values = json.loads((_home() / str(id) / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    told = {name: instants.read(values[name]) for name in ("asked_at", "told_at")}
    return Job(**{**values, **told, "id": UUID(values["id"])})


def _is_id(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False


def _sweep(now: datetime) -> None:
    for path in _home().iterdir() if _home().is_dir() else ():
        found = _read(UUID(path.name)) if _is_id(path.name) else None
        if found is not None and now - found.asked_at > KEPT and (found.has_ended or now - found.told_at > KEPT):
            drop(found)
