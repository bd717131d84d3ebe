"""Check one proof of Palimpsest on any computer, with nothing but Python 3.8 or later.

    python3 verifier.py PROOF.json [--key KEY] [--checkpoint KEPT.txt]

KEY is a public key (name+key id+base64) or a file that holds one; KEPT.txt is a checkpoint that you kept earlier.
One line a check: ok, failed, not_checked or erased. Exit: 0, 2 unreadable, 3 one failed or KEPT.txt was not compared.

Invariants
- The script is one file and imports the standard library alone; it shares no code with what it checks.
- `content` holds payload and salt against the part's commitment, `row` columns and part commitments against the item's,
  `item` the item against the entry's items_root, `origin` and `signature` the checkpoint against the key, `entry` the
  entry against the checkpoint's root, `consistency` the checkpoint against the one that you kept.
- From `item` on no check runs after one that failed, so one edit has one cause.
- A key that only the proof names shows only that the proof agrees with itself: `key` is then not_checked.

Source: RFC 8785 (canonical JSON), RFC 6962 and 9162 (trees), RFC 8032 (Ed25519), C2SP signed-note and tlog-checkpoint.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import math
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple


class Unreadable(Exception):
    """The input is not a proof, a key or a checkpoint."""


class Step(NamedTuple):
    """One check. verdict: ok, failed, not_checked or erased.   code: the cause, if failed."""

    name: str
    verdict: str
    detail: str
    code: str = ""


class Checkpoint(NamedTuple):
    """A signed head. text: what is signed.   signatures: name, key id and signature of each line."""

    origin: str
    size: int
    root: bytes
    text: bytes
    signatures: tuple[tuple[str, bytes, bytes], ...]


def canonical(value: Any) -> bytes:
    """The RFC 8785 spelling of a JSON value.   Raises ValueError."""
    return _spell(value).encode("utf-8")


def _spell(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        # Beyond 2**53 JSON names a double; other digits than those of the double would be lost.
        if abs(value) >= 2**53 and _spell_double(float(value)) != str(value):
            raise ValueError("an integer is beyond 2**53 - 1")
        return str(value)
    if isinstance(value, float):
        return _spell_double(value)
    if isinstance(value, list):
        return "[" + ",".join(_spell(item) for item in value) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(_spell(key) + ":" + _spell(value[key]) for key in keys) + "}"


def _spell_double(value: float) -> str:
    """ECMA-262 Number::toString: the shortest digits that read back, which are those of repr."""
    if not math.isfinite(value):
        raise ValueError("a number is not finite")
    if value <= 0:
        return "-" + _spell_double(-value) if value else "0"
    number = Decimal(repr(value)).normalize()
    digits = "".join(map(str, number.as_tuple().digits))
    point = number.adjusted() + 1
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = "" if 0 < point <= 21 else f"e{point - 1:+d}"
    point = 1 if exponent else point
    return digits[:point].ljust(point, "0") + "." * (len(digits) > point) + digits[point:] + exponent


def read_json(data: bytes) -> dict[str, Any]:
    """The object of strict JSON: UTF-8, no repeated keys, finite numbers.   Raises Unreadable."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_constant=float)
        canonical(value)
        if not isinstance(value, dict):
            raise ValueError("it is no object")  # noqa: TRY004 - the caller's one kind of refusal
    except (ValueError, OverflowError, RecursionError) as error:
        raise Unreadable(f"not JSON that can be checked: {error}") from error
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def sha256(*pieces: bytes) -> bytes:
    return hashlib.sha256(b"".join(pieces)).digest()


def climbed(position: int, last: int, start: bytes, path: list[str]) -> tuple[bytes, bytes] | None:
    """The way up of RFC 9162: the hash with left siblings alone, the hash with all; None if the path does not fit."""
    lefts = value = start
    for sibling in map(bytes.fromhex, path):
        if last == 0:
            return None
        if position & 1 or position == last:
            lefts, value = sha256(b"\x01", sibling, lefts), sha256(b"\x01", sibling, value)
            while position and not position & 1:
                position, last = position >> 1, last >> 1
        else:
            value = sha256(b"\x01", value, sibling)
        position, last = position >> 1, last >> 1
    return (lefts, value) if last == 0 else None


def is_included(index: int, size: int, leaf: bytes, path: list[str], root: str) -> bool:
    """RFC 9162 2.1.3.2."""
    top = climbed(index, size - 1, leaf, path) if 0 <= index < size else None
    return top is not None and top[1].hex() == root


