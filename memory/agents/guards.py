"""What agents add to the base gate: freeze and hold."""

from __future__ import annotations

from memory.agents.queries import frozen, standing_hold
from memory.base import clock
from memory.base.actor import Actor
from memory.base.errors import OnHold, Stopped
from memory.base.gate import Requirement


def not_frozen(by: Actor, need: Requirement) -> None:
    """A frozen agent writes nothing."""
    if by.agent is not None and by.kind == "agent" and frozen(by.namespace, by.agent):
        raise Stopped("This agent is frozen: its writes are refused until an owner lifts it.")


def not_on_hold(by: Actor, need: Requirement) -> None:
    """Nothing is erased under a hold."""
    if not need.erases:
        return
    hold = standing_hold(by.namespace, clock.now())
    if hold is not None:
        until = f" until {hold.until_at:%Y-%m-%d}" if hold.until_at else ""
        raise OnHold(f"The namespace is on hold{until}, by entry {hold.seq}: nothing may be erased.", seq=hold.seq)
