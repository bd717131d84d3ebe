"""The payload of an observation: what a client may send, its defaults, and the form in which a retry is compared.

Invariants
- Unknown keys are refused, and the lineage keys in version 1; a refusal names the place.
- Masses stay as given, a list or a map of labels; only a law gives them a length (see `masses`).
- What the service fills (observation_id, observed_at, tracked_at) stays None, so a retry of the same payload is equal.
- A parent lies in the same namespace and relation type and is no younger; an independent child keeps its parent's
  lineage and endpoints.

Source: posterior-memory-harness 0.9.0, its input contract, versions 1 and 2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memory.base.bodies import read_json
from memory.base.canonical import Dialect
from memory.base.errors import Invalid
from memory.base.text import fault
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.laws import Law
from memory.beliefs.kernel.masses import Flag, Masses, flags, masses, masses_or_none, vector
from memory.beliefs.kernel.reading import (
    boolean,
    identifier,
    identifier_or_none,
    identifiers,
    integer,
    members,
    number,
    number_or_none,
    only,
    shown,
)

Profile = Literal["native", "compat"]
LineageKind = Literal["root", "event", "family"]

MAX_TAGS = 64
TAG_CHARS = 128
MAX_PARENTS = 256
PROVENANCE_BYTES = 65_536
PROVENANCE_LEVELS = 16

_LINEAGE_KEYS = ("source_event_id", "lineage_root_id", "derived_from", "encoder_revision", "calibration_revision")
_REQUIRED = ("namespace", "relation_type", "source", "target", "posterior", "evidence_family")
_KEYS_1 = frozenset(
    (*_REQUIRED, "schema_version", "observation_id", "prior", "provenance", "observed_at", "valid_from", "valid_until",
     "independent_evidence", "trust", "tags")
)  # fmt: skip
_KEYS_2 = _KEYS_1 | frozenset(_LINEAGE_KEYS)


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


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Raw masses under a law, (S,) float64 each, as given: not floored, not normalised. A prior of None is uniform."""

    posterior: Floats
    prior: Floats | None
    flags: tuple[Flag, ...]


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
    given = members(document)
    version = schema_version(given)
    claimed = ("tracked_at",) if profile == "compat" else ()
    only(given, known=(_KEYS_1 if version == 1 else _KEYS_2) | frozenset(claimed), required=_REQUIRED)
    found = ObservationDocument(
        namespace=identifier(given["namespace"], "namespace"),
        relation_type=identifier(given["relation_type"], "relation_type"),
        source=identifier(given["source"], "source"),
        target=identifier(given["target"], "target"),
        posterior=masses(given["posterior"], "posterior"),
        evidence_family=identifier(given["evidence_family"], "evidence_family"),
        observation_id=identifier_or_none(given, "observation_id"),
        prior=masses_or_none(given, "prior"),
        provenance=_provenance(given.get("provenance", {})),
        observed_at=number_or_none(given, "observed_at"),
        valid_from=number_or_none(given, "valid_from"),
        valid_until=number_or_none(given, "valid_until"),
        independent_evidence=boolean(given.get("independent_evidence", True), "independent_evidence"),
        trust=_trust(given.get("trust", 1.0)),
        tags=tags(given.get("tags")),
        source_event_id=identifier_or_none(given, "source_event_id"),
        lineage_root_id=identifier_or_none(given, "lineage_root_id"),
        derived_from=_parents(given.get("derived_from")),
        encoder_revision=identifier_or_none(given, "encoder_revision"),
        calibration_revision=identifier_or_none(given, "calibration_revision"),
        tracked_at=number_or_none(given, "tracked_at"),
    )
    _require_coherence(found)
    return found


def vectors(document: ObservationDocument, law: Law) -> Vectors:
    """The arrays of an observation under the law of its relation type.   Raises Invalid for another length or label."""
    return read_vectors(document.posterior, document.prior, law)


def read_vectors(posterior: Masses, prior: Masses | None, law: Law) -> Vectors:
    """The same from the masses alone."""
    posterior_masses = vector(posterior, law, "posterior")
    prior_masses = None if prior is None else vector(prior, law, "prior")
    return Vectors(posterior_masses, prior_masses, flags(posterior_masses, prior_masses))


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


def schema_version(document: Mapping[str, object]) -> int:
    """1 or 2; absent is 1."""
    return integer(document.get("schema_version", 1), "schema_version", least=1, most=2)


def tags(value: object) -> tuple[str, ...]:
    """Tags in sorted order; null is none."""
    return () if value is None else tuple(sorted(identifiers(value, "tags", least=0, most=MAX_TAGS, chars=TAG_CHARS)))


def _parents(value: object) -> tuple[str, ...]:
    return () if value is None else identifiers(value, "derived_from", least=0, most=MAX_PARENTS)


def _trust(value: object) -> float:
    trust = number(value, "trust")
    if not 0.0 <= trust <= 1.0:
        raise Invalid.at("trust", expected="a number in 0..1", got=shown(value), code="out_of_range")
    return trust


def _require_coherence(document: ObservationDocument) -> None:
    if document.observation_id is not None and document.observation_id in document.derived_from:
        index = document.derived_from.index(document.observation_id)
        raise Invalid.at("derived_from", index, expected="other observations", got="the observation itself")
    starts, ends = document.valid_from, document.valid_until
    if starts is not None and ends is not None and starts > ends:
        raise Invalid.at("valid_until", expected=f"an instant not before {starts!r}", got=repr(ends))


def _provenance(value: object) -> Mapping[str, object]:
    given = members(value, "provenance")
    _require_json(given, ("provenance",), 0)
    size_bytes = len(_compact(given).encode())
    if size_bytes > PROVENANCE_BYTES:
        raise Invalid.at("provenance", expected=f"at most {PROVENANCE_BYTES} bytes", got=size_bytes, code="too_long")
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
