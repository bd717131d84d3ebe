"""The payloads of what is done about an observation: an outcome (a label), a revocation.

Invariants
- An outcome with a reason is a correction; a blank reason is refused. What the service fills stays None.
- Claimed instants of recording are accepted under compat only.
- A revocation takes its descendants with it unless it says otherwise; under compat it says so by default.

Source: posterior-memory-harness 0.9.0, its input contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memory.base.errors import Invalid
from memory.base.text import NOTE_CHARS, fault
from memory.beliefs.kernel.documents import Profile
from memory.beliefs.kernel.fields import (
    Field,
    Schema,
    a_boolean,
    a_number,
    a_text,
    a_word,
    payload_schema,
    read_fields,
    text_schema,
)
from memory.beliefs.kernel.laws import Law
from memory.beliefs.kernel.reading import identifier, shown

Cascade = Literal["derived", "record"]


@dataclass(frozen=True, slots=True)
class OutcomeDocument:
    """A valid label. `recorded_at` is a claimed instant."""

    observation_id: str
    true_relation: str
    outcome_event_id: str | None = None
    labeled_at: float | None = None
    correction_reason: str | None = None
    recorded_at: float | None = None

    @property
    def is_correction(self) -> bool:
        return self.correction_reason is not None


@dataclass(frozen=True, slots=True)
class RevocationDocument:
    """A valid revocation. cascade `derived`: with all that derives from it; `reexpose`: older records count again."""

    at: float | None = None
    reason: str | None = None
    cascade: Cascade = "derived"
    reexpose: bool = False


def outcome_document(document: object, *, profile: Profile) -> OutcomeDocument:
    """The label of a payload.   Raises Invalid, naming the place."""
    return OutcomeDocument(**read_fields(document, _OUTCOME[profile]))


def outcome_schema(*, profile: Profile) -> Schema:
    """The JSON Schema of the payload, as far as a schema can tell."""
    return payload_schema(_OUTCOME[profile])


def label_index(outcome: OutcomeDocument, law: Law) -> int:
    """The index of the true relation under the law.   Raises Invalid."""
    if outcome.true_relation not in law.labels:
        expected = f"a label of the law {law.name}"
        raise Invalid.at("true_relation", expected=expected, got=shown(outcome.true_relation), code="not_listed")
    return law.labels.index(outcome.true_relation)


def revocation_document(document: object, *, profile: Profile) -> RevocationDocument:
    """The revocation of a payload `{at, reason, cascade, reexpose}`, each optional.   Raises Invalid."""
    return RevocationDocument(**read_fields(document, _REVOCATION[profile]))


def _correction_reason(value: object, key: str) -> str:
    reason = identifier(value, key)
    if not reason.strip():
        raise Invalid.at(key, expected="a reason that is not blank", got="blanks", code="too_short")
    return reason


def _reason(value: object, key: str) -> str:
    if not isinstance(value, str) or fault(value) or not 1 <= len(value) <= NOTE_CHARS:
        raise Invalid.at(key, expected=f"text of 1..{NOTE_CHARS} characters", got=shown(value))
    return value


_NATIVE_OUTCOME: Mapping[str, Field] = {
    "observation_id": a_text(),
    "true_relation": a_text(),
    "outcome_event_id": a_text(default=None),
    "labeled_at": a_number(default=None),
    "correction_reason": Field(
        _correction_reason, {**text_schema(), "allOf": [{"pattern": r"\S"}]}, None, is_nullable=True
    ),
}
_OUTCOME: Mapping[Profile, Mapping[str, Field]] = {
    "native": _NATIVE_OUTCOME,
    "compat": {**_NATIVE_OUTCOME, "recorded_at": a_number(default=None)},
}
_NATIVE_REVOCATION: Mapping[str, Field] = {
    "at": a_number(default=None),
    "reason": Field(_reason, {"type": "string", "minLength": 1, "maxLength": NOTE_CHARS}, None, is_nullable=True),
    "cascade": a_word("derived", "record", default="derived"),
    "reexpose": a_boolean(default=False),
}
_REVOCATION: Mapping[Profile, Mapping[str, Field]] = {
    "native": _NATIVE_REVOCATION,
    "compat": {
        **_NATIVE_REVOCATION,
        "cascade": a_word("derived", "record", default="record"),
        "reexpose": a_boolean(default=True),
    },
}
