"""A small world for tests: a namespace, people, agents and what they do, all through operations.

- Alice owns the namespace, Bob reviews, Charlie audits; Scout is an agent that reads and writes.
- Two worlds are two namespaces; their people are the same accounts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memory.agents import operations as agents
from memory.agents.accounts import create_person
from memory.base import clock
from memory.base.actor import ROLE_POWERS, SCOPE_POWERS, Actor, Role
from memory.base.asof import AsOf
from memory.beliefs.kernel.acts import RevocationDocument
from memory.beliefs.kernel.documents import observation_document
from memory.beliefs.kernel.laws import read_law
from memory.beliefs.kernel.questions import query_document
from memory.beliefs.operations import binding, revoking
from memory.beliefs.operations.binding import Binding
from memory.beliefs.operations.observing import Asked, Observed, observe
from memory.beliefs.operations.revoking import Revoked
from memory.beliefs.profiles import Profile
from memory.beliefs.queries.asking import Asking, ask
from memory.facts.content import NewFact
from memory.facts.kernel.values import Value
from memory.facts.operations.asserting import AssertedFact, assert_facts
from memory.facts.operations.declaring import Declaration, declare
from memory.facts.queries.lists import page_of
from memory.facts.queries.status import EntityStatus
from memory.ledger.operations.erasing import Erased, erase
from memory.ledger.operations.founding import found
from memory.ledger.queries import asof
from memory.lineage.operations import compiling, derivations, links, merging
from memory.lineage.operations.compiling import Recipe
from memory.lineage.operations.deriving import Cause, Derived
from memory.records import operations as records
from memory.records.content import NewRecord
from memory.records.models import Record
from memory.records.operations import SavedRecord

CORRECTION = Cause("correction")
AUDIT_LIFE = timedelta(days=90)


class World:
    """One namespace and who acts in it. `secrets` holds the token of each agent, as it was shown once."""

    def __init__(self, name: str = "lab") -> None:
        self.name = name
        self.namespace = found(Actor(0, "system"), name=name).pk
        self.system = Actor(self.namespace, "system")
        self.secrets: dict[UUID, str] = {}
        self.alice = self.person("alice", role="owner")
        self.bob = self.person("bob", role="reviewer")
        self.charlie = self.person("charlie", role="auditor")
        self.scout = self.agent("scout")

    def person(self, name: str, *, role: Role) -> Actor:
        """A person with an account, admitted to the namespace."""
        account = create_person(f"{name}@example.org").pk
        ends = clock.now() + AUDIT_LIFE if role == "auditor" else None
        agents.admit_member(self.system, person=account, role=role, expires_at=ends)
        return Actor(self.namespace, "person", person=account, role=role, powers=ROLE_POWERS[role])

    def agent(self, name: str, *, scopes: Sequence[str] = ("read", "write"), operator: int | None = None) -> Actor:
        """An agent with a token of its own."""
        made = agents.create_agent(self.alice, name=name, operator=operator)
        self.secrets[made.id] = agents.issue_token(self.alice, agent=made.id, scopes=scopes).secret
        powers = frozenset().union(*(SCOPE_POWERS[scope] for scope in scopes))
        return Actor(self.namespace, "agent", agent=made.id, powers=powers)

    @property
    def scout_id(self) -> UUID:
        assert self.scout.agent is not None
        return self.scout.agent

    def keyed(self, key: str) -> Actor:
        """Scout, asking under an Idempotency-Key."""
        return replace(self.scout, idempotency_key=key)

    def now(self) -> AsOf:
        return asof.now(self.namespace)

    def at(self, seq: int, *, valid_at: datetime | None = None) -> AsOf:
        """The point at an entry of the ledger."""
        valid = valid_at.isoformat() if valid_at is not None else ""
        return asof.resolve(self.namespace, known_at=f"seq:{seq}", valid_at=valid)

    def save(
        self, content: str = "a note", *, type: str = "note", by: Actor | None = None, **given: Any
    ) -> SavedRecord:
        """One record."""
        (saved,) = records.save(by or self.scout, records=[NewRecord(type, content, **given)])
        return saved

    def save_all(self, *contents: str, by: Actor | None = None) -> list[SavedRecord]:
        """One record for each text, in one entry."""
        return records.save(by or self.scout, records=[NewRecord("note", content) for content in contents])

    def evolve(self, record: UUID, *, base: str = "", cause: Cause = CORRECTION, **changes: Any) -> UUID:
        """The id of the new version."""
        made = derivations.evolve(self.scout, record=record, base=base, changes=changes, cause=cause)
        return made.records[0]

    def split(self, record: UUID, *contents: str, **given: Any) -> tuple[UUID, ...]:
        """The ids of the parts; what is given beside the texts is given for each."""
        parts = [{"content": content, **given} for content in contents]
        return derivations.split(self.scout, record=record, parts=parts, cause=CORRECTION).records

    def merge(self, *sources: UUID, **options: Any) -> UUID:
        """The id of the record that sums the sources up."""
        return self.merged(*sources, **options).records[0]

    def merged(self, *sources: UUID, **options: Any) -> Derived:
        return merging.merge(self.scout, records=sources, cause=CORRECTION, **options)

    def compile(
        self, *sources: UUID, content: str | None = "what the sources say", function: str = "digest",
        version: str = "v1", covers: str = "", is_public: bool = False, redacted: bool | None = None, **given: Any,
    ) -> UUID:  # fmt: skip
        """The id of the compiled record; a public one is redacted unless it is said to be not."""
        output = "public" if is_public else "compiled"
        made_by = Recipe(function, version, output, is_public if redacted is None else redacted, covers)
        done = compiling.compile_record(
            self.scout, sources=sources, recipe=made_by, cause=CORRECTION, content=content, **given
        )  # fmt: skip
        return done.records[0]

    def supersede(self, old: UUID, new: UUID) -> Derived:
        return derivations.supersede(self.scout, old=old, new=new, cause=CORRECTION)

    def link(self, source: UUID, relation: str, target: UUID) -> int:
        return links.link(self.scout, source=source, relation=relation, target=target).seq

    def withdraw(self, record: UUID, *, reason: str = "no longer wanted") -> int:
        return records.withdraw(self.scout, record=record, reason=reason).seq

    def restore(self, record: UUID, *, reason: str = "wanted after all") -> int:
        return records.restore(self.bob, record=record, reason=reason).seq

    def erase(self, *ids: UUID, reason: str = "request", note: str = "", by: Actor | None = None) -> Erased:
        """Erase the content of the records."""
        return erase(by or self.alice, items=[self.address(id) for id in ids], reason=reason, note=note)

    def tell(
        self, subject: str, attribute: str, value: Value, *, by: Actor | None = None, **given: Any
    ) -> AssertedFact:
        """One fact."""
        (told,) = assert_facts(by or self.scout, facts=[NewFact(subject, attribute, value, **given)])
        return told

    def declare(self, attribute: str, cardinality: str = "one", *, by: Actor | None = None, **given: Any) -> int:
        """The entry that declares the attribute."""
        return declare(by or self.scout, attribute=attribute, declaration=Declaration(cardinality, **given)).seq

    def status(self, subject: str, attribute: str, *, at: AsOf | None = None, **given: Any) -> EntityStatus:
        """What the store answers for the two, now or at the point."""
        (answer,) = page_of(at or self.now(), subject=subject, attribute=attribute, **given).items
        return answer

    def address(self, record: UUID) -> tuple[int, int]:
        """The (seq, item) of a record."""
        row = Record.objects.get(namespace=self.namespace, id=record)
        return row.seq, row.item

    def bind(self, relation_type: str = "rel", law: Any = "cyclic:4", *, profile: Profile = "native", **given: Any
             ) -> binding.Bound:  # fmt: skip
        """A relation type with its law."""
        return binding.register(self.scout, binding=Binding(relation_type, read_law(law), **given), profile=profile)

    def observe(
        self, id: str | None, source: str, target: str, posterior: Any, *, profile: Profile = "native",
        by: Actor | None = None, **given: Any,
    ) -> Observed:  # fmt: skip
        """One observation of the relation type `rel`, of a family of its own."""
        document = {
            "schema_version": 2, "observation_id": id, "namespace": self.name, "relation_type": "rel", "source": source,
            "target": target, "posterior": posterior, "evidence_family": f"family of {id}", "observed_at": 1.0, **given,
        }  # fmt: skip
        read = observation_document(document, profile=profile)
        (done,) = observe(by or self.scout, documents=[read], asked=Asked(profile))
        return done

    def revoke(self, id: str, *, by: Actor | None = None, **given: Any) -> Revoked:
        """Revoke an observation at the instant 50."""
        return revoking.revoke(by or self.bob, observation_id=id, asked=RevocationDocument(**{"at": 50.0, **given}))

    def ask(self, *nodes: str, at: AsOf | None = None, profile: Profile = "native", **given: Any) -> Asking:
        """What the nodes are believed to be as seen from the first, at the instant 100."""
        document = {
            "schema_version": 2, "namespace": self.name, "relation_type": "rel", "root": nodes[0],
            "nodes": list(nodes), "as_of": 100.0, **given,
        }  # fmt: skip
        return ask(at or self.now(), query=query_document(document), profile=profile)
