"""Imports, exports and restores by the name of their format: one way in for pages, routes, commands and tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from memory.agents import operations as agents
from memory.agents.queries import role_of
from memory.agents.setup import system, takes_people
from memory.base import clock, gate, ids
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.asof import AsOf
from memory.base.errors import Conflict, Invalid, Raced
from memory.interchange import exporting, reconciling, undoing
from memory.interchange.contextfs.kernel.vocabulary import ForeignStoreError
from memory.interchange.contextfs.operations import Options, Progress, Report, import_store
from memory.interchange.exporting import Exported
from memory.interchange.jsonl import applying, verifying
from memory.interchange.models import ExportRun, RestoreRun
from memory.interchange.posterior.operations import import_store as import_posterior
from memory.interchange.slices import Selection
from memory.interchange.targets import founder
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.models import Namespace, Reference
from memory.ledger.operations.appending import answered_before, opened, retried
from memory.ledger.queries import asof
from memory.ledger.queries import erased as erasures
from memory.lineage.effects import Effects
from memory.lineage.operations.links import edge_draft
from memory.records.operations import withdrawal_draft

IMPORTERS: dict[str, Callable[..., Report]] = {"contextfs": import_store, "posterior": import_posterior}


def import_file(
    by: Actor, path: Path, *, format: str, options: Options, owners: Iterable[int] = (), dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:  # fmt: skip
    """Import the file at `path`; targets that do not exist are founded, owned by the importer and by `owners`.

    Raises Invalid (format; a file that is no such store; options), Forbidden (a target of somebody else), Conflict.
    """
    importer = IMPORTERS.get(format)
    if importer is None:
        raise Invalid.at("format", expected=" or ".join(sorted(IMPORTERS)), got=format)
    ensure = founder(by, owners=owners)
    try:
        return importer(by, path, options=options, ensure=ensure, dry_run=dry_run, progress=progress)
    except ForeignStoreError as error:
        raise Invalid.at("file", expected=error.expected, got=error.got, code=error.code) from error


@retried
def export_file(
    by: Actor, at: AsOf, stream: BinaryIO, *, format: str, selection: Selection,
    progress: exporting.Progress | None = None,
) -> tuple[Exported, int]:  # fmt: skip
    """Write an export into the stream and put down that it left the house; answers it and the entry that says so.

    Every file that leaves is an entry of its own, also where a form was sent twice: two files left then. Where a
    namespace takes no writes from people, for it replays or is closed, the entry is of the system.
    Appends: `export`. Raises as `exporting.export`.
    """
    done = exporting.export(by, at, stream, format=format, selection=selection, progress=progress)
    identity = ids.new_id()
    row = {
        "id": identity, "format": format, "at_seq": done.at_seq, "n_items": done.n_items, "n_bytes": done.n_bytes,
        "file_digest": done.sha256,
    }  # fmt: skip
    draft = Draft("export_run", identity, ExportRun, row, {"report": selection.told})
    drafting.seal([draft])
    writer = replace(by, idempotency_key="") if takes_people(by.namespace) else system(by.namespace)
    with opened(writer, verb="export", need=gate.READ) as entry:
        entry.add(draft)
    return done, entry.seq


@dataclass(frozen=True, slots=True)
class RestoredArchive:
    """What a restore made. `erased` counts the parts that the archive held and an erasure keeps out.

    `seq` is the entry of the asking namespace that says so; None for a command, which asks from none.
    """

    namespace: str
    size: int
    root: bytes
    archive: bytes
    n_erased: int
    seq: int | None = None
    replayed: bool = False


@retried
def restore_archive(
    by: Actor, stream: BinaryIO, *, erased: Iterable[bytes] = (), keeps_people: bool = False,
    progress: verifying.Progress | None = None,
) -> RestoredArchive:  # fmt: skip
    """Restore an archive verbatim under its own name, which must be free here. Whoever restores it owns it.

    by : a person, with the namespace from which they ask, or the system with none (0).   erased : commitments of parts
    that must not come back, beside those that this store has erased.   keeps_people : the archive's people are ours.
    Appends: in the restored namespace `erase` where the lists reach something, `admit_member` where the archive does
    not make the person an owner; in the asking one `restore_namespace`.
    Raises Forbidden (owners only), Conflict (it stands here), Invalid (a line of the archive), IdempotencyMismatch.
    """
    gate.passes(by, gate.OWN)
    _, digest = exporting.measured(stream)
    listed = frozenset(erased)
    request = {"archive": digest.hex(), "erased": sorted(one.hex() for one in listed), "people": keeps_people}
    if (first := answered_before(by, verb="restore_namespace", need=gate.OWN, request=request)) is not None:
        return _restored_before(by.namespace, first)
    stream.seek(0)
    applying.require_free(*verifying.named(stream))
    archive = verifying.verify(stream, watched=listed | _erased_here(), progress=progress)
    with applying.whole(archive):
        done = applying.apply(
            stream, archive, person=by.person, keeps_people=keeps_people, file_digest=digest, progress=progress
        )
        if by.person is not None and role_of(done.namespace, by.person, clock.now()) != "owner":
            agents.admit_member(system(done.namespace), person=by.person, role="owner")
        seq = _told_restored(by, done, request) if by.namespace else None
    return RestoredArchive(done.name, done.size, done.root, done.archive, len(done.erased), seq)


def _erased_here() -> frozenset[bytes]:
    """The commitments of everything that a namespace of this store has erased."""
    namespaces = Namespace.objects.order_by("pk").values_list("pk", flat=True)
    return frozenset(one for namespace in namespaces for one in erasures.commitments(namespace).values())


def _told_restored(by: Actor, done: applying.Restored, request: object) -> int:
    row = {
        "store": done.uid, "size": done.size, "root": done.root, "file_digest": done.archive,
        "n_erased": len(done.erased),
    }  # fmt: skip
    draft = Draft("restore_run", done.uid, RestoreRun, row, {"report": {"namespace": done.name}})
    with opened(by, verb="restore_namespace", need=gate.OWN, request=request) as entry:
        entry.add(draft)
    return entry.seq


def _restored_before(namespace: int, seq: int) -> RestoredArchive:
    row = RestoreRun.objects.get(namespace=namespace, seq=seq)
    name = Namespace.objects.values_list("name", flat=True).get(uid=row.store)
    root, archive = bytes(row.root), bytes(row.file_digest)
    return RestoredArchive(name, row.size, root, archive, row.n_erased, seq, replayed=True)


@retried
def undo_import(by: Actor, *, run: UUID, reason: str) -> Appended:
    """Withdraw every record of the import that still stands, as one entry. The rows stay; each can be restored.

    Locks: the namespace head. Appends: `undo_import`. Raises NotFound, Conflict (nothing of it stands), Invalid
    (no reason), Forbidden (owners only).
    """
    if not reason.strip():
        raise Invalid.at("reason", expected="why, in a few words")
    gate.passes(by, gate.OWN)
    request = {"run": str(run), "reason": reason}
    records = undoing.undo_of(asof.now(by.namespace), run=run).records
    made = [withdrawal_draft(one, reason=reason, hidden=True, claimed_at=None) for one in records]
    drafting.seal(made)
    with opened(by, verb="undo_import", need=gate.OWN, request=request) as entry:
        if entry.is_replay:
            return entry.answer
        if undoing.undo_of(asof.now(by.namespace), run=run).records != records:
            raise Raced
        if not made:
            raise Conflict("Nothing of this import stands any more: all of it is withdrawn or erased.")
        entry.add(*made)
        entry.then(lambda: Effects(withdrawn=list(records)).apply(by.namespace, entry.seq))
    return entry.answer


@retried
def apply_ties(by: Actor, *, run: UUID, findings: Sequence[UUID]) -> Appended:
    """Link the two ends of quarantined ties that the owner has chosen, as one entry; each link refers to its finding.

    Locks: the namespace head. Appends: `reconcile`. Raises NotFound (import), Invalid (not offered), Conflict (linked
    already), Forbidden (owners only).
    """
    chosen = list(dict.fromkeys(findings))
    if not chosen:
        raise Invalid.at("findings", expected="at least one of those that are offered")
    gate.passes(by, gate.OWN)
    request = {"run": str(run), "findings": [str(one) for one in chosen]}
    if (first := answered_before(by, verb="reconcile", need=gate.OWN, request=request)) is not None:
        return Appended(first, replayed=True)
    # What is offered follows from the import, which does not change; whether a link stands is asked under the lock.
    offers = _chosen_offers(by.namespace, run, chosen)
    with opened(by, verb="reconcile", need=gate.OWN, request=request) as entry:
        if entry.is_replay:
            return entry.answer
        linked = reconciling.linked_already(by.namespace, offers)
        for offer in offers:
            if (offer.source, offer.target) in linked:
                raise Conflict(f"{offer.source} {reconciling.LINK} {offer.target} stands already.")
            linked.add((offer.source, offer.target))
            index = entry.add(edge_draft(offer.source, reconciling.LINK, offer.target))
            row = {
                "from_item": index, "to_seq": offer.seq, "to_item": offer.item, "kind": reconciling.RECONCILES,
            }  # fmt: skip
            entry.add(Draft("reference", ids.new_id(), Reference, row))
    return entry.answer


def _chosen_offers(namespace: int, run: UUID, chosen: Sequence[UUID]) -> list[reconciling.Offer]:
    """One offer for each finding that was chosen.   Raises Invalid (none, or more than one record it may mean)."""
    offered: dict[UUID, list[reconciling.Offer]] = {}
    for offer in reconciling.reconciled(asof.now(namespace), run=run).offers:
        offered.setdefault(offer.finding, []).append(offer)
    for one in chosen:
        if len(offered.get(one, ())) != 1 or offered[one][0].applied_by is not None:
            raise Invalid.at("findings", expected="findings that are offered and not applied yet", got=one)
    return [offered[one][0] for one in chosen]
