"""Facts as the review policy sees them: held, confirmed by origins, confirmed or turned down by a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import batched
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from memory.facts.content import NewFact
from memory.facts.kernel.values import KEY_BYTES, value_key
from memory.facts.models import FactState
from memory.facts.projecting import project_change
from memory.facts.queries.held import shown
from memory.ledger.queries.contents import names_of
from memory.records import review
from memory.records.models import Review

KIND = "fact"
CHUNK = 400


def same_as(subject: UUID, attribute: UUID, stance: str, key: bytes) -> bytes:
    """What facts share that say the same of the same."""
    return subject.bytes + attribute.bytes + stance.encode() + key


def statement_of(identity: UUID, item: int, new: NewFact, values: Mapping[str, Any]) -> review.Statement:
    """The new fact as the policy sees it. A candidate is one already: it says nothing for anybody."""
    same = same_as(values["subject"], values["attribute"], new.stance, value_key(new.value))
    return review.Statement(KIND, identity, item, same, new.source_class, origin=new.origin, attribute=new.attribute)


def _peers(namespace: int, digests: Sequence[bytes]) -> dict[bytes, list[review.Peer]]:
    wanted = set(digests)
    rows = [row for chunk in batched(sorted(wanted), CHUNK) for row in _alike(namespace, chunk) if _same(row) in wanted]
    ids = [row.id for row in rows]
    held = {row.object: row for row in review.waiting(namespace).filter(kind=KIND, object__in=ids)}
    names = names_of(namespace, [row.origin for row in rows])
    found: dict[bytes, list[review.Peer]] = {}
    for row in rows:
        writer = review.writer_of(row.agent, row.person)
        named = "" if row.origin is None else names.get(row.origin, "")
        needed = row.id in held and held[row.id].origins_needed > 0
        peer = review.Peer(
            row.id, writer, review.origin_of(row.source_class, named, writer), waits=needed,
            turned_down=row.rejected_seq is not None,
        )  # fmt: skip
        found.setdefault(_same(row), []).append(peer)
    return found


def _alike(namespace: int, digests: Sequence[bytes]) -> Iterator[FactState]:
    """Facts with the entities and values of the digests that stand, and those that a person turned down.

    The entities are asked for too: a value such as true is said of very many.
    """
    by_person = Review.objects.filter(
        namespace=namespace, kind=KIND, object=OuterRef("id"), confirmed=False, cause="person"
    )
    told = FactState.objects.filter(
        Q(retracted_seq__isnull=True, rejected_seq__isnull=True) | Exists(by_person), namespace=namespace,
        candidate=False, value_key__in=sorted({digest[-KEY_BYTES:] for digest in digests}),
        subject__in=sorted({UUID(bytes=digest[:16]) for digest in digests}),
        attribute__in=sorted({UUID(bytes=digest[16:32]) for digest in digests}),
    )  # fmt: skip
    return told.order_by("doc").iterator()


def _same(row: FactState) -> bytes:
    return same_as(row.subject, row.attribute, row.stance, bytes(row.value_key or b""))


def _project(namespace: int, seq: int, confirmed: Sequence[UUID], rejected: Sequence[UUID]) -> None:
    changes = {one: {"confirmed_seq": seq} for one in confirmed} | {one: {"rejected_seq": seq} for one in rejected}
    project_change(namespace, seq, changes)


# The review alone hides a fact, and keeps the reason.
REVIEWED = review.Kind(KIND, peers=_peers, hide=None, project=_project, shown=shown)
