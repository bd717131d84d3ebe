"""Staging: parsed rows of a source in short transactions with progress, before one transaction applies them.

No lock is held while a source is parsed; a killed import leaves staged rows, which the next one takes over or drops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from django.db import IntegrityError, transaction

from memory.base import sql
from memory.base.canonical import canonical, strict_loads
from memory.base.errors import Conflict
from memory.interchange.models import StagedRow

CHUNK = 1_000

Staged = tuple[str, Mapping[str, Any]]


def stage(
    namespace: int, batch: bytes, rows: Iterable[Staged], *, progress: Callable[[int], None] | None = None
) -> int:
    """Put (table, value) rows away, in order, CHUNK to a transaction; rows that a killed import left are kept.

    batch : what stands for these rows in this order; rows of another batch are dropped.
    Answers how many rows are staged. Raises Conflict (the same batch is being staged by another import).
    """
    StagedRow.objects.filter(namespace=namespace).exclude(file_digest=batch).delete()
    done = StagedRow.objects.filter(namespace=namespace, file_digest=batch).count()
    iterator = enumerate(rows)
    for _ in islice(iterator, done):
        pass
    while chunk := list(islice(iterator, CHUNK)):
        prepared = [(namespace, batch, ordinal, table, canonical(value).decode()) for ordinal, (table, value) in chunk]
        try:
            with transaction.atomic():
                sql.insert(StagedRow, prepared)
        except IntegrityError as error:
            raise Conflict("Another import stages this file into this namespace; wait until it ends.") from error
        done += len(prepared)
        if progress is not None:
            progress(done)
    return done


def staged(namespace: int, batch: bytes) -> Iterator[Staged]:
    """The staged rows in order."""
    rows = StagedRow.objects.filter(namespace=namespace, file_digest=batch).order_by("ordinal")
    for table, payload in rows.values_list("table", "payload").iterator(chunk_size=CHUNK):
        yield table, strict_loads(payload)  # type: ignore[misc]


def drop(namespace: int) -> None:
    """Forget what is staged for the namespace."""
    StagedRow.objects.filter(namespace=namespace).delete()
