"""Check the laws of a store, ours or a foreign one."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from audit.laws import contextfs, recording, snapshots
from audit.laws.values import Report
from audit.laws.words import report_words
from memory.agents.setup import stores_named, system
from memory.management.refusals import FOUND_SOMETHING, DomainCommand, Refused


class Command(DomainCommand):
    help = (
        "Check the eight laws of a store, with a counterexample for each that is broken. Exit code 3 where one is."
        " Without --store, our own namespaces are checked and the runs written down."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--namespace", default="", help="one of ours; without it, all of them")
        parser.add_argument("--store", type=Path, help="a ContextFS file; it is read and never written")
        parser.add_argument("--before", type=Path, help="an earlier copy of that file, to see what changed since")
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def handle(
        self, *, namespace: str, store: Path | None, before: Path | None, format: str, **options: Any
    ) -> None:  # fmt: skip
        if namespace and store is not None:
            raise Refused(
                "--namespace names a store of ours, --store a foreign file: give one of the two.", returncode=2
            )
        if before is not None and store is None:
            raise Refused("--before is an earlier copy of the file that --store names: give both.", returncode=2)
        reports = [_foreign(store, before)] if store is not None else _ours(namespace)
        if format == "json":
            is_one = store is not None or bool(namespace)
            self.stdout.write(json.dumps(_as_json(reports, is_one=is_one), indent=1))
        else:
            self.stdout.write("\n\n".join(report_words(report) for report in reports))
        if any(report.is_violated for report in reports):
            raise Refused("A law is broken; the counterexamples are above.", returncode=FOUND_SOMETHING)


def _ours(namespace: str) -> list[Report]:
    return [recording.run(system(found.pk))[0] for found in stores_named(namespace)]


def _foreign(store: Path, before: Path | None) -> Report:
    try:
        earlier = contextfs.load(before) if before is not None else None
        return snapshots.check(contextfs.load(store), before=earlier)
    except contextfs.NoSuchStore as error:
        raise Refused(str(error), returncode=2) from error


def _as_json(reports: list[Report], *, is_one: bool) -> dict[str, Any]:
    """The report of one store by itself; those of several under the name that other commands use."""
    return reports[0].as_json() if is_one else {"namespaces": [report.as_json() for report in reports]}
