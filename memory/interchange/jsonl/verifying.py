"""An archive verified from its first line to its last, before anything of it is written.

Invariants
- Nothing that the archive says of itself is believed: leaves, items, rows, contents, tree and signatures are computed
  again. One edit has one code, that of the scan of a ledger, and names the line.
- Memory grows with the number of entries by a hash each, and with what is erased; never with the texts.
- No table is read or written.

Checks from the top down: order, leaf, items, rows, contents; then length, checkpoints, keys, the digest of all lines.
A digest of ancestry is covered by no commitment: it is computed again when the rows stand.

Source: RFC 6962 2.1; C2SP signed-note; laws of the store, ancestry digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO
from uuid import UUID

from memory.base.canonical import canonical
from memory.base.errors import Invalid
from memory.base.models import Evidence
from memory.base.text import NAMESPACE_PATTERN
from memory.interchange.jsonl.columns import ColumnError, stored
from memory.interchange.jsonl.lines import FORMAT, VERSION, Line, Tally, fault, read_lines, require_item
from memory.ledger.drafts import committed_row
from memory.ledger.kernel import commitment, merkle, note, signing
from memory.ledger.models import PART_CODE, Checkpoint, Entry, Namespace
from memory.ledger.queries.leaves import SKIPPED
from memory.ledger.queries.proofs import evidence_models

Ref = tuple[int, int, str]
Progress = Callable[[str, int, int | None], None]

SALT_HEX = 2 * commitment.SALT_BYTES
# A reader's archive leaves the secret out. What is recognised by a digest under it would come in a second time.
NO_SECRET = "00" * commitment.SALT_BYTES
RECOGNISED = ("imported_row", "import_finding")


@dataclass(frozen=True, slots=True)
class Archive:
    """A sound archive. `sha256` stands for its lines; `parts` says where the watched commitments still stand."""

    namespace: str
    uid: UUID
    origin: str
    size: int
    root: bytes
    sha256: bytes
    n_lines: int
    n_items: int
    n_contents: int
    n_erased: int
    parts: Mapping[Ref, bytes]


@dataclass(slots=True)
class _Open:
    """The entry whose contents are being read: its items, and the parts that have not come yet."""

    line: int
    seq: int
    items: list[Mapping[str, Any]]
    waiting: dict[tuple[int, str], str]
    last: tuple[int, int, str] = (0, -1, "")


@dataclass(slots=True)
class _Walk:
    """What is known after some lines."""

    header: Mapping[str, Any]
    watched: frozenset[bytes]
    tally: Tally = field(default_factory=Tally)
    leaves: bytearray = field(default_factory=bytearray)
    entry: _Open | None = None
    last_at: datetime | None = None
    has_secret: bool = True
    uid: UUID | None = None
    absent: dict[Ref, int] = field(default_factory=dict)
    erased: dict[Ref, int] = field(default_factory=dict)
    parts: dict[Ref, bytes] = field(default_factory=dict)
    keys: list[note.VerificationKey] = field(default_factory=list)
    checkpoints: list[tuple[int, Mapping[str, Any]]] = field(default_factory=list)
    shown_keys: list[tuple[int, str]] = field(default_factory=list)
    stage: int = 0
    n_items: int = 0
    n_contents: int = 0

    @property
    def size(self) -> int:
        return len(self.leaves) // merkle.HASH_BYTES


def verify(stream: BinaryIO, *, watched: frozenset[bytes] = frozenset(), progress: Progress | None = None) -> Archive:
    """Read the archive from the place of the stream to its end.

    watched : commitments of parts; the archive answers where those that it still holds stand.
    Raises Invalid: the first line that is wrong, by number, code, what was expected and what came.
    """
    lines = read_lines(stream)
    walk = _Walk(_header(next(lines, None)), watched)
    walk.tally.add(canonical(walk.header) + b"\n")
    for line in lines:
        if line.type == "trailer":
            archive = _ended(walk, line)
            if (more := stream.read(1)) != b"":
                raise fault(line.number + 1, "malformed", expected="the end of the archive", got=more)
            return archive
        walk.tally.add(line.raw)
        try:
            _step(walk, line)
        except _OutOfOrder as error:
            raise _misplaced(stream, line, error.expected) from error
        if progress is not None and line.type == "entry":
            progress("verifying", walk.size, walk.header["size"])
    raise fault(walk.tally.n_lines + 1, "log_truncated", expected="a trailer", got="the end of the archive")


def named(stream: BinaryIO) -> tuple[str, str]:
    """(namespace, origin) as the header says them; the stream stands where it stood.   Raises Invalid."""
    place = stream.tell()
    header = _header(next(read_lines(stream), None))
    stream.seek(place)
    return header["namespace"], header["origin"]


class _OutOfOrder(Exception):
    def __init__(self, expected: int) -> None:
        self.expected = expected


def _header(line: Line | None) -> Mapping[str, Any]:
    if line is None:
        raise fault(1, "malformed", expected="a header", got="an empty archive")
    value = line.value
    if line.type != "header":
        raise fault(1, "malformed", expected="a header", got=line.type)
    if (value["format"], value["version"]) != (FORMAT, VERSION):
        raise fault(
            1, "malformed", expected=f"{FORMAT}, version {VERSION}", got=f"{value['format']}, {value['version']}"
        )
    if not NAMESPACE_PATTERN.fullmatch(value["namespace"]):
        raise fault(1, "malformed", expected=f"a namespace like {NAMESPACE_PATTERN.pattern}", got=value["namespace"])
    return value


STAGES = {"entry": 0, "content": 0, "name": 0, "checkpoint": 1, "public_key": 2}


def _step(walk: _Walk, line: Line) -> None:
    stage = STAGES.get(line.type, -1)
    if stage < walk.stage:
        raise fault(line.number, "malformed", expected="entries, then checkpoints, then public keys", got=line.type)
    walk.stage = stage
    if line.type == "entry":
        _close(walk)
        _enter(walk, line)
    elif stage == 0:
        _part(walk, line)
    else:
        _close(walk)
        if line.type == "checkpoint":
            walk.checkpoints.append((line.number, line.value))
        else:
            walk.shown_keys.append((line.number, line.value["key"]))


def _enter(walk: _Walk, line: Line) -> None:
    """An entry: its place, its leaf, its items and their rows."""
    value, expected = line.value, walk.size + 1
    if value["seq"] != expected:
        raise _OutOfOrder(expected)
    own = {name: one for name, one in value.items() if name not in ("type", "namespace", "seq", "items")}
    try:
        row = stored(Entry, own)
    except ColumnError as error:
        raise fault(line.number, "wrong_type", expected=f"{error.column}: {error.expected}", got=error.got) from error
    named = {"namespace": walk.header["namespace"], "seq": expected}
    if value.get("namespace") != named["namespace"]:
        raise fault(line.number, "leaf_mismatch", expected=named["namespace"], got=value.get("namespace"))
    leaf = commitment.entry_leaf({**named, **{name: one for name, one in own.items() if name not in SKIPPED}})
    if leaf != row["leaf"]:
        raise fault(line.number, "leaf_mismatch", expected=leaf.hex(), got=row["leaf"].hex())
    if walk.last_at is not None and row["recorded_at"] <= walk.last_at:
        raise fault(line.number, "order_mismatch", expected=f"an instant after {walk.last_at}", got=own["recorded_at"])
    walk.last_at = row["recorded_at"]
    walk.leaves += leaf
    items = [require_item(line.number, item) for item in value["items"]]
    _require_items(line, items, row)
    waiting: dict[tuple[int, str], str] = {}
    for item in items:
        _require_row(walk, line, item)
        waiting.update({(item["item"], part): digest for part, digest in item["parts"].items()})
    walk.entry = _Open(line.number, expected, items, waiting)
    walk.n_items += len(items)


def _require_items(line: Line, items: list[Mapping[str, Any]], row: Mapping[str, Any]) -> None:
    hashes = []
    for index, item in enumerate(items):
        digest = commitment.item_hash(index, item["kind"], item["object"], bytes.fromhex(item["commitment"]))
        if item["item"] != index or digest.hex() != item["hash"]:
            raise fault(line.number, "items_mismatch", expected=f"item {index}: {digest.hex()}", got=item["hash"])
        hashes.append(digest)
    root = merkle.root(hashes)
    if len(items) != row["n_items"] or root != row["items_root"]:
        raise fault(line.number, "items_mismatch", expected=row["items_root"].hex(), got=root.hex())


def _require_row(walk: _Walk, line: Line, item: Mapping[str, Any]) -> None:
    """The row and the parts are what the item commits to; what the rows say of the log is taken down."""
    kind, at = item["kind"], f"item {item['item']}"
    model = evidence_models().get(kind)
    if (model is None) != (kind == "name") or not item["parts"].keys() <= PART_CODE.keys():
        raise fault(line.number, "row_mismatch", expected=f"{at}: a kind and parts that are known", got=kind)
    if (model is Namespace) != (walk.size == 1 and item["item"] == 0):
        raise fault(line.number, "row_mismatch", expected="the namespace as item 0 of entry 1", got=f"{kind}, {at}")
    values = _row(line, item, model)
    if kind in RECOGNISED and not walk.has_secret:
        raise fault(line.number, "secret_missing", expected="an archive made by an owner", got=f"{kind} without it")
    parts = {name: bytes.fromhex(digest) for name, digest in item["parts"].items()}
    digest = commitment.item_commitment(committed_row(model, values), parts)
    if digest.hex() != item["commitment"]:
        raise fault(line.number, "row_mismatch", expected=f"{at}: {item['commitment']}", got=digest.hex())
    if model is Namespace:
        _found(walk, line, values)
    elif kind == "erasure":
        walk.erased[values["target_seq"], values["target_item"], values["target_part"]] = line.number
    elif kind == "public_key":
        walk.keys.append(_key(walk, line, values["key"]))


def _row(line: Line, item: Mapping[str, Any], model: type[Evidence] | None) -> dict[str, Any]:
    """The columns as the table takes them; none for a name, which commits to nothing but its part."""
    try:
        if str(UUID(item["object"])) != item["object"]:
            raise ColumnError("object", "an id in its one spelling", item["object"])
        if model is None and item["row"]:
            raise ColumnError(next(iter(item["row"])), "no column in the row of a name", "a column")
        row = item["row"]
        if model is Namespace and row.get("secret", "") is None:
            row = {**row, "secret": NO_SECRET}
        return {} if model is None else stored(model, row)
    except ValueError as error:
        expected = f"item {item['item']} as its table has it"
        raise fault(line.number, "row_mismatch", expected=expected, got=error) from error


def _key(walk: _Walk, line: Line, key: bytes) -> note.VerificationKey:
    try:
        return note.VerificationKey(walk.header["origin"], key)
    except note.NoteError as error:
        raise fault(line.number, "row_mismatch", expected="a public key", got=error) from error


def _found(walk: _Walk, line: Line, values: Mapping[str, Any]) -> None:
    """The namespace's own row agrees with the header, from which checkpoints take the name of the log."""
    origin = Namespace(uid=values["uid"], name=values["name"]).origin
    said = (walk.header["namespace"], walk.header["origin"])
    if said != (values["name"], origin):
        raise fault(line.number, "origin_mismatch", expected=said, got=(values["name"], origin))
    walk.has_secret = line.value["items"][0]["row"]["secret"] is not None
    if len(values["secret"]) != commitment.SALT_BYTES:
        got = f"{len(values['secret'])} bytes"
        raise fault(line.number, "row_mismatch", expected=f"a secret of {commitment.SALT_BYTES} bytes", got=got)
    walk.uid = values["uid"]


