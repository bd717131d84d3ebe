"""Signed checkpoints as a list, the text of one, and two of them beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.ledger.kernel import merkle, note
from memory.ledger.models import Checkpoint, Namespace
from memory.ledger.queries import proofs, verdicts
from memory.ledger.queries.verdicts import Step


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A checkpoint over the first `seq` entries; `text` is the signed note."""

    seq: int
    root: bytes
    signed_at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class CheckpointPage:
    """Checkpoints up to the point, newest first."""

    items: tuple[CheckpointRow, ...]
    total: int
    next: int | None


def checkpoints(at: AsOf, *, before: int | None = None, limit: int = 50) -> CheckpointPage:
    """One page of the checkpoints; `before` is an exclusive size. Two queries."""
    rows = Checkpoint.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    total = rows.count()
    found = list((rows.filter(seq__lt=before) if before is not None else rows).order_by("-seq")[: limit + 1])
    shown = tuple(_row(row) for row in found[:limit])
    return CheckpointPage(shown, total, shown[-1].seq if len(found) > limit else None)


def checkpoint(at: AsOf, *, seq: int) -> CheckpointRow:
    """The checkpoint of that size.   Raises NotFound."""
    row = Checkpoint.objects.filter(namespace=at.namespace, seq=seq, seq__lte=at.seq).first()
    if row is None:
        raise NotFound(f"No checkpoint of {seq} entries was signed.")
    return _row(row)


def _row(row: Checkpoint) -> CheckpointRow:
    return CheckpointRow(row.seq, bytes(row.root), row.signed_at, row.note)


def between(at: AsOf, *, first: int, second: int) -> tuple[proofs.Consistency, Step]:
    """The proof that the log of `second` entries begins with that of `first`, and what checking it gives.

    Raises Invalid (sizes that the log does not have).
    """
    proof = proofs.consistency(at, first=first, second=second)
    holds = merkle.verify_consistency(first, second, proof.first_root, proof.second_root, proof.path)
    if holds:
        detail = f"{len(proof.path)} hashes lead from the root of {first} to the root of {second}"
        return proof, Step("log", "ok", detail)
    detail = f"the log of {second} entries does not begin with that of {first}"
    return proof, Step("log", "failed", detail, proof.first_root.hex(), proof.second_root.hex())


def beside(at: AsOf, *, kept: str) -> tuple[Step, ...]:
    """The reader's checkpoint beside the newest of this log.   Raises Invalid (`kept` is no checkpoint)."""
    reader = verdicts.read_kept(kept)
    keys: Sequence[note.VerificationKey] = proofs.trusted_keys(Namespace.objects.get(pk=at.namespace))
    newest = Checkpoint.objects.filter(namespace=at.namespace).order_by("-seq").first()
    size, root = (newest.seq, bytes(newest.root)) if newest is not None else (None, b"")
    return tuple(verdicts.kept_steps(at, reader, keys=keys, size=size, root=root))
