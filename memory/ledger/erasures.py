"""What the routes of erasure take and answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from memory.base.canonical import INTEGER_LIMIT
from memory.base.schemas import Act, Id, Instant, Listed, Name, Note, Read, Word, Written
from memory.base.text import NAME_CHARS
from memory.ledger.operations.closing import Closed, ClosingPreview
from memory.ledger.queries.radius import Affected, Part, Quote, Radius
from memory.ledger.queries.receipts import OUT_OF_REACH, STAYS, ErasureRow, Receipt
from memory.ledger.schemas import ITEM_LIMIT

REFERENCES = 1_000

Address = tuple[
    Annotated[int, Field(strict=True, ge=1, le=INTEGER_LIMIT)], Annotated[int, Field(strict=True, ge=0, le=ITEM_LIMIT)]
]  # fmt: skip


def _only_true(value: bool) -> bool:
    if not value:
        raise PydanticCustomError("only_true", "true, or no such field")
    return value


class ErasureIn(Act):
    """What is to be erased: records, facts, items, everything that names a subject, or all of the namespace; and why.

    `quoting` also erases the records that repeat a line of it word for word. A dry run erases nothing and tells what
    would go. `namespace` erases everything and closes it for good: `confirm` is its name, word for word.
    """

    records: Annotated[list[Id], Field(min_length=1, max_length=REFERENCES)] | None = None
    facts: Annotated[list[Id], Field(min_length=1, max_length=REFERENCES)] | None = None
    items: Annotated[list[Address], Field(min_length=1, max_length=REFERENCES)] | None = None
    subject: Name | None = None
    namespace: Annotated[StrictBool, AfterValidator(_only_true)] | None = None
    confirm: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    reason: Literal["request", "policy", "secret", "mistake", "source"]
    note: Note = ""
    quoting: StrictBool = False
    dry_run: StrictBool = False

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = (self.records, self.facts, self.items, self.subject, self.namespace)
        if sum(given is not None for given in kinds) != 1:
            raise PydanticCustomError("one_of", "either `records`, `facts`, `items`, `subject` or `namespace`")
        if self.namespace and self.quoting:
            raise PydanticCustomError("quoting", "no `quoting` where the whole namespace goes")
        return self


class PartRef(BaseModel):
    """One part of one item, and what the item is about."""

    seq: int
    item: int
    part: str
    kind: str
    object: UUID

    @classmethod
    def of(cls, row: Part) -> PartRef:
        return cls(seq=row.seq, item=row.item, part=row.part, kind=row.kind, object=row.object)


class AffectedOut(BaseModel):
    """Something that rests on what is erased: it stays, and loses its ground."""

    kind: str
    id: str
    relation: str

    @classmethod
    def of(cls, row: Affected) -> AffectedOut:
        return cls(kind=row.kind, id=row.id, relation=row.relation)


class QuoteOut(BaseModel):
    """A record that stays unless it is named too, and repeats `n_lines` lines of what goes."""

    record: UUID
    seq: int
    item: int
    relation: str
    n_lines: int
    line: str

    @classmethod
    def of(cls, row: Quote) -> QuoteOut:
        return cls(
            record=row.object, seq=row.seq, item=row.item, relation=row.relation, n_lines=row.n_lines, line=row.line
        )  # fmt: skip


class HoldOut(BaseModel):
    """The hold under which nothing is erased."""

    seq: int
    placed_by: str
    placed_at: str
    reason: str
    until: str | None


class ErasureOut(Written):
    """What was erased, or what would be. `refusal` says why the act itself would be refused now, `hold` who holds.

    `n_within_words` items name the subject inside longer words only; they stay unless they are named by their address.
    Of a whole namespace `parts` holds the first alone, and `by_kind` counts all items; the receipt has every part.
    """

    dry_run: bool
    parts: list[PartRef]
    n_parts: int
    by_kind: dict[str, int] = Field(default_factory=dict)
    n_gone_before: int
    affected: list[AffectedOut]
    n_affected: int
    quotes: list[QuoteOut]
    n_quotes: int
    n_within_words: int = 0
    refusal: Word | None = None
    hold: HoldOut | None = None

    @classmethod
    def of(cls, found: Radius, *, done: int | None, **told: Any) -> ErasureOut:
        """`done` is the entry that erased; None for what would be erased."""
        parts = [PartRef.of(part) for part in found.parts if part.erased_by == done]
        n_gone = sum(part.erased_by not in (None, done) for part in found.parts)
        return cls(
            parts=parts, n_parts=len(parts), n_gone_before=n_gone, dry_run=done is None,
            affected=[AffectedOut.of(one) for one in found.affected], n_affected=found.n_affected,
            quotes=[QuoteOut.of(one) for one in found.quotes], n_quotes=found.n_quotes, **told,
        )  # fmt: skip

    @classmethod
    def of_all(cls, found: ClosingPreview, **told: Any) -> ErasureOut:
        """What closing the namespace would erase."""
        exports = [AffectedOut.of(one) for one in found.exports]
        return cls(
            parts=[], n_parts=found.n_parts, by_kind=dict(found.by_kind), n_gone_before=found.n_gone_before,
            dry_run=True, affected=exports, n_affected=len(exports), quotes=[], n_quotes=0, seq=found.at.seq,
            refusal=found.refusal, hold=None if found.hold is None else HoldOut(**found.hold), **told,
        )  # fmt: skip

    @classmethod
    def of_closing(cls, found: Closed, **told: Any) -> ErasureOut:
        """What closing the namespace has erased."""
        exports = [AffectedOut.of(one) for one in found.exports]
        return cls(
            parts=[PartRef.of(part) for part in found.parts], n_parts=found.n_parts, by_kind=dict(found.by_kind),
            n_gone_before=found.n_gone_before, dry_run=False, affected=exports, n_affected=len(exports), quotes=[],
            n_quotes=0, seq=found.seq, **told,
        )  # fmt: skip


class ErasureRowOut(BaseModel):
    """One erasure in a list. `is_closing`: it erased everything and closed the namespace."""

    seq: int
    recorded_at: Instant
    person: int | None
    principal: str
    reason: str
    n_parts: int
    is_closing: bool

    @classmethod
    def of(cls, row: ErasureRow) -> ErasureRowOut:
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class ErasureList(Listed[ErasureRowOut]):
    """Erasures, newest first."""


class ErasedPartOut(PartRef):
    """A part that is gone, and the commitment that stands for it; apply these after a restore of an older archive."""

    commitment: str


class PlaceOut(BaseModel):
    """A place and what is said of it."""

    place: str
    why: str


class ReceiptOut(Read):
    """One erasure with every place it touched, what stays and why, and what nobody here can reach.

    touched : counts by place, null where they were erased themselves.   scrubbed_at : null until the files of the
    database were written anew after it.
    """

    erasure: ErasureRowOut
    note: str
    parts: list[ErasedPartOut]
    touched: dict[str, Any] | None
    exports: list[AffectedOut]
    engine: str
    scrubbed_at: Instant | None
    scrubbed_seq: int | None
    stays: list[PlaceOut]
    out_of_reach: list[PlaceOut]

    @classmethod
    def of(cls, found: Receipt, **told: Any) -> ReceiptOut:
        parts = [
            ErasedPartOut(
                **PartRef.of(row).model_dump(), commitment=found.commitments[row.seq, row.item, row.part].hex()
            )
            for row in found.parts
        ]  # fmt: skip
        return cls(
            erasure=ErasureRowOut.of(found.row), note=found.note, parts=parts,
            exports=[AffectedOut.of(one) for one in found.exports],
            touched=None if found.touched is None else dict(found.touched), engine=found.engine,
            scrubbed_at=found.scrub.recorded_at if found.scrub else None,
            scrubbed_seq=found.scrub.seq if found.scrub else None,
            stays=[PlaceOut(place=place, why=why) for place, why in STAYS],
            out_of_reach=[PlaceOut(place=place, why=why) for place, why in OUT_OF_REACH], **told,
        )  # fmt: skip
