"""What the routes of agents, people, runs and settings take and answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from memory.agents.operations import DEFAULT_LIFE, LONGEST_LIFE, Issued, Made
from memory.agents.policy import MOST_ROWS, POLICY_CHARS
from memory.agents.queries import AgentRow, RunEntry, RunList, RunPage, RunRow, TokenRow
from memory.base.answers import Appended
from memory.base.schemas import Act, Given, Instant, Listed, Name, Note, Read, Reason, RunIn, Word, Written
from memory.ledger.schemas import EntryOut

Scope = Literal["read", "write", "control"]
Days = Annotated[int, Field(strict=True, ge=1, le=LONGEST_LIFE.days)]
Email = Annotated[str, Field(min_length=3, max_length=254)]


class Done(Written):
    """The entry of an act that makes nothing."""

    @classmethod
    def of(cls, done: Appended | Made, *, url: str) -> Done:
        return cls(seq=done.seq, replayed=done.replayed, url=url)


class MadeOut(Written):
    """What was made, and its entry."""

    id: UUID

    @classmethod
    def of(cls, done: Made, *, url: str) -> MadeOut:
        return cls(id=done.id, seq=done.seq, replayed=done.replayed, url=url)


class AgentIn(Act):
    """An agent to be registered; `operator` is the e-mail address of the person who answers for it."""

    name: Name
    operator: Email | None = None


class TokenIn(Act):
    """What a new token may do, and for how long."""

    scopes: Annotated[tuple[Scope, ...], Field(min_length=1, max_length=3)] = ("read", "write")
    life_days: Days = DEFAULT_LIFE.days

    @property
    def life(self) -> timedelta:
        return timedelta(days=self.life_days)


class IssuedOut(Written):
    """A token. Its secret is shown by this answer alone: a repeated request gets null."""

    id: UUID
    secret: str | None
    prefix: str
    expires_at: Instant

    @classmethod
    def of(cls, issued: Issued, *, url: str) -> IssuedOut:
        return cls(
            id=issued.id, secret=issued.secret or None, prefix=issued.prefix, expires_at=issued.expires_at,
            seq=issued.seq, replayed=issued.replayed, url=url,
        )  # fmt: skip


class WhyIn(Act):
    """Why it is done."""

    reason: Note = ""


class MemberIn(Act):
    """A person's role from now on; `none` ends it. An auditor's role ends by itself."""

    email: Email
    role: Literal["auditor", "reviewer", "owner", "none"]
    expires_at: Instant | None = None


class PolicyRow(Given):
    """One row of a review policy: what a write must be, and `then`: auto, hold N d, or the text of two origins."""

    model_config = ConfigDict(extra="forbid", validate_by_name=True, serialize_by_alias=True)

    kind: Literal["record", "fact"] | None = None
    agent: Name | None = None
    type: Name | None = None
    attribute: Name | None = None
    class_: Annotated[Literal["first_hand", "relayed", "derived"] | None, Field(alias="class")] = None
    then: Word


class SettingIn(Act):
    """The new value of a setting. The review policy is text, one row a line, or a list of rows."""

    value: (
        Annotated[str, Field(min_length=1, max_length=POLICY_CHARS)]
        | Annotated[list[PolicyRow], Field(max_length=MOST_ROWS)]
    )

    @property
    def given(self) -> str | list[dict[str, str]]:
        """The value as the domain takes it."""
        if isinstance(self.value, str):
            return self.value
        return [row.model_dump(exclude_none=True, by_alias=True) for row in self.value]


class HoldIn(Act):
    """A retention hold: while it stands, nothing is erased."""

    held: StrictBool
    reason: Reason
    until: Instant | None = None


class EndIn(Act):
    """How a run ended."""

    note: Note = ""


class RunOpenIn(RunIn):
    """A run to be opened."""


class TokenOut(BaseModel):
    """A token as people recognise it."""

    id: UUID
    prefix: str
    scopes: list[str]
    seq: int
    expires_at: Instant
    revoked_seq: int | None

    @classmethod
    def of(cls, row: TokenRow) -> TokenOut:
        return cls(
            id=row.id, prefix=row.prefix, scopes=list(row.scopes), seq=row.seq, expires_at=row.expires_at,
            revoked_seq=row.revoked_seq,
        )  # fmt: skip


class AgentOut(BaseModel):
    """An agent; writes and refusals are those of the last day."""

    id: UUID
    name: str
    operator: int | None
    seq: int
    created_at: Instant
    is_frozen: bool
    last_seq: int | None
    last_at: Instant | None
    n_writes: int
    n_refusals: int
    tokens: list[TokenOut]

    @classmethod
    def of(cls, row: AgentRow) -> AgentOut:
        plain = {name: getattr(row, name) for name in cls.model_fields if name != "tokens"}
        return cls(**plain, tokens=[TokenOut.of(token) for token in row.tokens])


class AgentList(Listed[AgentOut]):
    """All agents, in the order in which they were registered."""


class RunOut(BaseModel):
    """One task, session or case."""

    id: UUID
    kind: str
    title: str
    refs: dict[str, str]
    runtime: dict[str, str]
    seq: int
    started_at: Instant
    agent: UUID | None
    agent_name: str
    person: int | None
    n_entries: int
    last_seq: int
    last_at: Instant
    ended_seq: int | None
    ended_at: Instant | None

    @classmethod
    def of(cls, row: RunRow, names: Mapping[UUID, str]) -> RunOut:
        plain = {name: getattr(row, name) for name in cls.model_fields if name not in ("refs", "runtime", "agent_name")}
        return cls(
            **plain, refs=dict(row.refs), runtime=dict(row.runtime),
            agent_name=names.get(row.agent, "") if row.agent else "",
        )  # fmt: skip


class RunsOut(Listed[RunOut]):
    """A page of runs, newest first."""

    @classmethod
    def of(cls, found: RunList, names: Mapping[UUID, str], **told: Any) -> RunsOut:
        items = [RunOut.of(row, names) for row in found.items]
        return cls(items=items, next=found.next or None, total=found.total, **told)


class ObjectOut(BaseModel):
    """What an entry is about."""

    kind: str
    id: UUID


class RunEntryOut(BaseModel):
    """One entry of a run, and how many seconds after the start of the run it was written."""

    entry: EntryOut
    since_start_seconds: float
    objects: list[ObjectOut]

    @classmethod
    def of(cls, one: RunEntry) -> RunEntryOut:
        return cls(
            entry=EntryOut.of(one.row), since_start_seconds=one.since_start.total_seconds(),
            objects=[ObjectOut(kind=kind, id=about) for kind, about in one.objects],
        )  # fmt: skip


class RunDetailOut(Read):
    """Everything that a run did, in the order of the ledger."""

    run: RunOut
    items: list[RunEntryOut]
    total: int
    next: int | None

    @classmethod
    def of(cls, found: RunPage, names: Mapping[UUID, str], **told: Any) -> RunDetailOut:
        return cls(
            run=RunOut.of(found.row, names), items=[RunEntryOut.of(one) for one in found.entries], total=found.total,
            next=found.next, **told,
        )  # fmt: skip
