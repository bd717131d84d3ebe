"""Records as a kind of things that a review policy holds: what says the same, and how a review shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Subquery

from memory.ledger.models import Entry
from memory.ledger.queries.contents import contents_of
from memory.records.models import Held, RecordState, Review
from memory.records.review import Peer, origin_of, writer_of

CHUNK = 400
# Of one text; more tellings of it make no origin more likely.
MOST_PEERS = 400


def peers(namespace: int, digests: Sequence[bytes]) -> dict[bytes, list[Peer]]:
    """The records that say the same, by the digest of their text: those that stand, and those that were turned down."""
    found: dict[bytes, list[Peer]] = defaultdict(list)
    for start in range(0, len(digests), CHUNK):
        for row, origin in _told(namespace, digests[start : start + CHUNK]):
            turned_down = row["by_person"] and row["confirmed_seq"] is None
            if row["withdrawn_seq"] is None or turned_down:
                writer = writer_of(row["agent"], row["person"])
                found[bytes(row["text_digest"])].append(Peer(
                    row["id"], writer, origin_of(row["source_class"], origin, writer), waits=row["waits_for_origins"],
                    turned_down=turned_down,
                ))  # fmt: skip
    return found


def _told(namespace: int, digests: Sequence[bytes]) -> list[tuple[Mapping[str, Any], str]]:
    reviews = Review.objects.filter(namespace=namespace, kind="record", object=OuterRef("id"))
    held = Held.objects.filter(namespace=namespace, kind="record", object=OuterRef("id"))
    entry = Entry.objects.filter(namespace=namespace, seq=OuterRef("seq"))
    rows = RecordState.objects.filter(namespace=namespace, text_digest__in=digests).annotate(
        person=Subquery(entry.values("person")[:1]),
        waits_for_origins=Exists(held.filter(origins_needed__gt=0)) & ~Exists(reviews),
        by_person=Exists(reviews.filter(confirmed=False, cause="person")),
    )
    columns = (
        "id", "seq", "item", "text_digest", "source_class", "agent", "person", "confirmed_seq", "withdrawn_seq",
        "waits_for_origins", "by_person",
    )  # fmt: skip
    found = list(rows.order_by("doc").values(*columns)[:MOST_PEERS])
    parts = contents_of(namespace, [(row["seq"], row["item"]) for row in found])
    details = [parts[row["seq"], row["item"]].get("details", {}) for row in found]
    return [(row, said.get("source", {}).get("origin", "")) for row, said in zip(found, details, strict=True)]


def project(namespace: int, seq: int, confirmed: Sequence[UUID], rejected: Sequence[UUID]) -> None:
    """Mark the state rows of what an entry confirmed and turned down."""
    for ids, column in ((confirmed, "confirmed_seq"), (rejected, "withdrawn_seq")):
        for start in range(0, len(ids), CHUNK):
            rows = RecordState.objects.filter(namespace=namespace, id__in=list(ids[start : start + CHUNK]))
            rows.update(**{column: seq})
