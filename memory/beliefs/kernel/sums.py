"""The three reductions of a table of logs over its variable: sum, maximum, and both of a product that is never made.

Tables have the shape (S, k, rest, B): S runs side by side, k labels of the variable, `rest` states of the scope, B
cliques. What is large is walked in pieces that stay in the second-level cache.

Invariants
- A sum is taken after its largest term is subtracted; a column of impossibilities gives -inf and no not-a-number.
- Conditionals are linear values in [0, 1]; the columns of what is possible sum to one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memory.beliefs.kernel.groups import Booleans, Floats, Indices

# 512 KiB of float64.
PIECE_ENTRIES = 1 << 16


def log_sum(table: Floats) -> Floats:
    """Log of the sum over the variable, (S, rest, B). The table is consumed: it becomes the conditionals."""
    if table.size <= 2 * PIECE_ENTRIES:
        return _log_sum(table)
    found = np.empty((table.shape[0], *table.shape[2:]))
    for piece in pieces(table.shape):
        found[piece] = _log_sum(table[piece[0], :, piece[1], piece[2]])
    return found


def best(table: Floats, *, tolerance: float) -> tuple[Floats, Indices, Booleans]:
    """Largest entry over the variable, the first label that has it, and whether another comes within the tolerance;
    each (S, rest, B)."""
    if table.size <= 2 * PIECE_ENTRIES:
        return _best(table, tolerance=tolerance)
    shape = (table.shape[0], *table.shape[2:])
    found = (np.empty(shape), np.empty(shape, dtype=np.intp), np.empty(shape, dtype=bool))
    for piece in pieces(table.shape):
        for whole, part in zip(found, _best(table[piece[0], :, piece[1], piece[2]], tolerance=tolerance), strict=True):
            whole[piece] = part
    return found


def pieces(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice, slice]]:
    """Slices of (S, rest, B) that cover a table of (S, k, rest, B), each of about the size that is kept close."""
    n_runs, k, rest, size = shape
    rest_step = min(rest, max(1, PIECE_ENTRIES // (k * size)))
    size_step = min(size, max(1, PIECE_ENTRIES // (k * rest_step)))
    for run in range(n_runs):
        for begin in range(0, rest, rest_step):
            for first in range(0, size, size_step):
                yield slice(run, run + 1), slice(begin, begin + rest_step), slice(first, first + size_step)


def _log_sum(table: Floats) -> Floats:
    peak = np.maximum.reduce(table, axis=1)
    if np.isfinite(peak).all():
        table -= peak[:, None]
        np.exp(table, out=table)
        total = np.add.reduce(table, axis=1)
        table /= total[:, None]
        found: Floats = np.log(total)
        found += peak
        return found
    is_possible = peak > -np.inf
    table -= np.where(is_possible, peak, 0.0)[:, None]
    np.exp(table, out=table)
    total = np.where(is_possible, np.add.reduce(table, axis=1), 1.0)
    table /= total[:, None]
    return np.where(is_possible, np.log(total) + peak, -np.inf)


def _best(table: Floats, *, tolerance: float) -> tuple[Floats, Indices, Booleans]:
    peak = np.maximum.reduce(table, axis=1)
    first = np.argmax(table, axis=1)
    n_near = np.add.reduce(table >= (peak - tolerance)[:, None], axis=1)
    return peak, first, n_near > 1
