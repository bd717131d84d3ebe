"""Full text of records, ranked by BM25 in each namespace by itself.

- SQLite: one contentless FTS5 table for each namespace (porter over unicode61), so that statistics stay inside it.
- PostgreSQL: one table of tsvectors (english) and one of totals; BM25 is worked out in the query.
- Both: k1 = 1.2, b = 0.75, terms joined by OR for recall and by AND for lists; a document is keyed by `doc`.
- A question below a document is answered by what was indexed below it, statistics included: the answer for an entry is
  the same for ever, but for erasure, which takes a text out of every answer.

Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"; SQLite FTS5, function bm25.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add as plus
from typing import Any, Literal

from django.db import OperationalError, connection, router
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from memory.records import postings
from memory.records.postings import K1, TOKENIZER, B

TERMS = 64
EVERYTHING = 2**62

Join = Literal["any", "all"]

_WORD = re.compile(r"\w+", re.UNICODE)
_COMMON_WORDS = (
    "a about an and are as at be been but by can did do does for from had has have how i if in into is it its "
    "me my of on or our should so than that the their them then there these they this to was we were what "
    "when where which who why will with would you your"
)
_COMMON = frozenset(_COMMON_WORDS.split())


@dataclass(frozen=True, slots=True)
class Hit:
    """One matching document; a greater score is a better match."""

    doc: int
    score: float


def words(query: str) -> list[str]:
    """The distinct words of a query in order; common ones are left out while others remain."""
    found = list(dict.fromkeys(word.lower() for word in _WORD.findall(query)))
    telling = [word for word in found if word not in _COMMON]
    return (telling or found)[:TERMS]


class TextIndex(Operation):
    """Migration operation: the tables of the PostgreSQL index. SQLite makes one with a namespace's first text."""

    reduces_to_sql = False
    reversible = True

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        return "TextIndex", (), {}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """The index is no part of the model state."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        connection = schema_editor.connection
        if connection.vendor != "postgresql" or not router.allow_migrate(connection.alias, app_label):
            return
        for statement in (
            (
                "CREATE TABLE memory_recordtext (namespace_id bigint NOT NULL, doc bigint NOT NULL,"
                " n_tokens integer NOT NULL, tokens tsvector NOT NULL, PRIMARY KEY (namespace_id, doc))"
            ),
            "CREATE INDEX record_text_tokens ON memory_recordtext USING gin (tokens)",
            (
                "CREATE TABLE memory_recordtext_total (namespace_id bigint PRIMARY KEY, n_docs bigint NOT NULL,"
                " n_tokens bigint NOT NULL)"
            ),
        ):
            schema_editor.execute(statement, params=None)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        connection = schema_editor.connection
        if connection.vendor == "postgresql" and router.allow_migrate(connection.alias, app_label):
            schema_editor.execute("DROP TABLE memory_recordtext, memory_recordtext_total", params=None)

    def describe(self) -> str:
        return "Create the full-text index"


def _table(namespace: int) -> str:
    return f"memory_recordtext_{int(namespace)}"


def add(namespace: int, texts: Iterable[tuple[int, str]]) -> None:
    """Index (doc, text) pairs; the docs must be new."""
    rows = list(texts)
    if not rows:
        return
    if connection.vendor == "postgresql":
        _add_postgresql(namespace, rows)
        return
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {_table(namespace)}"
            f" USING fts5(text, content='', tokenize='{TOKENIZER}')"
        )
        cursor.executemany(f"INSERT INTO {_table(namespace)}(rowid, text) VALUES (%s, %s)", rows)


def _add_postgresql(namespace: int, rows: Sequence[tuple[int, str]]) -> None:
    docs, texts = [doc for doc, _ in rows], [text for _, text in rows]
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH fresh AS (INSERT INTO memory_recordtext"
            " SELECT %s, d.doc, (SELECT coalesce(sum(array_length(t.positions, 1)), 0) FROM unnest(d.tokens) t),"
            " d.tokens FROM (SELECT doc, to_tsvector('english', text) AS tokens"
            " FROM unnest(%s::bigint[], %s::text[]) AS g(doc, text)) d"
            " RETURNING n_tokens)"
            " INSERT INTO memory_recordtext_total SELECT %s, count(*), coalesce(sum(n_tokens), 0) FROM fresh"
            " ON CONFLICT (namespace_id) DO UPDATE SET n_docs = memory_recordtext_total.n_docs + excluded.n_docs,"
            " n_tokens = memory_recordtext_total.n_tokens + excluded.n_tokens",
            [namespace, docs, texts, namespace],
        )


def remove(namespace: int, texts: Iterable[tuple[int, str]]) -> None:
    """Take (doc, text) pairs out; the text must be what was indexed. No token of it stays in the index."""
    rows = list(texts)
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "WITH gone AS (DELETE FROM memory_recordtext WHERE namespace_id = %s AND doc = ANY(%s)"
                " RETURNING n_tokens)"
                " UPDATE memory_recordtext_total SET n_docs = n_docs - (SELECT count(*) FROM gone),"
                " n_tokens = memory_recordtext_total.n_tokens - (SELECT coalesce(sum(n_tokens), 0) FROM gone)"
                " WHERE namespace_id = %s",
                [namespace, [doc for doc, _ in rows], namespace],
            )
            return
        if not exists(namespace):
            return
        name = _table(namespace)
        cursor.executemany(f"INSERT INTO {name}({name}, rowid, text) VALUES ('delete', %s, %s)", rows)
        # Deleted tokens live on in older segments until these are merged into one.
        cursor.execute(f"INSERT INTO {name}({name}) VALUES ('optimize')")


def clear(namespace: int) -> None:
    """Drop everything indexed for the namespace."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("DELETE FROM memory_recordtext WHERE namespace_id = %s", [namespace])
            cursor.execute("DELETE FROM memory_recordtext_total WHERE namespace_id = %s", [namespace])
        else:
            cursor.execute(f"DROP TABLE IF EXISTS {_table(namespace)}")


