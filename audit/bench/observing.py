"""What it costs to store an observation: with the ledger, in batches, over HTTP, under a large law, beside the peer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db import connection

from audit.bench.door import door, rate
from audit.bench.graphs import bound_store, fresh, peer_harness, read
from audit.bench.measuring import Figure, Scale, Work, side_by_side
from audit.bench.twin import Twin
from audit.peer import peer
from memory.base.actor import Actor
from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.beliefs.operations.monitors import open_run
from memory.beliefs.operations.observing import Asked, observe

RELATION = "relation"
C4, C64 = "cyclic:4", "cyclic:64"
N_ROWS = 1_000
BELIEF_TABLES = ("memory_observation", "memory_content")
MAX_TRACKED = 10_000_000
NATIVE = Asked("native")


def alone(scale: Scale) -> Iterator[Figure]:
    """Without the peer."""
    yield from _single(scale)
    yield from _law_sizes(scale)
    yield from _batches(scale)


def beside(scale: Scale) -> Iterator[Figure]:
    """Against the peer's own SQLite store: the same disk, the same journal mode and synchronous setting."""
    if connection.vendor != "sqlite":
        return
    for is_watched in (False, True):
        words = "monitor on" if is_watched else "monitor off"
        by, harness = _stores(is_watched)
        settings = _require_equal_settings(harness)
        ours, theirs = (fresh(_name(is_watched), C4) for _ in range(2))

        def observe_theirs(told: Iterator[dict[str, Any]] = theirs, harness: Any = harness) -> None:
            harness.observe_payload(next(told))

        timing = side_by_side(observe_theirs, _observing(by, ours, 1), rounds=scale.rounds(150))
        yield Figure("beliefs", f"one observation, {words}, the peer / ours", timing, "", settings)
        n_rows = scale.size(500, least=20)

        def observe_many(told: Iterator[dict[str, Any]] = theirs, harness: Any = harness, n: int = n_rows) -> None:
            for payload in islice(told, n):
                harness.observe_payload(payload)

        timing = side_by_side(observe_many, _observing(by, ours, n_rows), rounds=scale.rounds(5))
        told = f"{rate(n_rows, timing.first_seconds)} and {rate(n_rows, timing.second_seconds)}; it has no batches"
        yield Figure("beliefs", f"{n_rows} observations, {words}, the peer / ours as a batch", timing, "", told)


def _stores(is_watched: bool) -> tuple[Actor, Any]:
    """Both with the relation type bound, and with a run that has room where they are to be watched."""
    name = _name(is_watched)
    by = bound_store(name, {RELATION: C4})
    monitor = None
    if is_watched:
        open_run(by, config=MonitorConfig(max_tracked=MAX_TRACKED))
        package = peer()
        monitor = package.CalibrationDriftMonitor(package.MonitorConfig(max_tracked=MAX_TRACKED))
    return by, peer_harness(name, {RELATION: C4}, monitor=monitor)


def _name(is_watched: bool) -> str:
    return "watched" if is_watched else "unwatched"


def _require_equal_settings(harness: Any) -> str:
    """What both stores write by; raises AssertionError where they differ."""
    names = ("journal_mode", "synchronous")
    with connection.cursor() as cursor:
        ours = [cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
    with harness.store._connection() as opened:  # noqa: SLF001 - it opens one for each statement
        theirs = [opened.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
    if ours != theirs:
        raise AssertionError(f"One store writes by {ours}, the other by {theirs}; no speed can be compared.")
    return f"both {ours[0]}, synchronous {'FULL' if ours[1] == 2 else ours[1]}"


def _single(scale: Scale) -> Iterator[Figure]:
    by = bound_store("observed", {RELATION: C4})
    work = _observing(by, fresh("observed", C4), 1)
    for _ in range(8):
        work()
    twin = Twin("observed")
    try:
        timing = side_by_side(*twin.against(work), rounds=scale.rounds(300))
        twin.require_same()
        yield Figure("beliefs", "observe / its own statements, bare", timing, "≤ 2")
    finally:
        twin.close()


def _law_sizes(scale: Scale) -> Iterator[Figure]:
    by = bound_store("laws", {"large": C64, "small": C4})
    large, small = (fresh("laws", spec, relation_type=name) for name, spec in (("large", C64), ("small", C4)))
    for n_rows, rounds in ((1, 200), (scale.size(200, least=20), 15)):
        timing = side_by_side(
            _observing(by, large, n_rows), _observing(by, small, n_rows), rounds=scale.rounds(rounds)
        )  # fmt: skip
        what = "one observation" if n_rows == 1 else f"a batch of {n_rows}"
        yield Figure("beliefs", f"{what} under a law of 64 labels / of 4", timing, "≤ 2")


def _batches(scale: Scale) -> Iterator[Figure]:
    n_rows = scale.size(N_ROWS, least=20)
    by, told = bound_store("batches", {RELATION: C4}), fresh("batches", C4)
    batch, single = _observing(by, told, n_rows), _observing(by, told, 1)

    def singly() -> None:
        for _ in range(n_rows):
            single()

    timing = side_by_side(singly, batch, rounds=scale.rounds(5))
    spoken = f"{rate(n_rows, timing.second_seconds)} in batches, {rate(n_rows, timing.first_seconds)} one by one"
    yield Figure("beliefs", f"{n_rows} observations one by one / as one batch", timing, "≥ 10", spoken)
    bound_store("door-beliefs", {RELATION: C4})
    yield from door(
        "beliefs", path="observations/batch", rows=fresh("door-beliefs", C4), shaped=batch, n_rows=n_rows,
        rounds=scale.rounds(20),
        sides=(
            ("the same rows, observation and content", "≤ 5", BELIEF_TABLES),
            ("the same rows, all tables", "", ()),
        ),
    )  # fmt: skip


def _observing(by: Actor, told: Iterator[dict[str, Any]], n_rows: int) -> Work:
    """Payloads to stored observations, `n_rows` as one entry."""
    return lambda: observe(by, documents=[read(payload) for payload in islice(told, n_rows)], asked=NATIVE)
