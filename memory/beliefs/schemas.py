"""What the routes of beliefs take and answer.

The peer's documents are read by the kernel, which knows their places; their schemas are published, not enforced here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field, StrictBool, WithJsonSchema

from memory.base import instants
from memory.base.bodies import moved
from memory.base.errors import DomainError, Invalid
from memory.base.schemas import Act, BatchError, Listed, Name, Reason, Written
from memory.beliefs.kernel.laws import Law, law_document, read_law
from memory.beliefs.kernel.masses import Flag
from memory.beliefs.kernel.reading import IDENTIFIER_CHARS
from memory.beliefs.operations.binding import Binding, Bound, LineageKey, PriorSupport
from memory.beliefs.operations.monitors import OpenedRun
from memory.beliefs.operations.observing import Observed
from memory.beliefs.operations.revoking import Revoked
from memory.beliefs.operations.saving import Saved
from memory.beliefs.operations.watching import Tracking
from memory.beliefs.profiles import PROFILES, Profile
from memory.beliefs.queries.saved import SavedRow
from memory.beliefs.queries.types import RelationRow
from memory.beliefs.relations import Relation
from memory.ledger.schemas import Limit

Identifier = Annotated[
    str, Field(min_length=1, max_length=IDENTIFIER_CHARS, pattern=r"^[^\x00-\x1f\x7f]+$")
]  # fmt: skip

_LAW_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "pattern": "^(cyclic:[0-9]+|s3)$"},
        {
            "type": "object", "required": ["name", "labels", "table", "inverse"],
            "properties": {
                "name": {"type": "string"},
                "labels": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 256},
                "table": {"type": "array", "items": {"type": "array", "items": {"type": "integer", "minimum": 0}}},
                "inverse": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                "identity": {"type": "integer", "minimum": 0},
            },
        },
    ]
}  # fmt: skip


class Profiled(BaseModel):
    """The profile of one call; without it, or where it is empty, the namespace's own."""

    profile: Annotated[
        Profile | None, BeforeValidator(lambda given: given or None),
        WithJsonSchema({"type": "string", "enum": [*PROFILES, ""]}),
    ] = None  # fmt: skip


class RelationIn(Act):
    """The law of a relation type and how its observations are read; both are for good.

    `lineage_key`: what speaks once, speaks once for each edge, or once at all. `prior_support`: mass outside a prior is
    refused, or flagged. `zero_floor`: a zero is impossible, not improbable.
    """

    law: Annotated[Any, WithJsonSchema(_LAW_SCHEMA)]
    lineage_key: LineageKey | None = None
    prior_support: PriorSupport | None = None
    zero_floor: StrictBool | None = None

    def given(self, relation_type: str) -> Binding:
        """Raises Invalid (no finite group)."""
        try:
            law = read_law(self.law)
        except Invalid as refusal:
            raise moved(refusal, "law") from refusal
        return Binding(relation_type, law, self.lineage_key, self.prior_support, self.zero_floor)


class LawOut(BaseModel):
    """A finite group: `table[a][b]` is the product, by indices of `labels`."""

    name: str
    labels: list[str]
    table: list[list[int]]
    inverse: list[int]
    identity: int

    @classmethod
    def of(cls, law: Law) -> Self:
        return cls.model_validate(law_document(law))


class RelationOut(BaseModel):
    """A relation type as it is bound. `law` is null once erased."""

    relation_type: str
    fingerprint: str
    lineage_key: LineageKey
    prior_support: PriorSupport
    zero_floor: bool
    attested: bool
    law: LawOut | None

    @classmethod
    def told(cls, one: Relation) -> dict[str, Any]:
        return {
            "relation_type": one.text, "fingerprint": one.fingerprint, "lineage_key": one.lineage_key,
            "prior_support": one.prior_support, "zero_floor": one.has_zero_floor, "attested": one.is_attested,
            "law": None if one.law is None else LawOut.of(one.law),
        }  # fmt: skip


class BoundOut(RelationOut, Written):
    """A relation type, bound by this request or before."""

    @classmethod
    def of(cls, done: Bound, *, url: str) -> Self:
        return cls(**RelationOut.told(done.relation), seq=done.seq, url=url, replayed=done.replayed)


class RelationRowOut(RelationOut):
    """A relation type with what was observed of it."""

    observations: int
    bound_seq: int


class RelationList(Listed[RelationRowOut]):
    """Relation types in the order in which they were bound."""

    @classmethod
    def of(cls, rows: Sequence[RelationRow], **told: Any) -> Self:
        items = [
            RelationRowOut(
                **RelationOut.told(row.relation), observations=row.n_observations, bound_seq=row.relation.seq
            )
            for row in rows
        ]  # fmt: skip
        return cls(items=items, next=None, total=len(items), **told)


