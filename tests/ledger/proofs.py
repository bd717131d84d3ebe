"""Honest proofs, made by the kernel from a log in memory, for the tests that edit them."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

from memory.base.canonical import canonical
from memory.ledger.kernel import commitment, merkle, note, signing

ORIGIN = "ledger.example/billing"
KEY = signing.from_seed(bytes(range(32)))
OTHER_KEY = signing.from_seed(bytes(range(1, 33)))
VKEY = str(KEY.verification_key(ORIGIN))
N_ENTRIES = 11
SEQ = 7
N_ITEMS = 3
ITEM = 1
ERASED_BY = 9
ZEROS = "00" * 32

Proof = dict[str, Any]


def salt(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


PAYLOADS = {
    "content": {"text": "Invoice 7 was paid – twice.", "amounts": [1, 2.5, 1e-7, -0.0, 1e21], "paid": True, "by": None},
    "summary": "paid twice",
}
PARTS = {name: commitment.part_commitment(name, salt(name), canonical(payload)) for name, payload in PAYLOADS.items()}
ROW = {"type": "note", "valid_from": "2026-01-01T00:00:00.000000Z", "valid_to": None, "confidence": 0.75}
COMMITMENT = commitment.item_commitment(ROW, PARTS)
ITEM_BODY = {
    "item": ITEM,
    "kind": "record",
    "object": "6f1c0f9e-3d52-4e55-8f0a-0c1d2e3f4a5b",
    "commitment": COMMITMENT.hex(),
}


def item_hashes() -> list[bytes]:
    hashes = [commitment.item_hash(item, "record", f"other {item}", bytes(32)) for item in range(N_ITEMS)]
    hashes[ITEM] = commitment.item_hash(ITEM, "record", str(ITEM_BODY["object"]), COMMITMENT)
    return hashes


ENTRIES: list[dict[str, object]] = [
    {
        "namespace": "billing",
        "seq": seq,
        "recorded_at": f"2026-01-01T00:00:{seq:02}.000000Z",
        "actor": {"principal": "agent:alice", "host": None},
        "verb": "records.save",
        "n_items": N_ITEMS if seq == SEQ else 1,
        "items_root": merkle.root(item_hashes()).hex() if seq == SEQ else merkle.EMPTY_ROOT.hex(),
    }
    for seq in range(1, N_ENTRIES + 1)
]
LEAVES = [commitment.entry_leaf(entry) for entry in ENTRIES]


def signed_head(size: int, *, leaves: list[bytes] = LEAVES, origin: str = ORIGIN, key: signing.SigningKey = KEY) -> str:
    checkpoint = note.Checkpoint(origin, size, merkle.root(leaves[:size]))
    return note.format_note(signing.sign(checkpoint, key))


def fetch(level: int, index: int) -> bytes:
    return merkle.root(LEAVES[index << level : (index + 1) << level])


def honest_proof(*, is_summary_erased: bool = False, consistency_from: int | None = None) -> Proof:
    contents: dict[str, object] = {
        name: {"payload": payload, "salt": salt(name).hex()} for name, payload in PAYLOADS.items()
    }
    if is_summary_erased:
        contents["summary"] = {"erased_by": ERASED_BY}
    proof: Proof = {
        "format": "palimpsest-proof",
        "version": 1,
        "namespace": "billing",
        "origin": ORIGIN,
        "seq": SEQ,
        "item": ITEM,
        "entry": ENTRIES[SEQ - 1],
        "item_body": ITEM_BODY,
        "row": ROW,
        "parts": {name: digest.hex() for name, digest in PARTS.items()},
        "contents": contents,
        "item_path": [step.hex() for step in merkle.inclusion_path_of(item_hashes(), ITEM)],
        "n_items": N_ITEMS,
        "leaf": LEAVES[SEQ - 1].hex(),
        "entry_path": [step.hex() for step in merkle.inclusion_path(SEQ - 1, N_ENTRIES, fetch)],
        "size": N_ENTRIES,
        "checkpoint": signed_head(N_ENTRIES),
        "public_key": VKEY,
    }
    if consistency_from is not None:
        path = merkle.consistency_path(consistency_from, N_ENTRIES, fetch)
        proof["consistency"] = {
            "first": consistency_from,
            "second": N_ENTRIES,
            "path": [step.hex() for step in path],
        }
    return copy.deepcopy(proof)


def encoded(proof: Proof) -> bytes:
    return json.dumps(proof, ensure_ascii=False, indent=1).encode()


def changed(value: object) -> object:
    if isinstance(value, str):
        return value[:-2] + ("0" if value[-2] != "0" else "1") + value[-1]
    if isinstance(value, bool) or value is None:
        return "changed"
    assert isinstance(value, (int, float))
    return value + 1 if abs(value) < 1e9 else 0