def tables() -> tuple[str, ...]:
    """The tables of the PostgreSQL index, which no model names."""
    return ("memory_recordtext", "memory_recordtext_total")


def exists(namespace: int) -> bool:
    """True if anything was ever indexed (SQLite: the namespace's table stands)."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT 1 FROM memory_recordtext_total WHERE namespace_id = %s", [namespace])
        else:
            cursor.execute("SELECT 1 FROM sqlite_master WHERE name = %s", [_table(namespace)])
        return cursor.fetchone() is not None


def dump(namespace: int) -> list[tuple[Any, ...]]:
    """(doc, term, count) for every posting, in order: what a rebuilt index must equal."""
    if not exists(namespace):
        return []
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT r.doc, t.lexeme, array_length(t.positions, 1) FROM memory_recordtext r, unnest(r.tokens) t"
                " WHERE r.namespace_id = %s ORDER BY 1, 2",
                [namespace],
            )
            return list(cursor.fetchall())
        name = _table(namespace)
        cursor.execute(f"CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, {name}, instance)")
        cursor.execute("SELECT doc, term, count(*) FROM temp.vocabulary GROUP BY 1, 2 ORDER BY 1, 2")
        rows = list(cursor.fetchall())
        cursor.execute("DROP TABLE temp.vocabulary")
        return rows


def search(
    namespace: int, terms: Sequence[str], *, join: Join, limit: int, offset: int = 0, below: int = EVERYTHING,
    is_past: bool = False,
) -> list[Hit]:  # fmt: skip
    """Matching documents, best first, ties to the newer one, of those below a document.

    `terms` come from `words`, or are phrases. `is_past` says that more is indexed than stands below.
    """
    if not terms:
        return []
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            return _search_postgresql(cursor, namespace, terms, join, limit, offset, below)
        name = _table(namespace)
        if is_past:
            return _search_below(cursor, name, terms, join, limit, offset, below)
        match = (" OR " if join == "any" else " AND ").join(f'"{term}"' for term in terms)
        # In one statement: what is indexed between two would belong to the one and not to the other.
        found = _rows_unless_unindexed(
            cursor,
            f"SELECT rowid, bm25({name}) AS score, (SELECT max(id) FROM {name}_docsize) FROM {name}"
            f" WHERE {name} MATCH %s ORDER BY score, rowid DESC LIMIT %s OFFSET %s",
            [match, limit, offset],
        )
        if found and found[0][2] >= below:
            return _search_below(cursor, name, terms, join, limit, offset, below)
        return [Hit(doc, -score) for doc, score, _ in found]


def nearest(namespace: int, texts: Sequence[Sequence[str]], *, limit: int) -> list[set[int]]:
    """For each of the lists of words the documents that match them best, at most `limit`; one statement for all."""
    found: list[set[int]] = [set() for _ in texts]
    asked = [(index, terms) for index, terms in enumerate(texts) if terms]
    if not asked:
        return found
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_NEAREST, [[" ".join(terms) for _, terms in asked], namespace, limit])
            rows = [(asked[place - 1][0], doc) for place, doc in cursor.fetchall()]
        else:
            name = _table(namespace)
            one = f"SELECT * FROM (SELECT %s, rowid FROM {name} WHERE {name} MATCH %s ORDER BY bm25({name}) LIMIT %s)"
            given = [value for index, terms in asked for value in (index, " OR ".join(f'"{t}"' for t in terms), limit)]
            rows = _rows_unless_unindexed(cursor, " UNION ALL ".join([one] * len(asked)), given)
    for index, doc in rows:
        found[index].add(doc)
    return found


_NEAREST = (
    "SELECT g.n, near.doc FROM unnest(%s::text[]) WITH ORDINALITY AS g(words, n),"
    " LATERAL (SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery AS asked"
    " FROM unnest(tsvector_to_array(to_tsvector('english', g.words))) AS lexeme) AS q,"
    " LATERAL (SELECT r.doc FROM memory_recordtext r WHERE r.namespace_id = %s AND r.tokens @@ q.asked"
    " ORDER BY ts_rank(r.tokens, q.asked) DESC, r.doc DESC LIMIT %s) AS near"
)


def _search_below(
    cursor: Any, name: str, terms: Sequence[str], join: Join, limit: int, offset: int, below: int
) -> list[Hit]:
    found = _added_below(cursor, name, terms, below)
    # Added one by one, as FTS5 does: `sum` carries the lost digits along.
    hits = [Hit(doc, reduce(plus, each, 0.0)) for doc, each in found.items() if join == "any" or all(each)]
    hits.sort(key=lambda hit: (-hit.score, -hit.doc))
    return hits[offset : offset + limit]


def _added_below(cursor: Any, name: str, terms: Sequence[str], below: int) -> dict[int, list[float]]:
    rows = _rows_unless_unindexed(cursor, *postings.statement(name, terms))
    return postings.scores(rows, len(terms), below=below)


def _rows_unless_unindexed(cursor: Any, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The rows; none while the namespace has no text, so that no query must ask first whether its table stands."""
    try:
        cursor.execute(statement, parameters)
    except OperationalError as error:
        if "no such table" not in str(error):
            raise
        return []
    return list(cursor.fetchall())


