"""Routes of the ledger: entries, checkpoints, proofs, verification, erasure."""

from __future__ import annotations

from typing import Annotated, Any

from ninja import Path, Query
from ninja.responses import Status

from memory.base import gate
from memory.base.actor import Actor
from memory.base.doors import Entered, Routes, actor, made, page
from memory.base.errors import DomainError, Invalid, NotFound
from memory.ledger.kernel.note import NoteError
from memory.ledger.operations import erasing
from memory.ledger.queries import asof, proofs, verification
from memory.ledger.queries import entries as reads
from memory.ledger.queries import radius as radii
from memory.ledger.schemas import (
    CheckpointOut,
    ConsistencyOut,
    EntryDetailOut,
    EntryFilter,
    EntryList,
    EntryOut,
    ErasureIn,
    ErasureOut,
    ItemIndex,
    Point,
    ProofOut,
    ScanOut,
    SeqParameter,
    VerifyIn,
    rests_on,
)

routes = Routes("ledger")


@routes.read("/ledger/checkpoint", answer=CheckpointOut)
def checkpoint(request: Entered, point: Query[Point]) -> CheckpointOut:
    """The newest signed checkpoint."""
    at = point.at(request.auth.namespace)
    found = reads.latest_checkpoint(at.namespace, until=at.seq)
    if found is None:
        raise NotFound(f"No checkpoint of these {at.seq} entries has been signed yet.")
    return CheckpointOut.of(found, at)


@routes.read("/ledger/entries", answer=EntryList)
def entries(request: Entered, point: Query[Point], where: Query[EntryFilter]) -> EntryList:
    """Entries, newest first; with `sort=seq` in the order in which they were written."""
    at = point.at(request.auth.namespace)
    narrowed: dict[str, Any] = {"verb": where.verb, "run": where.run, "agent": where.agent}
    cursor: dict[str, Any] = {"before": where.after} if where.sort == "-seq" else {"after": where.after or 0}
    found = reads.entries(at, limit=where.limit + 1, **cursor, **narrowed)
    shown = (found if where.sort == "-seq" else found[::-1])[: where.limit]
    return EntryList(
        items=[EntryOut.of(row) for row in shown], next=str(shown[-1].seq) if len(found) > where.limit else None,
        total=reads.count_entries(at, **narrowed), **rests_on(at),
    )  # fmt: skip


@routes.read("/ledger/entries/{seq}", answer=EntryDetailOut)
def entry(
    request: Entered, seq: Annotated[SeqParameter, Path()], point: Query[Point], item_from: ItemIndex = 0
) -> EntryDetailOut:
    """One entry with its items."""
    at = point.at(request.auth.namespace)
    return EntryDetailOut.of(reads.entry(at, seq=seq, items_from=item_from), at)


@routes.read("/ledger/proof", answer=ProofOut)
def proof(
    request: Entered, point: Query[Point], seq: SeqParameter, item: ItemIndex = 0, size: SeqParameter | None = None,
    kept: SeqParameter | None = None,
) -> ProofOut:  # fmt: skip
    """The proof of one item, for a third party; `kept` is the size of a checkpoint that this party already has."""
    at = point.at(request.auth.namespace)
    return ProofOut(**proofs.proof(at, seq=seq, item=item, size=size, kept=kept))


@routes.read("/ledger/consistency", answer=ConsistencyOut)
def consistency(request: Entered, point: Query[Point], first: SeqParameter, second: SeqParameter) -> ConsistencyOut:
    """The proof that a later log begins with an earlier one."""
    at = point.at(request.auth.namespace)
    return ConsistencyOut.of(proofs.consistency(at, first=first, second=second), at)


@routes.read("/ledger/verify", answer=ScanOut, method="POST")
def verify(request: Entered, body: VerifyIn) -> ScanOut:
    """Hash the whole ledger again; believe nothing that is stored."""
    try:
        return ScanOut.of(verification.scan(request.auth.namespace, kept=body.kept))
    except NoteError as error:
        raise Invalid.at("kept", expected="the text of a checkpoint", got=error) from error


@routes.write("/erasures", need=gate.ERASE, answer=ErasureOut, makes=True, codes=("on_hold",))
def erase(request: Entered, body: ErasureIn) -> Status[ErasureOut]:
    """Erase the text of records or items for good; digests and proofs stay."""
    by = actor(request, body.run)
    items = body.items or radii.items_of(by.namespace, kind="record", objects=body.records or [])
    url = page(request, "/ledger")
    if body.dry_run:
        at = asof.now(by.namespace)
        would = radii.radius(at, items=erasing.reached(by.namespace, items))
        return made(ErasureOut.of(would, done=None, seq=at.seq, url=url, refusal=_refusal(by)), is_new=False)
    done = erasing.erase(by, items=items, reason=body.reason, note=body.note)
    found = radii.radius(asof.now(by.namespace), items=erasing.reached(by.namespace, items))
    is_new = bool(done.refs) and not done.replayed
    return made(ErasureOut.of(found, done=done.seq, seq=done.seq, url=url, replayed=not is_new), is_new=is_new)


def _refusal(by: Actor) -> str | None:
    """Why the act would be refused now."""
    try:
        gate.passes(by, gate.ERASE)
    except DomainError as error:
        return error.code
    return None
