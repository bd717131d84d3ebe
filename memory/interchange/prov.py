"""A slice as PROV-JSON: records as entities, entries as activities, principals as agents.

Invariants
- No relation points at an id that the document does not declare.
- An erased record is an entity without attributes; its withdrawal or erasure invalidates it without a new revision.
- A merge is one generated entity with several used and derived, a split several of one.
- The same slice has the same bytes.

Source: W3C PROV-JSON (member submission, 2013); W3C PROV-DM 5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from memory.base import instants
from memory.interchange.slices import Act, Link, Slice, Version

PREFIX = "ml"
SOFTWARE = "prov:SoftwareAgent"
REVISIONS = ("evolved_from",)
RELATION_MARKS = {
    "wasGeneratedBy": "g", "used": "u", "wasDerivedFrom": "d", "wasInvalidatedBy": "i", "wasAssociatedWith": "a",
    "actedOnBehalfOf": "b",
}  # fmt: skip


def document(found: Slice) -> dict[str, Any]:
    """The slice as one PROV-JSON object; maps that would be empty are left out."""
    relations: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)

    def relate(name: str, value: dict[str, Any]) -> None:
        relations[name][f"_:{RELATION_MARKS[name]}{len(relations[name]) + 1}"] = value

    for act in found.acts:
        for name, value in _relations(act):
            relate(name, value)
    for value in _delegations(found):
        relate("actedOnBehalfOf", value)
    whole = {
        "prefix": {PREFIX: f"urn:palimpsest:{found.uid}:"},
        "entity": {record(one.id): _entity(one) for one in found.versions},
        "activity": {_activity_id(act): _activity(act) for act in found.acts},
        "agent": _agents(found),
        **{name: relations[name] for name in RELATION_MARKS},
    }
    return {name: value for name, value in whole.items() if value}


def record(id: UUID) -> str:
    """The name of a record's version in the document."""
    return f"{PREFIX}:record/{id}"


def _activity_id(act: Act) -> str:
    return f"{PREFIX}:entry/{act.seq}"


def _entity(one: Version) -> dict[str, Any]:
    if one.is_erased:
        return {}
    if one.is_outsider:
        return {f"{PREFIX}:outside": True}
    instants_of = {"validFrom": one.valid_from, "validTo": one.valid_to}
    return {
        "prov:label": one.label, f"{PREFIX}:type": one.type, f"{PREFIX}:status": one.state,
        f"{PREFIX}:source": one.source_class,
        **{f"{PREFIX}:{name}": instants.text(value) for name, value in instants_of.items() if value is not None},
    }  # fmt: skip


def _activity(act: Act) -> dict[str, Any]:
    at = instants.text(act.recorded_at)
    told = {"reason": act.reason, "refused": act.refused, "run": str(act.run or "")}
    return {
        "prov:startTime": at, "prov:endTime": at, "prov:type": f"{PREFIX}:{act.verb}",
        **{f"{PREFIX}:{name}": value for name, value in told.items() if value},
    }  # fmt: skip


def principal(act: Act) -> str:
    """The name of who acted."""
    if act.agent is not None:
        return f"{PREFIX}:agent/{act.agent}"
    return _person(act.person) if act.person is not None else f"{PREFIX}:system"


def _person(person: int) -> str:
    return f"{PREFIX}:person/{person}"


def _party(name: UUID) -> str:
    return f"{PREFIX}:party/{name}"


def _agents(found: Slice) -> dict[str, dict[str, Any]]:
    declared: dict[str, dict[str, Any]] = {}
    for id, worker in found.workers.items():
        declared[f"{PREFIX}:agent/{id}"] = {
            "prov:type": SOFTWARE,
            **({"prov:label": worker.name} if worker.name else {}),
        }
    operators = {worker.operator for worker in found.workers.values() if worker.operator is not None}
    acting = {act.person for act in found.acts if act.agent is None and act.person is not None}
    for person in sorted(operators | acting):
        declared[_person(person)] = {"prov:type": "prov:Person"}
    for id, name in found.parties.items():
        declared[_party(id)] = {"prov:label": name} if name else {}
    if any(act.agent is None and act.person is None for act in found.acts):
        declared[f"{PREFIX}:system"] = {"prov:type": SOFTWARE}
    return declared


def _relations(act: Act) -> Iterator[tuple[str, dict[str, Any]]]:
    activity, at = _activity_id(act), instants.text(act.recorded_at)
    for id in act.generated:
        yield "wasGeneratedBy", {"prov:entity": record(id), "prov:activity": activity, "prov:time": at}
    for id in act.used:
        yield "used", {"prov:activity": activity, "prov:entity": record(id)}
    for link in act.links:
        if link.relation != "supersedes":
            yield "wasDerivedFrom", _derivation(link, activity)
    for id in act.ended:
        yield "wasInvalidatedBy", {"prov:entity": record(id), "prov:activity": activity, "prov:time": at}
    yield "wasAssociatedWith", {"prov:activity": activity, "prov:agent": principal(act)}
    if act.on_behalf_of is not None:
        delegate = {"prov:delegate": principal(act), "prov:responsible": _party(act.on_behalf_of)}
        yield "actedOnBehalfOf", {**delegate, "prov:activity": activity}


def _derivation(link: Link, activity: str) -> dict[str, Any]:
    ends = {"prov:generatedEntity": record(link.newer), "prov:usedEntity": record(link.older)}
    kind = "prov:Revision" if link.relation in REVISIONS else f"{PREFIX}:{link.relation}"
    return {**ends, "prov:activity": activity, "prov:type": kind}


def _delegations(found: Slice) -> Iterator[dict[str, Any]]:
    """Each agent acts for the person who answers for it."""
    for id, worker in found.workers.items():
        if worker.operator is not None:
            yield {"prov:delegate": f"{PREFIX}:agent/{id}", "prov:responsible": _person(worker.operator)}
