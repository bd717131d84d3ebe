"""The report: a table for people, which says on what it was measured and keeps figures and bars apart."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence

from django.db import connection

from audit.bench.measuring import Figure

HEAD = (
    "| benchmark | what | ratio | quartiles | bar | rounds | ms | note |",
    "|---|---|---|---|---|---|---|---|",
)


def report(figures: Sequence[Figure], *, divisor: int, missing: Sequence[str] = ()) -> str:
    """Markdown: what it ran on, one line for each figure, and what could not be measured and why."""
    size = "" if divisor == 1 else f"; sizes divided by {divisor}"
    left_out = ["", *missing] if missing else []
    return "\n".join([f"Measured on {_surroundings()}{size}.", "", *HEAD, *map(line, figures), *left_out]) + "\n"


def line(figure: Figure) -> str:
    """One row of the table."""
    timing = figure.timing
    cells = (
        figure.benchmark, figure.what, f"{timing.ratio:.2f}", f"{timing.low:.2f} to {timing.high:.2f}", figure.bar,
        str(timing.n_rounds), f"{_ms(timing.first_seconds)} / {_ms(timing.second_seconds)}", figure.note,
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.3g}"


def _surroundings() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT sqlite_version()" if connection.vendor == "sqlite" else "SHOW server_version")
        version = cursor.fetchone()[0]
    engine = "SQLite" if connection.vendor == "sqlite" else "PostgreSQL"
    return f"{engine} {version}, Python {platform.python_version()}, {os.cpu_count()} CPU cores"
