"""What agents add to the base gate: what opened the door still opens it, nobody is frozen, nothing is on hold.

All of it is asked under the namespace lock, by one query each: what ended between the door and the lock opens nothing.
"""

from __future__ import annotations

from typing import cast

from memory.agents.activity import person_name
from memory.agents.models import Hold, Membership
from memory.agents.queries import role_of, standing_hold
from memory.base import clock, instants, sql
from memory.base.actor import ROLE_POWERS, Actor, Role
from memory.base.errors import Forbidden, OnHold, Stopped, Unauthorized
from memory.base.gate import Requirement
from memory.ledger.models import Entry
from memory.ledger.queries.contents import contents_of


def still_stands(by: Actor, need: Requirement) -> None:
    """The token is neither revoked nor expired, the agent not frozen; the person still holds a role with the power."""
    if by.kind == "system":
        return
    if by.token is not None or by.kind == "agent":
        _require_agent(by)
    if by.kind == "person" and by.person is not None:
        role = role_of(by.namespace, by.person, by.event_at or clock.now())
        if role is None and not Membership.objects.filter(namespace=by.namespace).exists():
            # Nobody has come in yet: this is who founds it.
            return
        if role is None or not ROLE_POWERS[cast(Role, role)] & set(need.powers):
            raise Forbidden(f"Your role has changed: this act needs {' or '.join(need.powers)}.")


def _require_agent(by: Actor) -> None:
    """Raise Unauthorized, Stopped. A loader's token is its own, also where it writes in the name of somebody else."""
    ((frozen, expires_at, revoked),) = sql.fetch(
        "SELECT (SELECT f.frozen FROM memory_freeze f WHERE f.namespace_id = %s AND f.agent = %s"
        " ORDER BY f.seq DESC LIMIT 1),"
        " (SELECT t.expires_at FROM memory_token t WHERE t.namespace_id = %s AND t.id = %s),"
        " (SELECT count(*) FROM memory_tokenrevocation r WHERE r.namespace_id = %s AND r.token = %s)",
        [by.namespace, by.agent, by.namespace, by.token, by.namespace, by.token],
    )
    if by.token is not None and (revoked or expires_at is None or sql.as_instant(expires_at) <= clock.now()):
        raise Unauthorized("This token has expired or was revoked.")
    if frozen:
        raise Stopped("This agent is frozen: its writes are refused until an owner lifts it.")


def not_on_hold(by: Actor, need: Requirement) -> None:
    """Nothing is erased under a hold. The refusal says who placed it, when, why and until when."""
    if not need.erases:
        return
    hold = standing_hold(by.namespace, clock.now())
    if hold is not None:
        until = f" until {hold.until_at:%Y-%m-%d}" if hold.until_at else ""
        detail = f"The namespace is on hold{until}, by entry {hold.seq}: nothing may be erased."
        raise OnHold(detail, hold=_told(hold))


def _told(hold: Hold) -> dict[str, object]:
    entries = Entry.objects.filter(namespace=hold.namespace_id, seq=hold.seq).annotate(who=person_name("person"))
    recorded_at, who = entries.values_list("recorded_at", "who")[0]
    note = contents_of(hold.namespace_id, [(hold.seq, hold.item)])[hold.seq, hold.item].get("note", "")
    return {
        "seq": hold.seq, "placed_by": who or "the system", "placed_at": instants.text(recorded_at), "reason": note,
        "until": instants.text_or_none(hold.until_at),
    }  # fmt: skip
