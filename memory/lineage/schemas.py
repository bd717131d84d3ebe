"""What the routes of lineage take and answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, field_validator

from memory.base.schemas import Act, Content, Digest, Given, Id, Instant, Note, Read, RecordType, Word, Written
from memory.lineage.kernel import Reached
from memory.lineage.operations.derivations import PARTS
from memory.lineage.operations.deriving import Cause, Derived
from memory.lineage.operations.merging import SOURCES
from memory.lineage.queries.ancestry import LIMIT, Walk
from memory.lineage.queries.graph import GROUPS, MOST_DEPTH, GraphLink, GraphNode, Slice
from memory.records.queries.detail import RecordRow
from memory.records.schemas import Metadata, RecordOut, Summary, Tags, later

WalkLimit = Annotated[int, Field(ge=1, le=LIMIT)]
CHANGES = ("content", "summary", "tags", "type", "metadata", "valid_from", "valid_to")


class Derivation(Act):
    """What every derivation says of itself."""

    reason: Literal["observation", "inference", "correction", "decay"] | None = None
    note: Note = ""

    def cause(self) -> Cause:
        return Cause(self.reason or "observation", self.note, given=self.reason is not None)


class EvolveIn(Derivation):
    """A new version of a record. What is not named carries over; `base` is the digest of the version that is known."""

    kind: Literal["evolve"]
    record: Id
    base: Digest | None = None
    content: Content | None = None
    summary: Summary | None = None
    tags: Tags | None = None
    type: RecordType | None = None
    metadata: Metadata | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None

    _interval = field_validator("valid_to")(later)

    def changes(self) -> dict[str, Any]:
        """What was named; only an instant can be changed to nothing."""
        given = {name: getattr(self, name) for name in CHANGES if name in self.model_fields_set}
        kept = {name: value for name, value in given.items() if value is not None or name.startswith("valid_")}
        return {name: tuple(sorted(set(value))) if name == "tags" else value for name, value in kept.items()}


class MergeIn(Derivation):
    """One record out of several, which stay."""

    kind: Literal["merge"]
    records: Annotated[list[Id], Field(min_length=2, max_length=SOURCES)]
    strategy: Literal["union", "intersection"] = "union"
    content: Content | None = None
    type: RecordType | None = None
    valid_time: Literal["intersection", "hull"] = "intersection"


class PartIn(Given):
    """One part of a record that is split."""

    content: Content
    summary: Summary = ""


class SplitIn(Derivation):
    """Several records out of one."""

    kind: Literal["split"]
    record: Id
    parts: Annotated[list[PartIn], Field(min_length=2, max_length=PARTS)]

    def contents(self) -> list[Mapping[str, Any]]:
        return [part.model_dump(exclude_unset=True) for part in self.parts]


class SupersedeIn(Derivation):
    """One standing record takes the place of another."""

    kind: Literal["supersede"]
    old: Id
    new: Id


DerivationIn = Annotated[EvolveIn | MergeIn | SplitIn | SupersedeIn, Field(discriminator="kind")]


class DerivedOut(Written):
    """The derivation and the records that it made, in order."""

    derivation: UUID
    records: list[UUID]

    @classmethod
    def of(cls, done: Derived, *, url: str) -> DerivedOut:
        return cls(
            derivation=done.derivation, records=list(done.records), seq=done.seq, replayed=done.replayed, url=url
        )  # fmt: skip


class EdgeIn(Act):
    """A relation between two records that is no derivation."""

    source: Id
    relation: Word
    target: Id


class EdgeOut(Written):
    """The relation as it is stored: an inverse label is turned round."""

    source: UUID
    relation: str
    target: UUID


class ReachedOut(BaseModel):
    """One record of a walk, once: by which relation and from which record it is nearest, and how far."""

    id: UUID
    relation: str
    from_: UUID = Field(serialization_alias="from")
    depth: int

    @classmethod
    def of(cls, reached: Reached) -> ReachedOut:
        return cls(id=reached.id, relation=reached.relation, from_=reached.from_id, depth=reached.depth)


class WalkOut(Read):
    """Everything reached from a record, nearest first. `digest` covers a record and all that it came from."""

    record: UUID
    digest: str
    items: list[ReachedOut]
    total: int
    truncated: bool

    @classmethod
    def of(cls, walk: Walk, **told: Any) -> WalkOut:
        return cls(
            record=walk.record, digest=walk.digest.hex(), items=[ReachedOut.of(one) for one in walk.items],
            total=walk.total, truncated=walk.truncated, **told,
        )  # fmt: skip


class GraphFilter(BaseModel):
    """Which slice of the lineage: the record in its middle, levels up and down, and groups of relations."""

    focus: Id
    up: Annotated[int, Field(ge=0, le=MOST_DEPTH)] = 1
    down: Annotated[int, Field(ge=0, le=MOST_DEPTH)] = 1
    relations: Annotated[str, Field(max_length=100, description=f"some of {', '.join(GROUPS)}, with commas")] = ""

    @property
    def groups(self) -> frozenset[str]:
        return frozenset(word.strip() for word in self.relations.split(",") if word.strip())


class NodeOut(BaseModel):
    """A record of the slice. `depth` is negative for what the focus rests on; hidden neighbours are counted."""

    id: UUID
    label: str
    state: str
    recorded_at: Instant
    depth: int
    n_hidden_up: int
    n_hidden_down: int

    @classmethod
    def of(cls, node: GraphNode) -> NodeOut:
        return cls(**{name: getattr(node, name) for name in cls.model_fields})


class LinkOut(BaseModel):
    """`newer` rests on `older` by the relation."""

    older: UUID
    newer: UUID
    relation: str
    group: str

    @classmethod
    def of(cls, link: GraphLink) -> LinkOut:
        return cls(older=link.older, newer=link.newer, relation=link.relation, group=link.group)


class GraphOut(Read):
    """A slice of the lineage, and how much it leaves out. `total_is_capped`: the totals are lower bounds."""

    focus: UUID
    nodes: list[NodeOut]
    links: list[LinkOut]
    total: int
    total_links: int
    total_is_capped: bool
    n_ancestors: int
    n_descendants: int
    truncated: bool
    cut_by: str
    groups: dict[str, int]

    @classmethod
    def of(cls, found: Slice, **told: Any) -> GraphOut:
        return cls(
            focus=found.focus, nodes=[NodeOut.of(node) for node in found.nodes],
            links=[LinkOut.of(link) for link in found.links], total=found.n_nodes, total_links=found.n_links,
            total_is_capped=found.is_capped, n_ancestors=found.n_ancestors, n_descendants=found.n_descendants,
            truncated=len(found.nodes) < found.n_nodes, cut_by=found.cut_by, groups=dict(found.groups), **told,
        )  # fmt: skip


class TimelineOut(Read):
    """All versions of a record's line, oldest first."""

    line: UUID
    items: list[RecordOut]
    total: int

    @classmethod
    def of(cls, line: UUID, rows: list[RecordRow], **told: Any) -> TimelineOut:
        return cls(line=line, items=[RecordOut.of(row) for row in rows], total=len(rows), **told)
