"""A word that stands nowhere else, and where in a store it is found."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterable
from pathlib import Path

from django.db import connection

# No stemmer shortens a word of these.
LETTERS = "bcdfghjklmnpqrstvwxz"


def new_canary() -> str:
    """24 characters."""
    return "".join(secrets.choice(LETTERS) for _ in range(24))


def middle(canary: str) -> str:
    """What an index keeps of it that cuts common beginnings off."""
    return canary[4:20]


def tables_with(canary: str) -> list[str]:
    """The tables of the database, the index's own among them, in which the canary stands."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            values = (value for row in cursor.fetchall() for value in row)
            if any(middle(canary) in _plain(value) for value in values):
                found.append(table)
    return found


def files_with(canary: str, *folders: Path) -> list[str]:
    """The files below the folders that hold the canary, by name."""
    return sorted(str(path) for path in _files(folders) if holds(path, canary))


def holds(path: Path, canary: str) -> bool:
    """Whether the canary stands in the file, read by another process.

    Closing a database's file drops the locks that this process holds on it, and SQLite's log then falls apart.
    """
    read = subprocess.run(["cat", path], capture_output=True, check=False)
    # A log may go while it is looked at.
    assert read.returncode == 0 or not path.exists(), read.stderr
    return middle(canary).encode() in read.stdout


def _files(folders: Iterable[Path]) -> Iterable[Path]:
    return (path for folder in folders for path in folder.rglob("*") if path.is_file())


def database_files() -> list[Path]:
    """The file of the store on SQLite and its siblings: the write-ahead log and its index."""
    file = Path(connection.settings_dict["NAME"])
    return [path for path in file.parent.iterdir() if path.name.startswith(file.name)]


def _plain(value: object) -> str:
    return str(bytes(value)) if isinstance(value, memoryview) else str(value)
