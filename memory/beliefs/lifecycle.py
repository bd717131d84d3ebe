"""Hooks that wrap an agent's loop: what is believed goes into the request, what came of it is observed.

Invariants
- A hook changes no request: it answers a copy with one field more, or none where nothing was asked.
- What an event observed is one entry, all or nothing; a summary made at compaction is never independent evidence.
- An encoder only reads events; it names no actor and opens no store. What it reads, and what is asked, is of the
  namespace of the actor, or refused.

Source: posterior-memory-harness 0.9.0, its middleware.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from memory.base.actor import Actor
from memory.base.errors import Invalid
from memory.beliefs.kernel.documents import ObservationDocument, observation_document
from memory.beliefs.kernel.questions import decision_options, query_document
from memory.beliefs.kernel.reading import shown
from memory.beliefs.operations.observing import Asked, observe
from memory.beliefs.profiles import Profile
from memory.beliefs.queries.asking import ask
from memory.beliefs.queries.deciding import decide
from memory.ledger.models import Namespace
from memory.ledger.queries import asof

EventKind = Literal["tool_result", "model_output", "compaction"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in the loop."""

    kind: EventKind
    payload: Mapping[str, Any]
    context: Mapping[str, Any] = field(default_factory=dict)


class Encoder(Protocol):
    """What reads observations out of an event: a classifier, or the parser of a tool that is trusted."""

    def encode(self, event: Event) -> Sequence[ObservationDocument | Mapping[str, Any]]:
        """Observations, or their payloads."""


@dataclass(frozen=True, slots=True)
class StructuredEncoder:
    """Reads payloads that the event holds already, under one field."""

    field: str = "memory_observations"

    def encode(self, event: Event) -> Sequence[ObservationDocument | Mapping[str, Any]]:
        """Raises Invalid (no list)."""
        values = event.payload.get(self.field, [])
        if not isinstance(values, list | tuple):
            raise Invalid.at(self.field, expected="a list of observations", got=shown(values), code="wrong_type")
        return values


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The hooks of one actor in one namespace; without an encoder nothing is observed."""

    by: Actor
    profile: Profile
    encoder: Encoder | None = None
    request_field: str = "memory_capsule"

    def before_model(
        self, request: Mapping[str, Any], query: Mapping[str, Any] | None, *, focus_node: str | None = None,
        alternatives: int = 2,
    ) -> dict[str, Any]:  # fmt: skip
        """The request with what is believed now: a capsule, or with a focus the decision about that node.

        Raises as `queries.asking.ask` and `queries.deciding.decide`.
        """
        if query is None:
            return dict(request)
        at, document = asof.now(self.by.namespace), query_document(query)
        self._require_here(document.namespace)
        if focus_node is None:
            return {**request, self.request_field: ask(at, query=document, profile=self.profile).capsule(
                profile=self.profile)}  # fmt: skip
        options = decision_options(focus_node, alternatives=alternatives)
        return {**request, self.request_field: decide(at, query=document, options=options, profile=self.profile)}

    def after_event(self, event: Event) -> list[str]:
        """Store what the encoder reads out of an event; the ids of its observations.

        Raises as `operations.observing.observe`.
        """
        if self.encoder is None:
            return []
        documents = [self._document(value, event.kind) for value in self.encoder.encode(event)]
        if not documents:
            return []
        return [one.observation_id for one in observe(self.by, documents=documents, asked=Asked(self.profile))]

    def after_tool(self, payload: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> list[str]:
        """A tool has answered."""
        return self.after_event(Event("tool_result", payload, context or {}))

    def after_model(self, payload: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> list[str]:
        """The model has answered."""
        return self.after_event(Event("model_output", payload, context or {}))

    def on_compaction(self, payload: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> list[str]:
        """The context was summed up: what a summary says again is no new evidence."""
        return self.after_event(Event("compaction", payload, context or {}))

    def _document(self, value: ObservationDocument | Mapping[str, Any], kind: EventKind) -> ObservationDocument:
        if isinstance(value, ObservationDocument):
            document = value
        else:
            document = observation_document(value, profile=self.profile)
        self._require_here(document.namespace)
        return replace(document, independent_evidence=False) if kind == "compaction" else document

    def _require_here(self, namespace: str) -> None:
        here = Namespace.objects.values_list("name", flat=True).get(pk=self.by.namespace)
        if namespace != here:
            raise Invalid.at("namespace", expected=f"{here}, that of the actor", got=shown(namespace))
