"""Imports, exports and restores by the name of their format: one way in for pages, routes, commands and tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO

from django.db import transaction

from memory.agents import operations as agents
from memory.agents.queries import role_of
from memory.agents.setup import system
from memory.base import clock, gate, ids
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.interchange.contextfs.kernel.vocabulary import ForeignStoreError
from memory.interchange.contextfs.operations import Options, Progress, Report, import_store
from memory.interchange.exporting import Exported, export
from memory.interchange.jsonl import applying, verifying
from memory.interchange.models import ExportRun, RestoreRun
from memory.interchange.slices import Selection
from memory.interchange.targets import founder
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.models import Namespace
from memory.ledger.operations.appending import answered_before, opened, retried
from memory.ledger.queries import erased as erasures

IMPORTERS: dict[str, Callable[..., Report]] = {"contextfs": import_store}


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
    by: Actor, at: AsOf, stream: BinaryIO, *, format: str, selection: Selection, progress: Progress | None = None
) -> tuple[Exported, int]:
    """Write an export into the stream and put down that it left the house; answers it and the entry that says so.

    Appends: `export`. Raises as `exporting.export`.
    """
    done = export(by, at, stream, format=format, selection=selection, progress=progress)
    row = {
        "id": ids.new_id(), "format": format, "at_seq": done.at_seq, "n_items": done.n_items, "n_bytes": done.n_bytes,
        "file_digest": done.sha256,
    }  # fmt: skip
    draft = Draft("export_run", row["id"], ExportRun, row, {"report": selection.told})
    drafting.seal([draft])
    request = {"format": format, "seq": at.seq, **selection.told}
    with opened(by, verb="export", need=gate.READ, request=request) as entry:
        if not entry.is_replay:
            entry.add(draft)
    return done, entry.answer.seq


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
    digest = file_digest(stream, "sha256").digest()
    listed = frozenset(erased)
    request = {"archive": digest.hex(), "erased": sorted(one.hex() for one in listed), "people": keeps_people}
    if (first := answered_before(by, verb="restore_namespace", need=gate.OWN, request=request)) is not None:
        return _restored_before(by.namespace, first)
    stream.seek(0)
    archive = verifying.verify(stream, watched=listed | _erased_here(), progress=progress)
    applying.require_free(archive)
    with transaction.atomic():
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
