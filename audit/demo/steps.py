"""What the story consists of: one step is one call by one actor at one instant.

Invariants
- A step that needs what another step made names that step; nothing is looked up in tables.
- An act that is invented says so in what it writes; a step that does not is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

DONE = (200, 201)


# How a text says that what it tells is invented, where there is no place for a mark beside it.
MARK = "re_enacted"


def at(month: int, day: int, hour: int, minute: int) -> datetime:
    """An instant of the year of the story."""
    return datetime(2024, month, day, hour, minute, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Piece:
    """A namespace that steps fill: its name, its notice, and when its cast comes in."""

    namespace: str
    notice: str
    curtain: datetime


class StepFault(ValueError):
    """A step that cannot be played as it is written."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Stands in a body for a value out of the answer to an earlier step: `Answered("B03", "records", 0)`."""

    step: str
    way: tuple[str | int, ...]

    def __init__(self, step: str, *way: str | int) -> None:
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "way", way)


@dataclass(frozen=True, slots=True)
class Step:
    """One call. `path` follows the namespace and may hold {STEP} for the id that a step answered.

    `expects` are the statuses that the story tells of: a refusal may be what should happen. `is_erased_later`: played
    again after the whole story, the step is answered with what erased it. `writes` is false for a look alone.
    """

    key: str
    at: datetime
    actor: str
    path: str
    body: Mapping[str, Any] | Sequence[Any]
    method: Literal["POST", "PUT"] = "POST"
    re_enacted: bool = True
    expects: tuple[int, ...] = DONE
    refers_to: Mapping[str, Answered] = field(default_factory=dict)
    is_erased_later: bool = False
    writes: bool = True


def needs(step: Step) -> set[str]:
    """The steps that must have been answered before."""
    return {each.step for each in (*_answers_in(step.body), *step.refers_to.values())}


def _answers_in(value: object) -> Sequence[Answered]:
    if isinstance(value, Answered):
        return [value]
    if isinstance(value, Mapping):
        return [found for item in value.values() for found in _answers_in(item)]
    if isinstance(value, list):
        return [found for item in value for found in _answers_in(item)]
    return []


def filled(value: Any, answers: Mapping[str, Any]) -> Any:
    """The body with every `Answered` replaced by what was answered.   Raises StepFault (nothing there)."""
    if isinstance(value, Answered):
        return _found(value, answers)
    if isinstance(value, Mapping):
        return {name: filled(item, answers) for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, answers) for item in value]
    return value


def _found(wanted: Answered, answers: Mapping[str, Any]) -> Any:
    here = answers.get(wanted.step)
    for key in wanted.way:
        try:
            here = here[key]  # type: ignore[index]
        except (LookupError, TypeError) as error:
            raise StepFault(f"Step {wanted.step} answered nothing at {wanted.way}.") from error
    if here is None:
        raise StepFault(f"Step {wanted.step} was not played.")
    return here


def filled_path(step: Step, answers: Mapping[str, Any]) -> str:
    """The path with the ids of earlier steps in it."""
    return step.path.format_map({name: filled(each, answers) for name, each in step.refers_to.items()})


def require_marked(step: Step, *, known: Mapping[str, Step]) -> None:
    """Raise StepFault for an invented act that does not say so in what it writes, nor rests on one that does."""
    if step.re_enacted and step.writes and not is_marked(step, known=known):
        raise StepFault(f"Step {step.key} is invented and is not marked re_enacted.")


def is_marked(step: Step, *, known: Mapping[str, Step]) -> bool:
    """True if the body carries the mark, or the step goes on with what a marked one made."""
    bodies = [step.body] if isinstance(step.body, Mapping) else step.body
    if bodies and all(_says_so(body) for body in bodies):
        return True
    above = [known[name] for name in needs(step) if name in known]
    return any(each.re_enacted and is_marked(each, known=known) for each in above)


def _says_so(body: Mapping[str, Any]) -> bool:
    if any(body.get(part, {}).get(MARK) for part in ("metadata", "refs", "provenance")):
        return True
    evidence = body.get("evidence", {})
    told = (body.get("note"), body.get("reason"), evidence.get("text") if isinstance(evidence, Mapping) else evidence)
    return any(isinstance(text, str) and text.startswith(MARK) for text in told)
