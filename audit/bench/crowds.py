"""Many observations of one relation type, for searches that must not walk them all.

State rows are made by the function that a write calls, and stored in bulk; what a write adds before that (evidence,
content, hashes, the log) no search asks for. One node in the middle is a hub.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import batched, cycle
from typing import Any
from uuid import UUID

import numpy as np
from django.db import transaction

from audit.bench.graphs import bound_store, fresh, peer_harness, read
from audit.bench.measuring import Work
from audit.bench.versions import analysed
from audit.peer import peer
from memory.base import ids, sql
from memory.base.asof import AsOf
from memory.beliefs.kernel.questions import query_document
from memory.beliefs.models import ObservationState
from memory.beliefs.operations.observing import Asked, observe
from memory.beliefs.queries.asking import ask
from memory.beliefs.relations import Relation, relation_named
from memory.beliefs.states import Vectors, state
from memory.ledger.queries import asof
from memory.ledger.queries.contents import name_ids

RELATION, LAW = "relation", "cyclic:4"
DEGREE = 8
HUB_SHARE = 10
SEEDS = 50
CHUNK = 2_000
FIRST_SEQ = 1 << 20


@dataclass(frozen=True, slots=True)
class Crowd:
    """`size` observations in a namespace of their own: random ones of mean degree DEGREE, and 1 / HUB_SHARE of all
    around a hub."""

    name: str
    namespace: int
    size: int
    n_around_hub: int
    seeds: list[str]
    hub: str

    def query(self, seed: str) -> dict[str, Any]:
        return {
            "schema_version": 2, "namespace": self.name, "relation_type": RELATION, "root": seed, "seeds": [seed],
            "as_of": 1e9, "max_hops": 1,
        }  # fmt: skip

    def searching(self, *, is_hub: bool) -> Work:
        """One question about the next seed, or about the hub, from its payload to the document of the answer."""
        seeds = cycle([self.hub] if is_hub else self.seeds)
        at = self.at

        def search() -> dict[str, Any]:
            return ask(at, query=query_document(self.query(next(seeds))), profile="compat").capsule(profile="compat")

        if not search()["used_observation_ids"]:
            raise AssertionError("The search found nothing.")
        return search

    @property
    def at(self) -> AsOf:
        head = asof.now(self.namespace)
        return AsOf(self.namespace, FIRST_SEQ + self.size, FIRST_SEQ + self.size, head.valid_at)


@dataclass(frozen=True, slots=True)
class Drawn:
    """One observation: its number, its ends and its posterior."""

    number: int
    source: int
    target: int
    posterior: list[float]


def drawn(size: int) -> Iterator[Drawn]:
    """The observations of a crowd, in the order of their instants; node 0 is the hub. The same in every run."""
    rng = np.random.default_rng(size)
    n_nodes = max(2 * size // DEGREE, 4)
    for numbers in batched(range(size), CHUNK):
        ends = rng.integers(1, n_nodes, size=(len(numbers), 2))
        ends[rng.integers(HUB_SHARE, size=len(numbers)) == 0, 0] = 0
        posteriors = rng.dirichlet(np.full(4, 0.4), size=len(numbers)).tolist()
        for number, (source, target), posterior in zip(numbers, ends.tolist(), posteriors, strict=True):
            yield Drawn(number, source, target, posterior)


def crowd(name: str, size: int) -> Crowd:
    """Fill the store. The hub and the seeds have names; the other nodes are ids, since no search looks for those."""
    by = bound_store(name, {RELATION: LAW})
    relation = relation_named(by.namespace, RELATION, seq=asof.now(by.namespace).seq)
    named = [f"crowd {number}" for number in range(SEEDS + 1)]
    mint(by, named)
    known = name_ids(by.namespace, named)
    n_nodes = max(2 * size // DEGREE, 4)
    nodes = ids.new_ids(n_nodes)
    places = [0, *sorted(np.random.default_rng(1).choice(range(1, n_nodes), min(SEEDS, n_nodes - 1), False).tolist())]
    for text, place in zip(named, places, strict=False):
        nodes[place] = known[text]
    n_around_hub = 0
    for chunk in batched(drawn(size), CHUNK):
        n_around_hub += sum(1 for one in chunk if one.source == 0)
        with transaction.atomic():
            sql.insert(ObservationState, [_row(by.namespace, relation, one, nodes) for one in chunk])
    analysed()
    return Crowd(name, by.namespace, size, n_around_hub, named[1 : len(places)], named[0])


def mint(by: Any, texts: list[str]) -> None:
    """Give the nodes names, by an observation of each at an instant that no question reaches."""
    payloads = fresh(RELATION, LAW, relation_type=RELATION)
    documents = [
        read(next(payloads) | {"source": text, "target": text, "observation_id": f"names {text}", "observed_at": 1e12})
        for text in texts
    ]
    observe(by, documents=documents, asked=Asked("native"))


def _row(namespace: int, relation: Relation, one: Drawn, nodes: list[UUID]) -> tuple[Any, ...]:
    values = {
        "id": ids.new_id(), "name": ids.new_id(), "relation_type": relation.name, "source": nodes[one.source],
        "target": nodes[one.target], "is_independent": True, "trust": 1.0, "observed_at": float(one.number),
        "valid_from": None, "valid_until": None, "lineage_root": None, "source_event": None,
        "evidence_family": ids.new_id(),
    }  # fmt: skip
    vectors = Vectors(np.array(one.posterior), None)
    return state(
        namespace, FIRST_SEQ + one.number, 0, values, relation=relation, name=f"crowd {one.number}", vectors=vectors
    )


def peer_crowd(told: Crowd) -> Any:
    """The same observations in the peer's store, by its own insert, in one transaction.   Raises NoPeer."""
    harness = peer_harness(told.name, {RELATION: LAW})
    make, store = peer().MemoryObservation, harness.store
    n_nodes = max(2 * told.size // DEGREE, 4)
    places = [0, *sorted(np.random.default_rng(1).choice(range(1, n_nodes), min(SEEDS, n_nodes - 1), False).tolist())]
    names = {place: f"crowd {number}" for number, place in enumerate(places)}
    with store._transaction() as connection:  # noqa: SLF001 - its public insert takes one at a time
        for one in drawn(told.size):
            observation = make(
                observation_id=f"crowd {one.number}", namespace=told.name, relation_type=RELATION,
                source=names.get(one.source, f"node {one.source}"), target=names.get(one.target, f"node {one.target}"),
                posterior=tuple(one.posterior), prior=(0.25,) * 4, evidence_family=f"family {one.number}",
                observed_at=float(one.number),
            )  # fmt: skip
            store._insert_observation(connection, observation)  # noqa: SLF001
    return harness
