"""A new agent together with its first token: both stand, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from memory.agents import operations
from memory.agents.operations import DEFAULT_LIFE, Issued
from memory.base.actor import Actor


@dataclass(frozen=True, slots=True)
class Connected:
    """The agent and its token, whose secret is shown once."""

    agent: UUID
    issued: Issued


def connect(
    by: Actor, *, name: str, scopes: Sequence[str], life: timedelta = DEFAULT_LIFE, operator: int | None = None
) -> Connected:
    """Register an agent and make its token.

    Locks: the namespace head. Appends: `create_agent`, `issue_token`.
    Raises Invalid (name, scopes, life), Conflict (name taken), Forbidden (owners only).
    """
    # Two entries cannot share one key; a repeated request is refused by the name that the first one took.
    unkeyed = replace(by, idempotency_key="")
    with transaction.atomic():
        agent = operations.create_agent(unkeyed, name=name, operator=operator).id
        return Connected(agent, operations.issue_token(unkeyed, agent=agent, scopes=scopes, life=life))
