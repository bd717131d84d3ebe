"""What the list of records takes and answers: its filter, its order, and rows whole or by their names alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from memory.base.schemas import Id, Instant, Listed, Name, Word, is_id
from memory.ledger.schemas import Limit
from memory.records.queries.lists import Filter, RecordPage
from memory.records.schemas import RecordOut, SourceClass, State

FILTERS = 50
CURSOR_CHARS = 40

Sort = Literal["-recorded_at", "recorded_at", "-valid_from", "valid_from", "rank"]


class RecordFilter(BaseModel):
    """What a list is narrowed to. `include` names what is hidden by default: superseded, withdrawn, erased, held.

    `recorded_from` and `recorded_to` are a half-open interval of the instants of entries; what was true when is asked
    by `valid_at`. Records without the value that a filter names are not met by it, and those of which nobody said since
    when they are true come last by `valid_from`, either way. `fields=names` answers ids and first lines alone.
    """

    q: str = Field("", max_length=1_000)
    type: list[Word] = Field(default_factory=list, max_length=FILTERS)
    agent: list[Name] = Field(default_factory=list, max_length=FILTERS, description="the name or the id of an agent")
    run: list[Id] = Field(default_factory=list, max_length=FILTERS)
    tag: list[Word] = Field(default_factory=list, max_length=FILTERS, description="word for word; any of several")
    source_class: list[SourceClass] = Field(default_factory=list, max_length=FILTERS)
    state: list[State] = Field(default_factory=list, max_length=FILTERS)
    recorded_from: Instant | None = None
    recorded_to: Instant | None = None
    fields: Literal["all", "names"] = "all"
    sort: Sort = "-recorded_at"
    after: str = Field("", max_length=CURSOR_CHARS)
    limit: Limit = 50

    @model_validator(mode="after")
    def _begins_before_it_ends(self) -> Self:
        if self.recorded_from and self.recorded_to and self.recorded_from >= self.recorded_to:
            raise PydanticCustomError("interval", "`recorded_to` after `recorded_from`")
        return self

    def given(self, *, include: frozenset[str], reader: UUID | None) -> Filter:
        ids = [name for name in self.agent if is_id(name)]
        return Filter(
            query=self.q, types=tuple(self.type), agents=tuple(UUID(one) for one in ids),
            agent_names=tuple(name for name in self.agent if name not in ids), runs=tuple(self.run),
            source_classes=tuple(self.source_class), tags=tuple(self.tag), recorded_from=self.recorded_from,
            recorded_to=self.recorded_to, states=tuple(self.state), include=include,
            reader=reader,
        )  # fmt: skip


class RecordNameOut(BaseModel):
    """What a record is called: its id, its type and its first line."""

    id: UUID
    type: str
    first_line: str


class RecordList(Listed[Annotated[RecordOut | RecordNameOut, Field(union_mode="left_to_right")]]):
    """A page of records. `total_is_capped`: there are more than `total`."""

    total_is_capped: bool
    previous: str | None

    @classmethod
    def of(cls, found: RecordPage, *, by_name: bool, **told: Any) -> RecordList:
        whole = [RecordOut.of(row) for row in found.items] if not by_name else []
        names = [RecordNameOut(id=row.id, type=row.type, first_line=row.first_line) for row in found.items]
        return cls(
            items=[*whole] if not by_name else [*names], next=found.next or None, previous=found.previous or None,
            total=found.total, total_is_capped=found.is_capped, hidden=dict(found.hidden), **told,
        )  # fmt: skip
