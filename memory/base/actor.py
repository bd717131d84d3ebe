"""Who acts, through which door, for whom and in which task: the first argument of every write."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

Power = Literal["read", "write", "control", "review", "own"]
Role = Literal["auditor", "reviewer", "owner"]
Kind = Literal["person", "agent", "system"]

SCOPE_POWERS: dict[str, frozenset[Power]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"write"}),
    "control": frozenset({"control"}),
}
ROLE_POWERS: dict[str, frozenset[Power]] = {
    "auditor": frozenset({"read"}),
    "reviewer": frozenset({"read", "review"}),
    "owner": frozenset({"read", "review", "write", "own"}),
}


@dataclass(frozen=True, slots=True)
class RunGiven:
    """The run that a write names: an id, external references, or what opens a new one."""

    id: UUID | None = None
    kind: str = "task"
    title: str = ""
    refs: tuple[tuple[str, str], ...] = ()
    runtime: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Actor:
    """A principal at a door of one namespace.

    `token` is the one that opened the door: it is asked about again under the lock, as the role of a person is.
    `loader` is set in a replay namespace only: the loader's agent, which writes in the name of another actor.
    """

    namespace: int
    kind: Kind
    person: int | None = None
    agent: UUID | None = None
    powers: frozenset[Power] = frozenset()
    role: Role | None = None
    token: UUID | None = None
    host: str = ""
    on_behalf_of: str = ""
    run: RunGiven | None = None
    request_id: UUID | None = None
    idempotency_key: str = ""
    loader: UUID | None = None
    event_at: datetime | None = None
    labels: tuple[str, ...] = field(default=())

    def may(self, *powers: Power) -> bool:
        """True if any of the powers is held."""
        return self.kind == "system" or any(power in self.powers for power in powers)
