"""Two hundred seeded questions, put to the peer as it runs and to us: every key of the capsule, by payload.

Laws, loops, parallel edges, priors, trust, windows, tags, lineages, revocations, budgets, searches; whatever the peer
answers exactly. Nodes whose states tie by rounding are compared as sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from posterior_memory_harness import FiniteRelationLaw, PosteriorMemoryHarness

from memory.beliefs.kernel.laws import law_document, read_law
from tests.beliefs.cases import SmallStore
from tests.beliefs.test_capsule import close, without_ties

N_CASES, N_GROUPS = 200, 8
LAWS = ("cyclic:2", "cyclic:3", "cyclic:4", "cyclic:6", "s3")
MOST_STATES = 1_500
NAMES = {"namespace": "ns", "relation_type": "rel"}

Payload = dict[str, Any]


def maybe(rng: np.random.Generator, chance: float, value: Any) -> Any:
    return value if rng.random() < chance else None


def masses(rng: np.random.Generator, size: int) -> list[float]:
    return [float(mass) for mass in rng.dirichlet(np.full(size, 0.5)) * rng.choice([1.0, 7.0])]


def observation(rng: np.random.Generator, number: int, nodes: list[str], size: int) -> Payload:
    source, target = rng.choice(nodes, size=2).tolist()
    return NAMES | {
        "schema_version": 2, "observation_id": f"o{number:02}", "source": source, "target": target,
        "posterior": masses(rng, size), "prior": maybe(rng, 0.3, masses(rng, size)),
        "evidence_family": f"family {rng.integers(40)}", "lineage_root_id": maybe(rng, 0.2, f"root {rng.integers(4)}"),
        "source_event_id": maybe(rng, 0.2, f"event {rng.integers(4)}"), "observed_at": float(rng.integers(20)),
        "valid_from": maybe(rng, 0.2, float(rng.integers(10))), "valid_until": maybe(rng, 0.2, 10.0 + rng.integers(9)),
        "trust": maybe(rng, 0.3, float(rng.random())) or 1.0, "independent_evidence": bool(rng.random() < 0.9),
        "tags": ["t"] if rng.random() < 0.7 else [],
    }  # fmt: skip


def question(rng: np.random.Generator, nodes: list[str], size: int) -> Payload:
    root = str(rng.choice(nodes))
    asked: Payload = {
        "schema_version": 2, "root": root, "as_of": 8.0 + float(rng.integers(14)), "top_k": int(rng.integers(1, 5)),
        "max_observations": int(rng.choice([3, 6, 512])), "tags": ["t"] if rng.random() < 0.3 else [],
        "retrieval_policy": str(rng.choice(["recent", "coverage", "cycle_aware"])),
        "node_priors": {root: masses(rng, size)} if rng.random() < 0.3 else {},
    }  # fmt: skip
    if rng.random() < 0.3:
        reach = {"max_hops": int(rng.integers(1, 4)), "max_nodes": int(rng.integers(1, len(nodes) + 1))}
        return NAMES | asked | reach | {"seeds": [root]}
    listed = sorted({root, *rng.choice(nodes, size=len(nodes) - 1).tolist()})
    priors = {node: masses(rng, size) for node in listed if rng.random() < 0.2}
    return NAMES | asked | {"nodes": listed, "node_priors": asked["node_priors"] | priors}


def capsules(seed: int) -> tuple[Payload, Payload]:
    """Ours and the peer's."""
    rng = np.random.default_rng([2026, seed])
    law = read_law(str(rng.choice(LAWS)))
    n_nodes = int(rng.integers(2, 2 + int(np.log(MOST_STATES) / np.log(law.size))))
    nodes = [f"n{number}" for number in range(n_nodes)]
    told = [observation(rng, number, nodes, law.size) for number in range(int(rng.integers(0, 14)))]
    revoked = [
        (one["observation_id"], one["observed_at"] + float(rng.integers(9))) for one in told if rng.random() < 0.15
    ]
    asked = question(rng, nodes, law.size)
    harness = PosteriorMemoryHarness()
    harness.register_relation("rel", FiniteRelationLaw.from_dict(law_document(law)))
    for payload in told:
        harness.observe_payload(payload)
    for id, at in revoked:
        harness.revoke(id, at)
    return SmallStore(law, told, revocations=revoked).capsule(asked, profile="compat"), harness.query_payload(asked)


@pytest.mark.parametrize("group", range(N_GROUPS))
def test_the_peer_as_it_runs_and_we_answer_alike(group: int) -> None:
    n_with_conflict = n_with_evidence = 0
    for seed in range(group, N_CASES, N_GROUPS):
        ours, theirs = capsules(seed)
        assert theirs["inference_backend"] in ("exact", "prior-only")
        ties = [one["node"] for one in theirs["beliefs"]]
        close(without_ties(ours, ties), without_ties(theirs, ties), f"case {seed}")
        n_with_conflict += bool(theirs["conflicts"])
        n_with_evidence += bool(theirs["used_observation_ids"])
    # Cases that say nothing would agree whatever is computed.
    assert n_with_evidence >= 10
    assert n_with_conflict >= 3
