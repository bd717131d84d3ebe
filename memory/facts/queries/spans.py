"""Where the facts of a namespace begin and end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.base.asof import AsOf
from memory.facts.models import FactState


@dataclass(frozen=True, slots=True)
class Span:
    """The first and the last entry that brought a fact, with their instants."""

    first_seq: int
    first_at: datetime
    last_seq: int
    last_at: datetime


def span(at: AsOf) -> Span | None:
    """The span of all facts of the namespace, whatever the point; None where there are none."""
    rows = FactState.objects.filter(namespace=at.namespace).order_by("doc").values_list("seq", "recorded_at")
    first, last = rows.first(), rows.last()
    return Span(*first, *last) if first and last else None
