"""What grows with the length of a log: proofs, checkpoints, rebuilding."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice

from audit.bench.measuring import Figure, Scale, Work, side_by_side
from audit.bench.texts import records
from memory.agents.setup import ensure_namespace, system
from memory.checks.rebuilding import rebuild
from memory.ledger.kernel import merkle, note, signing
from memory.records.operations import save

LONG, SHORT = 17, 10
N_PROOFS = 50
N_ENTRIES = 2_000
ROUNDS = 60

Nodes = dict[tuple[int, int], bytes]


def run(scale: Scale) -> Iterator[Figure]:
    """Proofs and checkpoints of 2^17 over 2^10 leaves, without a database; projections of 2N over N entries, with."""
    depth = LONG if scale.divisor == 1 else SHORT + 2
    long, short = _grown(depth), _grown(SHORT)
    rounds = scale.rounds(ROUNDS)
    timing = side_by_side(_prover(long, depth), _prover(short, SHORT), rounds=rounds)
    hashes = f"{len(_path(long, depth, 0))} hashes over {len(_path(short, SHORT, 0))}"
    yield Figure("tree", f"inclusion proof at 2^{depth} / 2^{SHORT} leaves", timing, "≤ 4", hashes)
    timing = side_by_side(_signer(long, depth), _signer(short, SHORT), rounds=rounds)
    yield Figure("tree", f"checkpoint at 2^{depth} / 2^{SHORT} leaves", timing, "≤ 4")
    n_entries = scale.size(N_ENTRIES, least=20)
    twice, once = (_log(f"tree-{size}", size) for size in (2 * n_entries, n_entries))
    timing = side_by_side(
        lambda: rebuild(system(twice), check=True), lambda: rebuild(system(once), check=True), rounds=scale.rounds(7)
    )
    yield Figure("tree", f"rebuild of {2 * n_entries} / {n_entries} entries", timing, "≤ 2.5")


def _grown(depth: int) -> Nodes:
    nodes: Nodes = {}
    for position in range(2**depth):
        leaf = sha256(position.to_bytes(8)).digest()
        for level, index, digest in merkle.completed_nodes(position, leaf, lambda *at: nodes[at]):
            nodes[level, index] = digest
    return nodes


def _path(nodes: Nodes, depth: int, index: int) -> list[bytes]:
    return merkle.inclusion_path(index, 2**depth, lambda *at: nodes[at])


def _prover(nodes: Nodes, depth: int) -> Work:
    places = [number * 2**depth // N_PROOFS for number in range(N_PROOFS)]
    return lambda: [_path(nodes, depth, index) for index in places]


def _signer(nodes: Nodes, depth: int) -> Work:
    key, size = signing.generate(), 2**depth - 1

    def sign() -> None:
        root = merkle.root_from_peaks([nodes[at] for at in merkle.peaks(size)])
        note.format_note(signing.sign(note.Checkpoint("palimpsest/bench", size, root), key))

    return sign


def _log(name: str, n_entries: int) -> int:
    store = ensure_namespace(name)
    for new in islice(records(name), n_entries):
        save(system(store), records=[new])
    return store
