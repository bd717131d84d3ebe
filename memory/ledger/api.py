"""Routes of the ledger: entries, checkpoints, proofs, verification, erasure."""

from __future__ import annotations

from typing import Annotated, Any

from ninja import Path, Query
from ninja.responses import Status

from memory.base import gate
from memory.base.actor import Actor
from memory.base.doors import Entered, Routes, actor, made, page
from memory.base.errors import Invalid, NotFound
from memory.ledger.erasures import ErasureIn, ErasureList, ErasureOut, ErasureRowOut, ReceiptOut
from memory.ledger.kernel.note import NoteError
from memory.ledger.operations import closing, erasing, previews
from memory.ledger.queries import asof, proofs, receipts, verification
from memory.ledger.queries import entries as reads
from memory.ledger.queries.withheld import withheld_from
from memory.ledger.schemas import (
    CheckpointOut,
    ConsistencyOut,
    EntryDetailOut,
    EntryFilter,
    EntryList,
    EntryOut,
    ItemIndex,
    Limit,
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
    if withheld_from(request.auth, [(seq, item)]):
        raise NotFound(f"There is no item {item} of entry {seq}.")
    return ProofOut(**proofs.proof(at, seq=seq, item=item, size=size, kept=kept))


@routes.read("/ledger/consistency", answer=ConsistencyOut)
def consistency(request: Entered, point: Query[Point], first: SeqParameter, second: SeqParameter) -> ConsistencyOut:
    """The proof that a later log begins with an earlier one."""
    at = point.at(request.auth.namespace)
    return ConsistencyOut.of(proofs.consistency(at, first=first, second=second), at)


@routes.read("/ledger/verify", answer=ScanOut, method="POST")
def verify(request: Entered, body: VerifyIn) -> ScanOut:
    """Hash the whole ledger again; believe nothing that is stored."""
    namespace = request.auth.namespace
    try:
        return ScanOut.of(verification.scan(namespace, kept=body.kept), closed=asof.now(namespace).closed_seq)
    except NoteError as error:
        raise Invalid.at("kept", expected="the text of a checkpoint", got=error) from error


@routes.write("/erasures", need=gate.ERASE, answer=ErasureOut, makes=True, codes=("on_hold",))
def erase(request: Entered, body: ErasureIn) -> Status[ErasureOut]:
    """Erase text for good: of records, of items, whatever names a subject, or all of it; digests and proofs stay."""
    by = actor(request, body.run)
    if body.namespace:
        return _close(request, body, by)
    found = previews.asked(by.namespace, records=body.records, facts=body.facts, items=body.items, subject=body.subject)
    if body.dry_run:
        would = previews.preview(by, found=found, quoting=body.quoting)
        answer = ErasureOut.of(
            would.radius, done=None, seq=would.at.seq, url=page(request, "/erasures/new"), refusal=would.refusal,
            hold=would.hold, n_within_words=found.n_within_words,
        )  # fmt: skip
        return made(answer, is_new=False)
    why: dict[str, Any] = {"reason": body.reason, "note": body.note, "quoting": body.quoting}
    if body.subject is not None:
        done = erasing.erase_subject(by, subject=body.subject, **why)
    else:
        done = erasing.erase(by, items=found.items, **why)
    is_new = bool(done.refs) and not done.replayed
    answer = ErasureOut.of(
        previews.done(by.namespace, done), done=done.seq, seq=done.seq, replayed=not is_new,
        url=page(request, f"/erasures/{done.seq}"), n_within_words=found.n_within_words,
    )  # fmt: skip
    return made(answer, is_new=is_new)


def _close(request: Entered, body: ErasureIn, by: Actor) -> Status[ErasureOut]:
    if body.dry_run:
        would = ErasureOut.of_all(closing.closing_preview(by), url=page(request, "/erasures/close"))
        return made(would, is_new=False)
    done = closing.close_namespace(by, confirm=body.confirm, reason=body.reason, note=body.note)
    url = page(request, f"/erasures/{done.seq}" if done.refs else f"/ledger/{done.seq}")
    answer = ErasureOut.of_closing(closing.closed(by.namespace, seq=done.seq), url=url, replayed=done.replayed)
    return made(answer, is_new=not done.replayed)


@routes.read("/erasures", answer=ErasureList)
def erasures(
    request: Entered, point: Query[Point], after: SeqParameter | None = None, limit: Limit = 50
) -> ErasureList:
    """Erasures, newest first."""
    at = point.at(request.auth.namespace)
    found = receipts.erasures(at, before=after, limit=limit + 1)
    shown = found[:limit]
    return ErasureList(
        items=[ErasureRowOut.of(row) for row in shown], next=str(shown[-1].seq) if len(found) > limit else None,
        total=receipts.count_erasures(at), **rests_on(at),
    )  # fmt: skip


@routes.read("/erasures/{seq}", answer=ReceiptOut)
def erasure(request: Entered, seq: Annotated[SeqParameter, Path()], point: Query[Point]) -> ReceiptOut:
    """The receipt of an erasure: what went, what stays, what nobody here can reach."""
    at = point.at(request.auth.namespace)
    return ReceiptOut.of(receipts.receipt(at, seq=seq), **rests_on(at))
