"""How many conflicts opened and closed on each UTC day. One query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery, Value

from memory.base.asof import AsOf
from memory.facts.models import ConflictCase
from memory.ledger.models import Entry


def opened_and_closed(at: AsOf, days: Sequence[date]) -> list[tuple[int, int]]:
    """(opened, closed) for each of the days, which follow each other; what is known by the point."""
    if not days:
        return []
    opened, closed = (_turns(at, days, column) for column in ("opened_seq", "closed_seq"))
    told = Counter((kind, moment.astimezone(UTC).date()) for moment, kind in opened.union(closed, all=True))
    return [(told["opened_seq", day], told["closed_seq", day]) for day in days]


def _turns(at: AsOf, days: Sequence[date], column: str) -> QuerySet[ConflictCase, tuple[datetime, Any]]:
    """(instant, column) of the entries that the column names and that were recorded on one of the days."""
    first = datetime.combine(days[0], time(), UTC)
    end = datetime.combine(days[-1], time(), UTC) + timedelta(days=1)
    entries = Entry.objects.filter(namespace=at.namespace, seq=OuterRef(column))
    cases = ConflictCase.objects.filter(namespace=at.namespace, **{f"{column}__lte": at.seq})
    told = cases.annotate(moment=Subquery(entries.values("recorded_at")[:1]), kind=Value(column))
    return told.filter(moment__gte=first, moment__lt=end).values_list("moment", "kind")
