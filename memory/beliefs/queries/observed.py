"""One observation with all that is known of it: what it says, of what, from whom, and what became of it.

What was erased is missing: a name reads "", a vector or a provenance is None. Every statement is one for the whole
page, whatever the number of parents, children, revocations or forecasts; of children the oldest MOST are told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.base.errors import NotFound
from memory.beliefs.ancestry import descendants, observations_at
from memory.beliefs.content import NAMED, names_in, provenance_of
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.masses import Flag, flags, warnings
from memory.beliefs.models import DERIVED_FROM, Observation
from memory.beliefs.relations import Relation, relations
from memory.beliefs.states import DETAILS, VALUE, read_vectors
from memory.ledger.queries.contents import contents_of, names_of
from memory.tombstones.saying import Said, said

MOST = 50

_RELATED = """
SELECT 1, o.id, COALESCE(n.text, ''), o.seq, r.item, 0 FROM memory_reference r
JOIN memory_observation o ON o.namespace_id = r.namespace_id AND o.seq = r.to_seq AND o.item = r.to_item
LEFT JOIN memory_name n ON n.namespace_id = o.namespace_id AND n.id = o.name
WHERE r.namespace_id = %s AND r.seq = %s AND r.from_item = %s AND r.kind = %s
UNION ALL
SELECT * FROM (
SELECT 0, o.id, COALESCE(n.text, ''), o.seq, o.item, COUNT(*) OVER () FROM memory_reference r
JOIN memory_observation o ON o.namespace_id = r.namespace_id AND o.seq = r.seq AND o.item = r.from_item
LEFT JOIN memory_name n ON n.namespace_id = o.namespace_id AND n.id = o.name
WHERE r.namespace_id = %s AND r.to_seq = %s AND r.to_item = %s AND r.kind = %s AND r.seq <= %s
ORDER BY o.seq, o.item LIMIT %s) children
"""

_REACHING = """
SELECT v.observation, COALESCE(n.text, ''), v.seq, v.at, v.cascade, v.is_reexposing, c.payload
FROM memory_observationreach r
JOIN memory_revocation v ON v.namespace_id = r.namespace_id AND v.observation = r.revoked
JOIN memory_observation o ON o.namespace_id = v.namespace_id AND o.id = v.observation
LEFT JOIN memory_name n ON n.namespace_id = o.namespace_id AND n.id = o.name
LEFT JOIN memory_content c ON c.namespace_id = v.namespace_id AND c.seq = v.seq AND c.item = v.item AND c.part = 'note'
WHERE r.namespace_id = %s AND r.observation = %s AND r.seq <= %s ORDER BY v.seq
"""

_FORECASTS = """
SELECT t.monitor_run, t.source_family, COALESCE(n.text, ''), COALESCE(f.text, ''), t.tracked_at, t.seq
FROM memory_forecast t
JOIN memory_monitorrun m ON m.namespace_id = t.namespace_id AND m.id = t.monitor_run
LEFT JOIN memory_name n ON n.namespace_id = m.namespace_id AND n.id = m.name
LEFT JOIN memory_name f ON f.namespace_id = t.namespace_id AND f.id = t.source_family
WHERE t.namespace_id = %s AND t.observation = %s AND t.seq <= %s ORDER BY t.seq, t.item
"""


@dataclass(frozen=True, slots=True)
class Related:
    """A parent or a child. `observation_id` is the name that clients know it by."""

    id: UUID
    observation_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class Reached:
    """A revocation that reaches the observation. `note` is None where there is none, or it is erased."""

    observation: UUID
    observation_id: str
    seq: int
    at: float
    cascade: str
    is_reexposing: bool
    note: str | None


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """What a monitor run froze of it, waiting for its label. The ids are those of run and family."""

    run_id: UUID
    family_id: UUID
    run: str
    source_family: str
    tracked_at: float | None
    seq: int


@dataclass(frozen=True, slots=True, eq=False)
class ObservationStory:
    """An observation as its page shows it. `names` are those of the payload by its keys; `relation` is None where its
    name is erased. posterior, prior : (S,) masses as given."""

    row: Observation
    observation_id: str
    names: Mapping[str, str]
    relation: Relation | None
    posterior: Floats | None
    prior: Floats | None
    flags: tuple[Flag, ...]
    provenance: Mapping[str, Any] | None
    tags: tuple[str, ...]
    is_erased: bool
    parents: tuple[Related, ...]
    children: tuple[Related, ...]
    n_children: int
    reached: tuple[Reached, ...]
    forecasts: tuple[ForecastRow, ...]
    said: Mapping[int, Said]


def observation(at: AsOf, *, id: UUID) -> ObservationStory:
    """The observation of that stored id.   Raises NotFound (also for one that is not known by the point)."""
    row = Observation.objects.filter(namespace=at.namespace, id=id, seq__lte=at.seq).first()
    if row is None:
        raise NotFound(f"There is no observation {id} {at.words}.", id=str(id))
    names = names_of(at.namespace, names_in(row))
    text = names.get(row.relation_type, "")
    relation = relations(at.namespace, seq=at.seq, texts=[text]).get(text)
    parts = contents_of(at.namespace, [(row.seq, row.item)])[row.seq, row.item]
    told = parts.get(VALUE)
    vectors = read_vectors(told["posterior"], told.get("prior"), relation.law) if (
        told is not None and relation is not None and relation.law is not None) else None  # fmt: skip
    details = parts.get(DETAILS) or {}
    parents, children, n_children = _related(at, row)
    reached = _reached(at, id)
    entries = said(at.namespace, {row.seq, *(one.seq for one in reached)})
    warned = () if vectors is None else flags(vectors.posterior, vectors.prior)
    recorded_at = entries[row.seq].recorded_at.timestamp()
    return ObservationStory(
        row=row, observation_id=names.get(row.name, ""),
        names={key: names.get(getattr(row, column), "") for column, key in NAMED.items()}, relation=relation,
        posterior=None if vectors is None else vectors.posterior, prior=None if vectors is None else vectors.prior,
        flags=warnings(warned, observed_at=row.observed_at, recorded_at=recorded_at),
        provenance=None if told is None else provenance_of(details), tags=tuple(details.get("tags", ())),
        is_erased=told is None, parents=parents, children=children, n_children=n_children, reached=reached,
        forecasts=_forecasts(at, id), said=entries,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cascade:
    """What a revocation of an observation would reach beside it, nearest first; `n` of them, the first MOST told."""

    told: tuple[Related, ...]
    n: int


def cascade(at: AsOf, *, id: UUID) -> Cascade:
    """Everything that was derived from the observation by the point."""
    row = Observation.objects.get(namespace=at.namespace, id=id)
    found = {one: address for one, address in descendants(at.namespace, (row.seq, row.item)).items()
             if address[0] <= at.seq}  # fmt: skip
    first = list(found.values())[:MOST]
    rows = observations_at(at.namespace, first)
    names = names_of(at.namespace, [one.name for one in rows.values()])
    told = tuple(
        Related(rows[one].id, names.get(rows[one].name, ""), rows[one].seq) for one in first
    )  # fmt: skip
    return Cascade(told, len(found))


def _related(at: AsOf, row: Observation) -> tuple[tuple[Related, ...], tuple[Related, ...], int]:
    """Parents, children, and how many children there are."""
    here = [at.namespace, row.seq, row.item, DERIVED_FROM]
    found = sorted(sql.fetch(_RELATED, [*here, *here, at.seq, MOST]), key=_order)
    parents = tuple(Related(sql.as_id(id), text, seq) for is_parent, id, text, seq, _, _ in found if is_parent)
    children = tuple(Related(sql.as_id(id), text, seq) for is_parent, id, text, seq, _, _ in found if not is_parent)
    return parents, children, max((row[5] for row in found), default=0)


def _order(row: Sequence[Any]) -> tuple[int, int]:
    is_parent, _, _, seq, item, _ = row
    return (0, item) if is_parent else (seq, item)


def _reached(at: AsOf, id: UUID) -> tuple[Reached, ...]:
    rows = sql.fetch(_REACHING, [at.namespace, id, at.seq])
    return tuple(
        Reached(
            sql.as_id(revoked), text, seq, instant, cascade, bool(reexposing),
            None if note is None else str(strict_loads(note)),
        )
        for revoked, text, seq, instant, cascade, reexposing, note in rows
    )  # fmt: skip


def _forecasts(at: AsOf, id: UUID) -> tuple[ForecastRow, ...]:
    rows = sql.fetch(_FORECASTS, [at.namespace, id, at.seq])
    return tuple(ForecastRow(sql.as_id(run), sql.as_id(family), *told) for run, family, *told in rows)
