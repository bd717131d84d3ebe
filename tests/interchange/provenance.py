"""Readers of PROV-JSON and OpenLineage written from their specifications alone; they share no code with the writers.

Source: W3C PROV-JSON 3 (maps and their roles), PROV-DM 5 (which kind of thing a role names); OpenLineage 2-0-2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

# For each relation: the roles that name something, and of which kind. The first two must be there.
ROLES: dict[str, dict[str, str]] = {
    "wasGeneratedBy": {"prov:entity": "entity", "prov:activity": "activity"},
    "used": {"prov:activity": "activity", "prov:entity": "entity"},
    "wasDerivedFrom": {
        "prov:generatedEntity": "entity", "prov:usedEntity": "entity", "prov:activity": "activity",
    },
    "wasInvalidatedBy": {"prov:entity": "entity", "prov:activity": "activity"},
    "wasAssociatedWith": {"prov:activity": "activity", "prov:agent": "agent"},
    "actedOnBehalfOf": {"prov:delegate": "agent", "prov:responsible": "agent", "prov:activity": "activity"},
}  # fmt: skip
KINDS = ("entity", "activity", "agent")


def faults(document: dict[str, Any]) -> list[str]:
    """What is wrong with a PROV-JSON document; nothing for a sound one."""
    found = [f"unknown map {name}" for name in document.keys() - {"prefix", *KINDS, *ROLES}]
    declared = {kind: document.get(kind, {}) for kind in KINDS}
    names = [name for kind in KINDS for name in declared[kind]]
    found += [f"{name} is declared twice" for name, count in Counter(names).items() if count > 1]
    for name in names:
        prefix, mark, local = name.partition(":")
        if not mark or not local or prefix not in document["prefix"]:
            found.append(f"{name} is no qualified name")
    for relation, roles in ROLES.items():
        for id, value in document.get(relation, {}).items():
            found += [f"{relation} {id}: no {role}" for role in list(roles)[:2] if role not in value]
            for role, kind in roles.items():
                if role in value and value[role] not in declared[kind]:
                    found.append(f"{relation} {id}: {role} names no {kind}: {value[role]}")
    for activity, value in declared["activity"].items():
        if not _instant(value["prov:startTime"]) <= _instant(value["prov:endTime"]):
            found.append(f"{activity} ends before it begins")
    return found + _contradictions(document)


def _contradictions(document: dict[str, Any]) -> list[str]:
    """PROV-CONSTRAINTS: one generation of each entity, no derivation from itself, no relation said twice."""
    found = []
    generated = Counter(value["prov:entity"] for value in document.get("wasGeneratedBy", {}).values())
    found += [f"{entity} is generated {count} times" for entity, count in generated.items() if count > 1]
    for relation in ROLES:
        said = Counter(repr(sorted(value.items(), key=str)) for value in document.get(relation, {}).values())
        found += [f"{relation} is said twice: {value}" for value, count in said.items() if count > 1]
    for value in document.get("wasDerivedFrom", {}).values():
        if value["prov:generatedEntity"] == value["prov:usedEntity"]:
            found.append(f"{value['prov:usedEntity']} is derived from itself")
    return found


def _instant(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    assert value.tzinfo is not None
    return value


@dataclass(frozen=True, slots=True)
class Event:
    """An OpenLineage run event that has all that the specification requires."""

    kind: str
    run: UUID
    job: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def read_event(value: dict[str, Any]) -> Event:
    """Raises AssertionError for what is no RunEvent of OpenLineage 2-0-2."""
    assert value["schemaURL"] == "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
    assert value["eventType"] in ("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER")
    assert ":" in value["producer"]
    _instant(value["eventTime"])
    for part in (value["job"], *value.get("inputs", []), *value.get("outputs", [])):
        assert part["namespace"]
        assert part["name"]
    known = {"eventType", "eventTime", "run", "job", "inputs", "outputs", "producer", "schemaURL"}
    assert value.keys() <= known
    return Event(
        value["eventType"], UUID(value["run"]["runId"]), value["job"]["name"],
        tuple(one["name"] for one in value["inputs"]), tuple(one["name"] for one in value["outputs"]),
    )  # fmt: skip
