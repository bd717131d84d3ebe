"""Signed checkpoints: what a log was, for whoever keeps a copy out of the house.

Before signing, the new root is proven consistent with the last signed one; if it is not, nothing is signed.
A node without the key never signs, so that two hosts on one database cannot make two keys.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction

from memory.base import clock, gate, ids
from memory.base.actor import Actor
from memory.base.errors import Conflict, Unavailable
from memory.ledger.drafts import Draft
from memory.ledger.kernel import merkle, note, signing
from memory.ledger.models import Checkpoint, Head, Namespace, PublicKey
from memory.ledger.operations.appending import lock_head, opened
from memory.ledger.queries import trees


def signing_key(*, make: bool = False) -> signing.SigningKey | None:
    """The node's key; None where there is none. `make` makes one in the first place."""
    path = Path(settings.PALIMPSEST_SIGNING_KEY_FILE)
    if not path.exists():
        if not make:
            return None
        # Another process may make it in the same moment: then its key is the node's.
        with contextlib.suppress(FileExistsError):
            signing.save(signing.generate(), path)
    return signing.load(path)


def checkpoint(namespace: int, *, make_key: bool = False) -> Checkpoint:
    """Sign the log as it stands; the newest checkpoint where nothing was written since.

    Locks: the namespace head. Appends: `publish_key` where this key has not signed here before.
    Raises Unavailable (no key on this node), Conflict (the log no longer begins with what was signed last).
    """
    key = signing_key(make=make_key)
    if key is None:
        raise Unavailable("This node holds no signing key, so it signs no checkpoint.")
    _publish(namespace, key)
    with transaction.atomic():
        store, head = lock_head(namespace)
        last = Checkpoint.objects.filter(namespace=namespace).order_by("-seq").first()
        if last is not None and last.seq == head.size:
            return last
        root = trees.root(namespace, head.size)
        if last is not None:
            _require_consistent(namespace, last, head, root)
        signed = signing.sign(note.Checkpoint(store.origin, head.size, root), key)
        return Checkpoint.objects.create(
            namespace=store, seq=head.size, root=root, signed_at=_signed_at(store, head), note=note.format_note(signed)
        )


def _signed_at(store: Namespace, head: Head) -> datetime:
    return head.last_at if store.clock == "replay" else clock.read()


def _publish(namespace: int, key: signing.SigningKey) -> None:
    known = PublicKey.objects.filter(namespace=namespace)
    if any(bytes(row.key) == key.public_bytes for row in known):
        return
    head = Head.objects.get(namespace=namespace)
    system = Actor(namespace, "system", event_at=head.last_at if _is_replay(namespace) else None)
    with opened(system, verb="publish_key", need=gate.WRITE) as entry:
        entry.add(Draft("public_key", ids.new_id(), PublicKey, {"key": key.public_bytes}))


def _is_replay(namespace: int) -> bool:
    return Namespace.objects.filter(pk=namespace, clock="replay").exists()


def _require_consistent(namespace: int, last: Checkpoint, head: Head, root: bytes) -> None:
    path = trees.consistency_path(namespace, first=last.seq, second=head.size)
    if not merkle.verify_consistency(last.seq, head.size, bytes(last.root), root, path):
        raise Conflict(
            f"The log of {head.size} entries does not begin with the {last.seq} that were signed: nothing is signed."
        )


def deliver(namespace: int, folder: Path) -> Path:
    """Sign and put the newest checkpoint into the folder, whole or not at all. Answers the file."""
    signed = checkpoint(namespace)
    store = Namespace.objects.get(pk=namespace)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{store.name}-{signed.seq:012d}.txt"
    descriptor, draft = tempfile.mkstemp(dir=folder, prefix=".checkpoint-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(signed.note)
        stream.flush()
        os.fsync(stream.fileno())
    Path(draft).replace(target)
    return target
