"""Graphs of observations to measure with: told alike to the store and to the peer package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from audit.peer import peer
from memory.agents.setup import ensure_namespace, system
from memory.base.actor import Actor
from memory.beliefs.kernel.documents import ObservationDocument, observation_document
from memory.beliefs.kernel.groups import Floats, Group
from memory.beliefs.kernel.laws import Law, built_in
from memory.beliefs.operations.binding import Binding
from memory.beliefs.operations.observing import Asked, observe

CONCENTRATION = 0.4
PEER_EXACT = 1 << 20
"""Assignments up to which the peer is let be exact; by default it searches with a beam above 250,000."""


@dataclass(frozen=True)
class Graph:
    """Observations of one law: `ends` of each, (E, S) `posteriors`. Connected, `rank` edges more than a tree."""

    spec: str
    n_nodes: int
    rank: int
    ends: tuple[tuple[int, int], ...]
    posteriors: Floats

    @property
    def name(self) -> str:
        return f"{self.law.name}, {self.n_nodes} nodes, rank {self.rank}"

    @cached_property
    def law(self) -> Law:
        return built_in(self.spec)

    @cached_property
    def group(self) -> Group:
        return Group(self.law.table, self.law.identity)

    @property
    def relation_type(self) -> str:
        return f"{self.spec} {self.n_nodes}"

    @property
    def nodes(self) -> list[str]:
        return [f"{self.relation_type} node {number}" for number in range(self.n_nodes)]

    def payloads(self, namespace: str) -> Iterator[dict[str, Any]]:
        """The observations, as both are told them."""
        nodes = self.nodes
        for number, ((source, target), row) in enumerate(zip(self.ends, self.posteriors.tolist(), strict=True)):
            yield {
                "namespace": namespace, "relation_type": self.relation_type, "source": nodes[source],
                "target": nodes[target], "posterior": row, "evidence_family": f"{self.relation_type} family {number}",
                "observation_id": f"{self.relation_type} {number}", "observed_at": float(number),
            }  # fmt: skip

    def query(self, namespace: str) -> dict[str, Any]:
        """The question about all nodes, as both are asked it."""
        return {
            "namespace": namespace, "relation_type": self.relation_type, "root": self.nodes[0], "nodes": self.nodes,
            "as_of": 1e6,
        }  # fmt: skip


def graph(spec: str, *, n_nodes: int, rank: int) -> Graph:
    """A random tree with `rank` random chords; the same in every run."""
    rng = np.random.default_rng([n_nodes, rank])
    ends = [(int(rng.integers(node)), node) for node in range(1, n_nodes)]
    for _ in range(rank):
        source, target = rng.choice(n_nodes, size=2, replace=False).tolist()
        ends.append((source, target))
    size = built_in(spec).size
    return Graph(spec, n_nodes, rank, tuple(ends), rng.dirichlet(np.full(size, CONCENTRATION), size=len(ends)))


def fresh(namespace: str, spec: str, *, relation_type: str = "relation") -> Iterator[dict[str, Any]]:
    """Payloads without end: a thousand nodes, every observation of a family and an id of its own."""
    rng = np.random.default_rng(built_in(spec).size)
    for number in count():
        source, target = rng.choice(1_000, size=2, replace=False).tolist()
        posterior = rng.dirichlet(np.full(built_in(spec).size, CONCENTRATION)).tolist()
        yield {
            "namespace": namespace, "relation_type": relation_type, "source": f"node {source}",
            "target": f"node {target}", "posterior": posterior, "evidence_family": f"family {number}",
            "observation_id": f"{relation_type} {number}", "observed_at": float(number),
            "provenance": {"tool": "probe", "step": number},
        }  # fmt: skip


def read(payload: Mapping[str, Any]) -> ObservationDocument:
    """The document of a payload, as the door makes it."""
    return observation_document(payload, profile="native")


def bound_store(name: str, specs: Mapping[str, str]) -> Actor:
    """A namespace with these relation types, each of its law."""
    by = system(ensure_namespace(name))
    for relation_type, spec in specs.items():
        payload = next(fresh(name, spec, relation_type=relation_type)) | {"observation_id": f"first of {relation_type}"}
        bind = Binding(relation_type, built_in(spec))
        observe(by, documents=[read(payload)], asked=Asked("native", bind))
    return by


def peer_harness(name: str, specs: Mapping[str, str], *, monitor: Any = None) -> Any:
    """The peer with a store of its own beside ours, on the same disk.   Raises NoPeer."""
    package = peer()
    path = Path(settings.PALIMPSEST_HOME) / f"peer_{name}.sqlite3"
    harness = package.PosteriorMemoryHarness(
        store=package.SQLiteMemoryStore(path), monitor=monitor,
        inference_config=package.InferenceConfig(max_exact_assignments=PEER_EXACT),
    )  # fmt: skip
    for relation_type, spec in specs.items():
        harness.register_relation(relation_type, peer_law(spec))
    return harness


def peer_law(spec: str) -> Any:
    """The law of that name, as the peer has it.   Raises NoPeer."""
    return peer().FiniteRelationLaw.from_dict(_document(spec))


def _document(spec: str) -> dict[str, Any]:
    law = built_in(spec)
    return {
        "name": law.name, "labels": list(law.labels), "table": law.table.tolist(), "inverse": law.inverse.tolist(),
        "identity": law.identity,
    }  # fmt: skip
