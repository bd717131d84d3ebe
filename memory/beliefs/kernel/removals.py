"""An answer without one of its observations: what each of them carries.

Source: leave-one-out by deletion. The engine gives log evidence and cavity of every edge from one run; what a node is
believed to be without an edge needs a run of its own, which is cheap for the graphs that a person looks at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory.beliefs.kernel.answering import Answer
from memory.beliefs.kernel.engine import infer
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.terms import Inference


def without_each(answer: Answer, *, node: int, edges: Sequence[int]) -> Floats:
    """(len(edges), S) P(node | all but the edge), a row for each edge.

    answer : exact.   node : index of a node.   edges : indices of observations used.
    Raises InvalidInput, WidthExceeded as the engine does; IndexError for what is no edge or node.
    """
    rows = np.empty((len(edges), answer.law.size))
    kept = np.ones(len(answer.used.ids), dtype=bool)
    for row, edge in enumerate(edges):
        kept[edge] = False
        rows[row] = _inferred(answer, kept).marginals[node]
        kept[edge] = True
    return rows


def largest_difference(answer: Answer) -> float:
    """The largest difference of a probability when nodes and observations are worked off in the opposite order."""
    n = len(answer.nodes)
    again = infer(
        answer.group, n=n, root=n - 1 - answer.root, src=n - 1 - answer.used.source[::-1],
        dst=n - 1 - answer.used.target[::-1], log_factors=answer.log_factors[::-1],
        priors={n - 1 - node: prior for node, prior in answer.log_priors.items()}, budget=answer.budget, seed=1,
        wants="marginals",
    )  # fmt: skip
    return float(np.abs(again.marginals[::-1] - answer.marginals).max(initial=0.0))


def _inferred(answer: Answer, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Inference:
    return infer(
        answer.group, n=len(answer.nodes), root=answer.root, src=answer.used.source[kept],
        dst=answer.used.target[kept], log_factors=answer.log_factors[kept], priors=answer.log_priors,
        budget=answer.budget, mode="exact", wants="marginals",
    )  # fmt: skip
