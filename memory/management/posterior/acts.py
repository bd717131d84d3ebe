"""The commands that write: observe, outcome, revoke. Each is the operation that a route calls, as the host."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from django.db import transaction

from memory.agents.operations import change_setting
from memory.agents.setup import ensure_namespace, system
from memory.base import clock
from memory.base.errors import Invalid
from memory.beliefs import profiles
from memory.beliefs.kernel.acts import outcome_document, revocation_document
from memory.beliefs.kernel.documents import ObservationDocument, observation_document, read_payload
from memory.beliefs.kernel.laws import Law
from memory.beliefs.operations import observing, revoking
from memory.beliefs.operations.binding import Binding
from memory.beliefs.operations.observing import Asked
from memory.beliefs.states import read_vectors
from memory.calibration.models import LabelOutcome
from memory.calibration.operations import recording
from memory.ledger.queries.contents import name_ids
from memory.management.posterior import reading, stores
from memory.management.posterior.arguments import Arguments

Document = dict[str, Any]


def observe(asked: Arguments, store: Path | None) -> Document:
    """Store an observation, with the law, the run and the namespace that are new; all of it or nothing.

    Raises DomainError, SchemaFault, OSError.
    """
    text = reading.text_at(asked.payload)
    first = observation_document(reading.related(text, asked, profile="compat"), profile="compat")
    law = reading.law_of(asked)
    if stores.is_absent(store):
        # Whatever can be refused before a store is made is refused before it.
        read_vectors(first.posterior, first.prior, law)
        reading.config_of(asked, standing=None)
    return stores.writing(store, lambda: _observed(asked, text, first, law))


@transaction.atomic
def _observed(asked: Arguments, text: bytes, first: ObservationDocument, law: Law) -> Document:
    standing = reading.standing(first.namespace)
    profile = reading.profile_in(standing, asked)
    document = observation_document(reading.related(text, asked, profile=profile), profile=profile)
    if profile == "compat" and document.tracked_at is None:
        # As with the peer, the instant that this host's clock shows; another one than the entry's, by a hair.
        document = replace(document, tracked_at=clock.now().timestamp())
    namespace = _founded(document.namespace) if standing is None else standing.pk
    watch = reading.config_of(asked, standing=reading.run_named(namespace, asked.monitor_run))
    (done,) = observing.observe(
        system(namespace), documents=[document],
        asked=Asked(profile, bind=Binding(document.relation_type, law), watch=watch),
    )  # fmt: skip
    told: Document = {"observation_id": done.observation_id}
    if profile == "native":
        audit = {"seq": done.seq, "flags": list(done.flags), "tracking": done.tracking, "reached": done.is_reached}
        told |= {"recorded": done.recorded, "audit": audit}
    return told


def _founded(name: str) -> int:
    namespace = ensure_namespace(name)
    change_setting(system(namespace), name=profiles.NAME, value=reading.FIRST_PROFILE)
    return namespace


def outcome(asked: Arguments, store: Path | None) -> Document:
    """Store what was true of an observation.   Raises DomainError, SchemaFault, OSError."""
    if not asked.relation_type:
        raise Invalid.at("--relation-type", expected="one, for this command", code="missing")
    law = reading.law_of(asked)
    if stores.is_absent(store):
        raise reading.no_run(asked.monitor_run)
    with stores.reading(store), transaction.atomic():
        return _labelled(asked, law)


def _labelled(asked: Arguments, law: Law) -> Document:
    named = {one: reading.run_named(one.pk, asked.monitor_run) for one in reading.every(asked.namespace)}
    watched = {one: config for one, config in named.items() if config is not None}
    if not watched:
        raise reading.no_run(asked.monitor_run)
    text = reading.text_at(asked.payload)
    first = outcome_document(read_payload(text, profile="compat"), profile="compat")
    namespace = reading.holder(first.observation_id, among=list(watched))
    reading.require_config(asked, watched[namespace])
    profile = reading.profile_in(namespace, asked)
    document = outcome_document(read_payload(text, profile=profile), profile=profile)
    if profile == "compat" and document.recorded_at is None and not _is_told(namespace.pk, document.outcome_event_id):
        document = replace(document, recorded_at=clock.now().timestamp())
    assert asked.relation_type is not None
    reading.require_law(namespace.pk, asked.relation_type, law)
    (done,) = recording.record(system(namespace.pk), documents=[document])
    told: Document = {
        "outcome_event_id": done.outcome_event_id, "observation_id": done.observation_id, "recorded": done.recorded,
        "correction": done.correction,
    }  # fmt: skip
    if profile == "native":
        told["audit"] = {
            "seq": done.seq, "flags": list(done.flags), "alarms": [str(one) for one in done.alarms],
        }  # fmt: skip
    return told


def _is_told(namespace: int, outcome_event_id: str | None) -> bool:
    """Whether the event stands already: a retry of it claims no other instant."""
    name = name_ids(namespace, [outcome_event_id or ""]).get(outcome_event_id or "")
    return name is not None and LabelOutcome.objects.filter(namespace=namespace, name=name).exists()


def revoke(asked: Arguments, store: Path | None) -> Document:
    """Revoke an observation once.   Raises DomainError, SchemaFault."""
    if stores.is_absent(store):
        reading.holder(asked.observation_id, among=[])
    with stores.reading(store), transaction.atomic():
        namespace = reading.holder(asked.observation_id, among=reading.every(asked.namespace))
        profile = reading.profile_in(namespace, asked)
        given = {name: getattr(asked, name) for name in ("at", "reason") if getattr(asked, name) is not None}
        done = revoking.revoke(
            system(namespace.pk), observation_id=asked.observation_id,
            asked=revocation_document(given, profile=profile), profile=profile,
        )  # fmt: skip
    told: Document = {"revoked": done.observation_id}
    if profile == "native":
        told["audit"] = {"seq": done.seq, "at": done.at, "affected": list(done.affected)}
    return told
