"""Imports beside other work: killed at any moment they leave nothing half done; while they stage they lock nobody."""

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from memory.interchange import staging
from memory.interchange.models import StagedRow
from tests.world import World

ROOT = Path(__file__).resolve().parents[2]
# Points at which an import is killed; the small store has no row that is quarantined.
N_POINTS = {"clean_small": 4, "violations": 20}
N_STAGED = 50_000


@pytest.mark.slow
@pytest.mark.sqlite_only
@pytest.mark.parametrize("name", N_POINTS)
def test_an_import_killed_anywhere_and_run_again_ends_as_one_clean_run(
    name: str, contextfs_store: Callable[[str], Path], tmp_path: Path
) -> None:
    seed = str(random.randrange(2**32))
    command = [sys.executable, "-m", "tests.interchange.killing", contextfs_store(name), str(N_POINTS[name]), seed]
    kept = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    environment = {**kept, "PALIMPSEST_TEST_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    assert len(points) == N_POINTS[name]
    assert {point["was_killed"] for point in points} == {True}
    assert {point["n_rows"] > 100 for point in points} == {True}
    assert [point for point in points if not point["is_equal"]] == [], f"seed {seed}"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_agents_write_while_fifty_thousand_rows_are_staged() -> None:
    world = World()
    started, ended = threading.Event(), threading.Event()
    faults: list[BaseException] = []

    def rows() -> Iterator[tuple[str, dict[str, Any]]]:
        for number in range(N_STAGED):
            yield "memories", {"key": ["memories", str(number)], "hash": "00" * 32, "row": {"content": "x" * 200}}

    def stage() -> None:
        try:
            staging.stage(world.namespace, bytes(32), rows(), progress=lambda done: started.set())
        except BaseException as fault:  # noqa: BLE001 - told by the assertion below, in the other thread
            faults.append(fault)
        finally:
            ended.set()
            connection.close()

    stager = threading.Thread(target=stage)
    stager.start()
    assert started.wait(60)
    n_written = 0
    while not ended.is_set():
        world.save(f"written meanwhile {n_written}")
        n_written += not ended.is_set()
    stager.join()
    assert faults == []
    assert StagedRow.objects.count() == N_STAGED
    assert n_written >= 10
