"""Measure what the guarantees cost."""

import subprocess
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from audit.bench.catalogue import BENCHMARKS
from audit.bench.scratch import run_apart
from memory.management.refusals import DomainCommand, Refused


class Command(DomainCommand):
    help = "Measure ratios side by side, in a store of its own; on PostgreSQL where DATABASE_URL names one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(BENCHMARKS)}; without, all")
        parser.add_argument("--small", action="store_true", help="a tenth of every size")
        parser.add_argument("--write", type=Path, help="also write the table to this file")

    def handle(self, *, names: list[str], small: bool, write: Path | None, **options: Any) -> None:
        if unknown := [name for name in names if name not in BENCHMARKS]:
            raise Refused(f"There is no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}.", returncode=2)
        try:
            report = run_apart(names or list(BENCHMARKS), divisor=10 if small else 1)
        except subprocess.CalledProcessError as error:
            raise Refused(f"The benchmark ended with status {error.returncode}.") from error
        self.stdout.write(report)
        if write is not None:
            write.write_text(report, encoding="utf-8")
