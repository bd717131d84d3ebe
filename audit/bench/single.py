"""One save and one evolve through their operations, against a bare transaction of the same statements."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from audit.bench.measuring import Figure, Scale, side_by_side
from audit.bench.texts import records, text
from audit.bench.twin import Twin
from memory.agents.setup import ensure_agent, ensure_namespace, system
from memory.base.actor import Actor
from memory.lineage.operations.derivations import evolve
from memory.lineage.operations.deriving import Cause
from memory.records.operations import save

ROUNDS = 300


def run(scale: Scale) -> Iterator[Figure]:
    """What ledger, projections and gate add to a single write."""
    store = ensure_namespace("single")
    agent = ensure_agent(system(store), name="scout")
    by = Actor(store, "agent", agent=agent, powers=frozenset({"read", "write"}), host="bench")
    fresh = records("single")
    # The first writes mint names and make the index; what is measured is every later one.
    heads = [save(by, records=[next(fresh)])[0].id for _ in range(8)]
    numbers = count()
    twin, rounds = Twin("single"), scale.rounds(ROUNDS)

    def save_one() -> None:
        save(by, records=[next(fresh)])

    def evolve_one() -> None:
        number = next(numbers)
        changes = {"content": text(f"evolve/{number}")}
        heads.append(evolve(by, record=heads[-1], base="", changes=changes, cause=Cause("correction")).records[0])

    try:
        for what, work in (("save", save_one), ("evolve", evolve_one)):
            timing = side_by_side(*twin.against(work), rounds=rounds)
            twin.require_same()
            yield Figure("single", f"{what} / its own statements, bare", timing, "≤ 2")
    finally:
        twin.close()
