"""How large a run is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """`n_seeds` of graphs, each with all its episodes; `n_streams` of `n_labels` for monitors.

    is_beside_peer : also ask the peer package about every episode.
    """

    n_seeds: int = 20
    n_streams: int = 300
    n_labels: int = 5_000
    is_beside_peer: bool = False


WHOLE = Size()
SMALL = Size(n_seeds=2, n_streams=40, n_labels=500)
