"""What many derivations of one entry do to the state rows of records, applied in bulk."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

_SQL = (
    "UPDATE memory_recordstate SET n_children = n_children + %s, superseded_seq = coalesce(superseded_seq, %s),"
    " superseded_by = CASE WHEN superseded_by IS NULL THEN {cast} ELSE superseded_by END,"
    " withdrawn_seq = coalesce(withdrawn_seq, %s) WHERE namespace_id = %s AND id = %s"
)


@dataclass(slots=True)
class Effects:
    """Children gained, successors (the first one counts) and withdrawals, by record."""

    children: Counter[UUID] = field(default_factory=Counter)
    successors: dict[UUID, UUID] = field(default_factory=dict)
    withdrawn: list[UUID] = field(default_factory=list)

    def child(self, record: UUID) -> None:
        self.children[record] += 1

    def supersede(self, record: UUID, successor: UUID) -> None:
        self.successors.setdefault(record, successor)

    def apply(self, namespace: int, seq: int) -> None:
        """Update the rows of all records concerned by one statement each, in one batch."""
        hidden = set(self.withdrawn)
        concerned = sorted({*self.children, *self.successors, *hidden})
        rows = [
            (
                self.children[record],
                seq if record in self.successors else None,
                _db(self.successors.get(record)),
                seq if record in hidden else None,
                namespace,
                _db(record),
            )
            for record in concerned
        ]
        if rows:
            cast = "%s::uuid" if connection.vendor == "postgresql" else "%s"
            with connection.cursor() as cursor:
                cursor.executemany(_SQL.format(cast=cast), rows)


def _db(value: UUID | None) -> Any:
    return value if value is None or connection.vendor == "postgresql" else value.hex
