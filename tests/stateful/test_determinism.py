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
from urllib.parse import quote

import pytest
from django.db import connection

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
    variables = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "DATABASE_URL": address()}
    command = [sys.executable, "-m", "tests.stateful.replay", mode, word]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def of(name: str, dump: dict[str, list[str]]) -> list[str]:
    return [line for line in dump["logical"] if line.startswith(f"('{name}', ")]


def test_under_other_hash_seeds_the_dumps_are_equal_byte_for_byte() -> None:
    first, second, third = (replayed("seeded", "s", hash_seed=seed) for seed in (0, 1, 4711))
    assert first["logical"] == second["logical"] == third["logical"]
    assert len(first["logical"]) > 80


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
