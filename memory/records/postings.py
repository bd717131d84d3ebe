"""BM25 over what the SQLite index held up to a document, whatever has been indexed since.

FTS5 ranks by the statistics of all that it holds now. An answer for a past entry must rest on those of then: postings,
lengths and their mean are read up to a bound, and the formula is that of FTS5 step by step, in its order of operations,
so that the scores of a past point are those that the index itself gave while that point was the head.

- A term of several tokens is a phrase, as in a quoted term of FTS5: its tokens stand side by side.
- The tokens of a term are those that the tokenizer of the index makes of it.

Source: SQLite FTS5, function bm25 and table fts5vocab; Robertson and Zaragoza 2009.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

K1, B = 1.2, 0.75
TOKENIZER = "porter unicode61"
LEAST_WEIGHT = 1e-6


def scores(cursor: Any, table: str, terms: Sequence[str], *, below: int) -> dict[int, list[float]]:
    """{document below the bound: what each term adds to its score}; documents without any of the terms are missing.

    Two statements and one for each token of the terms. A temporary table of the connection says what the tokens are.
    """
    lengths = _lengths(cursor, table, below)
    if not lengths:
        return {}
    mean = float(sum(lengths.values())) / float(len(lengths))
    found: dict[int, list[float]] = {}
    for index, counts in enumerate(_counts(cursor, table, terms, below)):
        weight = _weight(len(lengths), len(counts))
        for doc, count in counts.items():
            added = weight * ((count * (K1 + 1.0)) / (count + K1 * (1 - B + B * float(lengths[doc]) / mean)))
            found.setdefault(doc, [0.0] * len(terms))[index] = added
    return found


def _weight(n_documents: int, n_with: int) -> float:
    """How much a term tells: the logarithm of the odds of not holding it, never nothing."""
    weight = math.log((n_documents - n_with + 0.5) / (n_with + 0.5))
    return weight if weight > 0.0 else LEAST_WEIGHT


def _lengths(cursor: Any, table: str, below: int) -> dict[int, int]:
    """{document: how many tokens it has}."""
    cursor.execute(f"SELECT id, sz FROM {table}_docsize WHERE id < %s", [below])
    return {doc: _integer(size) for doc, size in cursor.fetchall()}


def _integer(size: bytes) -> int:
    """A number as FTS5 keeps it: seven bits in a byte, the first byte the highest, the last one without a mark."""
    value = 0
    for byte in size:
        value = value << 7 | byte & 0x7F
    return value


def _counts(cursor: Any, table: str, terms: Sequence[str], below: int) -> Iterable[Counter[int]]:
    """For each term, how often each document holds it."""
    tokens = _tokens(cursor, terms)
    cursor.execute("DROP TABLE IF EXISTS temp.postings")
    cursor.execute(f"CREATE VIRTUAL TABLE temp.postings USING fts5vocab(main, {table}, instance)")
    try:
        for index in range(len(terms)):
            yield _phrases(cursor, tokens.get(index, []), below)
    finally:
        cursor.execute("DROP TABLE temp.postings")


def _tokens(cursor: Any, terms: Sequence[str]) -> dict[int, list[str]]:
    """{index of the term: its tokens in order}."""
    cursor.execute("DROP TABLE IF EXISTS temp.asked")
    cursor.execute(f"CREATE VIRTUAL TABLE temp.asked USING fts5(text, tokenize='{TOKENIZER}')")
    cursor.execute("DROP TABLE IF EXISTS temp.asked_tokens")
    cursor.execute("CREATE VIRTUAL TABLE temp.asked_tokens USING fts5vocab(temp, asked, instance)")
    try:
        cursor.executemany("INSERT INTO temp.asked(rowid, text) VALUES (%s, %s)", list(enumerate(terms, start=1)))
        cursor.execute("SELECT doc, term FROM temp.asked_tokens ORDER BY doc, offset")
        found: dict[int, list[str]] = {}
        for number, token in cursor.fetchall():
            found.setdefault(number - 1, []).append(token)
        return found
    finally:
        cursor.execute("DROP TABLE temp.asked_tokens")
        cursor.execute("DROP TABLE temp.asked")


def _phrases(cursor: Any, tokens: Sequence[str], below: int) -> Counter[int]:
    """{document: how often the tokens stand side by side in it}."""
    if len(tokens) == 1:
        statement = "SELECT doc, count(*) FROM temp.postings WHERE term = %s AND doc < %s GROUP BY doc"
        cursor.execute(statement, [tokens[0], below])
        return Counter(dict(cursor.fetchall()))
    starts: set[tuple[int, int]] | None = None
    for place, token in enumerate(tokens):
        cursor.execute("SELECT doc, offset FROM temp.postings WHERE term = %s AND doc < %s", [token, below])
        here = {(doc, offset - place) for doc, offset in cursor.fetchall()}
        starts = here if starts is None else starts & here
    return Counter(doc for doc, _ in starts or ())
