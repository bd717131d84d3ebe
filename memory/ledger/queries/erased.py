"""What namespaces have erased, as commitments: how an erasure holds against an archive that was made before it.

A part of an entry has the same commitment wherever the entry is restored to, so the commitment alone says that the text
behind it must not come back. It names no text, and without the salt nobody can test a guess against it.
"""

from __future__ import annotations

from memory.base.models import ContentRef
from memory.ledger.drafts import unpack
from memory.ledger.models import Erasure
from memory.ledger.queries.addressed import TARGET, items_at

CHUNK = 400


def commitments(namespace: int, *, seq: int | None = None) -> dict[ContentRef, bytes]:
    """{part: commitment} of everything that the namespace has erased, or of what its entry `seq` erased."""
    rows = Erasure.objects.filter(namespace=namespace, **({} if seq is None else {"seq": seq}))
    refs = list(rows.order_by("seq", "item").values_list(*TARGET))
    found: dict[ContentRef, bytes] = {}
    for start in range(0, len(refs), CHUNK):
        chunk = refs[start : start + CHUNK]
        parts = {
            (row.seq, row.item): unpack(row.parts) for row in items_at(namespace, [(at, item) for at, item, _ in chunk])
        }
        found.update({(at, item, part): parts[at, item][part] for at, item, part in chunk})
    return found
