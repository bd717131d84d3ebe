"""A table of logs reduced over its variable: by a sum, or by the maximum.

Tables have the shape (S, k, rest, B): S runs side by side, k labels of the variable, `rest` states of the scope, B
cliques. What is large is walked in pieces that stay in the second-level cache.

Invariants
- A sum is taken after its largest term is subtracted; a column of impossibilities gives -inf and no not-a-number.
- Conditionals are linear values in [0, 1]; the columns of what is possible sum to one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memory.beliefs.kernel.groups import Floats

# 512 KiB of float64.
PIECE_ENTRIES = 1 << 16


def reduced(table: Floats, *, n_sums: int, is_hard: bool) -> Floats:
    """Log of the sum over the variable in the first runs, the maximum in the others: (S, rest, B).

    The first runs of the table are consumed: they become the conditionals. is_hard : whether it may hold -inf.
    """
    if table.size <= 2 * PIECE_ENTRIES:
        return _reduced(table, n_sums=n_sums, is_hard=is_hard)
    found = np.empty((table.shape[0], *table.shape[2:]))
    for run, rest, size in pieces(table.shape):
        part = table[run : run + 1, :, rest, size]
        found[run : run + 1, rest, size] = _reduced(part, n_sums=int(run < n_sums), is_hard=is_hard)
    return found


def pieces(shape: tuple[int, ...]) -> Iterator[tuple[int, slice, slice]]:
    """Runs and slices of (rest, B) that cover a table of (S, k, rest, B), each of about the size that is kept close."""
    n_runs, k, rest, size = shape
    rest_step = min(rest, max(1, PIECE_ENTRIES // (k * size)))
    size_step = min(size, max(1, PIECE_ENTRIES // (k * rest_step)))
    for run in range(n_runs):
        for begin in range(0, rest, rest_step):
            for first in range(0, size, size_step):
                yield run, slice(begin, begin + rest_step), slice(first, first + size_step)


def _reduced(table: Floats, *, n_sums: int, is_hard: bool) -> Floats:
    found: Floats = np.maximum.reduce(table, axis=1)
    if n_sums:
        sums, peak = table[:n_sums], found[:n_sums]
        is_possible = peak > -np.inf if is_hard else None
        sums -= (peak if is_possible is None else np.where(is_possible, peak, 0.0))[:, None]
        np.exp(sums, out=sums)
        total = np.add.reduce(sums, axis=1)
        if is_possible is not None:
            total[~is_possible] = 1.0
        sums /= total[:, None]
        peak += np.log(total, out=total)
    return found
