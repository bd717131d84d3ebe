"""The payload of an observation: what a client may send, its defaults, and the form in which a retry is compared.

Invariants
- Unknown keys are refused, and the lineage keys in version 1; a refusal names the place.
- Masses stay as given, a list or a map of labels; only a law gives them a length (`masses.vector`).
- What the service fills (observation_id, observed_at, tracked_at) stays None, so a retry of the same payload is equal.
- A parent lies in the same namespace and relation type and is no younger; an independent child keeps its parent's
  lineage and endpoints.

Source: posterior-memory-harness 0.9.0, its input contract, versions 1 and 2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from memory.base.bodies import read_json
from memory.base.canonical import Dialect
from memory.base.errors import Invalid
from memory.base.text import fault
from memory.beliefs.kernel.fields import (
    Field,
    Schema,
    a_boolean,
    a_number,
    a_text,
    payload_schema,
    read_fields,
    texts,
)
from memory.beliefs.kernel.masses import Masses, some_masses
from memory.beliefs.kernel.reading import identifiers, members, number, shown

Profile = Literal["native", "compat"]
LineageKind = Literal["root", "event", "family"]

MAX_TAGS = 64
TAG_CHARS = 128
MAX_PARENTS = 256
PROVENANCE_BYTES = 65_536
PROVENANCE_LEVELS = 16


@dataclass(frozen=True, slots=True)
class Lineage:
    """What one source is counted once by: the lineage root, else the source event, else the evidence family."""

    kind: LineageKind
    key: str


@dataclass(frozen=True, slots=True)
class ObservationDocument:
    """A valid payload. Instants are float64 seconds; `tracked_at` is a claimed instant, accepted under compat only."""

    namespace: str
    relation_type: str
    source: str
    target: str
    posterior: Masses
    evidence_family: str
    observation_id: str | None = None
    prior: Masses | None = None
    provenance: Mapping[str, object] = field(default_factory=dict)
    observed_at: float | None = None
    valid_from: float | None = None
    valid_until: float | None = None
    independent_evidence: bool = True
    trust: float = 1.0
    tags: tuple[str, ...] = ()
    source_event_id: str | None = None
    lineage_root_id: str | None = None
    derived_from: tuple[str, ...] = ()
    encoder_revision: str | None = None
    calibration_revision: str | None = None
    tracked_at: float | None = None

    @property
    def lineage(self) -> Lineage:
        if self.lineage_root_id is not None:
            return Lineage("root", self.lineage_root_id)
        if self.source_event_id is not None:
            return Lineage("event", self.source_event_id)
        return Lineage("family", self.evidence_family)


@dataclass(frozen=True, slots=True)
class Parent:
    """What a child is held against."""

    observation_id: str
    namespace: str
    relation_type: str
    source: str
    target: str
    observed_at: float
    lineage: Lineage


def read_payload(text: bytes, *, profile: Profile) -> object:
    """The value of a payload's JSON text. Repeated keys are refused, or under compat the last of them counts.

    Raises Malformed (no JSON), Invalid (what is refused in it, by its place), TooLarge.
    """
    return read_json(text, dialect=payload_dialect(profile))


def payload_dialect(profile: Profile) -> Dialect:
    """What of JSON the peer's clients may send."""
    return Dialect(keeps_last_key=profile == "compat", has_wide_integers=True)


def observation_document(document: object, *, profile: Profile) -> ObservationDocument:
    """The observation of a payload.   Raises Invalid, naming the place."""
    found = ObservationDocument(**read_fields(document, _FIELDS[profile], second=_SECOND))
    if found.observation_id is not None and found.observation_id in found.derived_from:
        index = found.derived_from.index(found.observation_id)
        raise Invalid.at("derived_from", index, expected="other observations", got="the observation itself")
    starts, ends = found.valid_from, found.valid_until
    if starts is not None and ends is not None and starts > ends:
        raise Invalid.at("valid_until", expected=f"an instant not before {starts!r}", got=repr(ends))
    return found


def observation_schema(*, profile: Profile) -> Schema:
    """The JSON Schema of the payload, as far as a schema can tell."""
    return payload_schema(_FIELDS[profile], second=_SECOND)


