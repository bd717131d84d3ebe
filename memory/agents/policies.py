"""The review policy in force: the newest setting of a namespace, as a value.

Invariants
- One query answers a write: the policy, and what the agent that writes is called in it.
- A policy whose text is gone holds everything that agents write: no rule is lost by an erasure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from memory.agents.models import Agent, Setting
from memory.agents.policy import HOLDS_ALL, Policy, parsed
from memory.base.canonical import strict_loads
from memory.ledger.models import Content, Name

NAME = "review_policy"


@dataclass(frozen=True, slots=True)
class PolicyFor:
    """The policy in force, and what the agent is called that it is asked about; "" for none."""

    policy: Policy
    agent_name: str = ""


def policy_at(namespace: int, seq: int | None = None) -> Policy:
    """The policy in force after entry `seq`; the newest where none is named. One query."""
    return policy_for(namespace, seq=seq).policy


def policy_for(namespace: int, *, agent: UUID | None = None, seq: int | None = None) -> PolicyFor:
    """The same, with the name of the agent."""
    rows = Setting.objects.filter(namespace=namespace, name=NAME)
    if seq is not None:
        rows = rows.filter(seq__lte=seq)
    value = Content.objects.filter(namespace=namespace, seq=OuterRef("seq"), item=OuterRef("item"), part="value")
    columns: dict[str, Any] = {"told": Subquery(value.values("payload")[:1])}
    if agent is not None:
        named = Agent.objects.filter(namespace=namespace, id=agent).values("name")[:1]
        columns["called"] = Subquery(Name.objects.filter(namespace=namespace, id=Subquery(named)).values("text")[:1])
    row: Any = rows.annotate(**columns).order_by("-seq").values("seq", *columns).first()
    if row is None:
        return PolicyFor(Policy())
    policy = Policy(HOLDS_ALL, row["seq"]) if row["told"] is None else _read(row["told"], row["seq"])
    return PolicyFor(policy, row.get("called") or "")


def _read(payload: str, seq: int) -> Policy:
    return parsed(str(strict_loads(payload)), seq=seq)