def _part(walk: _Walk, line: Line) -> None:
    """A content or a name of the entry before it, in the order of items and parts."""
    value, entry = line.value, walk.entry
    is_name = line.type == "name"
    part = "name" if is_name else value["part"]
    if entry is None or value["seq"] != entry.seq:
        raise fault(line.number, "content_unlisted", expected="content of the entry before it", got=value["seq"])
    place = (int(is_name), value["item"], part)
    if place <= entry.last:
        raise fault(line.number, "malformed", expected="contents, then names, in the order of items", got=place[1:])
    entry.last = place
    expected = entry.waiting.pop((value["item"], part), None)
    if expected is None or is_name != (part == "name"):
        raise fault(line.number, "content_unlisted", expected="a part that its item lists", got=part)
    if is_name and value["id"] != entry.items[value["item"]]["object"]:
        raise fault(line.number, "row_mismatch", expected=entry.items[value["item"]]["object"], got=value["id"])
    if len(value["salt"]) != SALT_HEX:
        raise fault(
            line.number, "salt_invalid", expected=f"{SALT_HEX // 2} bytes", got=f"{len(value['salt']) // 2} bytes"
        )
    payload = canonical(value["text"] if is_name else value["payload"])
    digest = commitment.part_commitment(part, bytes.fromhex(value["salt"]), payload)
    if digest.hex() != expected:
        raise fault(line.number, "payload_mismatch", expected=expected, got=digest.hex())
    if digest in walk.watched:
        walk.parts[entry.seq, value["item"], part] = digest
    walk.n_contents += 1


