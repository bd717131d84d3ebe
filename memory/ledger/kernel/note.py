"""Checkpoints as signed notes: the text that leaves the house, and the keys that sign it.

Invariants
- A checkpoint is three lines: origin, number of entries, base64 of the root. Extension lines are refused, as no log
  monitor could audit them.
- Each text has one spelling: what `parse` accepts, `format_note` writes again, byte for byte.
- Signature lines of unknown keys are kept and ignored, so a witness or a second algorithm can be added.
- A key is named by its name and the first four bytes of SHA-256 over name, newline, algorithm byte and public key.
  The key of a log has the log's origin as its name.

Source: C2SP signed-note and tlog-checkpoint, v1.0.0; the text form of keys is that of Go's sumdb/note.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

from memory.ledger.kernel.merkle import HASH_BYTES

ED25519 = b"\x01"
KEY_ID_BYTES = 4
PUBLIC_KEY_BYTES = 32
SIGNATURES_LIMIT = 100
SIZE_LIMIT = 2**63 - 1

_DASH = "— "
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")


class NoteError(ValueError):
    """A text that is no signed checkpoint or no key."""


class MalformedNote(NoteError):
    """The text is not made of a body, an empty line and signature lines."""


class MalformedCheckpoint(NoteError):
    """The body is not origin, size and root."""


class MalformedSignature(NoteError):
    """A signature line is not a dash, a name and base64."""


class MalformedKey(NoteError):
    """The text is not name, key id and public key, or the key id is that of another key."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of one log. origin : unique to the log.   size : number of entries.   root : 32 bytes.

    Raises MalformedCheckpoint.
    """

    origin: str
    size: int
    root: bytes

    def __post_init__(self) -> None:
        if not is_name(self.origin):
            raise MalformedCheckpoint(f"expected an origin without spaces and plus signs, got {self.origin!r}")
        if not 0 <= self.size <= SIZE_LIMIT:
            raise MalformedCheckpoint(f"expected a size from 0 to 2**63 - 1, got {self.size}")
        if len(self.root) != HASH_BYTES:
            raise MalformedCheckpoint(f"expected a root of {HASH_BYTES} bytes, got {len(self.root)}")


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature line. name, key_id : the key that it names.   signature : as its algorithm has it."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A checkpoint with its signature lines in order; nothing is verified yet."""

    checkpoint: Checkpoint
    signatures: tuple[Signature, ...]


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A public Ed25519 key under a name.   public_key : 32 bytes.   Raises MalformedKey."""

    name: str
    public_key: bytes

    def __post_init__(self) -> None:
        if not is_name(self.name):
            raise MalformedKey(f"expected a name without spaces and plus signs, got {self.name!r}")
        if len(self.public_key) != PUBLIC_KEY_BYTES:
            raise MalformedKey(f"expected a public key of {PUBLIC_KEY_BYTES} bytes, got {len(self.public_key)}")

    def __str__(self) -> str:
        encoded = base64.b64encode(ED25519 + self.public_key).decode()
        return f"{self.name}+{self.key_id.hex()}+{encoded}"

    @property
    def key_id(self) -> bytes:
        hashed = hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.public_key)
        return hashed.digest()[:KEY_ID_BYTES]


def is_name(text: str) -> bool:
    """Whether the text can name a key or a log: not empty, one line, no spaces, control characters or plus signs."""
    return text != "" and "+" not in text and text.isprintable() and not any(sign.isspace() for sign in text)


def format_body(checkpoint: Checkpoint) -> bytes:
    """The bytes that are signed: three lines, UTF-8, with the last newline."""
    root = base64.b64encode(checkpoint.root).decode()
    return f"{checkpoint.origin}\n{checkpoint.size}\n{root}\n".encode()


def format_note(note: SignedNote) -> str:
    """The text of a signed note: body, empty line, signature lines."""
    lines = (
        f"{_DASH}{line.name} {base64.b64encode(line.key_id + line.signature).decode()}\n" for line in note.signatures
    )
    return f"{format_body(note.checkpoint).decode()}\n{''.join(lines)}"


def parse(text: str) -> SignedNote:
    """The signed checkpoint that the text holds; signatures are read, not verified.

    Raises MalformedNote, MalformedCheckpoint, MalformedSignature.
    """
    body, separator, block = text.rpartition("\n\n")
    if not separator or not block.endswith("\n"):
        raise MalformedNote("expected a body, an empty line and signature lines that end in a newline")
    lines = block[:-1].split("\n")
    if len(lines) > SIGNATURES_LIMIT:
        raise MalformedNote(f"expected at most {SIGNATURES_LIMIT} signatures, got {len(lines)}")
    return SignedNote(_parse_body(body), tuple(_parse_signature(line) for line in lines))


def parse_key(text: str) -> VerificationKey:
    """The key written as name, plus, key id in hexadecimal, plus, base64 of algorithm byte and public key.

    Raises MalformedKey.
    """
    pieces = text.split("+", 2)
    if len(pieces) != 3:
        raise MalformedKey("expected name+key id+public key")
    name, key_id, encoded = pieces
    try:
        decoded = _strict_base64(encoded)
    except binascii.Error as error:
        raise MalformedKey("expected base64 of the public key") from error
    if decoded[:1] != ED25519:
        raise MalformedKey(f"expected an Ed25519 key (first byte 01), got {decoded[:1].hex() or 'nothing'}")
    key = VerificationKey(name, decoded[1:])
    if key.key_id.hex() != key_id:
        raise MalformedKey(f"expected the key id {key.key_id.hex()} of this name and key, got {key_id[:16]}")
    return key


def _parse_body(body: str) -> Checkpoint:
    lines = body.split("\n")
    if len(lines) != 3:
        raise MalformedCheckpoint(f"expected three lines (origin, size, root), got {len(lines)}")
    origin, size, root = lines
    if not _SIZE.fullmatch(size):
        raise MalformedCheckpoint(f"expected a decimal size without leading zeros, got {size[:40]!r}")
    try:
        return Checkpoint(origin, int(size), _strict_base64(root))
    except binascii.Error as error:
        raise MalformedCheckpoint(f"expected base64 of the root, got {root[:60]!r}") from error


def _parse_signature(line: str) -> Signature:
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not is_name(name):
        raise MalformedSignature(f"expected a dash, a name and base64, got {line[:80]!r}")
    try:
        blob = _strict_base64(encoded)
    except binascii.Error as error:
        raise MalformedSignature(f"expected base64 of key id and signature of {name}") from error
    if len(blob) <= KEY_ID_BYTES:
        raise MalformedSignature(
            f"expected a key id of {KEY_ID_BYTES} bytes and a signature of {name}, got {len(blob)}"
        )
    return Signature(name, blob[:KEY_ID_BYTES], blob[KEY_ID_BYTES:])


def _strict_base64(text: str) -> bytes:
    """Base64 in its one canonical spelling.   Raises binascii.Error."""
    try:
        decoded = base64.b64decode(text.encode("ascii"), validate=True)
    except UnicodeEncodeError as error:
        raise binascii.Error("not ASCII") from error
    # Unused bits of the last character must be zero, or one value would have several spellings.
    if base64.b64encode(decoded).decode() != text:
        raise binascii.Error("not canonical")
    return decoded
