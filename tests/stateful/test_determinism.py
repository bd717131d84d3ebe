"""The same operations give the same rows: whatever the hash seed, whatever else the database holds.

Source: laws of the store, 1.2 and 1.8.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import pytest
from django.db import connection

from tests.postgres import postgresql_server

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def address() -> str:
    """The database of this test, as a program of its own is told it."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    host = quote(settings["HOST"], safe="")
    return f"postgresql://{settings['USER']}:{settings['PASSWORD']}@/{settings['NAME']}?host={host}"


def replayed(mode: str, word: str, *, hash_seed: int) -> dict[str, list[str]]:
    """The dump that the program prints. It undoes what it did."""
    return replayed_in(address(), mode, word, hash_seed=hash_seed)


def replayed_in(url: str, mode: str, word: str, *, hash_seed: int, home: str = "") -> dict[str, list[str]]:
    """The dump from the database of that address; with a home of its own, after its tables are made."""
    variables = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "DATABASE_URL": url}
    variables |= {"PALIMPSEST_TEST_HOME": home, "MAKES_TABLES": "1"} if home else {}
    command = [sys.executable, "-m", "tests.stateful.replay", mode, word]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def of(name: str, dump: dict[str, list[str]]) -> list[str]:
    return [line for line in dump["logical"] if line.startswith(f"('{name}', ")]


# One hash seed each; a database orders no set, so the second engine is asked once about each kind of neighbourhood.
WORDS = ("s", "t", "st", "ts", "s-t", "t-s", "s", "t", "st", "s-t")
WORDS_ON_POSTGRESQL = ("s", "t", "ts", "s-t")


def test_under_ten_hash_seeds_no_byte_differs_whatever_else_the_database_holds() -> None:
    """The frame property: a namespace alone, before another, after it, and in turns with it."""
    words = WORDS if connection.vendor == "sqlite" else WORDS_ON_POSTGRESQL
    told = [(word, replayed("seeded", word, hash_seed=seed)) for seed, word in enumerate(words)]
    alone = {word: dump["logical"] for word, dump in told[:2]}
    for word, dump in told:
        assert sum(len(of(name, dump)) for name in alone if name in word) == len(dump["logical"])
        for name, lines in alone.items():
            assert of(name, dump) == (lines if name in word else []), (word, name)
    assert min(len(lines) for lines in alone.values()) > 80


@pytest.mark.postgres
@pytest.mark.sqlite_only
def test_both_engines_hold_the_same_rows_byte_for_byte() -> None:
    """The operations decide what is written; the engine keeps it."""
    with postgresql_server() as url, TemporaryDirectory() as home:
        dumps = [
            replayed_in(f"sqlite:///{home}/store.sqlite3", "seeded", "s-t", hash_seed=1, home=home),
            replayed_in(url, "seeded", "s-t", hash_seed=2, home=home),
        ]
    assert dumps[0]["logical"] == dumps[1]["logical"]
    assert len(dumps[0]["logical"]) > 160


def test_without_the_seed_they_are_equal_but_for_what_was_allocated() -> None:
    first, second = (replayed("unseeded", "s", hash_seed=seed) for seed in (2, 3))
    assert first["normalised"] == second["normalised"]
    assert first["logical"] != second["logical"]
    assert len(first["normalised"]) > 80
