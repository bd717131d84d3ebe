"""Reads that must not grow with the store: recall, and the pages of a list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from audit.bench.measuring import Figure, Scale, Work, side_by_side
from audit.bench.texts import records, word
from memory.agents.setup import ensure_namespace, system
from memory.ledger.queries import asof
from memory.records.operations import save
from memory.records.queries import lists
from memory.records.queries.recall import recall

SMALL, LARGE = 1_000, 100_000
BATCH = 5_000
PER_PAGE = 50
PAGE = 100
ROUNDS = 60


def run(scale: Scale) -> Iterator[Figure]:
    """The same questions to a small and a large namespace; the first and the hundredth page of the large one."""
    sizes = (scale.size(LARGE, least=400), scale.size(SMALL, least=40))
    large, small = (_filled(f"reading-{size}", size) for size in sizes)
    rounds = scale.rounds(ROUNDS)
    for what, query in (("one rare word", word(3_001)), ("eight words", " ".join(word(n * 37) for n in range(8)))):
        timing = side_by_side(_asker(large, query), _asker(small, query), rounds=rounds)
        yield Figure("reading", f"recall of {what}, {sizes[0]} records / {sizes[1]}", timing)
    page = min(PAGE, sizes[0] // PER_PAGE - 1)
    deep = _cursor_of(large, page)
    timing = side_by_side(_pager(large, deep), _pager(large, ""), rounds=rounds)
    yield Figure("reading", f"list page {page} / page 1, {sizes[0]} records", timing, "≤ 1.5")


def _filled(name: str, size: int) -> int:
    store = ensure_namespace(name)
    fresh = records(name)
    for start in range(0, size, BATCH):
        save(system(store), records=list(islice(fresh, min(BATCH, size - start))))
    return store


def _asker(store: int, query: str) -> Work:
    at = asof.now(store)
    return lambda: recall(at, query=query)


def _pager(store: int, after: str) -> Work:
    at, everything = asof.now(store), lists.Filter()
    return lambda: lists.records(at, where=everything, after=after, limit=PER_PAGE)


def _cursor_of(store: int, page: int) -> str:
    """What `next` said on the page before."""
    at, cursor = asof.now(store), ""
    for _ in range(page - 1):
        cursor = lists.records(at, where=lists.Filter(), after=cursor, limit=PER_PAGE).next
    return cursor
