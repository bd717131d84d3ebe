"""Hash every ledger again and tell what does not hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from memory.agents.setup import stores_named, system
from memory.checks.ledger_scan import verify
from memory.management.refusals import DomainCommand, Found, read_kept
from memory.management.words import scan_words


class Command(DomainCommand):
    help = "Scan every ledger: all is hashed again, nothing stored is believed. Exit code 3 where a fault is found."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--namespace", default="", help="without it, all of them")
        parser.add_argument("--format", choices=("text", "json"), default="text")
        parser.add_argument("--kept", type=Path, help="a checkpoint that you saved, to compare with; needs --namespace")

    def handle(self, *, namespace: str, format: str, kept: Path | None, **options: Any) -> None:
        text = read_kept(kept, namespace=namespace)
        reports = [verify(system(store.pk), kept=text)[1] for store in stores_named(namespace)]
        if format == "json":
            self.stdout.write(json.dumps({"namespaces": reports}, indent=1))
        else:
            self.stdout.write("\n".join(scan_words(report) for report in reports))
        if any(report["n_faults"] for report in reports):
            raise Found("The ledger does not hold; the faults are named above.")
