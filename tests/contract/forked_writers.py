"""A program: writers that are killed with SIGKILL, round after round; what they acknowledged must stand.

    python -m tests.contract.forked_writers ROUNDS [--mutant]

A round forks a writer from this warm process. The writer saves a record, then an observation that a run tracks, and so
on, and sends one byte after each commit; it is killed at a random moment after the first one, the bytes are counted,
and the log must have grown by as many entries. No observation may stand without its forecast. Every 25th round
verifies those that are new since: gapless, rising, every leaf, item, row and content. Every 250th round and the last
verify everything. With `--mutant` the byte is sent before the write: then the count must not agree, or this proves
nothing.

Works on the SQLite file that DATABASE_URL names. Prints JSON; exit status 1 where something acknowledged is lost. A
killed process is not a power cut: that `synchronous=FULL` is set is asserted elsewhere.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count, pairwise

import django
from django.core.management import call_command

SUFFIX_EVERY = 25
WHOLE_EVERY = 250
LONGEST_WAIT_SECONDS = 0.005


def write_for_ever(writes: Sequence[Callable[[str], object]], pipe: int, *, is_mutant: bool) -> None:
    # Which of them is the first, and so meets the signal most often, changes from process to process.
    for number in count(os.getpid() % len(writes)):
        if is_mutant:
            os.write(pipe, b".")
        writes[number % len(writes)](f"{number} of process {os.getpid()}")
        if not is_mutant:
            os.write(pipe, b".")


def killed_writer(writes: Sequence[Callable[[str], object]], *, is_mutant: bool) -> int:
    """How many writes the writer acknowledged before it was killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            write_for_ever(writes, writer, is_mutant=is_mutant)
        finally:
            os._exit(1)
    os.close(writer)
    acknowledged = len(os.read(reader, 1))
    time.sleep(random.uniform(0, LONGEST_WAIT_SECONDS))
    os.kill(child, signal.SIGKILL)
    while read := os.read(reader, 65536):
        acknowledged += len(read)
    os.close(reader)
    os.waitpid(child, 0)
    return acknowledged


def verified_suffix(namespace: int, after: int) -> int:
    """The length of the log, whose entries after that one all hold."""
    from memory.ledger.kernel import commitment
    from memory.ledger.models import Head, Namespace
    from memory.ledger.queries.leaves import leaf_fields
    from memory.ledger.queries.scanning import Scan, faults_of_entry, load_chunk

    store = Namespace.objects.get(pk=namespace)
    size = Head.objects.get(namespace=namespace).size
    chunk = load_chunk(namespace, after - 1, size + 1)
    assert chunk is not None
    assert [entry.seq for entry in chunk.entries] == list(range(after, size + 1)), "a gap"
    assert all(a.recorded_at < b.recorded_at for a, b in pairwise(chunk.entries)), "instants do not rise"
    for entry in chunk.entries:
        assert commitment.entry_leaf(leaf_fields(entry, namespace=store.name)) == bytes(entry.leaf), "a leaf"
        assert list(faults_of_entry(chunk, entry, Scan(store.name))) == [], "an item, a row or a content"
    return size


def verify_everything(namespace: int) -> None:
    from django.db import connection

    from memory.beliefs.models import Forecast, Observation
    from memory.ledger.queries.verification import scan
    from tests.states import projected, rebuilt

    assert scan(namespace).faults == []
    tracked = Forecast.objects.filter(namespace=namespace).values_list("observation", flat=True)
    told = Observation.objects.filter(namespace=namespace).values_list("id", flat=True)
    assert sorted(tracked) == sorted(told), "an observation without its forecast, or a forecast of none"
    before = projected(namespace)
    assert rebuilt(namespace) == before, "a projection differs from a rebuilt one"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA integrity_check")
        assert cursor.fetchall() == [("ok",)]


def main(rounds: int, *, is_mutant: bool) -> int:
    from django.db import connections

    from memory.beliefs.kernel.monitoring import MonitorConfig
    from memory.beliefs.operations.monitors import open_run
    from memory.ledger.models import Head
    from tests.world import World

    call_command("migrate", verbosity=0)
    world = World()
    world.bind()
    open_run(world.scout, config=MonitorConfig(max_tracked=10**9))

    def observe(text: str) -> object:
        return world.observe(text, "a", "b", [0.7, 0.1, 0.1, 0.1])

    # What a first write loads and makes, no writer need.
    writes = (world.save, observe)
    for write in writes:
        write("written before all rounds")
    size = verified = verified_suffix(world.namespace, 1)
    n_acknowledged = 0
    for number in range(1, rounds + 1):
        # A connection must not be carried over a fork: its locks belong to the process.
        connections.close_all()
        acknowledged = killed_writer(writes, is_mutant=is_mutant)
        before, size = size, Head.objects.get(namespace=world.namespace).size
        n_acknowledged += acknowledged
        # The one write that was under way may have been committed; none that was acknowledged may be missing.
        if not acknowledged <= size - before <= acknowledged + 1:
            print(json.dumps({"round": number, "acknowledged": acknowledged, "found": size - before}))
            return 1
        if number % SUFFIX_EVERY == 0 or number == rounds:
            verified = verified_suffix(world.namespace, verified)
        if number % WHOLE_EVERY == 0 or number == rounds:
            verify_everything(world.namespace)
    print(json.dumps({"rounds": rounds, "acknowledged": n_acknowledged, "entries": size}))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    sys.exit(main(int(sys.argv[1]), is_mutant="--mutant" in sys.argv))
