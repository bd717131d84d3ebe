"""Commitments: what evidence holds in place of payloads, and the digests built on them.

Invariants
- A part commitment is salted with 32 random bytes. Without the salt nobody can test a guess of the payload; with both,
  anyone can recompute it. Deleting payload and salt leaves the commitment, and everything above it, as it was.
- Tags and salts have fixed lengths and come first, so no two inputs of different kinds or parts have the same bytes:
  binding rests on collision resistance, hiding on the salt.
- An item commitment holds neither seq nor instant, which the entry carries, so it is computed before the lock.
- Everything hashed as JSON is canonical (RFC 8785); hashes inside it are lower-case hexadecimal.

Source: laws of the store, ancestry digest; RFC 8785; RFC 6962 2.1 (leaf prefix); RFC 2104 (HMAC).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from functools import cache

from memory.base.canonical import canonical
from memory.ledger.kernel.merkle import leaf_hash

SALT_BYTES = 32


class SaltInvalid(ValueError):
    """The salt is not 32 bytes long."""

    code = "salt_invalid"


def part_commitment(part: str, salt: bytes, payload: bytes) -> bytes:
    """SHA-256 of the part's tag, the salt and the canonical payload; 32 bytes.

    part : name of the part, "content" for example.   salt : 32 random bytes.   payload : canonical JSON, in bytes.
    Raises SaltInvalid for a salt of another length.
    """
    _check_salt(salt)
    return hashlib.sha256(_part_tag(part) + salt + payload).digest()


def item_commitment(row: Mapping[str, object], parts: Mapping[str, bytes]) -> bytes:
    """SHA-256 of the item tag and canonical {"row", "parts"}; 32 bytes.

    row : the Evidence columns as JSON values.   parts : part name to part commitment.
    Raises CanonicalError if a column has no canonical form.
    """
    body = {"row": dict(row), "parts": {name: commitment.hex() for name, commitment in parts.items()}}
    return hashlib.sha256(_ITEM_TAG + canonical(body)).digest()


def item_hash(item: int, kind: str, object_id: str, commitment: bytes) -> bytes:
    """Leaf hash of one row in its entry's own tree; 32 bytes.

    item : position in the entry, from 0.   kind : what the row is.   object_id : its id as text.
    """
    body = {"item": item, "kind": kind, "object": object_id, "commitment": commitment.hex()}
    return leaf_hash(canonical(body))


def entry_leaf(entry: Mapping[str, object]) -> bytes:
    """Leaf hash of one entry in the namespace's tree; 32 bytes.   Raises CanonicalError."""
    return leaf_hash(canonical(dict(entry)))


def fingerprint(salt: bytes, request: bytes) -> bytes:
    """HMAC-SHA-256 of a canonical request under the salt of its content; 32 bytes.

    A bare hash would let anyone test a guess of an erased request.   Raises SaltInvalid.
    """
    _check_salt(salt)
    return hmac.digest(salt, request, "sha256")


def ancestry_digest(
    record_id: str, commitment: bytes, parents: Iterable[tuple[str, bytes]], n_quarantined: int
) -> bytes:
    """SHA-256 of the ancestry tag and canonical [id, commitment, sorted parents, n_quarantined]; 32 bytes.

    parents : (relation, ancestry digest) of each parent, in any order; one that stands twice counts twice.
    n_quarantined : >= 0, edges to parents that are not in the namespace.   Source: laws of the store, ancestry digest.
    """
    labelled = sorted([relation, digest.hex()] for relation, digest in parents)
    body = [record_id, commitment.hex(), labelled, n_quarantined]
    return hashlib.sha256(_ANCESTRY_TAG + canonical(body)).digest()


def _tag(name: str) -> bytes:
    return hashlib.sha256(f"palimpsest/{name}".encode()).digest()


@cache
def _part_tag(part: str) -> bytes:
    return _tag(f"part/v1/{part}")


_ITEM_TAG = _tag("item/v1")
_ANCESTRY_TAG = _tag("ancestry/v1")


def _check_salt(salt: bytes) -> None:
    if len(salt) != SALT_BYTES:
        raise SaltInvalid(f"a salt has {SALT_BYTES} bytes, got {len(salt)}")
