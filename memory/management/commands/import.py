"""Import the store of another memory."""
# ruff: noqa: N999 - the command is called so

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from memory.agents.setup import system
from memory.interchange.contextfs.operations import Options
from memory.interchange.operations import IMPORTERS, import_file
from memory.interchange.reports import as_text
from memory.interchange.targets import owners_of
from memory.management.refusals import DomainCommand, Found, Refused


class Command(DomainCommand):
    help = (
        "Import a store of another memory: read-only, staged, one entry for each target namespace. "
        "Imported again, it adds nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("format", choices=sorted(IMPORTERS))
        parser.add_argument("path", type=Path)
        parser.add_argument("--namespace", required=True, help="the target; NS.<source> where the store holds several")
        parser.add_argument("--map", action="append", default=[], metavar="SRC=DST", help="another target for one")
        parser.add_argument("--source-namespace", default="", metavar="SRC", help="import this one alone")
        parser.add_argument("--source", default="", help="name the source; without it, its fingerprint")
        parser.add_argument(
            "--law", action="append", default=[], metavar="TYPE=LAW",
            help="cyclic:N, s3 or a JSON file; posterior needs one for each relation type, and you vouch for it",
        )  # fmt: skip
        parser.add_argument("--erase-deleted", action="store_true", help="leave the text of deleted rows out")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done and write nothing")

    def handle(
        self, *, format: str, path: Path, namespace: str, source: str, source_namespace: str, erase_deleted: bool,
        dry_run: bool, **given: Any,
    ) -> None:  # fmt: skip
        mapping, laws = _mapping(given["map"]), _laws(given["law"])
        options = Options(namespace, mapping, source_namespace, source, erase_deleted, laws)
        owners = owners_of(namespace)
        told = _Told(self) if given["verbosity"] else None
        report = import_file(
            system(0), path, format=format, options=options, owners=owners, dry_run=dry_run,
            progress=told.step if told is not None else None,
        )  # fmt: skip
        self.stdout.write(as_text(report))
        if not owners and not dry_run:
            for target in report.targets.values():
                invite = f"`manage.py invite EMAIL --role owner --namespace {target}`"
                self.stdout.write(f"{target} has no owner yet; {invite} makes one.")
        if n_unread := report.codes.get("law-differs"):
            raise Found(
                f"{n_unread} observations were written by another law than the one given for their relation type;"
                " they are kept as findings. Imported again with the right one, they come to stand."
            )


class _Told:
    """Progress on standard error: a line where a stage begins, and one for each tenth of it."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._last = ("", -1)

    def step(self, stage: str, n_done: int, n_total: int) -> None:
        tenth = 10 * n_done // n_total if n_total else 10
        if (stage, tenth) != self._last:
            self._last = (stage, tenth)
            self._command.stderr.write(f"{stage}: {n_done} of {n_total} rows")


def _laws(pairs: list[str]) -> dict[str, str]:
    """{relation type: a built-in law's name, or the JSON of the file that was named}."""
    found: dict[str, str] = {}
    for pair in pairs:
        relation, _, law = pair.partition("=")
        if not relation or not law or relation in found:
            raise Refused(f"--law takes TYPE=LAW, each relation type once; got {pair!r}.", returncode=2)
        is_built_in = law == "s3" or law.startswith("cyclic:")
        try:
            found[relation] = law if is_built_in else Path(law).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Refused(f"{law} holds no law that can be read: {error}.", returncode=2) from error
    return found


def _mapping(pairs: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        source, mark, target = pair.partition("=")
        if not mark or not source or not target or source in found:
            raise Refused(f"--map takes SRC=DST, each source namespace once; got {pair!r}.", returncode=2)
        found[source] = target
    return found
