"""The door of the store beside the bare rows: batches over HTTP, and the same statements without it."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection

from audit.bench.measuring import WARM_UP, Figure, Work, side_by_side
from audit.bench.twin import Statement, Twin, captured
from audit.serving import N_THREADS, Address, Alarm, CannotServe, Child, is_answering
from memory.agents.setup import new_token

Rows = Iterator[Mapping[str, Any]]


def door(
    name: str,
    *,
    path: str,
    rows: Rows,
    shaped: Work,
    n_rows: int,
    rounds: int,
    sides: Sequence[tuple[str, str, Sequence[str]]],
) -> Iterator[Figure]:
    """Batches of `n_rows` posted to a path below a namespace of their own, against executemany of the same rows.

    shaped : the operation that the door calls, in another namespace; its statements are the bare side.
    sides : what the bare side writes, the bar, and its tables, none for all.
    """
    store = f"door-{name}"
    secret = new_token(namespace=store, agent="scout", scopes=("read", "write")).secret
    twin = Twin(store.replace("-", "_"), is_loose=True)
    n_batches = len(sides) * (rounds + WARM_UP)
    try:
        bare_rows = [_statements_of(shaped) for _ in range(n_batches)]
        with _server() as address:
            post = _poster(address, secret, f"/api/v1/namespaces/{store}/{path}", _bodies(rows, n_rows), n_batches)
            for what, bar, tables in sides:
                timing = side_by_side(post, _repeater(twin, bare_rows, tables), rounds=rounds)
                told = f"{rate(n_rows, timing.first_seconds)} by HTTP, {rate(n_rows, timing.second_seconds)} bare"
                yield Figure(name, f"HTTP batch of {n_rows} / executemany of {what}", timing, bar, told)
    finally:
        twin.close()


def rate(n_rows: int, seconds: float) -> str:
    """Rows in a second, as text."""
    return f"{n_rows / seconds:,.0f} rows/s"


def _statements_of(work: Work) -> list[Statement]:
    with captured() as capture:
        work()
    return capture.statements


def _repeater(twin: Twin, lists: list[list[Statement]], tables: Sequence[str]) -> Work:
    def repeat() -> None:
        statements = lists.pop(0)
        twin.repeat([each for each in statements if each.concerns(tables)] if tables else statements)

    return repeat


def _poster(address: Address, secret: str, path: str, bodies: Iterator[bytes], n_batches: int) -> Work:
    """Post one batch over a connection that stays open. Bodies are spelled before the clock starts."""
    link = http.client.HTTPConnection(address.reachable_host, address.port, timeout=60)
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/x-ndjson"}
    waiting = [next(bodies) for _ in range(n_batches)]

    def post() -> None:
        link.request("POST", path, waiting.pop(), headers)
        answer = link.getresponse()
        received = answer.read()
        if answer.status != 201:
            raise CannotServe(f"A batch was answered {answer.status}: {received[:300]!r}")

    return post


def _bodies(rows: Rows, n_rows: int) -> Iterator[bytes]:
    while True:
        yield b"\n".join(json.dumps(next(rows)).encode() for _ in range(n_rows))


@contextmanager
def _server() -> Iterator[Address]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = Address("127.0.0.1", probe.getsockname()[1])
    alarm = Alarm()
    child = Child("server", address.host, str(address.port), str(N_THREADS[connection.vendor]))
    try:
        if not is_answering(child, address, alarm):
            raise CannotServe("The server of the benchmark did not start.")
        yield address
    finally:
        child.ask_to_end()
        child.end(alarm)
        alarm.close()
