"""What a label that is told does: it stands, it says what stands already, or it is refused.

- The first label of an observation is never relabelled: another one must be a correction, with a reason.
- A correction supersedes what counts, and neither of its claimed instants lies before those of what it supersedes.
- One id of an event has one meaning; telling it again is nothing new.

Source: posterior-memory-harness 0.9.0, prepare_outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memory.base.errors import Conflict, Invalid


class Standing(Protocol):
    """A label that stands."""

    @property
    def true_index(self) -> int: ...
    @property
    def labeled_at(self) -> float: ...
    @property
    def recorded_at(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Told:
    """A label as it comes: `labeled_at` None takes that of what it corrects, else now; `recorded_at` is now or claimed.

    `reason` is stripped text for a correction, None for a first label.
    """

    true_index: int
    labeled_at: float | None
    recorded_at: float
    reason: str | None


def labeled_at(told: Told, *, standing: Standing | None, observed_at: float) -> float:
    """The claimed instant of labelling, in seconds. Raises Invalid for one before the observation."""
    inherited = standing.labeled_at if standing is not None and told.reason is not None else told.recorded_at
    at = inherited if told.labeled_at is None else told.labeled_at
    if at < observed_at:
        raise Invalid.at("labeled_at", expected="no instant before that of the observation", got=at)
    return at


def adds(told: Told, *, at: float, standing: Standing | None) -> bool:
    """Whether a label that is told at the instant `at` says anything new beside the one that stands.

    Raises Conflict (a relabelling without a reason, a correction of nothing), Invalid (a correction set back in time).
    """
    if standing is None:
        if told.reason is not None:
            raise Conflict("There is no label to correct: tell the first one without a reason.")
        return True
    if standing.true_index == told.true_index:
        return False
    if told.reason is None:
        raise Conflict("Another label stands. A correction of it needs a correction_reason.")
    if at < standing.labeled_at:
        raise Invalid.at("labeled_at", expected="no instant before that of the label it corrects", got=at)
    if told.recorded_at < standing.recorded_at:
        raise Invalid.at("recorded_at", expected="no instant before that of the label it corrects")
    return True
