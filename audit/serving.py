"""The processes of one node: a web server and a worker, started, watched and stopped together.

Invariants
- Only this process hears Ctrl-C; it passes the wish to stop on, waits, and kills what does not end in time.
- A child ends when this process ends, however it ends: it holds the reading end of a pipe that is then closed.
- When the server ends, everything ends. A worker that ends is started again, each time after a longer wait.
- SQLite has one writer, so one thread serves it best; PostgreSQL is served by four.

The children run `audit.children`.
"""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from select import select
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
N_THREADS = {"sqlite": 1, "postgresql": 4}
START_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 15.0
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 60.0
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104
STOP_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class CannotServe(Exception):
    """The node cannot serve here; the text is one sentence for a person."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens."""

    host: str
    port: int

    @property
    def reachable_host(self) -> str:
        """A host that a client of this machine can ask."""
        return ANY_ADDRESS.get(self.host, self.host)

    @property
    def url(self) -> str:
        host = self.reachable_host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


def require_free(address: Address) -> None:
    """Raise CannotServe if nothing can listen there."""
    if not 1 <= address.port <= 65535:
        raise CannotServe(f"A port lies between 1 and 65535; got {address.port}.")
    try:
        family, kind, protocol, _, name = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(name)
    except PermissionError as error:
        raise CannotServe(f"Port {address.port} may not be used by this user; --port names another.") from error
    except OSError as error:
        where = f"{address.host} port {address.port}"
        raise CannotServe(f"Nothing can listen on {where} ({error.strerror}); --port names another.") from error


class Alarm:
    """Wakes a waiting process when a signal comes, and remembers whether it asked to stop."""

    def __init__(self) -> None:
        self.n_stops = 0
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    @contextlib.contextmanager
    def listening(self) -> Iterator["Alarm"]:
        """Hear stop signals and the end of children inside the block; put everything back after it."""
        heard = [*STOP_SIGNALS, *([signal.SIGCHLD] if hasattr(signal, "SIGCHLD") else [])]
        before = {each: signal.signal(each, self._hear) for each in heard}
        wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        try:
            yield self
        finally:
            signal.set_wakeup_fd(wakeup)
            for each, handler in before.items():
                signal.signal(each, handler)
            self.close()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def _hear(self, signum: int, frame: FrameType | None) -> None:
        self.n_stops += signum in STOP_SIGNALS

    def wait(self, seconds: float) -> None:
        """Until a signal comes, at most so long."""
        if select([self._reader], [], [], max(seconds, 0.0))[0]:
            with contextlib.suppress(BlockingIOError):
                self._reader.recv(4096)


class Child:
    """One supervised process, started at once."""

    def __init__(self, *arguments: str) -> None:
        self.started_at = time.monotonic()
        # Its own process group: Ctrl-C at the terminal must reach this process alone.
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "audit.children", *arguments],
            cwd=ROOT,
            env={"DJANGO_SETTINGS_MODULE": "audit.settings", **os.environ},
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    @property
    def status(self) -> int | None:
        """Its exit status, None while it runs."""
        return self.process.poll()

    def end(self, alarm: Alarm) -> None:
        """Ask it to end; kill it after STOP_TIMEOUT_SECONDS, or when a further stop signal comes."""
        asked = alarm.n_stops
        deadline = time.monotonic() + STOP_TIMEOUT_SECONDS
        while self.status is None and time.monotonic() < deadline and alarm.n_stops == asked:
            alarm.wait(min(0.5, deadline - time.monotonic()))
        if self.status is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def ask_to_end(self) -> None:
        if self.status is None:
            self.process.terminate()


def serve(address: Address, *, n_threads: int, when_ready: Callable[[], None]) -> None:
    """Serve until a stop signal comes.   Raises CannotServe (the server does not start, or ends by itself)."""
    alarm = Alarm()
    with alarm.listening():
        server = Child("server", address.host, str(address.port), str(n_threads))
        workers = Workers()
        try:
            if is_answering(server, address, alarm):
                when_ready()
            while not alarm.n_stops:
                if server.status is not None:
                    raise CannotServe(f"The server ended by itself, with status {server.status}.")
                alarm.wait(workers.tend())
        finally:
            for child in (server, workers.current):
                child.ask_to_end()
            for child in (server, workers.current):
                child.end(alarm)


class Workers:
    """One worker at a time; the next one after a wait that doubles while they keep ending early."""

    def __init__(self) -> None:
        self.current = Child("worker")
        self.wait_seconds = FIRST_WAIT_SECONDS
        self._restart_at: float | None = None

    def tend(self) -> float:
        """Start a worker again if its time has come; answers after how many seconds to look again."""
        if self.current.status is None:
            return LONGEST_WAIT_SECONDS
        now = time.monotonic()
        if self._restart_at is None:
            if now - self.current.started_at > LONGEST_WAIT_SECONDS:
                self.wait_seconds = FIRST_WAIT_SECONDS
            self._restart_at = now + self.wait_seconds
            self.wait_seconds = min(2 * self.wait_seconds, LONGEST_WAIT_SECONDS)
        if now >= self._restart_at:
            self.current, self._restart_at = Child("worker"), None
            return LONGEST_WAIT_SECONDS
        return self._restart_at - now


def is_answering(server: Child, address: Address, alarm: Alarm) -> bool:
    """Wait for the first answer of any kind; false if the server ends or a stop signal comes before it."""
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while server.status is None and not alarm.n_stops:
        connection = http.client.HTTPConnection(address.reachable_host, address.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            if time.monotonic() > deadline:
                raise CannotServe(f"The server did not answer within {START_TIMEOUT_SECONDS:.0f} s.") from error
            alarm.wait(0.05)
        else:
            return True
        finally:
            connection.close()
    return False
