"""The texts of records that a list shows: what a reader of hits needs to see the words in their place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.ledger.models import Content
from memory.records.models import RecordState


def texts(at: AsOf, ids: Iterable[UUID]) -> dict[UUID, str]:
    """{record: its text}; what is erased is missing. One query."""
    wanted = sorted(ids)
    if not wanted:
        return {}
    own = {"namespace": OuterRef("namespace"), "seq": OuterRef("seq"), "item": OuterRef("item"), "part": "content"}
    payload = Subquery(Content.objects.filter(**own).values("payload")[:1])
    rows: Any = RecordState.objects.filter(namespace=at.namespace, id__in=wanted).annotate(payload=payload)
    found = rows.values_list("id", "payload")
    return {identity: str(strict_loads(text)) for identity, text in found if text is not None}
