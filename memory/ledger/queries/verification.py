"""The scan of a whole ledger: everything is hashed again, nothing that is stored is believed.

Checks run from the top down and stop at the first fault of an entry, so that one edit gives one code:
sequence, leaf, tree, items, row, content; where all of it holds, what the slices above add (`verify_also`); then
checkpoints and, where the reader kept one, the reader's.

Codes: payload_mismatch, salt_invalid, content_missing, content_unlisted, row_mismatch, row_missing, row_unlisted,
items_mismatch, leaf_mismatch, node_mismatch, order_mismatch, sequence_gap, log_truncated, checkpoint_inconsistent,
checkpoint_rolled_back, signature_invalid, origin_mismatch, key_unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.db.models import Max

from memory.ledger.kernel import commitment, merkle, note, signing
from memory.ledger.models import Checkpoint, Entry, Head, Item, Namespace, Node, PublicKey
from memory.ledger.queries.leaves import leaf_fields
from memory.ledger.queries.proofs import trusted_keys
from memory.ledger.queries.scanning import Chunk, Fault, Scan, faults_of_entry, load_chunk, unlisted

CHUNK = 200

Coordinate = tuple[int, int]


Further = Callable[[int], Iterator[Fault]]
_further_checks: list[Further] = []


def verify_also(check: Further) -> None:
    """Register what a slice above checks in its rows of a namespace, once these equal their commitments."""
    if check not in _further_checks:
        _further_checks.append(check)


def _further(namespace: int) -> Iterator[Fault]:
    for check in _further_checks:
        yield from check(namespace)


def scan(namespace: int, *, kept: str = "", progress: Callable[[int, int], None] | None = None) -> Scan:
    """Verify the whole namespace. `kept` is the text of a checkpoint that the reader saved.

    Raises note.NoteError where `kept` is no checkpoint.
    """
    store = Namespace.objects.select_related("head").get(pk=namespace)
    result = Scan(store.name, size=store.head.size, has_kept=bool(kept))
    reader = note.parse(kept) if kept else None
    roots = _scan_entries(store, result, _sizes(store, reader), progress)
    known = {fault.seq for fault in result.faults} | result.missing
    result.faults.extend(fault for fault in unlisted(namespace) if fault.seq not in known)
    if not result.faults:
        result.faults.extend(_further(namespace))
    _scan_length(store, result)
    _scan_checkpoints(store, result, roots)
    if reader is not None:
        _scan_kept(store, result, reader, roots)
    return result


def _sizes(store: Namespace, reader: note.SignedNote | None) -> set[int]:
    sizes = set(Checkpoint.objects.filter(namespace=store).values_list("seq", flat=True))
    return sizes | ({reader.checkpoint.size} if reader is not None else set())


def _scan_entries(
    store: Namespace, result: Scan, sizes: set[int], progress: Callable[[int, int], None] | None
) -> dict[int, bytes]:
    """Walk all entries in order. Answers the recomputed root at each of the sizes that was reached without a gap."""
    walk = _Walk(store, result, sizes)
    for chunk in _chunks(store.pk):
        stored = _stored_nodes(store.pk, chunk)
        for entry in chunk.entries:
            walk.step(chunk, entry, stored)
        walk.trim()
        if progress is not None:
            progress(chunk.last, result.size)
    return walk.roots


class _Walk:
    """The state of a walk over the log: the tree so far, and whether a gap has broken it."""

    def __init__(self, store: Namespace, result: Scan, sizes: set[int]) -> None:
        self.store, self.result, self.sizes = store, result, sizes
        self.frontier: dict[Coordinate, bytes] = {}
        self.roots: dict[int, bytes] = {0: merkle.EMPTY_ROOT}
        self.expected = 1
        self.is_broken = False

    def step(self, chunk: Chunk, entry: Entry, stored: dict[Coordinate, bytes]) -> None:
        if entry.seq != self.expected:
            self.result.missing.update(range(self.expected, entry.seq))
            # What stands beyond a gap cannot be placed in the tree any more; its own hashes still can be checked.
            self.is_broken = True
            if (gap := self._gap_fault(entry)) is not None:
                self.result.faults.append(gap)
        fault = self._leaf_fault(entry) or next(faults_of_entry(chunk, entry, self.result), None)
        if fault is not None:
            self.result.faults.append(fault)
        if not self.is_broken:
            self._grow(entry, stored, has_fault=fault is not None)
        self.result.n_entries += 1
        self.expected = entry.seq + 1

    def _grow(self, entry: Entry, stored: dict[Coordinate, bytes], *, has_fault: bool) -> None:
        # A faulty entry is reported once: the tree goes on with the leaf that was stored when it was written.
        leaf = stored.get((0, entry.seq - 1), bytes(entry.leaf)) if has_fault else bytes(entry.leaf)
        completed = merkle.completed_nodes(entry.seq - 1, leaf, lambda *at: self.frontier[at])
        self.frontier.update({(level, index): digest for level, index, digest in completed})
        if not has_fault:
            _compare_nodes(self.result, entry, completed, stored)
        if entry.seq in self.sizes:
            self.roots[entry.seq] = self._root(entry.seq)
        self.result.root = self._root(entry.seq) if entry.seq == self.result.size else b""

    def _root(self, size: int) -> bytes:
        return merkle.root_from_peaks([self.frontier[at] for at in merkle.peaks(size)])

    def trim(self) -> None:
        """Keep what later nodes can still need: the peaks."""
        if not self.is_broken:
            keep = set(merkle.peaks(self.expected - 1))
            self.frontier = {at: digest for at, digest in self.frontier.items() if at in keep}

    def _gap_fault(self, entry: Entry) -> Fault | None:
        return Fault("sequence_gap", self.expected, expected=f"entry {self.expected}", got=f"entry {entry.seq}")

    def _leaf_fault(self, entry: Entry) -> Fault | None:
        stored = bytes(entry.leaf)
        fields = leaf_fields(entry, namespace=self.store.name)
        leaf = commitment.entry_leaf(fields)
        if leaf == stored:
            return None
        places = Node.objects.filter(namespace=self.store, level=0, hash=stored).values_list("index", flat=True)
        for index in places:
            if index + 1 != entry.seq and commitment.entry_leaf({**fields, "seq": index + 1}) == stored:
                return Fault("order_mismatch", entry.seq, expected=f"seq {index + 1}", got=f"seq {entry.seq}")
        return Fault("leaf_mismatch", entry.seq, expected=leaf.hex(), got=stored.hex())


def _chunks(namespace: int) -> Iterator[Chunk]:
    last = 0
    while (chunk := load_chunk(namespace, last, CHUNK)) is not None:
        yield chunk
        last = chunk.last


def _stored_nodes(namespace: int, chunk: Chunk) -> dict[Coordinate, bytes]:
    """The stored nodes that the chunk's leaves complete, one query for each level."""
    found: dict[Coordinate, bytes] = {}
    first, last = chunk.first - 1, chunk.last - 1
    for level in range((last + 1).bit_length()):
        low, high = (first >> level), (last >> level)
        rows = Node.objects.filter(namespace=namespace, level=level, index__gte=low, index__lte=high)
        found.update({(level, index): bytes(digest) for index, digest in rows.values_list("index", "hash")})
    return found


