"""Commitments and ancestry digests, computed a second time by code of its own.

Invariants
- Nothing is taken from the code that wrote them: what this agrees with, two programs agree on.
- Rows come as the database gave them; identifiers are 32 hexadecimal digits, as both databases can be read.
- Everything hashed as JSON is canonical: sorted ASCII keys, no spaces, integers and text only.

Source: laws of the store, 1.7; RFC 8785.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec

# The byte that stands for a part where an item lists what it commits to.
PARTS = {1: "content", 2: "details", 3: "note", 4: "raw", 5: "name", 6: "run", 7: "conflicts", 8: "report", 9: "value"}
PART_BYTES = 33

_encode = msgspec.json.Encoder(order="sorted").encode


@cache
def _tag(name: str) -> bytes:
    return hashlib.sha256(f"palimpsest/{name}".encode()).digest()


def part(name: str, salt: bytes, payload: str) -> bytes:
    """What an item commits to for one part; 32 bytes.   payload : as it is stored."""
    return hashlib.sha256(_tag(f"part/v1/{name}") + salt + payload.encode()).digest()


def item(row: Mapping[str, Any], parts: Mapping[str, bytes]) -> bytes:
    """The commitment of an item; 32 bytes.   row : committed columns, plain.   parts : name to commitment."""
    body = {"row": row, "parts": {name: digest.hex() for name, digest in parts.items()}}
    return hashlib.sha256(_tag("item/v1") + _encode(body)).digest()


def ancestry(record: str, commitment: bytes, parents: Iterable[tuple[str, bytes]], n_quarantined: int) -> bytes:
    """The ancestry digest of a record; 32 bytes.   record : 32 hexadecimal digits.   parents : (relation, digest)."""
    labelled = sorted([relation, digest.hex()] for relation, digest in parents)
    body = [dashed(record), commitment.hex(), labelled, n_quarantined]
    return hashlib.sha256(_tag("ancestry/v1") + _encode(body)).digest()


def unpacked(packed: bytes) -> dict[str, bytes]:
    """Part commitments by name, from the list of an item."""
    return {
        PARTS.get(packed[start], f"code-{packed[start]}"): packed[start + 1 : start + PART_BYTES]
        for start in range(0, len(packed), PART_BYTES)
    }


def dashed(id: str) -> str:
    """An identifier as it is committed and shown."""
    return f"{id[:8]}-{id[8:12]}-{id[12:16]}-{id[16:20]}-{id[20:]}"


def instant(value: Any) -> str | None:
    """An instant as it is committed: RFC 3339 in UTC with six digits. SQLite gives it as text, in UTC."""
    if value is None:
        return None
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    naive = found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)
    return f"{naive.isoformat(timespec='microseconds')}Z"
