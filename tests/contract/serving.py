"""A real server on the database of the test, and clients that talk to it over HTTP."""

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
from contextlib import contextmanager
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

    def __init__(self, home: Path, *, n_workers: int = 1) -> None:
        self.port = free_port()
        n_threads = 1 if connection.vendor == "sqlite" else 4
        command = [
            sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(self.port),
            "--workers", str(n_workers), "--blocking-threads", str(n_threads), "--log-level", "warning",
            "audit.wsgi:application",
        ]  # fmt: skip
        own = {"DJANGO_SETTINGS_MODULE": "audit.settings", "PALIMPSEST_HOME": str(home), "DATABASE_URL": database_url()}
        self.log = (home / "server.log").open("ab")
        self.process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **own}, stdout=self.log, stderr=self.log, start_new_session=True
        )
        self._wait(home)

    def _wait(self, home: Path) -> None:
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
                asked.request("GET", "/healthz")
                if asked.getresponse().status == 200:
                    return
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.05)
        self.kill()
        raise AssertionError(f"the server did not start:\n{(home / 'server.log').read_text(errors='replace')[-3000:]}")

    def kill(self) -> None:
        """As by a power cut, but for what the operating system still writes."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()


@contextmanager
def served(home: Path, *, n_workers: int = 1) -> Iterator[Server]:
    home.mkdir(exist_ok=True)
    server = Server(home, n_workers=n_workers)
    try:
        yield server
    finally:
        server.kill()


class Client:
    """One writer of a namespace over one connection that is kept open."""

    def __init__(self, port: int, world: World) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.address = f"/api/v1/namespaces/{world.name}/records"
        self.headers = {
            "Authorization": f"Bearer {world.secrets[world.scout_id]}", "Content-Type": "application/json",
        }  # fmt: skip

    def save(self, content: str, *, key: str) -> dict[str, Any]:
        """The answer to a save that succeeded; a busy store is asked again. Raises OSError, HTTPException."""
        body = json.dumps({"type": "note", "content": content})
        while True:
            self.connection.request("POST", self.address, body, {**self.headers, "Idempotency-Key": key})
            answer = self.connection.getresponse()
            told = json.loads(answer.read())
            if answer.status != BUSY:
                assert answer.status in (200, 201), told
                return dict(told)
            assert answer.headers["Retry-After"]
            time.sleep(0.05)
