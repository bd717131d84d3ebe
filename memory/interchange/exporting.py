"""Exports by the name of their format: one way out for pages, routes and commands. Nothing is written to the store.

Invariants
- An archive (jsonl) is of the whole namespace at its head; provenance (prov, openlineage) of a slice at any point. What
  is public is of the whole namespace at its head, and holds nothing raw.
- Everybody who reads may export, but an archive holds what waits for a review too: no agent takes one while something
  that it did not write waits. What repeated requests and imports are recognised by, the namespace's secret, is in an
  owner's archive alone: with it, guesses of what was erased could be tested.
- The same slice at the same point has the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, BinaryIO
from uuid import UUID

from memory.agents.models import Agent
from memory.agents.queries import agent_by_name
from memory.base import gate
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.base.bodies import JSON, NDJSON
from memory.base.canonical import canonical
from memory.base.errors import Forbidden, Invalid, NotFound
from memory.base.schemas import is_id
from memory.interchange import openlineage, prov, public
from memory.interchange.jsonl import writing
from memory.interchange.models import EXPORT_FORMATS
from memory.interchange.slices import Selection, slice_of
from memory.records.review import withheld

MEDIA = {"jsonl": NDJSON, "prov": JSON, "openlineage": NDJSON, "public": JSON}
ENDINGS = {"jsonl": "jsonl", "prov": "prov.json", "openlineage": "openlineage.jsonl", "public": "public.json"}
PIECE_BYTES = 1024**2

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Exported:
    """A file as it was written: the format, the last entry it speaks of, what it holds and its SHA-256."""

    format: str
    at_seq: int
    n_items: int
    n_bytes: int
    sha256: bytes


def export(
    by: Actor, at: AsOf, stream: BinaryIO, *, format: str, selection: Selection, progress: Progress | None = None
) -> Exported:
    """Write the export into the empty, seekable stream.

    Raises Invalid (format; a filter or a past point of an archive), Forbidden, NotFound, TooLarge, Conflict (damaged
    content).
    """
    if format not in EXPORT_FORMATS:
        raise Invalid.at("format", expected=" or ".join(EXPORT_FORMATS), got=format)
    gate.permits(by, gate.READ)
    if format == "jsonl":
        _require_whole(at, selection, what="an archive")
        _require_nothing_withheld(by)
        written = writing.write(stream, namespace=at.namespace, with_secret=by.may("own"), progress=progress)
        return _exported(stream, format, written.size, written.n_items)
    if format == "public":
        _require_whole(at, selection, what="what is public")
        told = public.document(at)
        stream.write(canonical(told) + b"\n")
        return _exported(stream, format, at.seq, len(told["items"]))
    found = slice_of(at, selection)
    if format == "prov":
        stream.write(canonical(prov.document(found)) + b"\n")
    else:
        stream.writelines(canonical(event) + b"\n" for event in openlineage.events(found))
    return _exported(stream, format, at.seq, len(found.versions) + len(found.acts))


def _require_whole(at: AsOf, selection: Selection, *, what: str) -> None:
    given = {
        "from": selection.since, "to": selection.until, "run": selection.run, "agent": selection.agent,
        "focus": selection.focus,
    }  # fmt: skip
    for name, value in given.items():
        if value is not None:
            raise Invalid.at(name, expected=f"no filter: {what} is of the whole namespace", got=value)
    if at.seq < at.head or at.source_at is not None:
        raise Invalid.at("known_at", expected=f"no point: {what} is of the namespace as it stands")


def _require_nothing_withheld(by: Actor) -> None:
    if n_held := withheld(by).count():
        waits = "1 held memory waits" if n_held == 1 else f"{n_held} held memories wait"
        raise Forbidden(f"{waits} for a review; a person may take the archive.")


def _exported(stream: BinaryIO, format: str, at_seq: int, n_items: int) -> Exported:
    n_bytes, digest = measured(stream)
    return Exported(format, at_seq, n_items, n_bytes, digest)


def measured(stream: BinaryIO) -> tuple[int, bytes]:
    """The size and the SHA-256 of the whole file, which then stands at its start."""
    digest, n_bytes = sha256(), 0
    stream.seek(0)
    while piece := stream.read(PIECE_BYTES):
        digest.update(piece)
        n_bytes += len(piece)
    stream.seek(0)
    return n_bytes, digest.digest()


def provenance(at: AsOf, selection: Selection) -> dict[str, Any]:
    """The PROV-JSON of the slice, for a page that offers it as a file.   Raises as `slice_of`."""
    return prov.document(slice_of(at, selection))


def agent_called(namespace: int, text: str) -> UUID:
    """The agent of that id or name.   Raises NotFound."""
    found = Agent.objects.filter(namespace=namespace, id=text) if is_id(text) else None
    agent = found.first() if found is not None else agent_by_name(namespace, text)
    if agent is None:
        raise NotFound(f"There is no agent {text[:100]!r}.")
    return agent.id


def file_name(namespace: str, exported: Exported) -> str:
    """What the file is called."""
    return f"{namespace}-seq-{exported.at_seq}.{ENDINGS[exported.format]}"
