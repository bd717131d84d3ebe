"""Routes of agents, their tokens and runs, and of people, holds and settings."""

from __future__ import annotations

from typing import Annotated

from ninja import Path, Query
from ninja.responses import Status
from pydantic import Field

from memory.agents import operations, queries, runs
from memory.agents.accounts import create_person
from memory.agents.labels import labels
from memory.agents.schemas import (
    AgentIn,
    AgentList,
    AgentOut,
    Done,
    EndIn,
    HoldIn,
    IssuedOut,
    MadeOut,
    MemberIn,
    RunDetailOut,
    RunOpenIn,
    RunsOut,
    SettingIn,
    TokenIn,
    WhyIn,
)
from memory.base import gate
from memory.base.doors import Entered, Routes, actor, made, page
from memory.base.errors import Invalid
from memory.base.schemas import Act, Id, Word
from memory.ledger.schemas import Limit, Point, SeqParameter, rests_on

routes = Routes("agents")

Agent = Annotated[Id, Path()]
Token = Annotated[Id, Path()]
Run = Annotated[Id, Path()]


@routes.read("/runs", answer=RunsOut)
def run_list(
    request: Entered, point: Query[Point], q: Annotated[str, Field(max_length=400)] = "",
    after: Annotated[str, Field(max_length=40)] = "", limit: Limit = 50,
) -> RunsOut:  # fmt: skip
    """Runs, newest first; `q` is looked for in ids, references and titles."""
    at = point.at(request.auth.namespace)
    found = queries.run_rows(at, q=q, after=after, limit=limit)
    names = labels(at.namespace, agents=[row.agent for row in found.items]).agents
    return RunsOut.of(found, names, **rests_on(at))


@routes.read("/runs/{run}", answer=RunDetailOut)
def run(
    request: Entered, run: Run, point: Query[Point], after: SeqParameter | None = None, limit: Limit = 200
) -> RunDetailOut:
    """One run: everything that it did, in the order of the ledger."""
    at = point.at(request.auth.namespace)
    found = queries.run_page(at, run=run, after=after or 0, limit=limit)
    return RunDetailOut.of(found, labels(at.namespace, agents=[found.row.agent]).agents, **rests_on(at))


@routes.write("/runs", need=gate.WRITE, answer=MadeOut, makes=True)
def open_run(request: Entered, body: RunOpenIn) -> Status[MadeOut]:
    """Open a run."""
    identity, seq, replayed = runs.open_run(actor(request, body))
    url = page(request, f"/runs/{identity}")
    return made(MadeOut(id=identity, seq=seq, replayed=replayed, url=url), is_new=not replayed)


@routes.write("/runs/{run}/end", need=gate.WRITE, answer=Done)
def end_run(request: Entered, run: Run, body: EndIn | None = None) -> Done:
    """End a run."""
    given = body or EndIn()
    return Done.of(runs.end_run(actor(request, given.run), run=run, note=given.note), url=page(request, f"/runs/{run}"))


@routes.read("/agents", answer=AgentList)
def agents(request: Entered, point: Query[Point]) -> AgentList:
    """Agents, with their tokens and what they did in the last day."""
    at = point.at(request.auth.namespace)
    rows = [AgentOut.of(row) for row in queries.agent_rows(at)]
    return AgentList(items=rows, next=None, total=len(rows), **rests_on(at))


@routes.write("/agents", need=gate.OWN, answer=MadeOut, makes=True)
def create_agent(request: Entered, body: AgentIn) -> Status[MadeOut]:
    """Register an agent."""
    operator = None if body.operator is None else queries.person_with_address(body.operator)
    if body.operator is not None and operator is None:
        raise Invalid.at("operator", expected="the address of a person with an account here", got=body.operator)
    done = operations.create_agent(actor(request, body.run), name=body.name, operator=operator)
    return made(MadeOut.of(done, url=page(request, "/agents")), is_new=not done.replayed)


@routes.write("/agents/{agent}/tokens", need=gate.OWN, answer=IssuedOut, makes=True)
def issue_token(request: Entered, agent: Agent, body: TokenIn | None = None) -> Status[IssuedOut]:
    """Make a token for an agent."""
    given = body or TokenIn()
    by = actor(request, given.run)
    issued = operations.issue_token(by, agent=agent, scopes=given.scopes, life=given.life)
    return made(IssuedOut.of(issued, url=page(request, "/agents")), is_new=not issued.replayed)


@routes.write("/agents/{agent}/freeze", need=gate.OWN, answer=Done)
def freeze(request: Entered, agent: Agent, body: WhyIn | None = None) -> Done:
    """Refuse every write of an agent from the next entry on."""
    given = body or WhyIn()
    done = operations.freeze(actor(request, given.run), agent=agent, reason=given.reason)
    return Done.of(done, url=page(request, "/agents"))


@routes.write("/agents/{agent}/unfreeze", need=gate.OWN, answer=Done)
def unfreeze(request: Entered, agent: Agent, body: WhyIn | None = None) -> Done:
    """Admit the writes of a frozen agent again."""
    given = body or WhyIn()
    done = operations.freeze(actor(request, given.run), agent=agent, frozen_now=False, reason=given.reason)
    return Done.of(done, url=page(request, "/agents"))


@routes.write("/tokens/{token}/rotate", need=gate.OWN, answer=IssuedOut, makes=True)
def rotate_token(request: Entered, token: Token, body: Act | None = None) -> Status[IssuedOut]:
    """Make a new token in the place of one, which ends."""
    issued = operations.rotate_token(actor(request, (body or Act()).run), token=token)
    return made(IssuedOut.of(issued, url=page(request, "/agents")), is_new=not issued.replayed)


@routes.write("/tokens/{token}/revoke", need=gate.OWN, answer=Done)
def revoke_token(request: Entered, token: Token, body: Act | None = None) -> Done:
    """End a token now."""
    done = operations.revoke_token(actor(request, (body or Act()).run), token=token)
    return Done.of(done, url=page(request, "/agents"))


@routes.write("/members", need=gate.OWN, answer=Done)
def admit_member(request: Entered, body: MemberIn) -> Done:
    """Give a person a role, or end it with `none`."""
    person = queries.person_with_address(body.email) if body.role == "none" else create_person(body.email).pk
    if person is None:
        raise Invalid.at("email", expected="the address of a person with an account here", got=body.email)
    by = actor(request, body.run)
    done = operations.admit_member(by, person=person, role=body.role, expires_at=body.expires_at)
    return Done.of(done, url=page(request, "/agents"))


@routes.write("/settings/{name}", need=gate.OWN, answer=Done, method="PUT")
def change_setting(request: Entered, name: Annotated[Word, Path()], body: SettingIn) -> Done:
    """Change a setting of the namespace."""
    done = operations.change_setting(actor(request, body.run), name=name, value=body.given)
    return Done.of(done, url=page(request, "/agents"))


@routes.write("/hold", need=gate.OWN, answer=Done, method="PUT")
def hold(request: Entered, body: HoldIn) -> Done:
    """Place or lift the retention hold."""
    done = operations.hold(actor(request, body.run), held=body.held, reason=body.reason, until_at=body.until)
    return Done.of(done, url=page(request, "/erasures/new"))
