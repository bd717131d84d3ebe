"""Members of windows: forecasts with the label that counts, read by their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from memory.base import sql
from memory.beliefs.states import unpacked
from memory.calibration.issuing import Key
from memory.calibration.kernel import metrics as scores
from memory.calibration.kernel.sums import ExactSums
from memory.calibration.kernel.windows import Span, current_span, reference_span
from memory.calibration.models import EVERY_FAMILY


@dataclass(slots=True)
class Member:
    """A forecast and its label; `posterior` None once erased."""

    observation: UUID
    place: int
    posterior: bytes | None
    true_index: int


def members(namespace: int, key: Key, span: Span, *, seq: int | None = None) -> list[Member]:
    """The members whose first labels arrived at places (start, end], in order, with the labels that count.

    seq : those that count by that entry; now without one.
    """
    column, where, values = scope_of(key)
    counts, cut = "l.until_seq IS NULL", []
    if seq is not None:
        counts, cut = "l.seq <= %s AND (l.until_seq IS NULL OR l.until_seq > %s)", [seq, seq]
    rows = sql.fetch(
        f"SELECT l.observation, l.{column}, f.posterior, l.true_index FROM memory_labelstate l"
        " JOIN memory_forecaststate f ON f.namespace_id = l.namespace_id AND f.monitor_run = l.monitor_run"
        " AND f.observation = l.observation"
        f" WHERE l.namespace_id = %s AND {where} AND l.{column} > %s AND l.{column} <= %s AND {counts}"
        f" ORDER BY l.{column}",
        [namespace, *values, span.start, span.end, *cut],
    )
    return [Member(sql.as_id(row[0]), row[1], None if row[2] is None else bytes(row[2]), row[3]) for row in rows]


def scope_of(key: Key) -> tuple[str, str, list[UUID]]:
    """The column of places within the segment, the condition on labels under the alias l, and its values."""
    run, relation, family = key
    where = "l.monitor_run = %s AND l.relation_type = %s"
    if family == EVERY_FAMILY:
        return "place_in_relation", where, [run, relation]
    return "place_in_family", f"{where} AND l.source_family = %s", [run, relation, family]


def summed(found: Sequence[Member], *, n_bins: int) -> ExactSums | None:
    """The exact sums of those that can be scored; None without one."""
    scored = [member for member in found if member.posterior is not None]
    if not scored:
        return None
    forecasts = np.stack([unpacked(member.posterior) for member in scored])
    truth = np.array([member.true_index for member in scored], np.int64)
    return scores.summed(forecasts, truth, n_bins=n_bins)


def window_sums(
    namespace: int, key: Key, *, n_labeled: int, reference_size: int, current_size: int, n_bins: int
) -> tuple[bytes, bytes]:
    """Both windows of a segment summed anew, packed; no bytes for one without a member."""
    reference = reference_span(n_labeled, reference_size=reference_size)
    current = current_span(n_labeled, reference_size=reference_size, current_size=current_size)
    sums = [summed(members(namespace, key, span), n_bins=n_bins) for span in (reference, current)]
    first, last = (b"" if one is None or not scores.n_rows(one) else one.packed for one in sums)
    return first, last
