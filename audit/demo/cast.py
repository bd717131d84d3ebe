"""Who acts in the story: four agents, and four people who are roles.

The ids of people stand in the ledger; so that the story has one root everywhere, these four have ids of their own, far
from those that a database gives out.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from memory.base.actor import Role

LOADER = "loader"
# An auditor's role needs an end; this one outlives the demo.
FAR = datetime(2099, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Person:
    """A person of the demo and the role held in each of its namespaces."""

    name: str
    id: int
    role: Role
    expires_at: datetime | None = None

    @property
    def email(self) -> str:
        return f"{self.name}@localhost"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent and the person who answers for it."""

    name: str
    operator: str


PEOPLE = (
    Person("owner-a", 2_024_000_001, "owner"),
    Person("owner-b", 2_024_000_002, "owner"),
    Person("reviewer-a", 2_024_000_003, "reviewer"),
    Person("auditor-a", 2_024_000_004, "auditor", FAR),
)
AGENTS = (
    Agent("triage-bot", "owner-a"),
    Agent("scan-bot", "owner-a"),
    Agent("release-bot", "owner-b"),
    Agent("docs-bot", "owner-a"),
)
BY_NAME = {person.name: person for person in PEOPLE}


def principal(name: str) -> str:
    """How a header names who acts: `agent:<name>` or `person:<address>`."""
    return f"person:{BY_NAME[name].email}" if name in BY_NAME else f"agent:{name}"
