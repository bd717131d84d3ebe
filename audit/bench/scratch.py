"""A store for one run: made, measured in by a process of its own, and dropped.

Invariants
- The run gets a temporary home; on PostgreSQL also databases of its own on the server of DATABASE_URL, whose user must
  be allowed to make them. The store of the user is not opened.
- However the run ends, what was made for it is dropped.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from audit.environment import read_secret

ROOT = Path(__file__).resolve().parents[2]


def run_apart(names: Sequence[str], *, divisor: int) -> str:
    """Run the named benchmarks in a store of their own; answers the report.   Raises CalledProcessError."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as home, _database(read_secret("DATABASE_URL")) as url:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("DATABASE_URL")}
        variables |= {
            "DJANGO_SETTINGS_MODULE": "audit.settings", "PALIMPSEST_HOME": home, "DATABASE_URL": url,
            "PALIMPSEST_LOG_LEVEL": "ERROR",
        }  # fmt: skip
        command = [sys.executable, "-m", "audit.bench", str(divisor), *names]
        done = subprocess.run(  # noqa: S603 - this very program
            command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True, check=True
        )
    return done.stdout


@contextmanager
def _database(url: str) -> Iterator[str]:
    """The address of a database of the run's own, beside that of `url`; empty for SQLite."""
    if not url.startswith("postgres"):
        yield ""
        return
    name = f"palimpsest_bench_{secrets.token_hex(4)}"
    address = urlsplit(url)
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield address._replace(path=f"/{name}").geturl()
        finally:
            made = server.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [name]).fetchall()
            for (each,) in made:
                server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(each)))
