"""What a fact rests on: references to records, facts or anything else of the namespace, by id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.base import ids
from memory.base.actor import Actor
from memory.base.errors import DomainError, NotFound, Place
from memory.ledger.drafts import Draft
from memory.ledger.models import Item, Reference
from memory.ledger.operations.referring import reference_refusals

EVIDENCE = "evidence"
_ABOUT_OTHERS = ("reference", "withdrawal", "review", "held", "retraction", "supersession", "erasure")


@dataclass(frozen=True, slots=True)
class Rest:
    """The items that one fact rests on, or why it may not."""

    items: tuple[tuple[int, int], ...] = ()
    refusal: DomainError | None = None

    def drafts(self, from_item: int) -> Iterator[Draft]:
        """One reference for each."""
        for to_seq, to_item in self.items:
            row = {"from_item": from_item, "to_seq": to_seq, "to_item": to_item, "kind": EVIDENCE}
            yield Draft("reference", ids.new_id(), Reference, row)


def rests_of(by: Actor, asked: Sequence[Sequence[UUID]]) -> list[Rest]:
    """What each fact rests on, for the ids that it names. An id that is not here is refused in its place."""
    wanted = sorted({one for references in asked for one in references})
    if not wanted:
        return [Rest() for _ in asked]
    found: dict[UUID, tuple[int, int]] = {}
    rows = Item.objects.filter(namespace=by.namespace, object__in=wanted).exclude(kind__in=_ABOUT_OTHERS)
    for about, seq, item in rows.order_by("seq", "item").values_list("object", "seq", "item"):
        found.setdefault(about, (seq, item))
    refused = reference_refusals(by, wanted)
    return [_rest(references, found, refused) for references in asked]


def _rest(
    references: Sequence[UUID], found: Mapping[UUID, tuple[int, int]], refused: Mapping[UUID, DomainError]
) -> Rest:  # fmt: skip
    for index, one in enumerate(references):
        refusal = refused.get(one)
        if refusal is not None and not isinstance(refusal, NotFound):
            return Rest(refusal=refusal)
        if one not in found or refusal is not None:
            place = Place(("references", index), "not_found", "the id of something in this namespace", str(one))
            return Rest(refusal=NotFound(f"There is nothing with the id {one}.", errors=(place,), id=str(one)))
    return Rest(tuple(dict.fromkeys(found[one] for one in references)))
