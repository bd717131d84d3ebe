"""What the routes of the ledger take and answer, and the as-of point that every read takes."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memory.base.asof import AsOf
from memory.base.canonical import INTEGER_LIMIT
from memory.base.schemas import LIST_ITEMS, Given, Id, Instant, Listed, Read
from memory.ledger.models import Checkpoint
from memory.ledger.queries import asof
from memory.ledger.queries.entries import EntryDetail, EntryRow, ItemRow
from memory.ledger.queries.proofs import Consistency
from memory.ledger.queries.scanning import Fault, Scan, Verdict

ITEM_LIMIT = 2**31 - 1
KEPT_CHARS = 10_000

SeqParameter = Annotated[int, Field(ge=1, le=INTEGER_LIMIT)]
ItemIndex = Annotated[int, Field(ge=0, le=ITEM_LIMIT)]
Limit = Annotated[int, Field(ge=1, le=LIST_ITEMS)]


class Point(BaseModel):
    """The as-of point of a read; without it the answer is of now.

    Without `valid_at` a read is of the present instant whatever `known_at` says, so that its answer moves on with the
    clock: only where both are given is it the same for ever.
    """

    valid_at: str = Field("", max_length=40, description="true at this instant (RFC 3339); without it, at present")
    known_at: str = Field("", max_length=60, description="as recorded by: an instant, seq:N, or source:<instant>")

    def at(self, namespace: int) -> AsOf:
        """Raises Invalid (not an instant, a seq beyond the head)."""
        return asof.resolve(namespace, valid_at=self.valid_at, known_at=self.known_at)


def rests_on(at: AsOf) -> dict[str, Any]:
    """What every read says of its point."""
    return {"seq": at.seq, "provisional": at.provisional, "closed": at.closed_seq}


class EntryFilter(BaseModel):
    """Which entries, and in which order; `after` is the seq to go on from."""

    verb: str = Field("", max_length=32)
    run: Id | None = None
    agent: Id | None = None
    sort: Literal["-seq", "seq"] = "-seq"
    after: SeqParameter | None = None
    limit: Limit = 50


class EntryOut(BaseModel):
    """One operation as the ledger holds it. `has_key`: it was asked under an Idempotency-Key."""

    seq: int
    recorded_at: Instant
    verb: str
    principal: str
    person: int | None
    agent: UUID | None
    loader: UUID | None
    run: UUID | None
    host: str
    on_behalf_of: str
    request: UUID | None
    n_items: int
    leaf: str
    items_root: str
    has_key: bool

    @classmethod
    def of(cls, row: EntryRow) -> EntryOut:
        plain = {name: getattr(row, name) for name in cls.model_fields if name not in ("leaf", "items_root")}
        return cls(**plain, leaf=row.leaf.hex(), items_root=row.items_root.hex())


class EntryList(Listed[EntryOut]):
    """Entries in the order asked for."""


class PartOut(BaseModel):
    """One part of an item. `erased_by` is the entry that erased its text."""

    name: str
    commitment: str
    erased_by: int | None


class ItemOut(BaseModel):
    """One item of an entry: what the ledger commits to."""

    item: int
    kind: str
    object: UUID
    commitment: str
    hash: str
    parts: list[PartOut]

    @classmethod
    def of(cls, row: ItemRow) -> ItemOut:
        parts = [PartOut(name=name, commitment=digest.hex(), erased_by=by) for name, digest, by in row.parts]
        return cls(
            item=row.item, kind=row.kind, object=row.object, commitment=row.commitment.hex(), hash=row.hash.hex(),
            parts=parts,
        )  # fmt: skip


class EntryDetailOut(Read):
    """An entry with its items. `checkpoint` is the size of the first signed checkpoint that covers it."""

    entry: EntryOut
    items: list[ItemOut]
    next_item: int | None
    checkpoint: int | None

    @classmethod
    def of(cls, found: EntryDetail, at: AsOf) -> EntryDetailOut:
        items = [ItemOut.of(item) for item in found.items]
        after = items[-1].item + 1 if items else found.row.n_items
        return cls(
            entry=EntryOut.of(found.row), items=items, next_item=after if after < found.row.n_items else None,
            checkpoint=found.checkpoint, **rests_on(at),
        )  # fmt: skip


class CheckpointOut(Read):
    """A signed checkpoint: a note over the first `size` entries, to be kept out of the house."""

    size: int
    root: str
    signed_at: Instant
    note: str

    @classmethod
    def of(cls, row: Checkpoint, at: AsOf) -> CheckpointOut:
        return cls(
            size=row.seq, root=bytes(row.root).hex(), signed_at=row.signed_at, note=row.note, **rests_on(at)
        )  # fmt: skip


class ProofOut(BaseModel):
    """The proof file of one item, as the stand-alone verifier takes it."""

    model_config = ConfigDict(extra="allow")

    format: Literal["palimpsest-proof"]
    version: int
    namespace: str
    seq: int
    item: int
    size: int
    item_path: list[str]
    entry_path: list[str]
    checkpoint: str


class ConsistencyOut(Read):
    """The proof that the log of `second` entries begins with that of `first`."""

    first: int
    second: int
    first_root: str
    second_root: str
    path: list[str]

    @classmethod
    def of(cls, found: Consistency, at: AsOf) -> ConsistencyOut:
        return cls(
            first=found.first, second=found.second, first_root=found.first_root.hex(),
            second_root=found.second_root.hex(), path=[digest.hex() for digest in found.path], **rests_on(at),
        )  # fmt: skip


class VerifyIn(Given):
    """`kept` is the text of a checkpoint that the caller saved elsewhere."""

    kept: Annotated[str, Field(max_length=KEPT_CHARS)] = ""


class FaultOut(BaseModel):
    """One fault, at one place, with both sides."""

    code: str
    seq: int
    item: int | None
    part: str
    expected: str
    got: str

    @classmethod
    def of(cls, fault: Fault) -> FaultOut:
        return cls(**{name: getattr(fault, name) for name in cls.model_fields})


class VerdictsOut(BaseModel):
    """Three verdicts, never folded into one."""

    content: Verdict
    inclusion: Verdict
    consistency: Verdict


class ScanOut(Read):
    """What a scan of the whole ledger found; the first faults are listed."""

    size: int
    root: str
    verdicts: VerdictsOut
    n_entries: int
    n_items: int
    n_contents: int
    n_erased: int
    n_checkpoints: int
    n_faults: int
    faults: list[FaultOut]

    @classmethod
    def of(cls, found: Scan, *, closed: int | None) -> ScanOut:
        counted = [name for name in cls.model_fields if name.startswith("n_") and name != "n_faults"]
        verdicts = VerdictsOut(content=found.content, inclusion=found.inclusion, consistency=found.consistency)
        return cls(
            seq=found.size, closed=closed, size=found.size, root=found.root.hex(), verdicts=verdicts,
            n_faults=len(found.faults), faults=[FaultOut.of(fault) for fault in found.faults[:LIST_ITEMS]],
            **{name: getattr(found, name) for name in counted},
        )  # fmt: skip
