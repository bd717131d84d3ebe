"""Export a namespace or a slice of it."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, cast
from uuid import UUID

from django.core.management.base import CommandParser

from memory.agents.setup import system
from memory.base.errors import Invalid
from memory.base.schemas import is_id
from memory.interchange.exporting import agent_called
from memory.interchange.models import EXPORT_FORMATS
from memory.interchange.operations import export_file
from memory.interchange.slices import Selection
from memory.ledger.queries import asof
from memory.management.refusals import DomainCommand, Refused


class Command(DomainCommand):
    help = (
        "Write a lossless archive (jsonl), the provenance of a slice (prov, openlineage), or what is public: compiled, "
        "redacted and current (public). The ledger says that it left the house."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("format", choices=EXPORT_FORMATS)
        parser.add_argument("--namespace", required=True)
        parser.add_argument("--output", type=Path, help="the file to write; without it, standard output")
        parser.add_argument("--from", dest="since", default="", metavar="INSTANT", help="entries from this instant on")
        parser.add_argument("--to", dest="until", default="", metavar="INSTANT", help="entries before this instant")
        parser.add_argument("--run", default="", metavar="ID", help="entries of this run")
        parser.add_argument("--agent", default="", help="entries of this agent, by id or name")
        parser.add_argument("--focus", default="", metavar="ID", help="a record: what it rests on and what rests on it")
        parser.add_argument("--known-at", default="", metavar="POINT", help="as recorded by: an instant or seq:N")

    def handle(self, *, format: str, namespace: str, output: Path | None, **given: Any) -> None:
        store = asof.namespace_named(namespace).pk
        at = asof.resolve(store, known_at=given["known_at"])
        agent = agent_called(store, given["agent"]) if given["agent"] else None
        since, until = _instant(given["since"], "from"), _instant(given["until"], "to")
        if since is not None and until is not None and until <= since:
            raise Invalid.at("to", expected="an instant after --from", got=given["until"])
        selection = Selection(since, until, _id(given["run"], "run"), agent, _id(given["focus"], "focus"))
        folder = output.parent if output is not None else None
        try:
            with NamedTemporaryFile(dir=folder, prefix=".export-", delete_on_close=False) as file:
                stream = cast(BinaryIO, file)
                done, seq = export_file(system(store), at, stream, format=format, selection=selection)
                file.flush()
                self._give(Path(file.name), output)
        except OSError as error:
            raise Refused(f"The file cannot be written: {error}.", returncode=2) from error
        self.stderr.write(
            f"{namespace}: {format} by entry {done.at_seq}, {done.n_items} items, {done.n_bytes} bytes, "
            f"sha256 {done.sha256.hex()}, put down as entry {seq}"
        )

    def _give(self, written: Path, output: Path | None) -> None:
        """Whole or not at all: the file gets its name when all of it stands."""
        if output is not None:
            written.rename(output)
            return
        with written.open("rb") as file:
            while piece := file.read(1024**2):
                self.stdout.flush()
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()


def _id(value: str, loc: str) -> UUID | None:
    if value and not is_id(value):
        raise Invalid.at(loc, expected="a full-length id", got=repr(value[:60]))
    return UUID(value) if value else None


def _instant(value: str, loc: str) -> datetime | None:
    return asof.instant(value, loc=loc) if value else None
