"""What the arguments name: payloads, laws and monitor configurations in files, and namespaces of the store."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from memory.base.errors import Conflict, Invalid, NotFound
from memory.beliefs.kernel.documents import Profile, read_payload
from memory.beliefs.kernel.laws import Law, parse_law, read_law
from memory.beliefs.kernel.monitoring import MonitorConfig, parse_config
from memory.beliefs.kernel.reading import members, shown
from memory.beliefs.models import MonitorRun, Observation
from memory.beliefs.operations import binding
from memory.beliefs.operations.binding import Binding
from memory.beliefs.profiles import profile_of
from memory.beliefs.relations import relations
from memory.ledger.models import Namespace
from memory.ledger.queries.contents import name_ids
from memory.management.posterior.arguments import Arguments

LAST_SEQ = 2**62
LOCKED = tuple(field.name for field in fields(MonitorConfig) if field.name != "run_id")
# Under which a namespace stands that this command line makes.
FIRST_PROFILE: Profile = "compat"


def text_at(path: str) -> bytes:
    """What a file, or standard input, holds.   Raises OSError."""
    return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()


def related(text: bytes, asked: Arguments, *, profile: Profile) -> Mapping[str, object]:
    """The payload with its relation type, which the flag fills in.   Raises Malformed, Invalid."""
    payload = members(read_payload(text, profile=profile))
    told = payload.get("relation_type")
    if asked.relation_type is None:
        if not isinstance(told, str) or not told:
            raise Invalid.at("relation_type", expected="one in the payload, or --relation-type", code="missing")
        return payload
    if told is not None and told != asked.relation_type:
        expected = f"{asked.relation_type}, as --relation-type says"
        raise Invalid.at("relation_type", expected=expected, got=shown(told))
    return {**payload, "relation_type": asked.relation_type}


def law_of(asked: Arguments) -> Law:
    """The law that `--law` names.   Raises Invalid, Malformed, OSError."""
    if not asked.law:
        raise Invalid.at("--law", expected="s3, cyclic:N or a file, for this command", code="missing")
    if asked.law == "s3" or asked.law.startswith("cyclic:"):
        return read_law(asked.law)
    return parse_law(read_payload(text_at(asked.law), profile="compat"))


def config_of(asked: Arguments, *, standing: MonitorConfig | None) -> MonitorConfig:
    """What `--monitor-config` says, else what the run is locked to, else the default.   Raises as a payload."""
    if asked.monitor_config is None:
        return standing or parse_config({}, run_id=asked.monitor_run)
    document = read_payload(text_at(asked.monitor_config), profile="compat")
    return parse_config(members(document), run_id=asked.monitor_run)


def run_named(namespace: int, name: str) -> MonitorConfig | None:
    """What the monitor run of that name is locked to; None where there is none."""
    id = name_ids(namespace, [name]).get(name)
    row = None if id is None else MonitorRun.objects.filter(namespace=namespace, name=id).first()
    return None if row is None else config_in(row, name)


def config_in(row: MonitorRun, name: str = "") -> MonitorConfig:
    """What the run is locked to. `name` is no part of what is locked."""
    return MonitorConfig(run_id=name, **{one: getattr(row, one) for one in LOCKED})


def require_config(asked: Arguments, standing: MonitorConfig) -> None:
    """Raise Conflict where `--monitor-config` is not what the run is locked to."""
    if config_of(asked, standing=standing) != standing:
        raise Conflict(f"The monitor run {asked.monitor_run} is locked to another configuration.")


def no_run(name: str) -> Conflict:
    return Conflict(f"There is no monitor run {name}; the first observation under that name makes it.", run_id=name)


def require_law(namespace: int, relation_type: str, law: Law) -> None:
    """Raise Conflict where the relation type is bound to another law."""
    standing = relations(namespace, seq=LAST_SEQ, texts=[relation_type]).get(relation_type)
    if standing is not None:
        binding.require_same(standing, Binding(relation_type, law))


def profile_in(namespace: Namespace | None, asked: Arguments) -> Profile:
    """Under which profile the call is answered."""
    given: Any = asked.profile
    return given or (FIRST_PROFILE if namespace is None else profile_of(namespace.pk))


def standing(name: str) -> Namespace | None:
    """The namespace of that name."""
    return Namespace.objects.filter(name=name).first()


def every(name: str | None) -> list[Namespace]:
    """The namespace of that name, or all of the store, in order of their names."""
    rows = Namespace.objects.order_by("name")
    return list(rows if name is None else rows.filter(name=name))


def holder(observation_id: str, *, among: list[Namespace]) -> Namespace:
    """The one namespace that knows the observation.   Raises NotFound, Invalid (several do)."""
    found = [one for one in among if _knows(one.pk, observation_id)]
    if not found:
        raise NotFound(f"There is no observation {observation_id[:60]}.", observation_id=observation_id[:200])
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        raise Invalid.at("--namespace", expected=f"one of {names}, which all know that id", code="ambiguous")
    return found[0]


def _knows(namespace: int, observation_id: str) -> bool:
    name = name_ids(namespace, [observation_id]).get(observation_id)
    return name is not None and Observation.objects.filter(namespace=namespace, name=name).exists()
