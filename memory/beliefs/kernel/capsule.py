"""The capsule: an answer as a document, with the peer's keys in the peer's order and what we add under `audit`.

Invariants
- Candidates go by probability, descending; gaps under 1e-12 are ties and follow the order of the labels, and no
  candidate shows more than the one before it.
- An observation is in conflict when the relation of its edge in the best assignment is not its own most probable one.
- `instructions` is empty: what is remembered is evidence, never a command.

Source: posterior-memory-harness 0.9.0, its capsule.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memory.beliefs.kernel.answering import Answer
from memory.beliefs.kernel.auditing import audit
from memory.beliefs.kernel.documents import Profile
from memory.beliefs.kernel.factors import floored
from memory.beliefs.kernel.groups import Floats, Indices
from memory.beliefs.kernel.retrieval import Retrieved

TIE = 1e-12

_BEAM_KEYS = (
    "base_beam_size", "comparison_beam_size", "map_agreement", "max_marginal_tv", "max_entropy_delta",
    "marginal_tv_tolerance", "entropy_tolerance",
)  # fmt: skip


def capsule(answer: Answer, *, retrieved: Retrieved, profile: Profile, top_k: int | None = None) -> dict[str, object]:
    """The capsule of an answer.

    top_k : candidates of each node; the query's by default, clamped to the labels.   Under compat there is no `audit`.
    """
    query = answer.query
    shown = min(query.top_k if top_k is None else top_k, answer.law.size)
    told: dict[str, object] = {
        "namespace": query.namespace,
        "relation_type": query.relation_type,
        "beliefs": _beliefs(answer, shown),
        "conflicts": _conflicts(answer),
        "used_observation_ids": list(answer.used.ids),
        "inference_backend": _backend(answer),
        "approximate": answer.inference is not None and not answer.inference.is_exact,
        "log_evidence": answer.log_evidence,
        "retrieval": _retrieval(answer, retrieved),
        "inference_diagnostics": _diagnostics(answer),
        "instructions": [],
    }
    if profile == "native":
        told["audit"] = audit(answer, retrieved=retrieved)
    return told


def ranked(probabilities: Floats) -> tuple[Indices, Floats]:
    """States of each row from the most probable to the least, and what is shown for them.   probabilities : (n, S).

    >>> ranked(np.array([[0.2, 0.4, 0.4 + 1e-15]]))[0].tolist()
    [[1, 2, 0]]
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sorted_rows = np.take_along_axis(probabilities, order, axis=1)
    is_gap = np.diff(sorted_rows, axis=1, prepend=np.inf) < -TIE
    order = np.take_along_axis(order, np.lexsort((order, np.cumsum(is_gap, axis=1))), axis=1)
    return order, np.minimum.accumulate(np.take_along_axis(probabilities, order, axis=1), axis=1)


def _beliefs(answer: Answer, top_k: int) -> list[dict[str, object]]:
    order, probabilities = ranked(answer.marginals)
    labels = answer.law.labels
    return [
        {
            "node": node,
            "candidates": [
                {"state": labels[state], "probability": probability}
                for state, probability in zip(states[:top_k], shares[:top_k], strict=True)
            ],
        }
        for node, states, shares in zip(answer.nodes, order.tolist(), probabilities.tolist(), strict=True)
    ]


def _conflicts(answer: Answer) -> list[Mapping[str, str]]:
    if answer.inference is None:
        return []
    used, labels, states = answer.used, answer.law.labels, answer.inference.map_states
    inferred = answer.group.relative[states[used.source], states[used.target]]
    local = floored(used.posterior).argmax(axis=1)
    return [
        {
            "observation_id": used.ids[edge],
            "source": answer.nodes[used.source[edge]],
            "target": answer.nodes[used.target[edge]],
            "local_top1": labels[local[edge]],
            "inferred_relation": labels[inferred[edge]],
        }
        for edge in np.flatnonzero(inferred != local).tolist()
    ]


def _backend(answer: Answer) -> str:
    if answer.inference is None:
        return "prior-only"
    return "exact" if answer.inference.is_exact else f"subgraph-{answer.inference.n_samples}"


def _retrieval(answer: Answer, retrieved: Retrieved) -> dict[str, object]:
    structure = retrieved.structure
    is_discovery = retrieved.mode == "neighborhood"
    return {
        "mode": retrieved.mode,
        "seed_nodes": list(answer.query.nodes) if is_discovery else [],
        "hops_explored": retrieved.hops_explored,
        "node_limit_hit": retrieved.node_limit_hit,
        "observation_limit_hit": retrieved.observation_limit_hit,
        "truncated": retrieved.node_limit_hit or retrieved.observation_limit_hit,
        "policy": retrieved.policy,
        "selected_observation_count": structure.selected_observation_count,
        "independent_lineage_count": structure.independent_lineage_count,
        "connected_components": structure.connected_components,
        "cycle_rank": structure.cycle_rank,
        "covered_node_fraction": structure.covered_node_fraction,
        "factor_information_score": structure.factor_information_score,
        "cycle_information_score": structure.cycle_information_score,
    }


def _diagnostics(answer: Answer) -> dict[str, object]:
    inference = answer.inference
    if inference is None:
        mode, is_stable = "prior-only", True
    else:
        mode = "exact" if inference.is_exact else "subgraph"
        is_stable = inference.certainty in ("exact", "certified")
    return {"mode": mode, "stable": is_stable, **dict.fromkeys(_BEAM_KEYS)}
