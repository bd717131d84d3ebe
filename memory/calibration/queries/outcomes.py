"""The labels of one observation: what its relation turned out to be, and every correction of that."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from memory.base.asof import AsOf
from memory.calibration.models import LabelOutcome


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """One label, as an index of its law's labels. `is_correction` where it takes the place of the one before."""

    true_index: int
    labeled_at: float
    is_correction: bool
    seq: int


def outcomes(at: AsOf, *, observation: UUID) -> list[OutcomeRow]:
    """The labels known by the point, in the order in which they came; the last one counts."""
    rows = LabelOutcome.objects.filter(namespace=at.namespace, observation=observation, seq__lte=at.seq)
    told = rows.order_by("seq", "item").values_list("true_index", "labeled_at", "supersedes", "seq")
    return [OutcomeRow(index, labeled_at, supersedes is not None, seq) for index, labeled_at, supersedes, seq in told]