class ObservedOut(Written):
    """The answer to an observation. `recorded` is false where the same stood before.

    `flags` warn of its vectors and its instant; `tracking` says what became of its forecast; `reached`: it comes of
    something that is revoked, so it counts nowhere.
    """

    observation_id: str
    id: UUID
    digest: str
    recorded: bool
    flags: list[Flag]
    tracking: Tracking
    reached: bool

    @classmethod
    def of(cls, done: Observed, *, url: str) -> Self:
        return cls(
            observation_id=done.observation_id, id=done.id, digest=done.digest.hex(), recorded=done.recorded,
            flags=list(done.flags), tracking=done.tracking, reached=done.is_reached, seq=done.seq, url=url,
            replayed=done.replayed,
        )  # fmt: skip


class ObservedItem(BaseModel):
    """One observation of a batch; `index` is its place there, from 0."""

    index: int
    observation_id: str
    id: UUID
    digest: str
    seq: int
    flags: list[Flag]
    tracking: Tracking
    reached: bool


class ObservedBatchOut(Written):
    """What became of each item: stored now, stood before under its id, or refused."""

    accepted: list[ObservedItem]
    duplicates: list[ObservedItem]
    errors: list[BatchError]

    @classmethod
    def of(
        cls, answers: Mapping[int, Observed | DomainError], refusals: Mapping[int, DomainError], *, head: int, url: str
    ) -> Self:
        """`head` stands for the entry where nothing was or had been stored."""
        done = {index: one for index, one in answers.items() if isinstance(one, Observed)}
        refused = {**refusals, **{i: one for i, one in answers.items() if isinstance(one, DomainError)}}
        items = {
            index: ObservedItem(
                index=index, observation_id=one.observation_id, id=one.id, digest=one.digest.hex(), seq=one.seq,
                flags=list(one.flags), tracking=one.tracking, reached=one.is_reached,
            )
            for index, one in done.items()
        }  # fmt: skip
        fresh = {index for index, one in done.items() if not one.replayed}
        return cls(
            accepted=[item for index, item in items.items() if index in fresh],
            duplicates=[item for index, item in items.items() if index not in fresh],
            errors=[BatchError(index=i, code=error.code, detail=error.detail) for i, error in sorted(refused.items())],
            seq=max((one.seq for one in done.values()), default=head), url=url, replayed=not fresh,
        )  # fmt: skip


class ObservationFilter(BaseModel):
    """Which observations: of one relation type, at one node."""

    relation_type: Identifier | Literal[""] = ""
    node: Identifier | Literal[""] = ""
    after: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    limit: Limit = 50


def _seconds(value: object) -> object:
    return instants.read(value).timestamp() if isinstance(value, str) else value


Seconds = Annotated[
    float, Field(strict=True, allow_inf_nan=False), BeforeValidator(_seconds),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "format": "date-time"}]}),
]  # fmt: skip


class RevokeIn(Act):
    """Why an observation counts no more, from the instant `at` on (seconds, or an instant; at present without it).
    It is none to come, but where the observation claims to be later still.

    `cascade`: with what was derived from it, or alone. `reexpose`: an older one of its lineage may speak again.
    """

    reason: Reason
    at: Seconds | None = None
    cascade: Literal["derived", "record"] | None = None
    reexpose: StrictBool | None = None


class RevokedOut(Written):
    """What a revocation reaches: the observation first, then by name what was derived from it."""

    observation_id: str
    at: float
    affected: list[str]

    @classmethod
    def of(cls, done: Revoked, *, url: str) -> Self:
        return cls(
            observation_id=done.observation_id, at=done.at, affected=list(done.affected), seq=done.seq, url=url,
            replayed=done.replayed,
        )  # fmt: skip


class SavedIn(Act):
    """A query to be kept under a name."""

    name: Name
    query: dict[str, Any]


class SavedQueryOut(Written):
    """A saved query. `replaces` is the one that was asked under its name before; it keeps its own address."""

    id: UUID
    name: str
    relation_type: str
    replaces: UUID | None

    @classmethod
    def of(cls, done: Saved, *, url: str) -> Self:
        return cls(
            id=done.id, name=done.name, relation_type=done.relation_type, replaces=done.replaces, seq=done.seq, url=url,
            replayed=done.replayed,
        )  # fmt: skip


class SavedRowOut(BaseModel):
    """A saved query as it stands. `query` is null once erased."""

    id: UUID
    name: str
    relation_type: str
    query: dict[str, Any] | None
    saved_seq: int


class SavedList(Listed[SavedRowOut]):
    """The saved queries, the newest of each name, by name."""

    @classmethod
    def of(cls, rows: Sequence[SavedRow], **told: Any) -> Self:
        items = [
            SavedRowOut(
                id=row.id, name=row.name, relation_type=row.relation_type, query=row.query, saved_seq=row.seq
            )
            for row in rows
        ]  # fmt: skip
        return cls(items=items, next=None, total=len(items), **told)


class MonitorOut(Written):
    """A monitor run, locked to its configuration."""

    run_id: str
    config_sha256: str
    config: dict[str, int | float]

    @classmethod
    def of(cls, done: OpenedRun, *, url: str) -> Self:
        return cls(
            run_id=done.run_id, config_sha256=done.config_sha256, config=dict(done.config), seq=done.seq, url=url,
            replayed=done.replayed,
        )  # fmt: skip
