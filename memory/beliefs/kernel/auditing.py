"""What a capsule says beyond the peer's keys: how sure the answer is, what each observation adds, what was left out.

Invariants
- `conflicts` holds every used observation with a trust above 0, strongest first; strength in nats: above 0 the rest
  speaks against it, below 0 for it, 0 for a bridge. Those without trust are counted.
- `cavity` is the belief about the relation without the observation; `relation_posterior` is the belief with it. Both
  follow the order of `labels`.
- `near_contradiction` names a set once a strength exceeds 20 nats; `near_contradiction_minimal`: none of it can go.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from memory.beliefs.kernel.answering import Answer
from memory.beliefs.kernel.disjoint import DisjointSets
from memory.beliefs.kernel.engine import conflicting_set
from memory.beliefs.kernel.factors import floored
from memory.beliefs.kernel.masses import flagged
from memory.beliefs.kernel.retrieval import Retrieved
from memory.beliefs.kernel.terms import Conflicting, Inference

NEAR_CONTRADICTION_NATS = 20.0


def audit(answer: Answer, *, retrieved: Retrieved) -> dict[str, object]:
    """The object `audit` of a capsule."""
    inference = answer.inference
    near = _near_contradiction(answer)
    return {
        "method": "prior_only" if inference is None else inference.method,
        "certainty": "exact" if inference is None else inference.certainty,
        "width": 0 if inference is None else inference.width,
        "entries": 0 if inference is None else inference.entries,
        "log_bayes_factor": answer.log_bayes_factor,
        "log_evidence_interval": _interval(inference),
        "effective_samples": None if inference is None else inference.effective_samples,
        "intervals": _intervals(answer),
        "left_out_of_proposal": _left_out(answer),
        "dropped_observation_count": retrieved.dropped_observation_count,
        "zero_trust_count": int(np.count_nonzero(answer.used.trust == 0.0)),
        "labels": list(answer.law.labels),
        "conflicts": _conflicts(answer),
        "near_contradiction": None if near is None else [answer.used.ids[edge] for edge in near.edges],
        "near_contradiction_minimal": None if near is None else near.is_minimal,
        "flags": _flags(answer),
        "root_prior_ignored": answer.is_root_prior_ignored,
        "evidence": _evidence(answer),
    }


def _interval(inference: Inference | None) -> list[float] | None:
    return None if inference is None or inference.log_z_interval is None else list(inference.log_z_interval)


def _intervals(answer: Answer) -> list[dict[str, object]] | None:
    """Bounds of every probability, by node and in the order of `labels`; null where the answer is exact."""
    inference = answer.inference
    if inference is None or inference.lower is None or inference.upper is None:
        return None
    return [
        {"node": node, "lower": lower, "upper": upper}
        for node, lower, upper in zip(answer.nodes, inference.lower.tolist(), inference.upper.tolist(), strict=True)
    ]


def _left_out(answer: Answer) -> list[str]:
    """Observations whose weight is in the answer, but not in the graph it was drawn from."""
    return [] if answer.inference is None else [answer.used.ids[edge] for edge in answer.inference.dropped_edges]


def _conflicts(answer: Answer) -> list[dict[str, object]]:
    inference, used, labels = answer.inference, answer.used, answer.law.labels
    if inference is None:
        return []
    source, target, states = used.source.tolist(), used.target.tolist(), inference.map_states
    inferred = answer.group.relative[states[used.source], states[used.target]].tolist()
    local, likely = floored(used.posterior).argmax(axis=1).tolist(), answer.log_factors.argmax(axis=1).tolist()
    strength, is_bridge = inference.conflict_nats.tolist(), inference.is_bridge.tolist()
    without, cavity, belief = (
        one.tolist() for one in (inference.loo_log_z, inference.cavity, inference.edge_posterior)
    )  # fmt: skip
    order = sorted(np.flatnonzero(used.trust > 0.0).tolist(), key=lambda edge: (-strength[edge], edge))
    return [
        {
            "observation_id": used.ids[edge],
            "source": answer.nodes[source[edge]],
            "target": answer.nodes[target[edge]],
            "strength_nats": strength[edge],
            "is_bridge": is_bridge[edge],
            "loo_log_evidence": without[edge],
            "local_top1": labels[local[edge]],
            "likelihood_top1": labels[likely[edge]],
            "inferred_relation": labels[inferred[edge]],
            "cavity": cavity[edge],
            "relation_posterior": belief[edge],
        }
        for edge in order
    ]


def _near_contradiction(answer: Answer) -> Conflicting | None:
    inference = answer.inference
    if inference is None or not inference.is_exact or answer.has_zero_floor:
        return None
    worst = int(inference.conflict_nats.argmax())
    if inference.conflict_nats[worst] <= NEAR_CONTRADICTION_NATS:
        return None
    return conflicting_set(
        answer.group, n=len(answer.nodes), root=answer.root, src=answer.used.source, dst=answer.used.target,
        log_factors=answer.log_factors, edge=worst, priors=answer.log_priors,
        threshold_nats=NEAR_CONTRADICTION_NATS, budget=answer.budget,
    )  # fmt: skip


def _flags(answer: Answer) -> list[dict[str, object]]:
    used = answer.used
    found = flagged(used.posterior, used.prior)
    rows = np.flatnonzero(np.logical_or.reduce(list(found.values()))).tolist()
    return [
        {"observation_id": used.ids[row], "flags": [flag for flag, is_flagged in found.items() if is_flagged[row]]}
        for row in rows
    ]


def _evidence(answer: Answer) -> list[dict[str, object]]:
    """For each node how many used observations touch it, and how many lie in its connected component."""
    nodes, used = range(len(answer.nodes)), answer.used
    sets = DisjointSets(nodes)
    edges = list(zip(used.source.tolist(), used.target.tolist(), strict=True))
    for source, target in edges:
        sets.join(source, target)
    in_component = Counter(sets.root(source) for source, _ in edges)
    touching = Counter(node for edge in edges for node in set(edge))
    return [
        {"node": answer.nodes[node], "touching_count": touching[node], "connected_count": in_component[sets.root(node)]}
        for node in nodes
    ]
