"""Making the derived tables of a namespace anew, and telling what stood in them wrongly.

Invariants
- All projections of the namespace are read, rebuilt and read again in one transaction that holds the lock of its
  writers, so no write falls between. A check rolls all of it back.
- Every row of every registered projection is compared, whole; memory is taken by the differences, not by the rows.
- A check that finds the log's own head or tree wrong appends nothing: an entry would be built on them.
- What is written down of a check are counts. The rows that differ may hold text and are only handed to the caller.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched, zip_longest
from typing import Any

import msgspec
from django.db import transaction

from memory.base import projections
from memory.base.actor import Actor
from memory.base.projections import Row
from memory.checks.operations import Found, record_run
from memory.ledger.models import Head, Namespace

NAME = "rebuild"
VERSION = 1
CHUNK = 2_000
SHOWN = 20
APPENDED_ON = frozenset({"heads", "nodes"})


@dataclass(frozen=True, slots=True)
class Difference:
    """One row of a projection that is not what its sources say.

    `key` are the leading columns that both sides share; `stored` or `rebuilt` is None where there is no such row.
    """

    projector: str
    key: tuple[Any, ...]
    stored: tuple[Any, ...] | None
    rebuilt: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What one projection held against what it should hold.

    `n_wrong` rows stood and should not, `n_missing` should stand and did not; a changed row is one of each.
    """

    projector: str
    n_rows: int
    n_wrong: int
    n_missing: int
    shown: tuple[Difference, ...]

    @property
    def n_differences(self) -> int:
        return max(self.n_wrong, self.n_missing)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """One namespace: every projection compared."""

    namespace: str
    is_check: bool
    comparisons: tuple[Comparison, ...]

    @property
    def n_differences(self) -> int:
        return sum(each.n_differences for each in self.comparisons)

    @property
    def may_append(self) -> bool:
        """True if what an entry is built on stood as it should."""
        return not any(each.n_differences for each in self.comparisons if each.projector in APPENDED_ON)


def rebuild(by: Actor, *, check: bool) -> Rebuilt:
    """Derive the projections of the actor's namespace anew; with `check` leave them as they were.

    Locks: the namespace head. Appends: `record_check`, unless a check finds the head or the tree wrong.
    """
    done, size = _derived(by.namespace, check=check)
    if not done.is_check or done.may_append:
        _write_down(by, done, at_seq=size)
    return done


def looked_over(namespace: int) -> Rebuilt:
    """What a rebuild would change. Nothing is written, not even that it was asked.

    Locks: the namespace head.
    """
    return _derived(namespace, check=True)[0]


def _derived(namespace: int, *, check: bool) -> tuple[Rebuilt, int]:
    store = Namespace.objects.get(pk=namespace)
    with transaction.atomic():
        size = Head.objects.select_for_update().filter(namespace=store).values_list("size", flat=True).first() or 0
        comparisons = tuple(_all_compared(store.pk))
        transaction.set_rollback(check)
    return Rebuilt(store.name, check, comparisons), size


def _all_compared(namespace: int) -> Iterator[Comparison]:
    stored = {each.name: list(_packed(each.dump(namespace))) for each in projections.registered()}
    for each in projections.registered():
        each.rebuild(namespace)
    for each in projections.registered():
        yield compared(each.name, _unpacked(stored.pop(each.name)), map(_encoded, each.dump(namespace)))


def compared(projector: str, stored: Iterable[bytes], rebuilt: Iterable[bytes]) -> Comparison:
    """Compare two lists of encoded rows as multisets. Rows in one order on both sides take no memory."""
    # Rows are compared in step; one that stands a few places off on the other side waits here for its twin.
    only: Counter[bytes] = Counter()
    n_rows = 0
    for left, right in zip_longest(stored, rebuilt):
        n_rows += right is not None
        if left == right:
            continue
        for row, sign in ((left, 1), (right, -1)):
            if row is not None:
                only[row] += sign
                if not only[row]:
                    del only[row]
    wrong, missing = sorted((+only).elements()), sorted((-only).elements())
    shown = _paired(projector, [_decoded(row) for row in wrong[:SHOWN]], [_decoded(row) for row in missing[:SHOWN]])
    return Comparison(projector, n_rows, len(wrong), len(missing), tuple(shown)[:SHOWN])


def _paired(projector: str, wrong: Sequence[Row], missing: Sequence[Row]) -> Iterator[Difference]:
    """Two rows that share the most leading columns, and more than the namespace, are one row that changed."""
    waiting = list(missing)
    for row in wrong:
        twin = max(waiting, key=lambda other: _n_shared(row, other), default=())
        n_shared = _n_shared(row, twin)
        if n_shared < 2:
            yield Difference(projector, row[:2], row, None)
            continue
        waiting.remove(twin)
        yield Difference(projector, row[:n_shared], row, twin)
    for row in waiting:
        yield Difference(projector, row[:2], None, row)


def _n_shared(first: Row, second: Row) -> int:
    count = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        count += 1
    return count


def _encoded(row: Row) -> bytes:
    return msgspec.msgpack.encode(row)


def _decoded(row: bytes) -> Row:
    return tuple(msgspec.msgpack.decode(row))


def _packed(rows: Iterable[Row]) -> Iterator[bytes]:
    for chunk in batched(map(_encoded, rows), CHUNK):
        yield zlib.compress(msgspec.msgpack.encode(chunk), level=1)


def _unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        yield from msgspec.msgpack.decode(zlib.decompress(chunk), type=list[bytes])


def _write_down(by: Actor, done: Rebuilt, *, at_seq: int) -> None:
    counts = {
        each.projector: {"rows": each.n_rows, "wrong": each.n_wrong, "missing": each.n_missing}
        for each in done.comparisons
    }
    found = [fault for each in done.comparisons for fault in [Found(each.projector)] * each.n_differences]
    record_run(
        by, name=NAME, version=VERSION, verdict="failed" if found else "ok", at_seq=at_seq,
        n_checked=sum(each.n_rows for each in done.comparisons), found=found,
        report={"is_check": done.is_check, "projections": counts},
    )  # fmt: skip