def _close(walk: _Walk) -> None:
    """The entry before has all its lines: what has not come must be erased by an entry to come."""
    if walk.entry is not None:
        for item, part in walk.entry.waiting:
            walk.absent[walk.entry.seq, item, part] = walk.entry.line
        walk.entry = None


def _misplaced(stream: BinaryIO, line: Line, expected: int) -> Invalid:
    """The entry that should stand here is either elsewhere or nowhere."""
    got = line.value["seq"]
    wanted = f'"seq":{expected},"type":"entry"'.encode()
    is_elsewhere = got < expected or any(wanted in raw and raw.startswith(b'{"agent":') for raw in _rest(stream))
    code = "order_mismatch" if is_elsewhere else "sequence_gap"
    return fault(line.number, code, expected=f"entry {expected}", got=f"entry {got}")


def _rest(stream: BinaryIO) -> Iterator[bytes]:
    while raw := stream.readline():
        yield raw


def _ended(walk: _Walk, line: Line) -> Archive:
    _close(walk)
    size = walk.header["size"]
    if walk.size != size or walk.uid is None:
        raise fault(line.number, "log_truncated", expected=f"{max(size, 1)} entries", got=f"{walk.size} entries")
    for ref in sorted(walk.absent.keys() - walk.erased.keys()):
        raise fault(walk.absent[ref], "content_missing", expected=f"{ref[2]} of item {ref[1]}", got="no content")
    for ref in sorted(walk.erased.keys() - walk.absent.keys()):
        raise fault(walk.erased[ref], "content_unlisted", expected="no content: it is erased", got=f"content of {ref}")
    root = _require_checkpoints(walk)
    keys = [(number, text) for number, text in walk.shown_keys]
    if [text for _, text in keys] != [str(key) for key in walk.keys]:
        number = keys[0][0] if keys else line.number
        raise fault(number, "key_unknown", expected="the keys that entries have published", got="others")
    trailer = walk.tally.trailer()
    if dict(line.value) != trailer:
        raise fault(line.number, "archive_mismatch", expected=trailer["sha256"], got=line.value["sha256"])
    return Archive(
        namespace=walk.header["namespace"], uid=walk.uid, origin=walk.header["origin"], size=size, root=root,
        sha256=bytes.fromhex(trailer["sha256"]), n_lines=walk.tally.n_lines, n_items=walk.n_items,
        n_contents=walk.n_contents, n_erased=len(walk.absent), parts=walk.parts,
    )  # fmt: skip