def is_consistent(first: Checkpoint, second: Checkpoint, path: list[str]) -> bool:
    """RFC 9162 2.1.4.2, for 0 < first.size < second.size."""
    # A first tree that is one complete subtree starts the way itself and is left out of the path.
    steps = path if first.size & (first.size - 1) else [first.root.hex(), *path]
    position, last = first.size - 1, second.size - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    return bool(steps) and climbed(position, last, bytes.fromhex(steps[0]), steps[1:]) == (first.root, second.root)


P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def _decompressed(encoded: bytes) -> Any:
    """RFC 8032 5.1.3; None for no point."""
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return (x, y, 1, x * y % P)


def _added(p: Any, q: Any) -> Any:
    """RFC 8032 5.1.4."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def _multiplied(scalar: int, point: Any) -> Any:
    total = (0, 1, 1, 0)
    while scalar:
        total = _added(total, point) if scalar & 1 else total
        point, scalar = _added(point, point), scalar >> 1
    return total


def is_signature(public: bytes, message: bytes, signature: bytes) -> bool:
    """RFC 8032 5.1.7."""
    if len(public) != 32 or len(signature) != 64:
        return False
    key, commitment = _decompressed(public), _decompressed(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or scalar >= ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    base = _decompressed((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    left, right = _multiplied(scalar, base), _added(commitment, _multiplied(challenge, key))
    return not ((left[0] * right[2] - right[0] * left[2]) % P or (left[1] * right[2] - right[1] * left[2]) % P)


def _unbased(text: str) -> bytes:
    decoded = base64.b64decode(text.encode("ascii"), validate=True)
    if base64.b64encode(decoded).decode() != text:
        raise ValueError("base64 in another spelling than the canonical one")
    return decoded


def parse_key(text: str) -> tuple[str, bytes, bytes]:
    """Name, key id and public key of name+key id+base64 of 01 and the public key.   Raises Unreadable."""
    try:
        name, key_id, encoded = text.strip().split("+", 2)
        blob = _unbased(encoded)
    except ValueError as error:
        raise Unreadable(f"expected a key (name+key id+base64) or a file that holds one, got {text[:80]!r}") from error
    expected = sha256(name.encode("utf-8"), b"\n", blob)[:4]
    if len(blob) != 33 or blob[:1] != b"\x01" or expected.hex() != key_id:
        raise Unreadable(f"the key id {key_id[:16]!r} is not of this name and an Ed25519 key")
    return name, expected, blob[1:]


def parse_checkpoint(text: str) -> Checkpoint:
    """Origin, size, root, empty line, signature lines.   Raises Unreadable."""
    found = re.fullmatch("(\\S+)\n(0|[1-9][0-9]{0,18})\n(\\S+)\n\n((?:\u2014 [^\\s+]+ \\S+\n)+)", text)
    try:
        origin, size, root, block = found.groups() if found else ()
        lines = [(name, _unbased(blob)) for _, name, blob in map(str.split, block.splitlines())]
        signatures = tuple((name, blob[:4], blob[4:]) for name, blob in lines)
        return Checkpoint(origin, int(size), _unbased(root), text[: -len(block) - 1].encode("utf-8"), signatures)
    except ValueError as error:
        raise Unreadable("expected a checkpoint of origin, size, root and signature lines") from error


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


KINDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "count": lambda value: type(value) is int and value >= 0,
    "hash": _is_hash,
    "path": lambda value: isinstance(value, list) and all(map(_is_hash, value)),
    "object": lambda value: isinstance(value, dict),
    "hashes": lambda value: isinstance(value, dict) and all(map(_is_hash, value.values())),
}
# A field that ends in ? may be absent; no other field may stand in a proof.
PROOF_FIELDS = (
    "format:text version:count namespace:text origin:text seq:count item:count entry:object item_body:object "
    "row:object parts:hashes contents:object item_path:path n_items:count leaf?:hash entry_path:path size:count "
    "checkpoint:text public_key:text consistency?:object"
)


def require(value: dict[str, Any], fields: str, place: str) -> None:
    """Raise Unreadable unless the object has these fields and no other, each of its kind."""
    kinds = dict(field.split(":") for field in fields.split())
    unknown = [name for name in value if name not in kinds and name + "?" not in kinds]
    expected = [name for name in kinds if name[-1] != "?" or name[:-1] in value]
    wrong = [name for name in expected if not KINDS[kinds[name]](value.get(name.rstrip("?")))]
    if unknown or wrong:
        raise Unreadable(f"{place}: unknown fields {unknown}, missing or malformed fields {wrong}")


def read_proof(data: bytes) -> dict[str, Any]:
    """The proof in a file, each field of its kind; nothing is checked yet.   Raises Unreadable."""
    proof = read_json(data)
    require(proof, PROOF_FIELDS, "proof")
    require(proof["item_body"], "item:count kind:text object:text commitment:hash", "item_body")
    if "consistency" in proof:
        require(proof["consistency"], "first:count second:count path:path", "consistency")
    if (proof["format"], proof["version"]) != ("palimpsest-proof", 1):
        raise Unreadable("expected the format palimpsest-proof, version 1")
    return proof


def compared(name: str, code: str, expected: str, got: bytes, detail: str) -> Step:
    if got.hex() == expected:
        return Step(name, "ok", detail)
    return Step(name, "failed", f"expected {expected}, got {got.hex()}", code)


def check_content(proof: dict[str, Any], part: str) -> Step:
    name, shown, commitment = f"content:{part}", proof["contents"].get(part), proof["parts"].get(part)
    if commitment is None:
        return Step(name, "failed", "the row has no such part", "payload_mismatch")
    if part not in proof["contents"]:
        return Step(name, "not_checked", "the proof does not show this part")
    fields = set(shown) if isinstance(shown, dict) else set()
    if fields == {"erased_by"} and KINDS["count"](shown["erased_by"]) and shown["erased_by"] > proof["seq"]:
        return Step(name, "erased", f"by entry {shown['erased_by']}, which has a proof of its own")
    if "payload" not in fields or fields - {"payload", "salt"}:
        return Step(name, "failed", "expected payload and salt, or the later entry that erased them", "content_missing")
    if not _is_hash(shown.get("salt")):
        return Step(name, "failed", "expected a salt of 32 bytes in lower-case hexadecimal", "salt_invalid")
    tag = sha256(b"palimpsest/part/v1/", part.encode("utf-8"))
    got = sha256(tag, bytes.fromhex(shown["salt"]), canonical(shown["payload"]))
    return compared(name, "payload_mismatch", commitment, got, "payload and salt are those that were committed to")


def check_item(proof: dict[str, Any]) -> Step:
    entry, body, count = proof["entry"], proof["item_body"], proof["n_items"]
    leaf, place = sha256(b"\x00", canonical(body)), f"item {proof['item']} of {count}"
    is_there = (body["item"], entry.get("n_items")) == (proof["item"], count)
    if not is_there or not is_included(body["item"], count, leaf, proof["item_path"], entry.get("items_root")):
        return Step("item", "failed", f"{place} does not lead to the items_root of the entry", "items_mismatch")
    return Step("item", "ok", f"{place} of the entry")


def check_origin(proof: dict[str, Any], checkpoint: Checkpoint) -> Step:
    expected, got = (proof["origin"], proof["namespace"]), (checkpoint.origin, proof["entry"].get("namespace"))
    if expected != got:
        return Step("origin", "failed", f"expected origin and namespace {expected}, got {got}", "origin_mismatch")
    return Step("origin", "ok", checkpoint.origin)


def check_signature(checkpoint: Checkpoint, key: tuple[str, bytes, bytes]) -> Step:
    lines = [line[2] for line in checkpoint.signatures if line[:2] == key[:2]]
    if not lines:
        got = ", ".join(f"{name}+{key_id.hex()}" for name, key_id, _ in checkpoint.signatures)
        return Step("signature", "failed", f"expected one by {key[0]}+{key[1].hex()}, got {got}", "key_unknown")
    if not all(is_signature(key[2], checkpoint.text, line) for line in lines):
        return Step("signature", "failed", f"the key {key[0]} did not sign this checkpoint", "signature_invalid")
    return Step("signature", "ok", f"{len(lines)} by {key[0]}+{key[1].hex()}")


def check_entry(proof: dict[str, Any], checkpoint: Checkpoint) -> Step:
    entry, size, leaf = proof["entry"], proof["size"], sha256(b"\x00", canonical(proof["entry"]))
    if proof.get("leaf", leaf.hex()) != leaf.hex():
        return Step("entry", "failed", f"expected {proof['leaf']}, got {leaf.hex()}", "leaf_mismatch")
    if (entry.get("seq"), checkpoint.size) != (proof["seq"], size):
        detail = f"expected entry {proof['seq']} of {size}, got {entry.get('seq')} of {checkpoint.size}"
        return Step("entry", "failed", detail, "inclusion_invalid")
    # Entries are numbered from 1, leaves from 0.
    if not is_included(proof["seq"] - 1, size, leaf, proof["entry_path"], checkpoint.root.hex()):
        return Step("entry", "failed", "the entry does not lead to the root of the checkpoint", "inclusion_invalid")
    return Step("entry", "ok", f"number {proof['seq']} of {size} in the checkpoint")


def check_consistency(proof: dict[str, Any], checkpoint: Checkpoint, kept: Checkpoint | None) -> Step:
    name, code = "consistency", "checkpoint_inconsistent"
    if kept is None:
        return Step(name, "not_checked", "no checkpoint that you kept was given")
    if kept.origin != checkpoint.origin:
        return Step(name, "failed", f"the checkpoint that you kept is of {kept.origin}", "origin_mismatch")
    first, second = sorted((kept, checkpoint), key=lambda head: head.size)
    if first.size == second.size:
        return compared(name, code, kept.root.hex(), checkpoint.root, "the checkpoint that you kept is the same")
    path = proof.get("consistency", {})
    if (path.get("first"), path.get("second")) != (first.size, second.size) or first.size == 0:
        remedy = f"take it again with kept={kept.size}: proof.json?kept={kept.size}" if first.size else "none can have"
        return Step(name, "not_checked", f"the proof has no path from {first.size} to {second.size} entries; {remedy}")
    if not is_consistent(first, second, path["path"]):
        return Step(name, "failed", f"the {second.size} entries do not begin with the {first.size} signed before", code)
    return Step(name, "ok", f"the {second.size} entries begin with the same {first.size}")


def check(proof: dict[str, Any], own_key: Any = None, kept: Checkpoint | None = None) -> list[Step]:
    """Every check in its fixed order. own_key : as parse_key answers it.   Raises Unreadable."""
    checkpoint, key = parse_checkpoint(proof["checkpoint"]), own_key or parse_key(proof["public_key"])
    steps = [Step("format", "ok", "palimpsest-proof, version 1")]
    steps += [check_content(proof, part) for part in sorted(proof["parts"].keys() | proof["contents"].keys())]
    row = sha256(sha256(b"palimpsest/item/v1"), canonical({"row": proof["row"], "parts": proof["parts"]}))
    steps.append(compared("row", "row_mismatch", proof["item_body"]["commitment"], row, "as the item commits to it"))
    chain: list[tuple[str, Callable[[], Step]]] = [
        ("item", lambda: check_item(proof)),
        ("origin", lambda: check_origin(proof, checkpoint)),
        ("signature", lambda: check_signature(checkpoint, key)),
        ("entry", lambda: check_entry(proof, checkpoint)),
        ("consistency", lambda: check_consistency(proof, checkpoint, kept)),
    ]
    is_broken = False
    for name, run in chain:
        steps.append(Step(name, "not_checked", "an earlier check failed") if is_broken else run())
        is_broken = is_broken or steps[-1].verdict == "failed"
    whose = "the one that you gave" if own_key else "the one that the proof names itself; compare it with one you trust"
    return [*steps, Step("key", "ok" if own_key else "not_checked", f"{key[0]} {key[2].hex()}: {whose}")]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="verifier.py", description="Check one proof of Palimpsest.")
    parser.add_argument("proof", type=Path)
    parser.add_argument("--key", help="your public key, or a file that holds it")
    parser.add_argument("--checkpoint", type=Path, help="a file with a checkpoint that you kept")
    options = parser.parse_args(arguments)
    try:
        own_key, text = None, options.checkpoint.read_bytes().decode("utf-8") if options.checkpoint else ""
        if options.key:
            path = Path(options.key)
            own_key = parse_key(path.read_text("utf-8") if path.is_file() else options.key)
        kept = parse_checkpoint(text) if options.checkpoint else None
        steps = check(read_proof(options.proof.read_bytes()), own_key, kept)
    except (Unreadable, OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"unreadable: {ascii(str(error))[1:-1]}\n")
        return 2
    for step in steps:
        line = f"{step.verdict:<12}{step.name:<18}{step.code + ': ' if step.code else ''}{step.detail}"
        sys.stdout.write(ascii(line)[1:-1] + "\n")  # no control character reaches the terminal
    is_undone = kept is not None and any(step[:2] == ("consistency", "not_checked") for step in steps)
    return 3 if is_undone or any(step.verdict == "failed" for step in steps) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
