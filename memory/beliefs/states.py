"""State rows of observations: what retrieval reads, derived from evidence and content.

The lineage key is worked out by the setting of the relation type, which never changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any
from uuid import UUID

import numpy as np

from memory.base import sql
from memory.beliefs.kernel.documents import LineageKind
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.laws import Law
from memory.beliefs.kernel.masses import Flag, Masses, flags, vector, warnings
from memory.beliefs.kernel.retrieval import information_score
from memory.beliefs.models import LINEAGE_KINDS, Observation, ObservationState
from memory.beliefs.relations import Relation, relations_by_id
from memory.ledger.models import Entry, Erasure
from memory.ledger.queries.contents import contents_of, names_of
from memory.records.models import doc_of

CHUNK = 400
DETAILS, VALUE = "details", "value"


@dataclass(frozen=True, slots=True)
class Vectors:
    """(S,) float64 each, over the labels of the law, as given; no prior is the uniform one."""

    posterior: Floats
    prior: Floats | None


def read_vectors(posterior: Masses, prior: Masses | None, law: Law) -> Vectors:
    """The masses under a law.   Raises Invalid for another length or label."""
    return Vectors(
        vector(posterior, law, "posterior"), None if prior is None else vector(prior, law, "prior")
    )  # fmt: skip


def speaking(values: Mapping[str, Any]) -> tuple[LineageKind, UUID]:
    """The kind and the name of what an observation speaks for: its root, else its event, else its family."""
    if values["lineage_root"] is not None:
        return "root", values["lineage_root"]
    if values["source_event"] is not None:
        return "event", values["source_event"]
    return "family", values["evidence_family"]


def lineage_of(values: Mapping[str, Any], *, lineage_key: str) -> UUID:
    """What speaks once. Under `global` it is the name alone, whatever its kind and wherever it is seen."""
    kind, name = speaking(values)
    if lineage_key == "global":
        return name
    ends = sorted((values["source"].bytes, values["target"].bytes))
    told = bytes([LINEAGE_KINDS.index(kind)]) + name.bytes + b"".join(ends)
    return UUID(bytes=hashlib.blake2b(told, digest_size=16).digest())


def state(
    namespace: int, seq: int, item: int, values: Mapping[str, Any], *, relation: Relation, name: str | None,
    vectors: Vectors | None, erased_seq: int | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The state row of an observation, in the order of the table's columns; `vectors` are None once erased."""
    row = {
        **{column: values[column] for column in _SAME},
        "namespace_id": namespace, "doc": doc_of(seq, item), "seq": seq,
        "lineage": lineage_of(values, lineage_key=relation.lineage_key),
        "score": None, "tie_key": None, "posterior": None, "prior": None, "erased_seq": erased_seq,
    }  # fmt: skip
    if vectors is not None:
        row["score"] = information_score(vectors.posterior, vectors.prior, trust=values["trust"])
        row["tie_key"] = None if name is None else name.encode()
        row["posterior"] = packed(vectors.posterior)
        row["prior"] = None if vectors.prior is None else packed(vectors.prior)
    return tuple(row[column] for column in sql.columns(ObservationState))


_SAME = (
    "id", "name", "relation_type", "source", "target", "is_independent", "trust", "observed_at", "valid_from",
    "valid_until",
)  # fmt: skip


def packed(masses: Floats) -> bytes:
    """(S,) float64 as bytes, the least significant first."""
    return np.ascontiguousarray(masses, dtype="<f8").tobytes()


def unpacked(value: Any) -> Floats:
    """(S,) float64 of the bytes."""
    return np.frombuffer(bytes(value), dtype="<f8")


def packed_rows(values: Sequence[Any], *, size: int) -> Floats:
    """(E, S) float64 of E such vectors; none is uniform."""
    uniform = packed(np.full(size, 1.0 / size))
    told = b"".join([uniform if value is None else bytes(value) for value in values])
    return np.frombuffer(told, dtype="<f8").reshape(len(values), size)


def warnings_of(namespace: int, observations: Sequence[Observation]) -> dict[UUID, tuple[Flag, ...]]:
    """{observation: what it warns of}; of an erased one only its instant does."""
    found: dict[UUID, tuple[Flag, ...]] = {}
    for chunk in batched(observations, CHUNK):
        vectors = ObservationState.objects.filter(namespace=namespace, id__in=[one.id for one in chunk])
        told = {
            id: flags(unpacked(posterior), None if prior is None else unpacked(prior))
            for id, posterior, prior in vectors.exclude(posterior=None).values_list("id", "posterior", "prior")
        }
        entries = Entry.objects.filter(namespace=namespace, seq__in={one.seq for one in chunk})
        recorded = dict(entries.values_list("seq", "recorded_at"))
        for one in chunk:
            seconds = recorded[one.seq].timestamp()
            found[one.id] = warnings(told.get(one.id, ()), observed_at=one.observed_at, recorded_at=seconds)
    return found


def derived(namespace: int) -> Iterator[list[tuple[Any, ...]]]:
    """All state rows of the namespace made anew from evidence and content, in chunks, in order."""
    bound = relations_by_id(namespace)
    for rows in chunks(namespace):
        addresses = [(row.seq, row.item) for row in rows]
        parts = contents_of(namespace, addresses)
        names = names_of(namespace, [row.name for row in rows])
        gone = _erased(namespace, addresses)
        made = []
        for row in rows:
            relation = bound[row.relation_type]
            told = parts[row.seq, row.item].get(VALUE)
            vectors = None
            if told is not None and relation.law is not None:
                vectors = read_vectors(told["posterior"], told.get("prior"), relation.law)
            made.append(
                state(
                    namespace, row.seq, row.item, vars(row), relation=relation, name=names.get(row.name),
                    vectors=vectors, erased_seq=gone.get((row.seq, row.item)),
                )
            )  # fmt: skip
        yield made


def chunks(namespace: int) -> Iterator[list[Observation]]:
    """The observations in the order of the ledger."""
    after: tuple[int, int] = (-1, -1)
    while True:
        found = sql.fetch(
            f"SELECT {sql.selected(Observation, 'o')} FROM memory_observation o"
            f" WHERE o.namespace_id = %s AND (o.seq, o.item) > (%s, %s) ORDER BY o.seq, o.item LIMIT {CHUNK}",
            [namespace, *after],
        )
        if not found:
            return
        rows = [sql.loaded(Observation, values) for values in found]
        yield rows
        after = (rows[-1].seq, rows[-1].item)


def tags_of(rows: Iterable[Observation], parts: Mapping[tuple[int, int], Mapping[str, Any]]) -> list[tuple[UUID, str]]:
    """(observation, tag) for every tag that content holds."""
    return [
        (row.id, tag) for row in rows for tag in (parts[row.seq, row.item].get(DETAILS) or {}).get("tags", [])
    ]  # fmt: skip


def _erased(namespace: int, addresses: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    rows = Erasure.objects.filter(
        namespace=namespace, target_seq__in=sorted({seq for seq, _ in addresses}), target_part=VALUE
    )
    return {(row.target_seq, row.target_item): row.seq for row in rows}
