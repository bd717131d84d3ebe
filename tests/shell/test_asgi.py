"""The ASGI door."""

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest
from django.test import override_settings

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.sqlite_only

type Message = dict[str, Any]


class Answer:
    """An awaitable that is no coroutine, as a server written in another language hands out."""

    def __init__(self, message: Message) -> None:
        self.message = message

    def __await__(self) -> Generator[Any, None, Message]:
        yield from asyncio.sleep(0).__await__()
        return self.message


def ask(method: str, path: str, body: bytes) -> list[Message]:
    """One request through the application, with `receive` and `send` that answer no coroutines."""
    from audit.asgi import application

    sent: list[Message] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"testserver"), (b"content-length", str(len(body)).encode())],
        "server": ("testserver", 80),
        "client": ("127.0.0.1", 40000),
    }

    def receive() -> Answer:
        return Answer({"type": "http.request", "body": body, "more_body": False})

    def send(message: Message) -> Answer:
        sent.append(message)
        return Answer(message)

    call: Callable[..., Coroutine[Any, Any, None]] = application
    # A browser test of the same process may have left its loop running in this thread.
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(lambda: asyncio.run(call(scope, receive, send))).result()
    return sent


@override_settings(ROOT_URLCONF="tests.shell.urls")
@pytest.mark.parametrize("body", [b"", b"x" * 200_000])
def test_a_body_comes_through_a_server_whose_calls_are_no_coroutines(body: bytes) -> None:
    start, *rest = ask("POST", "/api/v1/echo", body)
    assert start["status"] == 200
    assert b"".join(part.get("body", b"") for part in rest) == body


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
@pytest.mark.parametrize("door", ["wsgi", "asgi"])
def test_the_server_answers_through_both_doors(tmp_path: Path, door: str) -> None:
    port = free_port()
    command = [sys.executable, "-m", "granian", "--interface", door, "--port", str(port), f"audit.{door}:application"]
    variables = {"DJANGO_SETTINGS_MODULE": "audit.settings", "PALIMPSEST_HOME": str(tmp_path), "DATABASE_URL": ""}
    server = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **variables})
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
                    assert answer.read() == b'{"status": "alive"}'
                    assert answer.headers["Content-Security-Policy"]
                    return
            except URLError:
                assert server.poll() is None
                time.sleep(0.1)
        pytest.fail("the server did not answer")
    finally:
        server.terminate()
        server.wait(timeout=30)
