"""Observations that stand already: the same payload is answered as before, another one is a conflict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memory.base.errors import Conflict, DomainError, Erased
from memory.beliefs.ancestry import observations_at, parents_by_item
from memory.beliefs.content import document_of, names_in, provenance_of
from memory.beliefs.kernel.documents import ObservationDocument, canonical_observation
from memory.beliefs.models import Observation, ObservationReach
from memory.beliefs.operations.watching import Tracking, tracking_of
from memory.beliefs.profiles import Profile
from memory.beliefs.states import warnings_of
from memory.ledger.operations.appending import NameBook
from memory.ledger.queries.contents import commitments_of, contents_of, names_of


@dataclass(frozen=True, slots=True)
class Known:
    """An observation that stands, as its client knows it, with what its own entry answered."""

    observation_id: str
    id: UUID
    digest: bytes
    seq: int
    flags: tuple[str, ...]
    tracking: Tracking
    is_reached: bool


def known_of(
    namespace: int, book: NameBook, documents: Sequence[ObservationDocument], *, profile: Profile
) -> dict[int, Known | DomainError]:
    """{index: the answer that stands, or why there is none} of the documents whose ids are known.

    Under compat a known id is a conflict, whatever its payload.
    """
    given: dict[UUID, int] = {}
    for index, document in enumerate(documents):
        if document.observation_id is not None and document.observation_id not in book.minted:
            given.setdefault(book.known[document.observation_id], index)
    found: dict[int, Known | DomainError] = {}
    for told in _told(namespace, list(given)):
        index = given[told.row.name]
        document = documents[index]
        if profile == "compat" and "value" in told.parts:
            found[index] = Conflict(f"The observation {document.observation_id} exists already.")
        else:
            found[index] = told.difference(document) or told.known()
    return found


def repeated(
    namespace: int, seq: int, documents: Sequence[ObservationDocument], known: Mapping[int, Known | DomainError]
) -> list[Known | DomainError]:
    """The answers that the entry gave, rebuilt from its rows, whatever would be refused by now.

    Those whose ids the service had made came in the order of the request; what is none of them, and stood not before,
    was refused then.
    """
    left = _told(namespace, None, seq=seq)
    answers: list[Known | DomainError] = []
    for index, document in enumerate(documents):
        standing = known.get(index)
        if standing is not None and not (isinstance(standing, Known) and standing.seq > seq):
            answers.append(standing)
            left = [one for one in left if one.observation_id != document.observation_id]
            continue
        here = [one for one in left if document.observation_id is None]
        refusal = here[0].difference(document) if here else Conflict("")
        if not here or isinstance(refusal, Conflict):
            answers.append(Conflict("This was refused when it was sent first; send it as a request of its own."))
            continue
        answers.append(refusal or here[0].known())
        left.remove(here[0])
    return answers


@dataclass(frozen=True, slots=True)
class _Told:
    """A stored observation with its content and names."""

    row: Observation
    parts: Mapping[str, Any]
    names: Mapping[UUID, str]
    parents: tuple[str, ...]
    digest: bytes
    flags: tuple[str, ...]
    tracking: Tracking
    is_reached: bool

    @property
    def observation_id(self) -> str:
        return self.names.get(self.row.name, "")

    def known(self) -> Known:
        return Known(
            self.observation_id, self.row.id, self.digest, self.row.seq, self.flags, self.tracking, self.is_reached
        )

    def difference(self, document: ObservationDocument) -> DomainError | None:
        """Why the standing observation is no answer to the payload. What the service had filled is left out."""
        if "value" not in self.parts:
            return Erased(f"The observation {self.observation_id} is erased.", observation_id=self.observation_id)
        stands = document_of(self.row, self.parts, self.names, namespace=document.namespace, parents=self.parents)
        told = replace(
            document, observation_id=stands.observation_id, tracked_at=None,
            observed_at=stands.observed_at if document.observed_at is None else document.observed_at,
        )  # fmt: skip
        if canonical_observation(told) == canonical_observation(stands):
            return None
        return Conflict(
            f"The observation {self.observation_id} stands with another payload; revoke it and send another id.",
            observation_id=self.observation_id,
        )  # fmt: skip


def _told(namespace: int, names: Sequence[UUID] | None, *, seq: int = 0) -> list[_Told]:
    only: dict[str, Any] = {"seq": seq} if names is None else {"name__in": list(names)}
    rows = list(Observation.objects.filter(namespace=namespace, **only).order_by("seq", "item")) if names != [] else []
    if not rows:
        return []
    addresses = [(row.seq, row.item) for row in rows]
    parts = contents_of(namespace, addresses)
    parents = parents_by_item(namespace, addresses)
    named = observations_at(namespace, [one for items in parents.values() for one in items])
    wanted: list[UUID | None] = [name for row in rows for name in names_in(row)]
    wanted += [one.name for one in named.values()]
    texts = names_of(namespace, wanted)
    warned = warnings_of(namespace, rows)
    told = {row.id: provenance_of(parts[row.seq, row.item].get("details") or {}) for row in rows}
    tracking = tracking_of(namespace, rows, told)
    reached = _reached(namespace, rows)
    digests = commitments_of(namespace, "observation", [row.id for row in rows])
    return [
        _Told(
            row, parts[address], texts, tuple(texts.get(named[one].name, "") for one in parents.get(address, ())),
            digests[row.id], warned[row.id], tracking[row.id], row.id in reached,
        )
        for address, row in zip(addresses, rows, strict=True)
    ]  # fmt: skip


def _reached(namespace: int, rows: Sequence[Observation]) -> set[UUID]:
    """Those that a revocation of what they come of reached from their own entry on."""
    found = ObservationReach.objects.filter(namespace=namespace, observation__in=[row.id for row in rows], is_own=False)
    seqs = {row.id: row.seq for row in rows}
    return {id for id, seq in found.values_list("observation", "seq") if seq == seqs[id]}
