"""Batches: through HTTP against the bare rows, and with the ledger against without."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from django.db import connection

from audit.bench.measuring import WARM_UP, Figure, Scale, Work, side_by_side
from audit.bench.texts import records
from audit.bench.twin import Statement, Twin, captured
from audit.serving import N_THREADS, Address, Alarm, CannotServe, Child, is_answering
from memory.agents.setup import ensure_namespace, new_token, system
from memory.records.content import NewRecord
from memory.records.operations import save

N_ROWS = 1_000
ROUNDS = 30
RECORD_TABLES = ("memory_record", "memory_content")
LEDGER_TABLES = ("memory_entry", "memory_item", "memory_node", "memory_head")


def run(scale: Scale) -> Iterator[Figure]:
    """What the door and the ledger add to a batch of N_ROWS."""
    yield from _ledger(scale)
    yield from _door(scale)


def _ledger(scale: Scale) -> Iterator[Figure]:
    by, n_rows = system(ensure_namespace("batch")), scale.size(N_ROWS, least=20)
    fresh = records("batch")

    def save_batch() -> None:
        save(by, records=list(islice(fresh, n_rows)))

    save_batch()
    twin = Twin("batch", is_loose=True)
    try:
        pairs = (
            ("all its rows, bare", "", lambda _: True),
            ("its rows without ledger, bare", "≤ 4", lambda each: not each.concerns(LEDGER_TABLES)),
        )
        for what, bar, only in pairs:
            timing = side_by_side(*twin.against(save_batch, only=only), rounds=scale.rounds(ROUNDS))
            yield Figure("batch", f"operation of {n_rows} / {what}", timing, bar, _rate(n_rows, timing.first_seconds))
    finally:
        twin.close()


def _door(scale: Scale) -> Iterator[Figure]:
    n_rows, rounds = scale.size(N_ROWS, least=20), scale.rounds(ROUNDS)
    secret = new_token(namespace="door", agent="scout", scopes=("read", "write")).secret
    fresh = records("door")
    save_batch = _shaped(n_rows)
    twin = Twin("door", is_loose=True)
    try:
        bare_rows = [_statements_of(save_batch) for _ in range(2 * (rounds + WARM_UP))]
        with _server() as address:
            post = _poster(address, secret, fresh, n_rows, n_batches=2 * (rounds + WARM_UP))
            for what, bar, tables in (
                ("the same rows, record and content", "≤ 5", RECORD_TABLES),
                ("the same rows, all tables", "", ()),
            ):
                timing = side_by_side(post, _repeater(twin, bare_rows, tables), rounds=rounds)
                told = f"{_rate(n_rows, timing.first_seconds)} by HTTP, {_rate(n_rows, timing.second_seconds)} bare"
                yield Figure("batch", f"HTTP batch of {n_rows} / executemany of {what}", timing, bar, told)
    finally:
        twin.close()


def _shaped(n_rows: int) -> Work:
    """The operation that the door calls, once for the names and the index; later calls write rows alone."""
    by, fresh = system(ensure_namespace("shape")), records("shape")

    def save_batch() -> None:
        save(by, records=list(islice(fresh, n_rows)))

    save_batch()
    return save_batch


def _statements_of(work: Work) -> list[Statement]:
    with captured() as capture:
        work()
    return capture.statements


def _repeater(twin: Twin, lists: list[list[Statement]], tables: Sequence[str]) -> Work:
    def repeat() -> None:
        statements = lists.pop(0)
        twin.repeat([each for each in statements if each.concerns(tables)] if tables else statements)

    return repeat


def _poster(address: Address, secret: str, fresh: Iterator[NewRecord], n_rows: int, *, n_batches: int) -> Work:
    """Post one batch over a connection that stays open. Bodies are spelled before the clock starts."""
    link = http.client.HTTPConnection(address.reachable_host, address.port, timeout=60)
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/x-ndjson"}
    bodies = _bodies(fresh, n_rows)
    waiting = [next(bodies) for _ in range(n_batches)]

    def post() -> None:
        link.request("POST", "/api/v1/namespaces/door/records/batch", waiting.pop(), headers)
        answer = link.getresponse()
        received = answer.read()
        if answer.status != 201:
            raise CannotServe(f"A batch was answered {answer.status}: {received[:300]!r}")

    return post


def _bodies(fresh: Iterator[NewRecord], n_rows: int) -> Iterator[bytes]:
    while True:
        rows = ({"type": new.type, "content": new.content, "tags": list(new.tags)} for new in islice(fresh, n_rows))
        yield b"\n".join(json.dumps(row).encode() for row in rows)


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


def _rate(n_rows: int, seconds: float) -> str:
    return f"{n_rows / seconds:,.0f} rows/s"
