"""The same operations give the same rows: whatever the hash seed, whatever else the database holds.

Source: laws of the store, 1.2 and 1.8.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
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


@cache
def replayed(mode: str, word: str, *, hash_seed: int) -> dict[str, list[str]]:
    """The dump that the program prints. It undoes what it did, so one run serves every test that asks the same."""
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


def test_under_ten_hash_seeds_the_dumps_are_equal_byte_for_byte() -> None:
    first, *others = (replayed("seeded", "s", hash_seed=seed) for seed in range(10))
    assert all(one["logical"] == first["logical"] for one in others)
    assert len(first["logical"]) > 80


@pytest.mark.postgres
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


@pytest.mark.parametrize("word", ["st", "ts", "s-t", "t-s"])
def test_another_namespace_beside_it_changes_no_byte_of_either(word: str) -> None:
    """The frame property: before, after, or in turns with it."""
    both = replayed("seeded", word, hash_seed=5)
    assert of("s", both) == of("s", replayed("seeded", "s", hash_seed=0))
    assert of("t", both) == of("t", replayed("seeded", "t", hash_seed=0))
    assert len(both["logical"]) == len(of("s", both)) + len(of("t", both))
