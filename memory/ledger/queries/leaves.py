"""The canonical entry: what its leaf hashes."""

from __future__ import annotations

from typing import Any

from memory.ledger.drafts import plain
from memory.ledger.models import Entry

# The key digest serves look-ups only; the fingerprint beside it is committed.
SKIPPED = frozenset({"namespace_id", "leaf", "key"})


def leaf_fields(entry: Entry, *, namespace: str) -> dict[str, Any]:
    """The fields of the canonical entry, plain.

    namespace : its name; the database's own number for it means nothing to others.
    """
    fields = {field.attname: plain(getattr(entry, field.attname)) for field in entry._meta.concrete_fields}
    return {"namespace": namespace, **{name: value for name, value in fields.items() if name not in SKIPPED}}
