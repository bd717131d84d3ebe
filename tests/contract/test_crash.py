"""What was acknowledged stands, whenever the process that wrote it is killed.

CRASH_ROUNDS and CRASH_SERVERS set how often; the full run takes 1,000 writers and 25 servers.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.beliefs.models import Forecast, Observation
from memory.beliefs.operations.monitors import open_run
from memory.ledger.queries.contents import names_of
from memory.ledger.queries.verification import scan
from memory.records.models import Record
from memory.records.queries import detail
from tests.contract.serving import Client, Servers, servers
from tests.states import projected, rebuilt
from tests.world import World

ROOT = Path(__file__).resolve().parents[2]
# Continuous integration, and the second engine, run a small form.
IS_SMALL = bool(os.environ.get("CI") or os.environ.get("DATABASE_URL"))
ROUNDS = int(os.environ.get("CRASH_ROUNDS", "250" if IS_SMALL else "1000"))

pytestmark = pytest.mark.slow


def forked_writers(folder: Path, rounds: int, *options: str) -> tuple[int, dict[str, Any], str]:
    variables = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{folder / 'store.sqlite3'}",
        "PALIMPSEST_TEST_HOME": str(folder / "home"),
    }
    command = [sys.executable, "-m", "tests.contract.forked_writers", str(rounds), *options]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}, done.stderr


@pytest.mark.sqlite_only
@pytest.mark.timeout(900)
def test_a_thousand_killed_writers_lose_nothing_that_they_acknowledged(tmp_path: Path) -> None:
    status, told, errors = forked_writers(tmp_path, ROUNDS)
    assert status == 0, f"{told} {errors}"
    assert told["rounds"] == ROUNDS
    assert told["entries"] > told["acknowledged"] >= ROUNDS


@pytest.mark.sqlite_only
@pytest.mark.timeout(900)
def test_a_writer_that_acknowledges_before_it_commits_is_caught(tmp_path: Path) -> None:
    status, told, errors = forked_writers(tmp_path, 300, "--mutant")
    assert (status, "found" in told) == (1, True), f"{told} {errors}"
    assert told["found"] < told["acknowledged"]


SERVERS = int(os.environ.get("CRASH_SERVERS", "12" if IS_SMALL else "25"))
CLIENTS = 4
LONGEST_LIFE_SECONDS = 0.25


class Writer:
    """A client that goes on where it was cut off: what was not answered is asked again under the same key."""

    def __init__(self, number: int, world: World) -> None:
        self.number, self.world = number, world
        self.acknowledged: dict[str, str] = {}
        self.observed: list[str] = []
        self.n_sent = 0

    def write_until_cut_off(self, port: int, has_written: Event) -> None:
        client = Client(port, self.world)
        while True:
            content = f"note {self.n_sent} of writer {self.number}"
            try:
                if len(self.observed) == len(self.acknowledged):
                    id = f"observation {len(self.observed)} of writer {self.number}"
                    client.observe(id)
                    assert client.observe(id)["recorded"] is False
                    self.observed.append(id)
                told = client.save(content, key=f"{self.number}/{self.n_sent}")
            except (OSError, HTTPException):
                return
            self.acknowledged[told["id"]] = content
            self.n_sent += 1
            has_written.set()


def _write_until_killed(warm: Servers, writers: list[Writer]) -> None:
    with warm.served() as server, ThreadPoolExecutor(len(writers)) as pool:
        has_written = Event()
        running = [pool.submit(writer.write_until_cut_off, server.port, has_written) for writer in writers]
        assert has_written.wait(timeout=60)
        time.sleep(random.uniform(0, LONGEST_LIFE_SECONDS))
        server.kill()
        for each in running:
            each.result()


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(1800)
def test_servers_that_are_killed_under_load_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    world = World()
    world.bind()
    open_run(world.scout, config=MonitorConfig())
    writers = [Writer(number, world) for number in range(CLIENTS)]
    with servers(tmp_path / "home") as warm:
        for _ in range(SERVERS):
            _write_until_killed(warm, writers)
    acknowledged = {id: text for writer in writers for id, text in writer.acknowledged.items()}
    assert len(acknowledged) == sum(writer.n_sent for writer in writers) >= SERVERS
    ids = list(Record.objects.filter(namespace=world.namespace).values_list("id", flat=True))
    stored = {}
    for start in range(0, len(ids), 500):
        stored.update({str(id): text for id, text in detail.texts(world.now(), ids[start : start + 500]).items()})
    assert stored.items() >= acknowledged.items()
    # One request of each writer may have been committed and not answered; none was written twice.
    assert len(set(stored.values())) == len(stored) <= len(acknowledged) + CLIENTS
    _require_whole(world, [id for writer in writers for id in writer.observed])
    assert scan(world.namespace).faults == []
    before = projected(world.namespace)
    assert rebuilt(world.namespace) == before


def _require_whole(world: World, acknowledged: list[str]) -> None:
    """Every acknowledged observation stands once, each with its forecast, and hardly any other."""
    rows = Observation.objects.filter(namespace=world.namespace).values_list("id", "name")
    found = names_of(world.namespace, [name for _, name in rows])
    assert len(rows) == len(found) <= len(acknowledged) + CLIENTS
    assert set(found.values()) >= set(acknowledged)
    assert len(acknowledged) == len(set(acknowledged)) >= SERVERS
    tracked = Forecast.objects.filter(namespace=world.namespace).values_list("observation", flat=True)
    assert sorted(tracked) == sorted(id for id, _ in rows)
