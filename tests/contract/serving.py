"""Real servers on the database of the test, and clients that talk to them over HTTP."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db import connection

from tests.world import World

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT_SECONDS = 180
BUSY = 503


def database_url() -> str:
    """The database of this test, as a process of its own is told it."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    host = quote(settings["HOST"], safe="")
    return f"postgresql://{settings['USER']}:{settings['PASSWORD']}@/{settings['NAME']}?host={host}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A granian of its own, in a process group of its own; `kill` ends every process of it at once."""

    def __init__(self, group: int, port: int) -> None:
        self.group, self.port = group, port

    def answers(self) -> bool:
        try:
            asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            asked.request("GET", "/healthz")
            return bool(asked.getresponse().status == 200)
        except (OSError, http.client.HTTPException):
            return False

    def is_alive(self) -> bool:
        try:
            os.kill(self.group, 0)
        except ProcessLookupError:
            return False
        return True

    def kill(self) -> None:
        """As by a power cut, but for what the operating system still writes."""
        with suppress(ProcessLookupError):
            os.killpg(self.group, signal.SIGKILL)
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while self.is_alive():
            assert time.monotonic() < deadline
            time.sleep(0.005)


class Servers:
    """One process that has loaded the site, and the servers that are forks of it, one after another."""

    def __init__(self, home: Path, *, n_workers: int) -> None:
        n_threads = 1 if connection.vendor == "sqlite" else 4
        command = [sys.executable, "-m", "tests.contract.warm_servers", str(n_threads), str(n_workers)]
        own = {"DJANGO_SETTINGS_MODULE": "audit.settings", "PALIMPSEST_HOME": str(home), "DATABASE_URL": database_url()}
        self.log = home / "server.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env={**os.environ, **own}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                text=True,
            )  # fmt: skip

    @contextmanager
    def served(self) -> Iterator[Server]:
        """A server that answers; it is killed when the block ends, if not before."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        port = free_port()
        print(port, file=self.process.stdin, flush=True)
        group = self.process.stdout.readline()
        assert group, self.log.read_text(errors="replace")[-3000:]
        server = Server(int(group), port)
        try:
            deadline = time.monotonic() + START_TIMEOUT_SECONDS
            while not server.answers():
                is_starting = server.is_alive() and time.monotonic() < deadline
                assert is_starting, self.log.read_text(errors="replace")[-3000:]
                time.sleep(0.01)
            yield server
        finally:
            server.kill()


@contextmanager
def servers(home: Path, *, n_workers: int = 1) -> Iterator[Servers]:
    home.mkdir()
    warm = Servers(home, n_workers=n_workers)
    with warm.process:
        yield warm


class Client:
    """One writer of a namespace over one connection that is kept open."""

    def __init__(self, port: int, world: World) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.base = f"/api/v1/namespaces/{world.name}"
        self.headers = {
            "Authorization": f"Bearer {world.secrets[world.scout_id]}", "Content-Type": "application/json",
        }  # fmt: skip

    def save(self, content: str, *, key: str) -> dict[str, Any]:
        """The answer to a save that succeeded; a busy store is asked again. Raises OSError, HTTPException."""
        return self._written("records", {"type": "note", "content": content}, {"Idempotency-Key": key})

    def observe(self, id: str) -> dict[str, Any]:
        """The answer to an observation under the client's own id, which makes a retry safe without any key."""
        told = {
            "schema_version": 2, "observation_id": id, "relation_type": "rel", "source": "a", "target": "b",
            "posterior": [0.7, 0.1, 0.1, 0.1], "evidence_family": f"family of {id}",
        }  # fmt: skip
        return self._written("observations", told, {})

    def _written(self, path: str, told: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        while True:
            self.connection.request("POST", f"{self.base}/{path}", json.dumps(told), {**self.headers, **headers})
            answer = self.connection.getresponse()
            told_back = json.loads(answer.read())
            if answer.status != BUSY:
                assert answer.status in (200, 201), told_back
                return dict(told_back)
            assert answer.headers["Retry-After"]
            time.sleep(0.05)
