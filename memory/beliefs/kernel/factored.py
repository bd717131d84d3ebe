"""Cliques of three nodes kept as two matrices: the table of k^3 entries never exists.

The log table is first(v, a) + second(v, b); arrays are (S, k, k, B), one matrix for each run and clique.

Invariants
- Sums are matrix products of scaled exponentials; where the smallest entry of the product would lose digits, or is
  impossible, the same sum is taken in logs, piece by piece.
- Both ways give the same answer within rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from memory.beliefs.kernel.groups import Booleans, Floats
from memory.beliefs.kernel.sums import PIECE_ENTRIES, reduced

# Below it a product of two numbers in [0, 1] may have lost terms that count.
SMALLEST_PRODUCT = 1e-100


@dataclass(frozen=True, slots=True, eq=False)
class Factored:
    """What is kept of the upward pass, one run: logs, scaled exponentials (B, k, k) and their product.

    first, second : (k, k, B) logs, axes (v, a) and (v, b).   message : (k, k, B) logs, axes (a, b).
    is_scaled : (B,) whether `product` holds, otherwise the logs are used.
    """

    first: Floats
    second: Floats
    message: Floats
    scaled_first: Floats
    scaled_second: Floats
    product: Floats
    is_scaled: Booleans


def factored_sum(first: Floats, second: Floats) -> Factored:
    """Log of the sum over v of exp(first(v, a) + second(v, b)), with what the way down needs."""
    peaks = [np.maximum.reduce(part, axis=0) for part in (first, second)]
    safe = [np.where(peak > -np.inf, peak, 0.0) for peak in peaks]
    scaled = [np.exp(part - peak).transpose(2, 0, 1) for part, peak in zip((first, second), safe, strict=True)]
    product = np.matmul(scaled[0].transpose(0, 2, 1), scaled[1])
    is_scaled = product.min(axis=(1, 2)) > SMALLEST_PRODUCT
    with np.errstate(divide="ignore"):
        message = np.log(product).transpose(1, 2, 0) + safe[0][:, None] + safe[1][None]
    for clique in np.flatnonzero(~is_scaled):
        for begin, table in _pieces(first[..., clique], second[..., clique]):
            sums = reduced(table.reshape(1, len(table), -1, 1), n_sums=1, is_hard=True)
            message[begin : begin + table.shape[1], :, clique] = sums.reshape(table.shape[1:])
    return Factored(first, second, message, scaled[0], scaled[1], product, is_scaled)


def factored_beliefs(kept: Factored, over: Floats) -> tuple[Floats, Floats]:
    """Pair beliefs (v, a) and (v, b), each (k, k, B), from the belief of the scope: `over` (k, k, B), axes (a, b)."""
    ratio = over.transpose(2, 0, 1) / np.where(kept.is_scaled[:, None, None], kept.product, 1.0)
    one = kept.scaled_first * np.matmul(kept.scaled_second, ratio.transpose(0, 2, 1))
    other = kept.scaled_second * np.matmul(kept.scaled_first, ratio)
    pairs = one.transpose(1, 2, 0).copy(), other.transpose(1, 2, 0).copy()
    for clique in np.flatnonzero(~kept.is_scaled):
        pairs[1][..., clique] = 0.0
        for begin, logs in _pieces(kept.first[..., clique], kept.second[..., clique]):
            stop = begin + logs.shape[1]
            reduced(logs.reshape(1, len(logs), -1, 1), n_sums=1, is_hard=True)
            table = np.multiply(logs, over[begin:stop, :, clique], out=logs)
            pairs[0][:, begin:stop, clique] = table.sum(axis=2)
            pairs[1][..., clique] += table.sum(axis=1)
    return pairs


def factored_best(first: Floats, second: Floats) -> Floats:
    """Largest of first(v, a) + second(v, b) over v, (k, k, B)."""
    found = np.empty((first.shape[1], second.shape[1], first.shape[2]))
    for clique in range(first.shape[2]):
        for begin, table in _pieces(first[..., clique], second[..., clique]):
            found[begin : begin + table.shape[1], :, clique] = np.maximum.reduce(table, axis=0)
    return found


def _pieces(first: Floats, second: Floats) -> Iterator[tuple[int, Floats]]:
    """The log table of one clique in pieces (v, some a, b), with where each begins on the axis a."""
    k = len(first)
    step = max(1, PIECE_ENTRIES // (k * k))
    for begin in range(0, k, step):
        yield begin, first[:, begin : begin + step, None] + second[:, None, :]
