"""What observations are derived from: the parents that they name, found and held to the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from memory.base.errors import DomainError, Invalid, NotFound, Place
from memory.beliefs.kernel.documents import Lineage, ObservationDocument, Parent, require_parent
from memory.beliefs.models import Observation
from memory.beliefs.states import speaking
from memory.ledger.queries.contents import name_ids, names_of


class Entered(Protocol):
    """An observation of the entry being written."""

    id: UUID
    item: int


@dataclass(frozen=True, slots=True)
class ParentItem:
    """Where a parent stands; `seq` is 0 where it stands in the entry being written."""

    id: UUID
    seq: int
    item: int


@dataclass(frozen=True, slots=True)
class Parents:
    """The parents of each observation of a batch by its index, and why some may not have theirs."""

    stored: Mapping[str, ParentItem]
    batch: Mapping[int, Sequence[str | int]]
    refusals: Mapping[int, DomainError]

    def of(self, index: int, fresh: Mapping[int, Entered]) -> list[ParentItem]:
        """The parents of one, in the order in which it names them."""
        return [
            self.stored[one] if isinstance(one, str) else ParentItem(fresh[one].id, 0, fresh[one].item)
            for one in self.batch.get(index, ())
        ]


def parents_of(namespace: int, documents: Mapping[int, ObservationDocument], *, known: Mapping[int, object]) -> Parents:
    """The parents of every document that names some; one may stand earlier in the same batch.

    documents : filled, by their index in the batch.   known : those that stand already or are refused; they get none.
    """
    wanted = {text for document in documents.values() for text in document.derived_from}
    if not wanted:
        return Parents({}, {}, {})
    told = _stored(namespace, wanted, next(iter(documents.values())).namespace)
    earlier: dict[str, int] = {}
    batch: dict[int, list[str | int]] = {}
    refusals: dict[int, DomainError] = {}
    for index, document in documents.items():
        if index in known:
            continue
        try:
            batch[index] = [
                _parent(document, place, told, {text: documents[one] for text, one in earlier.items()}, earlier)
                for place in range(len(document.derived_from))
            ]
            earlier[str(document.observation_id)] = index
        except (Invalid, NotFound) as refusal:
            refusals[index] = refusal
    return Parents({text: item for text, (item, _) in told.items()}, batch, refusals)


def _parent(
    document: ObservationDocument, place: int, told: Mapping[str, tuple[ParentItem, Parent]],
    batch: Mapping[str, ObservationDocument], earlier: Mapping[str, int],
) -> str | int:  # fmt: skip
    text = document.derived_from[place]
    if text in told:
        parent = told[text][1]
    elif text in batch:
        one = batch[text]
        parent = Parent(
            text, one.namespace, one.relation_type, one.source, one.target, one.observed_at or 0.0, one.lineage
        )
    else:
        missing = Place(("derived_from", place), "not_found", "an observation that stands here", text[:60])
        raise NotFound(f"derived_from.{place}: there is no observation {text[:60]}.", errors=(missing,))
    require_parent(document, index=place, observed_at=document.observed_at or 0.0, parent=parent)
    return text if text in told else earlier[text]


def _stored(namespace: int, texts: set[str], called: str) -> dict[str, tuple[ParentItem, Parent]]:
    ids = name_ids(namespace, texts)
    rows = {row.name: row for row in Observation.objects.filter(namespace=namespace, name__in=list(ids.values()))}
    spoken = {name: speaking(vars(row)) for name, row in rows.items()}
    names = names_of(
        namespace,
        [one for row in rows.values() for one in (row.relation_type, row.source, row.target, spoken[row.name][1])],
    )
    found: dict[str, tuple[ParentItem, Parent]] = {}
    for text, name in ids.items():
        if (row := rows.get(name)) is None:
            continue
        kind, key = spoken[name]
        parent = Parent(
            text, called, names.get(row.relation_type, ""), names.get(row.source, ""), names.get(row.target, ""),
            row.observed_at, Lineage(kind, names.get(key, "")),
        )  # fmt: skip
        found[text] = (ParentItem(row.id, row.seq, row.item), parent)
    return found
