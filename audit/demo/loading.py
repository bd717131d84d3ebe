"""Playing a story into its namespace.

Invariants
- The clock of the domain stands at the step's instant while the step plays; the host's clock is not read.
- Chance is seeded by the step's name alone: a loading that goes on after a cut gives the ids it would have given.
- A step's idempotency key is `<namespace>/<step>`: played again it is answered from the rows.
"""

import logging
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from audit.demo.cast import AGENTS, BY_NAME, LOADER, PEOPLE, principal
from audit.demo.door import Door, Unexpected
from audit.demo.lines import NAMESPACE, id_of
from audit.demo.people import ACTS, person_acting
from audit.demo.steps import Piece, Step, filled, filled_path
from audit.demo.story import story
from memory.agents.accounts import create_person
from memory.agents.operations import LONGEST_LIFE, MARK, admit_member, create_agent, issue_token
from memory.agents.setup import found_replay
from memory.base import clock, ids
from memory.base.actor import ROLE_POWERS, Actor
from memory.base.instants import text as instant_text
from memory.ledger.queries import trees

NOTICE = "Replayed. Times are those of the events. Real: lines with a source. Invented: lines marked re_enacted."
GONE = 410
# What falls due by the passing of time.
SYSTEM = "system"
CURTAIN = datetime(2024, 2, 1, 8, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
INCIDENT = Piece(NAMESPACE, NOTICE, CURTAIN)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a loading did: how many steps, how many of them stood already, and the log as it stands now."""

    n_steps: int
    n_replayed: int
    size: int
    root: bytes


@dataclass(slots=True)
class Stage:
    """The namespace with its loader, and what the steps answered so far."""

    piece: Piece
    namespace: int
    loader: UUID
    secret: str
    door: Door = field(default_factory=Door)
    answers: dict[str, Any] = field(default_factory=dict)


def fresh_secret() -> str:
    """The token that `issue_token` makes next, where chance is seeded."""
    return MARK + urlsafe_b64encode(ids.new_secret()).rstrip(b"=").decode()


@contextmanager
def _quiet() -> Iterator[None]:
    """Inside the block the access log is silent: its lines are for requests from outside."""
    access = logging.getLogger("audit.access")
    level = access.level
    access.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        access.setLevel(level)


@contextmanager
def moment(piece: Piece, key: str, at: datetime) -> Iterator[None]:
    """Inside the block it is that instant, and chance is that step's own."""
    with clock.fixed(at), ids.seeded(f"{piece.namespace}/{key}"):
        yield


def load(steps: Sequence[Step] | None = None, *, piece: Piece = INCIDENT) -> Loaded:
    """Play the steps, those of the incident without any; or go on with them, or find that all stand.

    Raises Unexpected.
    """
    stage = founded(piece)
    n_replayed = _let_in(stage)
    played = story() if steps is None else steps
    with _quiet():
        for step in played:
            stage.answers[step.key] = answer = play(stage, step)
            n_replayed += step.writes and answer.get("replayed") is True
    # What the signing of checkpoints appends afterwards is no part of the story.
    written = [stage.answers[step.key]["seq"] for step in played if step.writes]
    size = max(written, default=0)
    n_steps = len(written) + len(PEOPLE) + len(AGENTS)
    return Loaded(n_steps, n_replayed, size, trees.root(stage.namespace, size))


def play(stage: Stage, step: Step) -> Mapping[str, Any]:
    """One step, as its actor at its instant: a person's act, or a call of the API.   Raises Unexpected."""
    return _acted(stage, step) if step.actor in (*BY_NAME, SYSTEM) else _called(stage, step)


def _acted(stage: Stage, step: Step) -> Mapping[str, Any]:
    by = _by_system(stage.piece, stage.namespace, key=step.key, at=step.at)
    if step.actor != SYSTEM:
        by = person_acting(
            stage.namespace, step.actor, loader=stage.loader, event_at=step.at,
            **_origin(stage.piece, step.key),
        )  # fmt: skip
    with moment(stage.piece, step.key, step.at):
        return ACTS[step.path](by, filled(step.body, stage.answers))


def _called(stage: Stage, step: Step) -> Mapping[str, Any]:
    headers = {
        "Authorization": f"Bearer {stage.secret}",
        "Idempotency-Key": f"{stage.piece.namespace}/{step.key}",
        "Palimpsest-Actor": principal(step.actor),
        "Palimpsest-Event-At": instant_text(step.at),
        "X-Request-ID": str(_request_id(stage.piece, step.key)),
    }
    path = f"/api/v1/namespaces/{stage.piece.namespace}/{filled_path(step, stage.answers)}"
    body = filled(step.body, stage.answers)
    with moment(stage.piece, step.key, step.at):
        answer = stage.door.ask(step.method, path, body=body, headers=headers)
    if answer.status == GONE and step.is_erased_later:
        # What the step wrote has no text any more; its place in the log and the id that the client chose stand.
        return {"id": body.get("id"), "seq": 0, "replayed": True}
    if answer.status not in step.expects or not isinstance(answer.body, dict):
        told = answer.body.get("detail", "") if isinstance(answer.body, dict) else ""
        raise Unexpected(f"Step {step.key} was answered {answer.status} {told}")
    return answer.body


def founded(piece: Piece) -> Stage:
    """The namespace with its loader and the loader's token.

    The token ends within the story's own time: it opens nothing on any real clock, though everyone can work it out.
    """
    at = piece.curtain - 3 * SECOND
    with moment(piece, "A00", at):
        namespace = found_replay(piece.namespace, notice=piece.notice, at=at)
    at = piece.curtain - 2 * SECOND
    with moment(piece, "A00/loader", at):
        agent = create_agent(_by_system(piece, namespace, key="A00/loader", at=at), name=LOADER).id
    at = piece.curtain - SECOND
    with moment(piece, "A00/token", at):
        by = _by_system(piece, namespace, key="A00/token", at=at)
        issue_token(by, agent=agent, scopes=("read", "write", "control"), life=LONGEST_LIFE)
    with moment(piece, "A00/token", at):
        secret = fresh_secret()
    return Stage(piece, namespace, agent, secret)


def _by_system(piece: Piece, namespace: int, *, key: str, at: datetime) -> Actor:
    return Actor(namespace, "system", event_at=at, **_origin(piece, key))


def _origin(piece: Piece, key: str) -> dict[str, Any]:
    """By what a step's entry is known again."""
    return {"idempotency_key": f"{piece.namespace}/{key}", "request_id": _request_id(piece, key)}


def _request_id(piece: Piece, key: str) -> UUID:
    return id_of(f"request/{key}", namespace=piece.namespace)


def _let_in(stage: Stage) -> int:
    """Steps A01 to A08: the first owner by the system, everyone else by that owner. Answers how many stood already."""
    n_replayed = 0
    by = replace(_by_system(stage.piece, stage.namespace, key="", at=stage.piece.curtain), loader=stage.loader)
    for number, person in enumerate(PEOPLE, 1):
        create_person(person.email, id=person.id)
        with _step(stage, by, number) as acting:
            done = admit_member(acting, person=person.id, role=person.role, expires_at=person.expires_at)
        n_replayed += done.replayed
        first = PEOPLE[0]
        by = replace(by, kind="person", person=first.id, role=first.role, powers=ROLE_POWERS[first.role])
    for number, agent in enumerate(AGENTS, 1 + len(PEOPLE)):
        with _step(stage, by, number) as acting:
            made = create_agent(acting, name=agent.name, operator=BY_NAME[agent.operator].id)
        n_replayed += made.replayed
    return n_replayed


@contextmanager
def _step(stage: Stage, by: Actor, number: int) -> Iterator[Actor]:
    """The moment of step A<number> and its actor."""
    key, at = f"A{number:02d}", stage.piece.curtain + (number - 1) * SECOND
    with moment(stage.piece, key, at):
        yield replace(by, event_at=at, **_origin(stage.piece, key))
