"""Drafts: the items of an entry, made and hashed before the lock is taken.

A draft knows its row (an Evidence model and its columns without namespace, seq and item), its parts (name -> JSON
value) and, once sealed, its salts and commitment. Sealing needs no database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import ids, instants
from memory.base.canonical import canonical
from memory.base.models import Evidence
from memory.ledger.kernel import commitment
from memory.ledger.models import PART_CODE, PART_NAME

ADDRESS = frozenset({"namespace_id", "seq", "item"})


@dataclass(slots=True)
class Draft:
    """One item to be. `model` is None for a name, whose only home is the dictionary.

    `is_stored`: the row stands already (a namespace's own row); the item only commits to it.
    """

    kind: str
    object: UUID
    model: type[Evidence] | None = None
    values: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    contents: list[tuple[str, str, bytes]] = field(default_factory=list)
    packed: bytes = b""
    commitment: bytes = b""
    is_stored: bool = False

    @property
    def is_sealed(self) -> bool:
        return bool(self.commitment)


def plain(value: Any) -> Any:
    """A column as it enters the commitment: the same on both databases and for a third party."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return instants.text(value)
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    return value


def committed_row(model: type[Evidence] | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that the item commits to."""
    if model is None:
        return {}
    return {
        name: plain(value) for name, value in values.items() if name not in ADDRESS and name not in model.uncommitted
    }


def row_of(instance: Evidence) -> dict[str, Any]:
    """The committed columns of a stored row, for verification and proofs."""
    names = [f.attname for f in instance._meta.concrete_fields]
    return committed_row(type(instance), {name: getattr(instance, name) for name in names})


def seal(drafts: Sequence[Draft]) -> None:
    """Give every draft that has none its salts and commitment."""
    todo = [draft for draft in drafts if not draft.is_sealed]
    salts = iter(ids.new_salts(sum(len(draft.parts) for draft in todo)))
    for draft in todo:
        commitments: dict[str, bytes] = {}
        for name, value in draft.parts.items():
            payload, salt = canonical(value), next(salts)
            commitments[name] = commitment.part_commitment(name, salt, payload)
            draft.contents.append((name, payload.decode(), salt))
        draft.packed = pack(commitments)
        draft.commitment = commitment.item_commitment(committed_row(draft.model, draft.values), commitments)


def pack(commitments: Mapping[str, bytes]) -> bytes:
    """Part commitments as the Item row stores them: code byte, then 32 bytes, in the order of the codes."""
    ordered = sorted(commitments.items(), key=lambda pair: PART_CODE[pair[0]])
    return b"".join(bytes([PART_CODE[name]]) + digest for name, digest in ordered)


def unpack(packed: bytes | memoryview) -> dict[str, bytes]:
    """The inverse of `pack`. Unknown codes keep a name of their own, so that a damaged row still can be compared."""
    raw = bytes(packed)
    return {
        PART_NAME.get(raw[start], f"code-{raw[start]}"): raw[start + 1 : start + 33] for start in range(0, len(raw), 33)
    }
