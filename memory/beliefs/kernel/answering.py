"""From a query and the observations it uses to an answer: factors, priors, inference, and its refusals in our words.

Invariants
- An answer depends on the query (its instant left out), the law and the observations used, and on nothing else; the
  draws of an answer over the budget are seeded by them.
- `inference` is a wish: `exact` refuses an answer over the budget, and nothing ever chooses a worse one.
- A prior on the root is checked and has no effect.

Source: posterior-memory-harness 0.9.0 for the meaning of a query; `engine` for the numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory.base.errors import Conflict, Invalid, Place
from memory.beliefs.kernel.engine import DEFAULT_BUDGET, infer
from memory.beliefs.kernel.factors import compat_log_factors, floored, log_prior, strict_log_factors
from memory.beliefs.kernel.groups import Floats, Group, Indices, group_of
from memory.beliefs.kernel.hashing import peer_json
from memory.beliefs.kernel.laws import Law, fingerprint
from memory.beliefs.kernel.questions import InferenceSettings, QueryDocument, node_priors
from memory.beliefs.kernel.terms import Budget, Contradiction, Inference, WidthExceeded

DEFAULT_SETTINGS = InferenceSettings()


@dataclass(frozen=True, slots=True, eq=False)
class Used:
    """The observations of an answer, in the order used.

    ids : E texts.   source, target : (E,) indices of nodes.   posterior, prior : (E, S) raw masses; see `stacked`.
    trust : (E,) in 0..1.
    """

    ids: tuple[str, ...]
    source: Indices
    target: Indices
    posterior: Floats
    prior: Floats
    trust: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a query comes to. `inference` is None where no observation was used.

    marginals : (n, S), rows sum to one, the root's is one-hot.   log_evidence, log_bayes_factor : nats; the latter is
    against the same evidence with every factor replaced by its mean, and comparable between queries.
    """

    query: QueryDocument
    law: Law
    group: Group
    nodes: tuple[str, ...]
    root: int
    used: Used
    log_factors: Floats
    log_priors: Mapping[int, Floats]
    marginals: Floats
    log_evidence: float
    log_bayes_factor: float
    inference: Inference | None
    has_zero_floor: bool
    is_root_prior_ignored: bool
    budget: Budget


def stacked(vectors: Sequence[Floats | None], *, size: int) -> Floats:
    """(E, S) from E vectors of S masses; None is uniform."""
    if not vectors:
        return np.empty((0, size))
    uniform = np.full(size, 1.0 / size)
    return np.stack([uniform if vector is None else vector for vector in vectors])


def answer(
    query: QueryDocument,
    *,
    law: Law,
    nodes: Sequence[str],
    used: Used,
    settings: InferenceSettings = DEFAULT_SETTINGS,
    budget: Budget = DEFAULT_BUDGET,
    has_zero_floor: bool = False,
) -> Answer:
    """What the observations used say of the nodes, seen from the root of the query.

    nodes : listed or discovered, texts, the root among them.   has_zero_floor : a zero is impossible, not improbable.
    Raises Invalid (a prior of another length; an exact answer over the budget), Conflict (no assignment is possible).
    """
    priors = {node: prior for node, prior in node_priors(query, law).items() if node in nodes}
    is_root_prior_ignored = priors.pop(query.root, None) is not None
    index = {node: position for position, node in enumerate(nodes)}
    logs = {index[node]: log_prior(prior) for node, prior in priors.items()}
    factors = _factors(query, used, settings, has_zero_floor=has_zero_floor)
    group = group_of(fingerprint(law), table=law.table, identity=law.identity)
    root = index[query.root]
    if used.ids:
        inference = _inferred(query, group, len(nodes), root, used, factors, logs, budget)
        marginals, log_evidence = inference.marginals, inference.log_z
        bayes_factor = log_evidence - _log_evidence_of_nothing(factors, len(nodes) - 1 - len(logs))
    else:
        inference, marginals, log_evidence = None, _prior_only(law, len(nodes), root, logs), 0.0
        bayes_factor = 0.0
    return Answer(
        query=query, law=law, group=group, nodes=tuple(nodes), root=root, used=used, log_factors=factors,
        log_priors=logs, marginals=marginals, log_evidence=log_evidence, log_bayes_factor=bayes_factor,
        inference=inference, has_zero_floor=has_zero_floor, is_root_prior_ignored=is_root_prior_ignored, budget=budget,
    )  # fmt: skip


def seed_of(query: QueryDocument, used_ids: Sequence[str]) -> int:
    """The seed of an answer: the same for the same question about the same observations, whenever it is asked."""
    asked = {name: getattr(query, name) for name in QueryDocument.__slots__ if name != "as_of"}
    asked["node_priors"] = {
        node: dict(prior) if isinstance(prior, Mapping) else list(prior) for node, prior in query.node_priors.items()
    }
    return int.from_bytes(hashlib.sha256(peer_json([asked, list(used_ids)]).encode()).digest()[:8], "big")


def _factors(query: QueryDocument, used: Used, settings: InferenceSettings, *, has_zero_floor: bool) -> Floats:
    if has_zero_floor and not query.hard_top1:
        return strict_log_factors(used.posterior, mu=used.prior, trust=used.trust, outside="flag")
    return compat_log_factors(
        used.posterior,
        mu=used.prior,
        trust=used.trust,
        hard_top1=query.hard_top1,
        point_mass_error=settings.point_mass_error,
    )


def _inferred(
    query: QueryDocument,
    group: Group,
    n: int,
    root: int,
    used: Used,
    factors: Floats,
    priors: Mapping[int, Floats],
    budget: Budget,
) -> Inference:
    try:
        return infer(
            group, n=n, root=root, src=used.source, dst=used.target, log_factors=factors, priors=priors, budget=budget,
            mode="exact" if query.inference == "exact" else "auto", seed=seed_of(query, used.ids),
        )  # fmt: skip
    except Contradiction as error:
        ids = [used.ids[edge] for edge in error.edges]
        raise Conflict(
            f"These observations cannot all hold: {', '.join(ids)}.", observation_ids=ids, minimal=error.is_minimal
        ) from error
    except WidthExceeded as error:
        place = Place(
            ("inference",), "over_budget", f"at most {budget.largest_entries} entries in a clique", str(error)
        )
        raise Invalid(
            f"inference: {error}{'; `auto` answers by sampling' if query.inference == 'exact' else ''}.",
            errors=(place,), width=error.width, largest_entries=error.largest, total_entries=error.total,
        ) from error  # fmt: skip


def _prior_only(law: Law, n: int, root: int, priors: Mapping[int, Floats]) -> Floats:
    marginals = np.full((n, law.size), 1.0 / law.size)
    for node, logs in priors.items():
        marginals[node] = floored(np.exp(logs)[None])[0]
    marginals[root] = np.eye(law.size)[law.identity]
    return marginals


def _log_evidence_of_nothing(factors: Floats, n_free_nodes: int) -> float:
    """log_evidence with each factor replaced by its mean over the relations; node priors sum to one and add nothing."""
    log_size = math.log(factors.shape[1])
    return n_free_nodes * log_size + float(np.logaddexp.reduce(factors, axis=1).sum()) - len(factors) * log_size
