"""Restore an archive."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from memory.agents.accounts import create_person
from memory.agents.setup import system
from memory.interchange.erased_lists import read_list
from memory.interchange.operations import restore_archive
from memory.management.refusals import DomainCommand, Refused


class Command(DomainCommand):
    help = (
        "Restore a lossless archive verbatim, under its own name, which must be free here. Every leaf is verified "
        "first; a changed line is named, and nothing is restored."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument(
            "--erased", type=Path, action="append", default=[], metavar="FILE",
            help="commitments that a receipt lists: what they stand for does not come back",
        )  # fmt: skip
        parser.add_argument("--owner", default="", metavar="EMAIL", help="who owns it here")
        parser.add_argument(
            "--keep-people",
            action="store_true",
            help="the accounts of the archive are those of this host: keep roles and tokens",
        )

    def handle(self, *, path: Path, erased: list[Path], owner: str, keep_people: bool, **_options: Any) -> None:
        try:
            listed = frozenset(one for file in erased for one in _listed(file))
            by = replace(system(0), person=create_person(owner).pk) if owner else system(0)
            with path.open("rb") as stream:
                done = restore_archive(by, stream, erased=listed, keeps_people=keep_people)
        except OSError as error:
            raise Refused(f"The file cannot be read: {error}.", returncode=2) from error
        self.stdout.write(f"{done.namespace}: restored {done.size} entries, root {done.root.hex()}")
        if done.n_erased:
            self.stdout.write(f"  {done.n_erased} parts were erased since the archive was made and did not come back")
        if not owner and not keep_people:
            invite = f"`manage.py invite EMAIL --role owner --namespace {done.namespace}`"
            self.stdout.write(f"  nobody here owns it yet; {invite} makes an owner")


def _listed(path: Path) -> frozenset[bytes]:
    with path.open("rb") as stream:
        return read_list(stream)