def _require_checkpoints(walk: _Walk) -> bytes:
    """Every checkpoint is signed by a published key and is what the log was; answers the root of the whole log."""
    wanted = {value["seq"]: (number, value) for number, value in walk.checkpoints}
    ordered = [value["seq"] for _, value in walk.checkpoints]
    if ordered != sorted(wanted):
        raise fault(walk.checkpoints[0][0], "malformed", expected="checkpoints in the order of size", got=ordered)
    if ordered and ordered[-1] > walk.size:
        number = wanted[ordered[-1]][0]
        raise fault(number, "log_truncated", expected=f"{ordered[-1]} entries", got=f"{walk.size} entries")
    newest = wanted[ordered[-1]][1]["note"] if ordered else ""
    if walk.header["checkpoint"] != newest:
        raise fault(1, "checkpoint_inconsistent", expected="the newest checkpoint of the archive", got="another one")
    if 0 in wanted:
        raise fault(wanted[0][0], "malformed", expected="a checkpoint of entries", got="one of none")
    peaks: dict[tuple[int, int], bytes] = {}
    for index in range(walk.size):
        peaks = _grown(peaks, index, bytes(walk.leaves[index * merkle.HASH_BYTES : (index + 1) * merkle.HASH_BYTES]))
        if index + 1 in wanted:
            _require_checkpoint(walk, *wanted[index + 1], merkle.root_from_peaks(list(peaks.values())))
    return merkle.root_from_peaks(list(peaks.values()))


def _grown(peaks: Mapping[tuple[int, int], bytes], index: int, leaf: bytes) -> dict[tuple[int, int], bytes]:
    """The complete subtrees, left to right, of the tree that this leaf makes longer."""
    known = dict(peaks)
    for level, at, digest in merkle.completed_nodes(index, leaf, lambda *place: peaks[place]):
        known[level, at] = digest
    return {place: known[place] for place in merkle.peaks(index + 1)}


def _require_checkpoint(walk: _Walk, number: int, value: Mapping[str, Any], root: bytes) -> None:
    try:
        row = stored(Checkpoint, {name: one for name, one in value.items() if name not in ("type", "seq")})
        signed = note.parse(row["note"])
    except ColumnError as error:
        raise fault(number, "wrong_type", expected=f"{error.column}: {error.expected}", got=error.got) from error
    except note.NoteError as error:
        raise fault(number, "signature_invalid", expected="a signed note", got=error) from error
    verdict = signing.verify(signed, walk.keys, origin=walk.header["origin"])
    if verdict.code is not None:
        raise fault(number, verdict.code, expected="a note signed by a published key", got=verdict.detail)
    said = (signed.checkpoint.size, signed.checkpoint.root)
    if said != (value["seq"], row["root"]):
        raise fault(number, "signature_invalid", expected=f"a note of {value['seq']} entries", got=f"one of {said[0]}")
    if row["root"] != root:
        raise fault(number, "checkpoint_inconsistent", expected=root.hex(), got=row["root"].hex())
