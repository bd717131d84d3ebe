"""Check the laws of a store, ours or a foreign one."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.laws import contextfs, recording, snapshots
from audit.laws.source.patterns import read_source
from audit.laws.source.values import SourceReport
from audit.laws.source.words import BESIDE_DATA, reading_words
from audit.laws.values import Report
from audit.laws.words import broken_words, report_words
from memory.agents.setup import stores_named, system
from memory.management.refusals import DomainCommand, Found, Refused


class Command(DomainCommand):
    help = (
        "Check the eight laws of a store, with a counterexample for each that is broken. Exit code 3 where one is."
        " Without --store, our own namespaces are checked and the runs written down. With --source, code is read for"
        " what breaks a law, and nothing is proven; without --namespace or --store beside it, nothing else is done."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--namespace", default="", help="one of ours; without it, all of them")
        parser.add_argument("--store", type=Path, help="a ContextFS file; it is read and never written")
        parser.add_argument("--before", type=Path, help="an earlier copy of that file, to see what changed since")
        parser.add_argument("--source", type=Path, help="a folder of Python code to read for what breaks a law")
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def handle(
        self, *, namespace: str, store: Path | None, before: Path | None, source: Path | None, format: str,
        **options: Any,
    ) -> None:  # fmt: skip
        if namespace and store is not None:
            raise Refused(
                "--namespace names a store of ours, --store a foreign file: give one of the two.", returncode=2
            )
        if before is not None and store is None:
            raise Refused("--before is an earlier copy of the file that --store names: give both.", returncode=2)
        reading = _reading(source) if source is not None else None
        reports: list[Report] = []
        if store is not None:
            reports = [_foreign(store, before)]
        elif reading is None or namespace:
            reports = [self._ours(found.pk) for found in stores_named(namespace)]
        if format == "json":
            is_one = store is not None or bool(namespace)
            self.stdout.write(json.dumps(_as_json(reports, is_one=is_one, reading=reading), indent=1))
        else:
            self.stdout.write("\n\n".join(_told(reports, reading)))
        if any(report.is_violated for report in reports):
            raise Found(broken_words(reports))

    def _ours(self, namespace: int) -> Report:
        report, written = recording.run(system(namespace))
        if not written:
            told = "the log takes no entry, so this run is written down nowhere; verify the ledger."
            self.stderr.write(f"{report.store}: {told}")
        return report


def _told(reports: list[Report], reading: SourceReport | None) -> Iterator[str]:
    """What is known from data, what is read in the source, and why the two may differ."""
    yield from map(report_words, reports)
    if reading is not None:
        yield reading_words(reading)
        yield from (BESIDE_DATA for _ in reports[:1])


def _reading(source: Path) -> SourceReport:
    """What the code shows.   Raises Refused: a reading of nothing must not pass for one that found nothing."""
    found = read_source(source)
    if found.refusal:
        raise Refused(f"--source {source} cannot be read: {found.refusal}.", returncode=2)
    return found


def _foreign(store: Path, before: Path | None) -> Report:
    try:
        earlier = contextfs.load(before) if before is not None else None
        return snapshots.check(contextfs.load(store), before=earlier)
    except contextfs.NoSuchStore as error:
        raise Refused(str(error), returncode=2) from error


def _as_json(reports: list[Report], *, is_one: bool, reading: SourceReport | None) -> dict[str, Any]:
    """The report of one store by itself; those of several under the name that other commands use."""
    read = {} if reading is None else {"source": reading.as_json()}
    if not reports and reading is not None:
        return read
    return (reports[0].as_json() if is_one else {"namespaces": [report.as_json() for report in reports]}) | read