def _compare_nodes(
    result: Scan, entry: Entry, completed: list[tuple[int, int, bytes]], stored: dict[Coordinate, bytes]
) -> None:
    for level, index, digest in completed:
        got = stored.get((level, index))
        if got != digest:
            shown = got.hex() if got is not None else "no node"
            place = f"node {level}/{index}"
            result.faults.append(Fault("node_mismatch", entry.seq, expected=digest.hex(), got=shown, place=place))
            return


def _scan_length(store: Namespace, result: Scan) -> None:
    """What the head, the tree and the newest checkpoint say of the length."""
    last = Entry.objects.filter(namespace=store).aggregate(last=Max("seq"))["last"] or 0
    signed = Checkpoint.objects.filter(namespace=store).aggregate(last=Max("seq"))["last"] or 0
    leaves = Node.objects.filter(namespace=store, level=0).aggregate(last=Max("index"))["last"]
    longest = max(signed, 0 if leaves is None else leaves + 1, Head.objects.get(namespace=store).size)
    if longest > last:
        result.faults.append(Fault("log_truncated", last, expected=f"{longest} entries", got=f"{last} entries"))


def _scan_checkpoints(store: Namespace, result: Scan, roots: dict[int, bytes]) -> None:
    keys = trusted_keys(store)
    faulty = {fault.seq for fault in result.faults}
    # Where the row of a published key is faulty, that is the fault: not the checkpoints that the key signed.
    published = Item.objects.filter(namespace=store, kind=PublicKey.item_kind).values_list("seq", flat=True)
    is_key_in_doubt = bool(faulty) and not faulty.isdisjoint(published)
    for row in Checkpoint.objects.filter(namespace=store).order_by("seq"):
        result.n_checkpoints += 1
        fault = _checkpoint_fault(store, row, keys, roots.get(row.seq))
        if fault is not None and not (fault.code == "key_unknown" and is_key_in_doubt):
            result.faults.append(fault)


def _checkpoint_fault(
    store: Namespace, row: Checkpoint, keys: list[note.VerificationKey], root: bytes | None
) -> Fault | None:
    try:
        signed = note.parse(row.note)
    except note.NoteError as error:
        return Fault("signature_invalid", row.seq, expected="a signed note", got=str(error))
    verdict = signing.verify(signed, keys, origin=store.origin)
    if verdict.code is not None:
        return Fault(verdict.code, row.seq, expected="a note signed by a published key", got=verdict.detail)
    said = (signed.checkpoint.size, signed.checkpoint.root)
    if said != (row.seq, bytes(row.root)):
        return Fault("signature_invalid", row.seq, expected=f"a note of size {row.seq}", got=f"size {said[0]}")
    if root is not None and root != bytes(row.root):
        return Fault("checkpoint_inconsistent", row.seq, expected=bytes(row.root).hex(), got=root.hex())
    return None


def _scan_kept(store: Namespace, result: Scan, kept: note.SignedNote, roots: dict[int, bytes]) -> None:
    said = kept.checkpoint
    verdict = signing.verify(kept, trusted_keys(store), origin=store.origin)
    if verdict.code is not None:
        result.faults.append(
            Fault(verdict.code, said.size, expected="a checkpoint of this log", got=verdict.detail, is_about_kept=True)
        )
        return
    root = roots.get(said.size)
    if root is None:
        result.faults.append(Fault("checkpoint_rolled_back", said.size, expected=f"at least {said.size} entries",
                                   got=f"{result.n_entries} entries", is_about_kept=True))  # fmt: skip
    elif root != said.root:
        result.faults.append(
            Fault("checkpoint_inconsistent", said.size, expected=said.root.hex(), got=root.hex(), is_about_kept=True)
        )
