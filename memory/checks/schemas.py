"""What the routes of checks take and answer."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field

from memory.base.answers import Appended
from memory.base.schemas import Act, Instant, Listed, Read, Reason, Written
from memory.checks.operations import Recorded
from memory.checks.queries import CheckDetail, CheckRow, FindingRow

CheckName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$")]


class CheckOut(BaseModel):
    """One run of a check over the namespace as of `at_seq`."""

    id: UUID
    name: str
    verdict: str
    seq: int
    at_seq: int
    n_checked: int
    n_findings: int
    recorded_at: Instant

    @classmethod
    def of(cls, row: CheckRow) -> CheckOut:
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class CheckList(Listed[CheckOut]):
    """Runs of checks, newest first. `names` are the checks that can be run."""

    names: list[str]


class FindingOut(BaseModel):
    """One kind of fault at one place."""

    kind: str
    object: UUID | None
    seq: int | None
    item: int | None
    count: int

    @classmethod
    def of(cls, row: FindingRow) -> FindingOut:
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class CheckDetailOut(Read):
    """A run with its first findings and its report; an erased report is null."""

    check: CheckOut
    findings: list[FindingOut]
    report: dict[str, Any] | None

    @classmethod
    def of(cls, found: CheckDetail, **told: Any) -> CheckDetailOut:
        findings = [FindingOut.of(row) for row in found.findings]
        return cls(check=CheckOut.of(found.row), findings=findings, report=found.report, **told)


class CheckedOut(Written):
    """The run that was recorded."""

    id: UUID
    verdict: str
    n_findings: int

    @classmethod
    def of(cls, done: Recorded, found: CheckDetail, *, url: str) -> CheckedOut:
        return cls(
            id=done.id, verdict=found.row.verdict, n_findings=found.row.n_findings, seq=done.seq,
            replayed=done.replayed, url=url,
        )  # fmt: skip


class WaiveIn(Act):
    """Why the check counts as settled on the board, and until when. Its verdict stays."""

    reason: Reason
    expires_at: Instant


class WaivedOut(Written):
    """The entry of a waiver."""

    @classmethod
    def of(cls, done: Appended, *, url: str) -> WaivedOut:
        return cls(seq=done.seq, replayed=done.replayed, url=url)
