"""What reads of compiled records answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from memory.base.schemas import Listed
from memory.ledger.schemas import Limit
from memory.lineage.queries.compiled import Compiled, CompiledPage, ListedCompiled, Rebuild, Statement
from memory.lineage.queries.freshness import Freshness
from memory.records.schemas import RecordOut

Output = Literal["compiled", "public"]


class RebuildOut(BaseModel):
    """The comparison of two texts that the same function made of the same sources; `unknown` where one is erased.

    Unequal ones show that the function is not deterministic at this version.
    """

    of: UUID
    equal: bool | Literal["unknown"]
    text_sha256: str
    earlier_sha256: str

    @classmethod
    def of_texts(cls, found: Rebuild) -> RebuildOut:
        return cls(
            of=found.of, equal=found.told, text_sha256=found.text_digest, earlier_sha256=found.earlier_digest
        )  # fmt: skip


class NewerOut(BaseModel):
    """A raw record that has moved on since. `why`: `newer` on the topic, a source's `newer_version`, or `withdrawn`."""

    record: UUID
    why: str


class FunctionOut(BaseModel):
    """The function and its version; empty where the name is erased."""

    name: str
    version: str


class FreshnessOut(BaseModel):
    """The state of a compiled record: current, behind, stale, deleted or erased.

    `behind` counts the raw records that moved on since, of which `newer` tells the first; behind is not wrong.
    """

    state: str
    why: str | None
    behind: int
    behind_is_capped: bool
    newer: list[NewerOut]
    erased: list[UUID]

    @classmethod
    def of(cls, found: Freshness) -> FreshnessOut:
        return cls(
            state=found.state, why="source_erased" if found.state == "stale" else None,
            behind=found.n_behind, behind_is_capped=found.is_capped,
            newer=[NewerOut(record=one.record, why=one.why) for one in found.newer], erased=list(found.erased),
        )  # fmt: skip


class StatementOut(BaseModel):
    """How a record was compiled. `covers` is null for no topic; `inputs` is equal where the sources are."""

    output: Output
    function: FunctionOut
    redacted: bool
    covers: str | None
    inputs: str

    @classmethod
    def told(cls, found: Statement) -> dict[str, Any]:
        function = FunctionOut(name=found.function, version=found.version)
        own = ("output", "redacted", "covers", "inputs")
        return {"function": function, **{name: getattr(found, name) for name in own}}


class CompilationOut(StatementOut):
    """How a record was compiled, from what, what raw records it resolves to, and its state at the point."""

    sources: list[UUID]
    roots: list[UUID]
    freshness: FreshnessOut
    rebuild: RebuildOut | None

    @classmethod
    def of(cls, found: Compiled) -> CompilationOut:
        return cls(
            **StatementOut.told(found.statement), sources=list(found.sources), roots=list(found.roots),
            freshness=FreshnessOut.of(found.freshness),
            rebuild=RebuildOut.of_texts(found.rebuild) if found.rebuild else None,
        )  # fmt: skip


class ListedCompiledOut(StatementOut):
    """A compiled record in a list."""

    record: RecordOut
    freshness: FreshnessOut

    @classmethod
    def of(cls, found: ListedCompiled) -> ListedCompiledOut:
        return cls(
            **StatementOut.told(found.statement), record=RecordOut.of(found.row),
            freshness=FreshnessOut.of(found.freshness),
        )  # fmt: skip


class CompiledFilter(BaseModel):
    """Which compiled records; deleted ones only where they are asked for."""

    output: Output | None = None
    state: Literal["stale", "deleted"] | None = None
    after: Annotated[str, Field(max_length=18, pattern="^[0-9]*$")] = ""
    limit: Limit = 50


class CompiledList(Listed[ListedCompiledOut]):
    """A page of compiled records, newest first. `stale` counts those that an erasure taints."""

    stale: int

    @classmethod
    def of(cls, found: CompiledPage, **told: Any) -> CompiledList:
        return cls(
            items=[ListedCompiledOut.of(one) for one in found.items], next=found.next or None, total=found.total,
            hidden=dict(found.hidden), stale=found.n_stale, **told,
        )  # fmt: skip
