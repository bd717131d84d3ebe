"""BM25 over what the SQLite index held up to a document, whatever has been indexed since.

FTS5 ranks by the statistics of all that it holds now. An answer for a past entry must rest on those of then: which
documents hold a term, how often, how long they are. The formula is that of FTS5 step by step, in its order of
operations, so that the scores of a past point are those that the index itself gave while that point was the head.

- An index without content tells no counts. What it scores a document for one term is a function of the count, and the
  count is a whole number, so it is read back from the score.
- One statement, whatever the number of terms and documents.

Source: SQLite FTS5, function bm25 and the table of document sizes; Robertson and Zaragoza 2009.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

K1, B = 1.2, 0.75
TOKENIZER = "porter unicode61"
LEAST_WEIGHT = 1e-6
SIZES = -1


@dataclass(frozen=True, slots=True)
class Corpus:
    """How many documents there are, and how many tokens they have on average."""

    n_documents: int
    mean: float

    def weight(self, n_with: int) -> float:
        """How much a term tells: the logarithm of the odds of not holding it, never nothing."""
        weight = math.log((self.n_documents - n_with + 0.5) / (n_with + 0.5))
        return weight if weight > 0.0 else LEAST_WEIGHT

    def damping(self, length: int) -> float:
        """What a count is weighed against in a document of that length."""
        return K1 * (1 - B + B * float(length) / self.mean)


def statement(table: str, terms: Sequence[str]) -> tuple[str, list[Any]]:
    """What asks for all that `scores` needs: rows of (index of the term, document, score), and sizes under SIZES."""
    one = f"SELECT %s, rowid, bm25({table}) FROM {table} WHERE {table} MATCH %s"
    parts = [f"SELECT {SIZES}, id, sz FROM {table}_docsize", *[one] * len(terms)]
    return " UNION ALL ".join(parts), [value for index, term in enumerate(terms) for value in (index, f'"{term}"')]


def scores(rows: Sequence[tuple[Any, ...]], n_terms: int, *, below: int) -> dict[int, list[float]]:
    """{document below the bound: what each term adds to its score}; documents without any of the terms are missing."""
    lengths = {doc: _integer(size) for index, doc, size in rows if index == SIZES}
    found_now: list[dict[int, float]] = [{} for _ in range(n_terms)]
    for index, doc, score in rows:
        if index != SIZES:
            found_now[index][doc] = -score
    earlier = {doc: length for doc, length in lengths.items() if doc < below}
    if not earlier:
        return {}
    now, then = _corpus(lengths), _corpus(earlier)
    found: dict[int, list[float]] = {}
    for index, scored in enumerate(found_now):
        weight_now = now.weight(len(scored))
        counts = {
            doc: _count(score, weight_now, now.damping(lengths[doc])) for doc, score in scored.items() if doc < below
        }
        weight = then.weight(len(counts))
        for doc, count in counts.items():
            added = weight * ((count * (K1 + 1.0)) / (count + then.damping(lengths[doc])))
            found.setdefault(doc, [0.0] * n_terms)[index] = added
    return found


def _corpus(lengths: dict[int, int]) -> Corpus:
    return Corpus(len(lengths), float(sum(lengths.values())) / float(len(lengths)))


def _count(score: float, weight: float, damping: float) -> int:
    """The whole number that gives the score: score = weight * count * (K1 + 1) / (count + damping)."""
    return round(score * damping / (weight * (K1 + 1.0) - score))


def _integer(size: bytes) -> int:
    """A number as FTS5 keeps it: seven bits in a byte, the highest first, the last byte without a mark."""
    value = 0
    for byte in size:
        value = value << 7 | byte & 0x7F
    return value
