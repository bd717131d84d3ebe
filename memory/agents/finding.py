"""Agents by a part of their name."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from memory.agents.activity import name_of
from memory.agents.models import Agent
from memory.base.asof import AsOf


def agents_named(at: AsOf, part: str, *, limit: int = 5) -> list[tuple[UUID, str]]:
    """(agent, name) of those whose name has the part, whatever the case, by name. One query."""
    rows: Any = Agent.objects.filter(namespace=at.namespace, seq__lte=at.seq).annotate(shown=name_of("name"))
    return list(rows.filter(shown__icontains=part).order_by("shown", "id").values_list("id", "shown")[:limit])
