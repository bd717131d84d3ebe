"""Which benchmarks there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from audit.bench import ancestry, batch, beliefs, calibration, durability, facts, laws, lineage, reading, single, tree
from audit.bench.measuring import Figure, Scale

Benchmark = Callable[[Scale], Iterator[Figure]]

BENCHMARKS: dict[str, Benchmark] = {
    "single": single.run,
    "batch": batch.run,
    "durability": durability.run,
    "ancestry": ancestry.run,
    "reading": reading.run,
    "tree": tree.run,
    "laws": laws.run,
    "lineage": lineage.run,
    "facts": facts.run,
    "beliefs": beliefs.run,
    "calibration": calibration.run,
}
