"""Probability masses as clients give them, and as arrays under a law.

Invariants
- Given masses are finite, not negative, 1..256 of them, and their floored sum is a double; they need not sum to one.
- What does not sum to one is rescaled, and flagged where the sum is further off than SUM_TOLERANCE.
- A map leaves out what has no mass; a label the law does not have is refused.
- Factors floor every entry, so that a vector without an entry above the floor becomes uniform; it is flagged.

Source: posterior-memory-harness 0.9.0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from memory.base.errors import Invalid
from memory.beliefs.kernel.factors import FLOOR
from memory.beliefs.kernel.fields import REQUIRED, Field, Schema, text_schema
from memory.beliefs.kernel.groups import Booleans, Floats
from memory.beliefs.kernel.laws import MAX_LABELS, Law
from memory.beliefs.kernel.reading import Step, identifier, number, shown

Masses = Sequence[float] | Mapping[str, float]
VectorFlag = Literal["mass_outside_prior", "rescaled", "uninformative_vector"]
Flag = Literal["mass_outside_prior", "observed_in_future", "rescaled", "uninformative_vector"]

SUM_TOLERANCE = 1e-6
SKEW_SECONDS = 86_400.0


def masses(value: object, *loc: Step) -> Masses:
    """The masses at `loc`, kept as a list or a map of labels.   Raises Invalid."""
    if isinstance(value, Mapping):
        found: Masses = {
            identifier(label, *loc, shown(label)): number(mass, *loc, shown(label), least=0)
            for label, mass in value.items()
        }
    elif isinstance(value, (list, tuple)):
        found = tuple(number(mass, *loc, index, least=0) for index, mass in enumerate(value))
    else:
        raise Invalid.at(*loc, expected="a list of numbers or an object of labels", got=shown(value), code="wrong_type")
    if not 1 <= len(found) <= MAX_LABELS:
        raise Invalid.at(*loc, expected=f"1..{MAX_LABELS} masses", got=len(found), code="out_of_range")
    if not math.isfinite(sum(max(mass, FLOOR) for mass in _values(found))):
        raise Invalid.at(*loc, expected="masses whose sum is a double", got="a larger sum", code="out_of_range")
    return found


def some_masses(*, default: object = REQUIRED) -> Field:
    """The field of a vector; with a default of None it may be null."""
    mass: Schema = {"type": "number", "minimum": 0}
    listed = {"type": "array", "items": mass, "minItems": 1, "maxItems": MAX_LABELS}
    mapped = {
        "type": "object",
        "additionalProperties": mass,
        "propertyNames": text_schema(),
        "minProperties": 1,
        "maxProperties": MAX_LABELS,
    }
    return Field(masses, {"anyOf": [listed, mapped]}, default, default is None)


def vector(given: Masses, law: Law, *loc: Step) -> Floats:
    """(S,) float64, raw masses in the order of the law's labels.   Raises Invalid for another length or label."""
    if isinstance(given, Mapping):
        index = {label: position for position, label in enumerate(law.labels)}
        found = np.zeros(law.size)
        for label, mass in given.items():
            if label not in index:
                raise Invalid.at(*loc, shown(label), expected=f"a label of the law {law.name}", code="not_listed")
            found[index[label]] = mass
        return found
    if len(given) != law.size:
        raise Invalid.at(*loc, expected=f"{law.size} masses, one for each label", got=len(given), code="wrong_length")
    return np.array(given, dtype=np.float64)


def flags(posterior: Floats, prior: Floats | None) -> tuple[VectorFlag, ...]:
    """What the raw vectors of one observation warn of, in alphabetical order.

    rescaled : one of them does not sum to one.
    uninformative_vector : no entry of one of them is above the floor, so that it counts as uniform.
    mass_outside_prior : the posterior has mass where the prior has none.
    """
    uniform = np.full(posterior.size, 1.0 / posterior.size)
    found = flagged(posterior[None], (uniform if prior is None else prior)[None])
    return tuple(flag for flag, is_flagged in found.items() if is_flagged[0])


def flagged(posterior: Floats, prior: Floats) -> dict[VectorFlag, Booleans]:
    """The same for E observations at once.   posterior, prior : (E, S) raw masses; each value is (E,)."""
    is_outside = ((posterior > 0) & (prior <= 0)).any(axis=1)
    says_nothing = (posterior <= FLOOR).all(axis=1) | (prior <= FLOOR).all(axis=1)
    sums = np.stack((posterior.sum(axis=1), prior.sum(axis=1)))
    return {
        "mass_outside_prior": is_outside,
        "rescaled": (np.abs(sums - 1.0) > SUM_TOLERANCE).any(axis=0),
        "uninformative_vector": says_nothing & (posterior.shape[1] > 1),
    }


def warnings(of_vectors: Sequence[VectorFlag], *, observed_at: float, recorded_at: float) -> tuple[Flag, ...]:
    """All that an observation warns of, in alphabetical order; its instants in seconds.

    observed_in_future : it claims to be of more than a day after it was recorded.
    """
    is_late = observed_at > recorded_at + SKEW_SECONDS
    return tuple(sorted((*of_vectors, "observed_in_future"))) if is_late else tuple(of_vectors)


def _values(found: Masses) -> Sequence[float]:
    return tuple(found.values()) if isinstance(found, Mapping) else found
