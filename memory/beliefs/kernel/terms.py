"""The words in which a question is put to the engine and answered: budget, inference, refusals.

Model: P(z) is proportional to 1[z_root = e] * prod_v phi_v(z_v) * prod_e f_e(inverse[z_u] * z_v), factors and priors as
logs. n nodes, E edges (observations), k labels; nats throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from memory.beliefs.kernel.groups import Booleans, Floats, Indices

Mode = Literal["auto", "exact"]
Wants = Literal["full", "marginals"]
Method = Literal["enumeration", "junction_tree", "subgraph"]
Certainty = Literal["exact", "certified", "uncertified", "unreliable"]


class InvalidInput(ValueError):
    """What was put to the engine has no meaning; `edge` is the index of the edge at fault, if it is one."""

    def __init__(self, message: str, *, edge: int | None = None) -> None:
        super().__init__(message)
        self.edge = edge


class WidthExceeded(ValueError):
    """An exact answer needs more than the budget allows: at least `largest` entries in one clique of `width` + 1 nodes,
    and at least `total` in all of them."""

    def __init__(self, width: int, largest: int, total: int) -> None:
        super().__init__(
            f"an exact answer needs at least {largest} entries in a clique of {width + 1} nodes, and {total} in all"
        )
        self.width = width
        self.largest = largest
        self.total = total


class Conflicting(NamedTuple):
    """Edges that cannot all hold, or hardly. edges : indices, ascending.   is_minimal : whether each of them is known
    to be needed for that; a search that would take too long ends with more."""

    edges: tuple[int, ...]
    is_minimal: bool = True


class Contradiction(ValueError):
    """No assignment is possible. `edges` : indices, ascending; where `is_minimal`, without any one of them the others
    could hold."""

    def __init__(self, edges: tuple[int, ...], *, is_minimal: bool = True) -> None:
        super().__init__(f"the edges {list(edges)} cannot all hold")
        self.edges = edges
        self.is_minimal = is_minimal


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may cost. Entries are numbers of the largest table and of all tables; `samples` and `delta` are for
    the answer beyond them: how many draws, and the probability that any of its intervals is wrong."""

    largest_entries: int = 1 << 22
    total_entries: int = 1 << 24
    samples: int = 40_000
    delta: float = 0.05
    certified_width: float = 0.25
    least_effective_samples: float = 500.0


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """The cost of an exact run, known before it: `is_admissible` under the budget it was asked for."""

    width: int
    largest_entries: int
    total_entries: int
    seconds: float
    is_admissible: bool


@dataclass(frozen=True, slots=True, eq=False)
class Inference:
    """What the evidence amounts to.

    log_z            : log of the sum over all assignments, nats.
    marginals        : (n, k) in [0, 1], rows sum to one within 1e-12; the row of the root is one-hot.
    map_states       : (n,) the best assignment; of equals the lexicographically first in the order of the nodes.
    map_score        : its log density, not normalised.
    edge_posterior   : (E, k) P(relation of e | all).
    cavity           : (E, k) P(relation of e | all but e).
    loo_log_z        : (E,) log_z without e.
    conflict_nats    : (E,) log Bayes factor of "e is unrelated" against "e holds"; 0 at a bridge.
    is_bridge        : (E,) no second path between its ends and no prior beyond it.
    lower, upper     : (n, k) bounds of the marginals, None where they are exact.
    effective_samples: None where exact. `log_z_interval` likewise.
    dropped_edges    : indices left out of the proposal beyond the budget; their weight is in the answer.
    width, entries   : of the plan that ran.

    Asked for marginals only, the arrays of the edges are empty, `map_states` too, and `map_score` is not a number.
    Beyond the budget all but the bounds are estimates, and MAP is the best assignment that was met.
    """

    log_z: float
    marginals: Floats
    map_states: Indices
    map_score: float
    edge_posterior: Floats
    cavity: Floats
    loo_log_z: Floats
    conflict_nats: Floats
    is_bridge: Booleans
    method: Method
    certainty: Certainty
    width: int
    entries: int
    lower: Floats | None = None
    upper: Floats | None = None
    effective_samples: float | None = None
    n_samples: int = 0
    log_z_interval: tuple[float, float] | None = None
    dropped_edges: tuple[int, ...] = ()

    @property
    def is_exact(self) -> bool:
        return self.certainty == "exact"


def no_edges(k: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Empty posterior, cavity, leave-one-out and conflict, for an answer of marginals only."""
    return np.empty((0, k)), np.empty((0, k)), np.empty(0), np.empty(0)