def canonical_observation(document: ObservationDocument) -> bytes:
    """The bytes by which a retry is compared: equal for payloads that mean the same, filled fields left out."""
    names = (name for name in ObservationDocument.__slots__ if name not in ("posterior", "prior", "provenance"))
    fields: dict[str, object] = {name: getattr(document, name) for name in names}
    fields |= {name: _plain(getattr(document, name)) for name in ("posterior", "prior", "provenance")}
    return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def provenance_text(document: ObservationDocument) -> str:
    """Provenance as compact JSON, every integer with all its digits."""
    return _compact(document.provenance)


def require_parent(document: ObservationDocument, *, index: int, observed_at: float, parent: Parent) -> None:
    """Hold a child against the parent it names at `index`.

    observed_at : of the child, filled.   Raises Invalid at that parent.
    """
    place = ("derived_from", index)
    if (document.namespace, document.relation_type) != (parent.namespace, parent.relation_type):
        raise Invalid.at(*place, expected="a parent of this namespace and relation type", got="another", code="parent")
    if observed_at < parent.observed_at:
        raise Invalid.at(*place, expected="a parent that was not observed later", got="a later one", code="parent")
    if not document.independent_evidence:
        return
    if document.lineage.key != parent.lineage.key:
        raise Invalid.at(*place, expected="an independent child to keep the lineage", got="another", code="parent")
    if (document.source, document.target) != (parent.source, parent.target):
        raise Invalid.at(*place, expected="an independent child to keep both endpoints", got="others", code="parent")


def tags() -> Field:
    """The field of tags: in sorted order, null is none."""
    given = texts(most=MAX_TAGS, chars=TAG_CHARS)

    def read(value: object, key: str) -> tuple[str, ...]:
        return tuple(sorted(identifiers(value, key, least=0, most=MAX_TAGS, chars=TAG_CHARS)))

    return replace(given, read=read)


def _provenance(value: object, key: str) -> Mapping[str, object]:
    given = members(value, key)
    _require_json(given, (key,), 0)
    size_bytes = len(_compact(given).encode())
    if size_bytes > PROVENANCE_BYTES:
        raise Invalid.at(key, expected=f"at most {PROVENANCE_BYTES} bytes", got=size_bytes, code="too_long")
    return given


def _require_json(value: object, loc: tuple[str | int, ...], level: int) -> None:
    if level > PROVENANCE_LEVELS:
        expected = f"at most {PROVENANCE_LEVELS} levels below it"
        raise Invalid.at("provenance", expected=expected, got="more", code="too_deep")
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _require_text(value, loc)
    elif isinstance(value, (int, float)):
        number(value, *loc)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _require_json(item, (*loc, index), level + 1)
    else:
        for key, item in members(value, *loc).items():
            _require_text(key, loc)
            _require_json(item, (*loc, shown(key)), level + 1)


def _require_text(value: str, loc: tuple[str | int, ...]) -> None:
    found = fault(value)
    if found is not None:
        raise Invalid.at(*loc, expected="text without NUL and lone surrogates", got=found, code="character")


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _plain(value: object) -> object:
    """The value with each number in one spelling: a whole double is an integer, as the store may write it so."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


_SECOND = ("source_event_id", "lineage_root_id", "derived_from", "encoder_revision", "calibration_revision")
_NATIVE: Mapping[str, Field] = {
    "namespace": a_text(),
    "relation_type": a_text(),
    "source": a_text(),
    "target": a_text(),
    "posterior": some_masses(),
    "evidence_family": a_text(),
    "observation_id": a_text(default=None),
    "prior": some_masses(default=None),
    "provenance": Field(_provenance, {"type": "object"}, MappingProxyType({})),
    "observed_at": a_number(default=None),
    "valid_from": a_number(default=None),
    "valid_until": a_number(default=None),
    "independent_evidence": a_boolean(default=True),
    "trust": a_number(least=0, most=1, default=1.0),
    "tags": tags(),
    "source_event_id": a_text(default=None),
    "lineage_root_id": a_text(default=None),
    "derived_from": texts(most=MAX_PARENTS),
    "encoder_revision": a_text(default=None),
    "calibration_revision": a_text(default=None),
}
_FIELDS: Mapping[Profile, Mapping[str, Field]] = {
    "native": _NATIVE,
    "compat": {**_NATIVE, "tracked_at": a_number(default=None)},
}
