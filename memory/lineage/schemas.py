"""What the writes of lineage take and answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StrictBool, field_validator

from memory.base.errors import Invalid
from memory.base.intervals import Interval
from memory.base.schemas import Act, Content, Digest, Given, Id, Instant, Name, Note, RecordType, Word, Written
from memory.lineage.compiled_answers import RebuildOut
from memory.lineage.operations.compiling import Recipe
from memory.lineage.operations.derivations import PARTS
from memory.lineage.operations.deriving import Cause, Derived
from memory.lineage.operations.merging import SOURCES, explicit_interval
from memory.lineage.queries.compiled import Rebuild
from memory.records.schemas import Metadata, Summary, Tags, later

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
    """One record out of several, which stay. An explicit valid time may be open at either end.

    A record that another version has superseded is refused as stale, unless `superseded` allows it.
    """

    kind: Literal["merge"]
    records: Annotated[list[Id], Field(min_length=2, max_length=SOURCES)]
    strategy: Literal["union", "intersection", "latest", "oldest"] = "union"
    content: Content | None = None
    summary: Summary = ""
    type: RecordType | None = None
    valid_time: Literal["intersection", "hull", "explicit"] = "intersection"
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    superseded: Literal["refuse", "allow"] = "refuse"

    _interval = field_validator("valid_to")(later)

    def interval(self) -> Interval | None:
        """The interval of the rule `explicit`. Raises Invalid (an interval without that rule)."""
        if self.valid_time == "explicit":
            return explicit_interval(self.valid_from, self.valid_to)
        given = next((name for name in ("valid_from", "valid_to") if getattr(self, name) is not None), None)
        if given is not None:
            raise Invalid.at(given, expected="nothing, unless valid_time is explicit")
        return None


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


class FunctionIn(Given):
    """A function at a version: equal inputs must give equal outputs."""

    name: Name
    version: Name


class CompileIn(Derivation):
    """One record by a named function out of sources that stay. `covers` is a tag of raw records that it speaks for.

    No `content` for a function that the store runs itself: `concatenate` and `merge`, both at version 1. A `public`
    record rests on compiled ones alone and is `redacted`.
    """

    kind: Literal["compile"]
    sources: Annotated[list[Id], Field(max_length=SOURCES)] = Field(default_factory=list)
    function: FunctionIn
    output: Literal["compiled", "public"] = "compiled"
    redacted: StrictBool = False
    covers: Word | None = None
    content: Content | None = None
    id: Id | None = None
    summary: Summary = ""
    type: RecordType = "summary"
    tags: Tags = Field(default_factory=list)
    valid_from: Instant | None = None
    valid_to: Instant | None = None

    _interval = field_validator("valid_to")(later)

    def recipe(self) -> Recipe:
        return Recipe(self.function.name, self.function.version, self.output, self.redacted, self.covers or "")

    def interval(self) -> Interval | None:
        """The valid time where one is given; by default that of the sources together."""
        given = {"valid_from", "valid_to"} & self.model_fields_set
        return explicit_interval(self.valid_from, self.valid_to) if given else None


DerivationIn = Annotated[EvolveIn | MergeIn | SplitIn | SupersedeIn | CompileIn, Field(discriminator="kind")]


class DerivedOut(Written):
    """The derivation and the records that it made, in order.

    `rebuild` compares a compiled record with the newest earlier one of the same function, version and sources.
    """

    derivation: UUID
    records: list[UUID]
    rebuild: RebuildOut | None = None

    @classmethod
    def of(cls, done: Derived, *, url: str, rebuild: Rebuild | None = None) -> DerivedOut:
        return cls(
            derivation=done.derivation, records=list(done.records), seq=done.seq, replayed=done.replayed, url=url,
            rebuild=RebuildOut.of_texts(rebuild) if rebuild else None,
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
