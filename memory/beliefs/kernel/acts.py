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
from typing import Literal, cast

from memory.base.errors import Invalid
from memory.base.text import NOTE_CHARS, fault
from memory.beliefs.kernel.documents import Profile, schema_version
from memory.beliefs.kernel.laws import Law
from memory.beliefs.kernel.reading import (
    boolean,
    identifier,
    identifier_or_none,
    members,
    number_or_none,
    one_of,
    only,
    shown,
)

Cascade = Literal["derived", "record"]

_OUTCOME_KEYS = frozenset(
    ("schema_version", "observation_id", "true_relation", "outcome_event_id", "labeled_at", "correction_reason")
)


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
    given = members(document)
    schema_version(given)
    claimed = frozenset(("recorded_at",) if profile == "compat" else ())
    only(given, known=_OUTCOME_KEYS | claimed, required=("observation_id", "true_relation"))
    reason = identifier_or_none(given, "correction_reason")
    if reason is not None and not reason.strip():
        raise Invalid.at("correction_reason", expected="a reason that is not blank", got="blanks", code="too_short")
    return OutcomeDocument(
        observation_id=identifier(given["observation_id"], "observation_id"),
        true_relation=identifier(given["true_relation"], "true_relation"),
        outcome_event_id=identifier_or_none(given, "outcome_event_id"),
        labeled_at=number_or_none(given, "labeled_at"),
        correction_reason=reason,
        recorded_at=number_or_none(given, "recorded_at"),
    )


def label_index(outcome: OutcomeDocument, law: Law) -> int:
    """The index of the true relation under the law.   Raises Invalid."""
    if outcome.true_relation not in law.labels:
        expected = f"a label of the law {law.name}"
        raise Invalid.at("true_relation", expected=expected, got=shown(outcome.true_relation), code="not_listed")
    return law.labels.index(outcome.true_relation)


def revocation_document(document: object, *, profile: Profile) -> RevocationDocument:
    """The revocation of a payload `{at, reason, cascade, reexpose}`, each optional.   Raises Invalid."""
    given = members(document)
    only(given, known=RevocationDocument.__slots__, required=())
    is_compat = profile == "compat"
    cascade = given.get("cascade", "record" if is_compat else "derived")
    return RevocationDocument(
        at=number_or_none(given, "at"),
        reason=_reason(given),
        cascade=cast(Cascade, one_of(cascade, "cascade", words=("derived", "record"))),
        reexpose=boolean(given.get("reexpose", is_compat), "reexpose"),
    )


def _reason(given: Mapping[str, object]) -> str | None:
    value = given.get("reason")
    if value is None:
        return None
    if not isinstance(value, str) or fault(value) or not 1 <= len(value) <= NOTE_CHARS:
        raise Invalid.at("reason", expected=f"text of 1..{NOTE_CHARS} characters", got=shown(value))
    return value
