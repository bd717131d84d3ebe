"""What stands about a ledger at a point: its newest checkpoint, the key that signs, its newest scan and what that saw.

Invariants
- One query, whatever the length of the log.
- A block of entries is verified only where a scan has passed over all of it and names no fault in it. Beyond what was
  scanned, and beyond what a scan could list, nothing is known: it is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db.models import OuterRef, Subquery

from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.checks.ledger_scan import NAME
from memory.checks.models import CheckRun
from memory.ledger.kernel.note import VerificationKey
from memory.ledger.models import Checkpoint, Content, Entry, Namespace, PublicKey

BLOCK_SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
BLOCKS_SHOWN = 100

BlockState = Literal["verified", "failed", "not_checked"]


@dataclass(frozen=True, slots=True)
class Signed:
    """A checkpoint over the first `seq` entries."""

    seq: int
    root: bytes
    signed_at: datetime


@dataclass(frozen=True, slots=True)
class Scanned:
    """The newest scan: over `at_seq` entries, written down by entry `seq`. `verdicts` is empty where it was erased.

    `faults` are the sequences at which it lists one; `is_cut` where it found more than it lists. `n_erased` texts are
    gone and named by their erasures.
    """

    id: UUID
    verdict: str
    seq: int
    at_seq: int
    recorded_at: datetime
    n_checked: int
    n_findings: int
    verdicts: dict[str, str]
    faults: tuple[int, ...] = ()
    is_cut: bool = False
    n_erased: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """`key` is the public key that signs now, as a verifier takes it, and `key_id` its id; "" for none published."""

    origin: str
    checkpoint: Signed | None
    key: str
    key_id: str
    scan: Scanned | None


@dataclass(frozen=True, slots=True)
class Block:
    """Entries `first` to `last`, both inclusive."""

    first: int
    last: int
    state: BlockState


def standing(at: AsOf) -> Standing:
    """What stands at the point."""
    signed = Checkpoint.objects.filter(namespace=at.namespace, seq__lte=at.seq).order_by("-seq")
    keys = PublicKey.objects.filter(namespace=at.namespace, seq__lte=at.seq).order_by("-seq")
    scans = CheckRun.objects.filter(namespace=at.namespace, check_name=NAME, seq__lte=at.seq).order_by("-seq")
    entry = Entry.objects.filter(namespace=at.namespace, seq=OuterRef("scan_seq"))
    report = Content.objects.filter(namespace=at.namespace, seq=OuterRef("scan_seq"), part="report").order_by("item")
    columns: dict[str, Any] = {
        **{f"signed_{name}": Subquery(signed.values(name)[:1]) for name in ("seq", "root", "signed_at")},
        "key": Subquery(keys.values("key")[:1]),
        **{f"scan_{name}": Subquery(scans.values(name)[:1]) for name in _SCANNED},
        "scan_at": Subquery(entry.values("recorded_at")[:1]),
        "scan_report": Subquery(report.values("payload")[:1]),
    }
    rows: Any = Namespace.objects.filter(pk=at.namespace).annotate(**columns)
    row = rows.get()
    checkpoint = None
    if row.signed_seq is not None:
        checkpoint = Signed(row.signed_seq, bytes(row.signed_root), row.signed_signed_at)
    key = VerificationKey(row.origin, bytes(row.key)) if row.key is not None else None
    told = (str(key), key.key_id.hex()) if key is not None else ("", "")
    return Standing(row.origin, checkpoint, *told, _scanned(row))


_SCANNED = ("id", "verdict", "seq", "at_seq", "n_checked", "n_findings")


def _scanned(row: Any) -> Scanned | None:
    if row.scan_id is None:
        return None
    report: Any = strict_loads(row.scan_report) if row.scan_report else {}
    listed = report.get("faults", [])
    return Scanned(
        row.scan_id, row.scan_verdict, row.scan_seq, row.scan_at_seq, row.scan_at, row.scan_n_checked,
        row.scan_n_findings, report.get("verdicts", {}), tuple(sorted({fault["seq"] for fault in listed})),
        is_cut=row.scan_n_findings > len(listed), n_erased=report.get("erased", 0),
    )  # fmt: skip


def block_size(size: int) -> int:
    """How many entries one block of the strip holds, so that at most BLOCKS_SHOWN are drawn."""
    return next((one for one in BLOCK_SIZES if size <= one * BLOCKS_SHOWN), BLOCK_SIZES[-1])


def blocks(scan: Scanned | None, *, size: int) -> tuple[Block, ...]:
    """The first `size` entries as blocks, with what the scan says of each."""
    return tuple(_blocks(scan, size, block_size(size)))


def _blocks(scan: Scanned | None, size: int, step: int) -> Iterator[Block]:
    reached = 0 if scan is None else scan.at_seq
    if scan is not None and scan.is_cut:
        reached = min(reached, max(scan.faults, default=0))
    faults = set() if scan is None else set(scan.faults)
    for first in range(1, size + 1, step):
        last = min(first + step - 1, size)
        state: BlockState = "verified" if last <= reached else "not_checked"
        if any(first <= seq <= last for seq in faults):
            state = "failed"
        yield Block(first, last, state)
