"""Calibration: reports of short and of long runs, what a label costs, and what memory a long run takes.

Invariants
- A report is read from the store each time. So does the peer's own command: it opens the store, replays the journal.
- The peer's store is filled without synchronising; what is timed is timed with its own settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import batched, islice
from typing import Any

from django.db import connection

from audit.bench.door import rate
from audit.bench.graphs import bound_store, fresh, peer_harness, read
from audit.bench.measuring import Figure, Scale, Work, side_by_side
from audit.bench.peak import MEGABYTE, STATUS
from audit.bench.twin import Twin
from audit.peer import peer
from memory.base.actor import Actor
from memory.beliefs.kernel.acts import OutcomeDocument
from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.beliefs.operations.monitors import open_run
from memory.beliefs.operations.observing import Asked, observe
from memory.calibration.operations.recording import record
from memory.calibration.queries.reports import report, tree
from memory.ledger.queries import asof

RELATION, LAW, RUN = "relation", "cyclic:4", "default"
SHORT, MIDDLE, LONG = 100, 10_000, 100_000
N_ROWS = 1_000
MAX_TRACKED = 10_000_000


class Watched:
    """A namespace with one run, whose forecasts are labelled in the order in which they were issued."""

    def __init__(self, name: str) -> None:
        self.by: Actor = bound_store(name, {RELATION: LAW})
        open_run(self.by, config=MonitorConfig(max_tracked=MAX_TRACKED))
        self.payloads = fresh(name, LAW)

    def forecast(self, count: int) -> list[OutcomeDocument]:
        """Issue forecasts; answers their labels, which follow the forecasts' own first label half of the time."""
        payloads = list(islice(self.payloads, count))
        observe(self.by, documents=[read(payload) for payload in payloads], asked=Asked("native"))
        return [
            OutcomeDocument(payload["observation_id"], str(number % 2 * (1 + number % 3)))
            for number, payload in enumerate(payloads)
        ]

    def grow(self, count: int) -> None:
        """Forecasts and their labels, in batches."""
        for chunk in batched(range(count), N_ROWS):
            record(self.by, documents=self.forecast(len(chunk)))

    def reporting(self) -> Work:
        """One report with its audit, at the head of the log."""

        def told() -> object:
            return report(asof.now(self.by.namespace), run_id=RUN, profile="native", relation_type=RELATION)

        return told

    def telling_all(self) -> Work:
        """The reports of every relation type and source family, as the peer gives them."""
        return lambda: tree(asof.now(self.by.namespace), run_id=RUN, profile="native")


def run(scale: Scale) -> Iterator[Figure]:
    """The figures; those that need no peer come first."""
    yield from _labels(scale)
    short, long = Watched("short"), Watched("long")
    short.grow(SHORT)
    sizes = [scale.size(size, least=SHORT) for size in (MIDDLE, LONG)]
    long.grow(sizes[0])
    before = _resident()
    long.grow(sizes[1] - sizes[0])
    grown = (_resident() - before) / MEGABYTE
    timing = side_by_side(long.reporting(), short.reporting(), rounds=scale.rounds(100))
    told = f"{grown:.0f} MB more in memory than at {sizes[0]}; ≤ 20 asked for"
    yield Figure("calibration", f"report at {sizes[1]} / {SHORT} forecasts", timing, "≤ 2", told)
    middle = Watched("middle")
    middle.grow(sizes[0])
    yield from _beside(middle, sizes[0], scale)


def _labels(scale: Scale) -> Iterator[Figure]:
    told = Watched("labels")
    n_rows = scale.size(N_ROWS, least=20)
    waiting: list[OutcomeDocument] = []

    def some(count: int) -> list[OutcomeDocument]:
        if len(waiting) < count:
            waiting.extend(told.forecast(count))
        taken = waiting[:count]
        del waiting[:count]
        return taken

    rounds = scale.rounds(100)
    waiting.extend(told.forecast((rounds + 20) + 14 * n_rows))
    for _ in range(8):
        record(told.by, documents=some(1))
    twin = Twin("labels")
    try:
        timing = side_by_side(*twin.against(lambda: record(told.by, documents=some(1))), rounds=rounds)
        twin.require_same()
        yield Figure("calibration", "label / its own statements, bare", timing, "≤ 2")
    finally:
        twin.close()

    def singly() -> None:
        for one in some(n_rows):
            record(told.by, documents=[one])

    timing = side_by_side(singly, lambda: record(told.by, documents=some(n_rows)), rounds=scale.rounds(5))
    spoken = f"{rate(n_rows, timing.second_seconds)} in batches, {rate(n_rows, timing.first_seconds)} one by one"
    yield Figure("calibration", f"{n_rows} labels one by one / as one batch", timing, "≥ 10", spoken)


def _beside(ours: Watched, size: int, scale: Scale) -> Iterator[Figure]:
    """The peer's own store with as many forecasts and labels: a report, and one more label."""
    package = peer()
    harness, payloads = _peer_store(size)
    path, config = harness.store.path, harness.monitor.config

    def replayed() -> object:
        opened = package.PosteriorMemoryHarness(
            store=package.SQLiteMemoryStore(path), monitor=package.CalibrationDriftMonitor(config)
        )
        return opened.calibration_report()

    timing = side_by_side(replayed, ours.telling_all(), rounds=5, warm_up=0)
    yield Figure(
        "calibration", f"all reports of a run of {size} forecasts, the peer / ours", timing, scale.bar("≥ 100")
    )
    timing = side_by_side(harness.calibration_report, ours.telling_all(), rounds=scale.rounds(20))
    yield Figure("calibration", "the same, where the peer has the journal in memory", timing)
    if connection.vendor != "sqlite":
        return
    n_rounds = scale.rounds(60)
    waiting = iter(ours.forecast(n_rounds + 5))
    told = list(islice(payloads, n_rounds + 5))
    for payload in told:
        harness.observe_payload(payload)
    theirs = iter(told)
    timing = side_by_side(
        lambda: harness.record_outcome(next(theirs)["observation_id"], "0"),
        lambda: record(ours.by, documents=[next(waiting)]), rounds=n_rounds,
    )  # fmt: skip
    yield Figure("calibration", f"one label at {size} forecasts, the peer / ours", timing)


def _peer_store(size: int) -> tuple[Any, Iterator[dict[str, Any]]]:
    """The peer's store with forecasts and labels, and payloads that go on."""
    package = peer()
    monitor = package.CalibrationDriftMonitor(package.MonitorConfig(max_tracked=MAX_TRACKED))
    harness = peer_harness("calibration", {RELATION: LAW}, monitor=monitor)
    synchronous = harness.store._connect  # noqa: SLF001 - it has no setting of its own

    def unsynchronised() -> Any:
        opened = synchronous()
        opened.execute("PRAGMA synchronous = OFF")
        return opened

    payloads = fresh("calibration", LAW)
    harness.store._connect = unsynchronised  # noqa: SLF001
    for number, payload in enumerate(islice(payloads, size)):
        harness.observe_payload(payload)
        harness.record_outcome(payload["observation_id"], str(number % 2 * (1 + number % 3)))
    harness.store._connect = synchronous  # noqa: SLF001
    return harness, payloads


def _resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    found = re.search(r"VmRSS:\s+(\d+) kB", STATUS.read_text()) if STATUS.exists() else None
    return int(found[1]) * 1024 if found else 0
