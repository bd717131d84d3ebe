"""Beliefs: an answer from payload to document and in the kernel, searches in large stores, and what a write costs.

Invariants
- The peer package gets the same payloads, in a store of its own on the same disk, and answers with the same document.
- The peer is let be exact as far as its memory goes; above that it searches with its beam, as it does by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from audit.bench import observing
from audit.bench.crowds import SEEDS, Crowd, crowd, peer_crowd
from audit.bench.graphs import PEER_EXACT, Graph, bound_store, graph, peer_harness, peer_law, read
from audit.bench.measuring import Figure, Scale, Work, side_by_side
from audit.peer import peer
from memory.base.actor import Actor
from memory.beliefs.kernel.engine import infer
from memory.beliefs.kernel.factors import compat_log_factors
from memory.beliefs.kernel.questions import query_document
from memory.beliefs.kernel.terms import Inference
from memory.beliefs.operations.binding import Binding
from memory.beliefs.operations.observing import Asked, observe
from memory.beliefs.profiles import Profile
from memory.beliefs.queries.asking import ask
from memory.ledger.queries import asof

SMALL = (("cyclic:2", 4, 2), ("cyclic:4", 4, 2), ("s3", 4, 2))
LARGE = (("cyclic:4", 10, 3), ("s3", 8, 3))
SPARSE = ("cyclic:4", 64, 10)
SMALL_LARGE = (("cyclic:4", 6, 3), ("s3", 5, 3), ("cyclic:4", 8, 3))
N_FEW, N_MANY = 10_000, 1_000_000
NAMESPACE = "graphs"


def run(scale: Scale) -> Iterator[Figure]:
    """The figures; those that need no peer come first."""
    yield from observing.alone(scale)
    few, many = (crowd(f"crowd-{size}", size) for size in (scale.size(N_FEW, least=200), scale.size(N_MANY, least=400)))
    yield from _searches(few, many, scale)
    yield from _small(scale)
    yield from _large(scale)
    yield from _search_beside(few, scale)
    yield from observing.beside(scale)


def _searches(few: Crowd, many: Crowd, scale: Scale) -> Iterator[Figure]:
    for what, hub in (("one hop", False), ("one hop from a hub", True)):
        works = (each.searching(is_hub=hub) for each in (many, few))
        timing = side_by_side(*works, rounds=scale.rounds(60))
        bar = "" if hub else "≤ 3"
        beside = f"the hub has {many.n_around_hub} and {few.n_around_hub} of them" if hub else ""
        yield Figure("beliefs", f"{what}, {many.size} / {few.size} observations", timing, bar, beside)


def _search_beside(few: Crowd, scale: Scale) -> Iterator[Figure]:
    """The same hop in the peer's store, which holds the same observations."""
    harness = peer_crowd(few)
    seeds = iter(few.seeds * SEEDS)
    timing = side_by_side(
        lambda: harness.query_payload(few.query(next(seeds))), few.searching(is_hub=False), rounds=3, warm_up=0
    )
    what = f"one hop, {few.size} observations, the peer / ours"
    yield Figure("beliefs", what, timing, scale.bar("≥ 500"))


def _small(scale: Scale) -> Iterator[Figure]:
    for spec, n_nodes, rank in SMALL:
        one = graph(spec, n_nodes=n_nodes, rank=rank)
        timing = side_by_side(_peer_kernel(one), _kernel(one), rounds=scale.rounds(300))
        yield Figure("beliefs", f"kernel, {one.name}, the peer / ours", timing, "≥ 0.9")


def _large(scale: Scale) -> Iterator[Figure]:
    is_whole = scale.divisor == 1
    shapes = (*LARGE, SPARSE) if is_whole else SMALL_LARGE
    graphs = [graph(spec, n_nodes=n_nodes, rank=rank) for spec, n_nodes, rank in shapes]
    specs = {one.relation_type: one.spec for one in graphs}
    by, harness = bound_store(NAMESPACE, {}), peer_harness(NAMESPACE, specs)
    for one, bar in zip(graphs, ("≥ 500", "≥ 500", "≥ 1000"), strict=True):
        _told(by, harness, one)
        rounds = 3 if one.n_nodes == SPARSE[1] else scale.rounds(15)
        found = _kernel(one)()
        note = f"{found.certainty}, width {found.width}, {found.entries} entries"
        timing = side_by_side(_peer_kernel(one), _kernel(one), rounds=rounds, warm_up=0)
        yield Figure("beliefs", f"kernel, {one.name}, the peer / ours", timing, scale.bar(bar), note)
        profiles: tuple[tuple[Profile, str], ...] = (("compat", bar), ("native", ""))
        for profile, limit in profiles:
            timing = side_by_side(
                _peer_capsule(harness, one), _capsule(by, one, profile), rounds=rounds, warm_up=0
            )  # fmt: skip
            what = "the same document" if profile == "compat" else "ours with its audit"
            told = f"store to capsule, {one.name}, the peer / {what}"
            yield Figure("beliefs", told, timing, scale.bar(limit))


def _told(by: Actor, harness: Any, one: Graph) -> None:
    """Both stores hold the graph."""
    payloads = list(one.payloads(NAMESPACE))
    bind = Binding(one.relation_type, one.law)
    observe(by, documents=[read(payload) for payload in payloads], asked=Asked("native", bind))
    for payload in payloads:
        harness.observe_payload(payload)


def _kernel(one: Graph) -> Callable[[], Inference]:
    """Factors, plan, marginals, best assignment, posteriors of edges, and each edge left out."""
    prior, trust = np.full_like(one.posteriors, 1 / one.law.size), np.ones(len(one.posteriors))
    src, dst = np.array(one.ends, dtype=np.intp).T

    def inferred() -> Inference:
        factors = compat_log_factors(one.posteriors, mu=prior, trust=trust, hard_top1=False)
        return infer(one.group, n=one.n_nodes, root=0, src=src, dst=dst, log_factors=factors, mode="exact")

    inferred()
    return inferred


def _peer_kernel(one: Graph) -> Work:
    """What the peer does from observations to marginals and its best assignment."""
    package, inference = peer(), peer("inference")
    uniform = (1 / one.law.size,) * one.law.size
    told = [package.MemoryObservation(prior=uniform, **_tuples(payload)) for payload in one.payloads(NAMESPACE)]
    query = package.MemoryQuery(**{**one.query(NAMESPACE), "nodes": tuple(one.nodes)})
    law, config = peer_law(one.spec), package.InferenceConfig(max_exact_assignments=PEER_EXACT)
    return lambda: inference.infer(law, query, told, config)


def _tuples(payload: dict[str, Any]) -> dict[str, Any]:
    return {**payload, "posterior": tuple(payload["posterior"])}


def _capsule(by: Actor, one: Graph, profile: Profile) -> Work:
    """From the payload of a question to the document of its answer, at the head of the log."""
    payload = one.query(NAMESPACE)

    def answer() -> dict[str, Any]:
        at = asof.now(by.namespace)
        return ask(at, query=query_document(payload), profile=profile).capsule(profile=profile)

    if answer()["approximate"]:
        raise AssertionError("An answer that is not exact must not be compared.")
    return answer


def _peer_capsule(harness: Any, one: Graph) -> Work:
    payload = one.query(NAMESPACE)
    return lambda: harness.query_payload(payload)