def _search_postgresql(
    cursor: Any, namespace: int, terms: Sequence[str], join: Join, limit: int, offset: int, below: int
) -> list[Hit]:
    scores = _scores_sql("" if join == "any" else " HAVING count(*) = (SELECT count(*) FROM wanted)")
    cursor.execute(
        f"{scores} ORDER BY score DESC, doc DESC LIMIT %s OFFSET %s",
        [*_asked(namespace, terms, below), limit, offset],
    )
    return [Hit(doc, score) for doc, score in cursor.fetchall()]


# Totals of everything are kept; those below a document are counted, where anything stands above it.
_POSTINGS = (
    "WITH wanted AS (SELECT DISTINCT ON (lexeme) lexeme, term"
    " FROM unnest(%s::text[]) WITH ORDINALITY AS given(term, n),"
    " unnest(tsvector_to_array(to_tsvector('english', term))) AS lexeme ORDER BY lexeme, n),"
    " moved AS MATERIALIZED (SELECT EXISTS (SELECT 1 FROM memory_recordtext"
    " WHERE namespace_id = %s AND doc >= %s) AS has),"
    " counted AS (SELECT n_docs, n_tokens FROM memory_recordtext_total"
    " WHERE namespace_id = %s AND NOT (SELECT has FROM moved)"
    " UNION ALL SELECT count(*), coalesce(sum(n_tokens), 0) FROM memory_recordtext"
    " WHERE namespace_id = %s AND doc < %s AND (SELECT has FROM moved) HAVING (SELECT has FROM moved)),"
    " total AS (SELECT n_docs, greatest(n_tokens, 1)::float / greatest(n_docs, 1) AS mean FROM counted),"
    " postings AS (SELECT r.doc, r.n_tokens, w.lexeme,"
    " (SELECT array_length(t.positions, 1) FROM unnest(r.tokens) t WHERE t.lexeme = w.lexeme)::float AS tf"
    " FROM wanted w JOIN memory_recordtext r ON r.namespace_id = %s AND r.doc < %s"
    " AND r.tokens @@ quote_literal(w.lexeme)::tsquery),"
    " df AS (SELECT lexeme, count(*) AS n FROM postings GROUP BY lexeme),"
    " weighted AS (SELECT p.doc, p.lexeme,"
    " greatest(ln((total.n_docs - df.n + 0.5) / (df.n + 0.5)), 0.000001)"
    f" * p.tf * {K1 + 1} / (p.tf + {K1} * ({1 - B} + {B} * p.n_tokens / total.mean)) AS score"
    " FROM postings p JOIN df USING (lexeme), total)"
)


