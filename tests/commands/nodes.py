"""Nodes that really run: `manage.py up` in a process of its own, with a home of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 200.0


@contextmanager
def occupied() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield int(holder.getsockname()[1])


def free_port() -> int:
    with occupied() as port:
        return port


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this machine: its id, its parent's, and what it was started as."""

    id: int
    parent: int
    command: str


def processes() -> list[Process]:
    """All that run now. `-ww`: `ps` cuts each line at the width in COLUMNS, also where its output is no terminal."""
    shown = subprocess.run(["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in shown.splitlines()]
    return [Process(int(row[0]), int(row[1]), row[2]) for row in rows if len(row) == 3]


class Node:
    """`manage.py up` with a home of its own."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        variables = {"DJANGO_SETTINGS_MODULE": "audit.settings", "PALIMPSEST_HOME": str(home), "DATABASE_URL": ""}
        self.output = home.with_suffix(".out")
        self.log = home.with_suffix(".err")
        with self.output.open("wb") as output, self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "django", "up", "--port", str(self.port), *arguments],
                cwd=ROOT, env={**os.environ, **variables}, stdout=output, stderr=log, start_new_session=True,
            )  # fmt: skip

    def until(self, what: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not what():
            assert time.monotonic() < deadline, self.output.read_text() + self.log.read_text()
            time.sleep(0.05)

    @property
    def printed(self) -> str:
        return self.output.read_text()

    def is_serving(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        return "Palimpsest serves" in self.printed

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def servers(self) -> list[int]:
        """The ids of the server processes of this node, by what they were started as."""
        started_as = f"audit.children server 127.0.0.1 {self.port} "
        return [process.id for process in processes() if started_as in process.command]

    def workers(self) -> list[int]:
        """The ids of the worker processes that this node itself started."""
        children = [process for process in processes() if process.parent == self.process.pid]
        return [process.id for process in children if process.command.endswith("audit.children worker")]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def node(home: Path, *arguments: str) -> Iterator[Node]:
    started = Node(home, *arguments)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.terminate()
            started.process.wait(PATIENCE_SECONDS)
