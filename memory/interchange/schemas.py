"""What the routes of imports, exports and restores take and answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, RootModel

from memory.base import jobs
from memory.base.errors import DomainError, Invalid
from memory.base.jobs import Job
from memory.base.schemas import Given, Id, Instant, Name, Place, Read, Written
from memory.base.text import NAME_CHARS, NAMESPACE_PATTERN
from memory.interchange.exporting import agent_called
from memory.interchange.queries import RunDetail
from memory.interchange.reports import told_codes
from memory.interchange.slices import Selection
from memory.interchange.tasks import Asked, asked_of

Base = Annotated[str, Field(pattern=f"^{NAMESPACE_PATTERN.pattern}$")]
Mapped = Annotated[str, Field(max_length=501, pattern=r"^[^=]+=[a-z0-9][a-z0-9_.-]{0,99}$")]
Lawful = Annotated[str, Field(max_length=16_384, pattern=r"^[^=]+=.+$")]


class ImportIn(Given):
    """How an uploaded file is to be imported. `map` is SRC=DST, `law` TYPE=LAW (cyclic:N, s3 or a group as JSON), each
    as often as needed; posterior alone takes laws, which the importer attests.
    """

    format: Literal["contextfs", "posterior"]
    dry_run: bool = False
    namespace: Base | None = None
    map: Annotated[list[Mapped], Field(max_length=200)] = Field(default_factory=list)
    source_namespace: Name | None = None
    source: Name | None = None
    erase_deleted: bool = False
    law: Annotated[list[Lawful], Field(max_length=64)] = Field(default_factory=list)

    def asked(self, *, name: str, here: str) -> Asked:
        """`here` is the namespace of the address, where the rows go if no other is named."""
        mapping = dict(pair.split("=", 1) for pair in self.map)
        return Asked(
            name=name, base=self.namespace or here, format=self.format, mapping=mapping,
            only=self.source_namespace or "", source=self.source or "", erase_deleted=self.erase_deleted,
            laws=dict(pair.split("=", 1) for pair in self.law), dry_run=self.dry_run,
        )  # fmt: skip


class ExportIn(Given):
    """What to export: an archive and what is public take no filter; provenance is of a focus, or of the entries that
    the filter meets.
    """

    format: Literal["jsonl", "prov", "openlineage", "public"]
    since: Instant | None = Field(None, alias="from")
    until: Instant | None = Field(None, alias="to")
    run: Id | None = None
    agent: Annotated[str, Field(max_length=NAME_CHARS)] = Field("", description="an agent's id or name")
    focus: Id | None = None

    def selection(self, namespace: int) -> Selection:
        """Raises Invalid (an interval that is empty), NotFound (no such agent)."""
        if self.since is not None and self.until is not None and self.until <= self.since:
            raise Invalid.at("to", expected="an instant after `from`", got=self.until)
        agent = agent_called(namespace, self.agent) if self.agent else None
        return Selection(self.since, self.until, self.run, agent, self.focus)


class ProvOut(BaseModel):
    """PROV-JSON: declarations and relations, each map keyed by an id."""

    model_config = ConfigDict(extra="allow")

    prefix: dict[str, str]
    entity: dict[str, dict[str, Any]] = Field(default_factory=dict)


class PublicOut(BaseModel):
    """What may leave for everybody: public compiled records, and why the others are left out."""

    model_config = ConfigDict(extra="forbid")

    format: str
    namespace: str
    store: str
    seq: int
    items: list[dict[str, Any]]
    left_out: dict[str, int]


class FileOut(RootModel[ProvOut | PublicOut]):
    """The JSON files among the formats."""


class RestoreOut(Written):
    """What was restored: the namespace of the archive with its first `size` entries and their root.

    `n_erased` counts the parts that the archive held and that an erasure keeps out; an entry of the namespace says so.
    """

    namespace: str
    size: int
    root: str
    sha256: str
    n_erased: int


class AppliedOut(BaseModel):
    """What one target namespace took; `seq` and `run` are null where nothing was new, or nothing was written."""

    namespace: str
    seq: int | None
    run: UUID | None
    n_records: int
    n_edges: int
    n_quarantined: int
    n_findings: int
    n_skipped: int


class CodeOut(BaseModel):
    """One kind of finding and how often it was met."""

    code: str
    severity: Literal["quarantined", "repaired", "information"]
    clause: str
    count: int
    meaning: str


class PreviewOut(BaseModel):
    """A record as it would stand; the instant as the source spells it, and what that rests on."""

    target: str
    id: str
    type: str
    first_line: str
    recorded: str
    how: str
    is_withdrawn: bool
    n_parents: int
    n_quarantined: int


class ReportOut(BaseModel):
    """What an import did, or would do."""

    source: str
    targets: dict[str, str]
    applied: list[AppliedOut]
    codes: list[CodeOut]
    resembles: dict[str, int]
    preview: list[PreviewOut]


class ProblemOut(BaseModel):
    """Why an import did not end well."""

    code: str
    detail: str
    errors: list[Place]

    @classmethod
    def of(cls, error: DomainError) -> ProblemOut:
        places = [Place(loc=list(at.loc), code=at.code, expected=at.expected, got=at.got) for at in error.errors]
        return cls(code=error.code, detail=error.detail, errors=places)


class ImportFields(BaseModel):
    """An import: asked for, under way, or done. A job is kept for a day, the import itself for ever."""

    id: UUID
    format: str
    state: Literal["waiting", "running", "done", "failed"]
    dry_run: bool
    stage: str
    n_done: int
    n_total: int | None
    report: ReportOut | None
    problem: ProblemOut | None


class ImportOut(Written, ImportFields):
    """The answer to an upload."""


class ImportDetailOut(Read, ImportFields):
    """One import as it stands."""


def of_job(job: Job) -> dict[str, Any]:
    """The fields of a job."""
    asked = asked_of(job)
    return {
        "id": job.id, "format": asked.format, "state": job.state, "dry_run": asked.dry_run, "stage": job.stage,
        "n_done": job.n_done, "n_total": job.n_total, "report": ReportOut(**job.outcome) if job.outcome else None,
        "problem": ProblemOut.of(jobs.refusal(job)) if job.problem else None,
    }  # fmt: skip


def of_run(found: RunDetail, *, namespace: str) -> dict[str, Any]:
    """The fields of an import that stands in the namespace."""
    row = found.row
    told = found.report or {}
    counts = {"n_records": row.n_records, "n_edges": row.n_edges, "n_quarantined": row.n_quarantined}
    n_findings = sum(count for _, _, count in found.codes)
    applied = AppliedOut(
        namespace=namespace, seq=row.seq, run=row.id, n_findings=n_findings, n_skipped=row.n_skipped, **counts
    )
    codes = [CodeOut(**one) for one in told_codes({code: count for _, code, count in found.codes})]
    targets = {told["namespace"]: namespace} if "namespace" in told else {}
    report = ReportOut(source=row.source, targets=targets, applied=[applied], codes=codes, resembles={}, preview=[])
    return {
        "id": row.id, "format": row.format, "state": "done", "dry_run": False, "stage": "", "n_done": row.n_records,
        "n_total": row.n_records, "report": report, "problem": None,
    }  # fmt: skip
