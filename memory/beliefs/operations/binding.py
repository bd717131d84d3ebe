"""Binding a relation type to its law: once, for good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory.base import gate, ids
from memory.base.actor import Actor
from memory.base.errors import Conflict, Erased
from memory.beliefs.kernel.laws import Law, fingerprint, law_document
from memory.beliefs.models import RelationLaw
from memory.beliefs.profiles import Profile
from memory.beliefs.relations import Relation, relations
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import NameBook, OpenEntry, book_for, opened, retried

LineageKey = Literal["edge", "global"]
PriorSupport = Literal["reject", "flag"]


@dataclass(frozen=True, slots=True)
class Binding:
    """A law and how observations of it are read; None is what the profile of the namespace says, or what stands."""

    relation_type: str
    law: Law
    lineage_key: LineageKey | None = None
    prior_support: PriorSupport | None = None
    has_zero_floor: bool | None = None
    is_attested: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """A relation type as it stands now, the entry that bound it, and whether that was an earlier one."""

    relation: Relation
    seq: int
    replayed: bool


@retried
def register(by: Actor, *, binding: Binding, profile: Profile) -> Bound:
    """Bind the relation type to the law; what is bound so already is answered as it stands.

    Locks: the namespace head. Appends: `register`. Raises Conflict (another law or another setting stands), Erased
    (its law is), Forbidden, Stopped.
    """
    book = book_for(by)
    draft = draft_of(book, binding, profile)
    name = binding.relation_type
    with opened(by, verb="register", need=gate.WRITE, request=draft_request(binding), names=book) as entry:
        standing = relations(by.namespace, seq=entry.seq, texts=[name]).get(name)
        if standing is not None:
            require_same(standing, binding)
            entry.void()
        elif not entry.is_replay:
            entry.add(draft)
    relation = standing or relations(by.namespace, seq=entry.answer.seq, texts=[name])[name]
    return Bound(relation, relation.seq, standing is not None)


def enter(entry: OpenEntry, book: NameBook, binding: Binding, profile: Profile) -> Relation:
    """Bind within another entry; the relation type as it will stand."""
    draft = draft_of(book, binding, profile)
    item = entry.add(draft)
    told = {name: draft.values[name] for name in ("lineage_key", "prior_support", "has_zero_floor", "is_attested")}
    return Relation(
        draft.values["relation_type"], binding.relation_type, entry.seq, item, binding.law, fingerprint(binding.law),
        **told,
    )  # fmt: skip


def prior_support_of(binding: Binding, profile: Profile) -> PriorSupport:
    """What mass outside a prior will do under the binding."""
    return binding.prior_support or ("reject" if profile == "native" else "flag")


def draft_of(book: NameBook, binding: Binding, profile: Profile) -> Draft:
    """The draft of the binding, sealed."""
    ours = profile == "native"
    id = ids.new_id()
    values = {
        "id": id,
        "relation_type": book.id(binding.relation_type),
        "n_labels": len(binding.law.labels),
        "lineage_key": binding.lineage_key or ("edge" if ours else "global"),
        "prior_support": prior_support_of(binding, profile),
        "has_zero_floor": bool(binding.has_zero_floor),
        "is_attested": binding.is_attested,
    }
    draft = Draft("relation_law", id, RelationLaw, values, {"value": law_document(binding.law)})
    drafting.seal([draft])
    return draft


def draft_request(binding: Binding) -> dict[str, object]:
    """All that was asked, as JSON."""
    return {
        "relation_type": binding.relation_type, "law": law_document(binding.law), "lineage_key": binding.lineage_key,
        "prior_support": binding.prior_support, "has_zero_floor": binding.has_zero_floor,
    }  # fmt: skip


def require_same(standing: Relation, binding: Binding) -> None:
    """Raise Conflict where the binding says anything else than what stands, Erased where its law is gone."""
    name = binding.relation_type
    if standing.law is None:
        raise Erased(f"The law of the relation type {name} is erased.", relation_type=name)
    if standing.fingerprint != fingerprint(binding.law):
        raise Conflict(
            f"The relation type {name} is bound to the law {standing.law.name} for good; another law is another"
            " relation type.", relation_type=name, bound=standing.fingerprint,
        )  # fmt: skip
    for word in ("lineage_key", "prior_support", "has_zero_floor"):
        asked, stands = getattr(binding, word), getattr(standing, word)
        if asked is not None and asked != stands:
            raise Conflict(f"The relation type {name} is bound with {word} {stands}, for good.", relation_type=name)