def _asked(namespace: int, terms: Sequence[str], below: int) -> list[Any]:
    """What the postings are asked with, in order."""
    return [list(terms), namespace, below, namespace, namespace, below, namespace, below]


def _scores_sql(having: str) -> str:
    # Added in one order: the last digit of a sum depends on it.
    return f"{_POSTINGS} SELECT doc, sum(score ORDER BY lexeme) AS score FROM weighted GROUP BY doc{having}"


def explain(
    namespace: int, terms: Sequence[str], docs: Sequence[int], *, below: int = EVERYTHING, is_past: bool = False
) -> dict[int, dict[str, float]]:
    """What each term adds to the score of each document, of those below a document: {doc: {term: score}}."""
    found: dict[int, dict[str, float]] = {doc: {} for doc in docs}
    if not docs or not terms:
        return found
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"{_POSTINGS} SELECT doc, term, sum(score ORDER BY lexeme) FROM weighted JOIN wanted USING (lexeme)"
                " WHERE doc = ANY(%s) GROUP BY doc, term",
                [*_asked(namespace, terms, below), list(docs)],
            )
            for doc, term, score in cursor.fetchall():
                found[doc][term] = score
            return found
        name = _table(namespace)
        rows = [] if is_past else _explained(cursor, name, terms, docs)
        if is_past or (rows and rows[0][3] >= below):
            added = _added_below(cursor, name, terms, below)
            return {doc: dict(_named(terms, added.get(doc, ()))) for doc in docs}
        for index, doc, score, _ in rows:
            found[doc][terms[index]] = -score
    return found


def _named(terms: Sequence[str], added: Sequence[float]) -> Iterator[tuple[str, float]]:
    return ((term, score) for term, score in zip(terms, added, strict=False) if score)


def _explained(cursor: Any, name: str, terms: Sequence[str], docs: Sequence[int]) -> list[tuple[Any, ...]]:
    """(index of the term, doc, score, newest doc) by one statement for all terms."""
    marks = ", ".join(["%s"] * len(docs))
    newest = f"(SELECT max(id) FROM {name}_docsize)"
    one = f"SELECT %s, rowid, bm25({name}), {newest} FROM {name} WHERE {name} MATCH %s AND rowid IN ({marks})"
    parameters = [value for index, term in enumerate(terms) for value in (index, f'"{term}"', *docs)]
    return _rows_unless_unindexed(cursor, " UNION ALL ".join([one] * len(terms)), parameters)
