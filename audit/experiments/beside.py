"""The same worlds answered by the peer package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from audit.experiments.drawing import ROOT, Edges
from audit.peer import peer
from memory.beliefs.kernel.groups import Floats


def observations(posteriors: Floats, *, edges: Edges, nodes: Sequence[str], observed_at: Sequence[float]) -> list[Any]:
    """The edges of one episode as the peer holds them: a uniform prior, and an evidence family of its own for each."""
    make, size = peer().MemoryObservation, posteriors.shape[1]
    return [
        make(
            observation_id=f"o{place}", namespace="experiment", relation_type="checkpoint", source=nodes[source],
            target=nodes[target], posterior=tuple(row), prior=(1.0 / size,) * size, evidence_family=f"family_{place}",
            observed_at=float(at),
        )
        for place, ((source, target), row, at) in enumerate(zip(edges, posteriors.tolist(), observed_at, strict=True))
    ]  # fmt: skip


def solved(posteriors: Floats, *, edges: Edges, nodes: Sequence[str], hard_top1: bool = False) -> Floats:
    """Exact marginals (N, n, S) under S3.   posteriors : (N, E, S).   Raises NoPeer."""
    package, inference = peer(), peer("inference")
    law, config = package.s3_law(), package.InferenceConfig()
    query = package.MemoryQuery(
        namespace="experiment", relation_type="checkpoint", nodes=tuple(nodes), root=nodes[ROOT],
        as_of=float(len(edges)), hard_top1=hard_top1, inference="exact",
    )  # fmt: skip
    times = range(len(edges))
    told = (observations(rows, edges=edges, nodes=nodes, observed_at=times) for rows in posteriors)
    return np.array([inference.exact_inference(law, query, tuple(rows), config).marginals for rows in told])
