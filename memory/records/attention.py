"""What a review policy leaves for a person, for the frame of every page: the same rule as `review.waiting`, in SQL."""

from __future__ import annotations

from collections.abc import Mapping

_HELD = """
SELECT h.seq, h.object AS about, h.kind AS about_kind, CASE h.kind {told} END AS told
FROM memory_held h WHERE h.namespace_id = %(namespace)s AND (h.until_at IS NULL OR h.until_at > %(now)s)
AND NOT EXISTS (SELECT 1 FROM memory_review r WHERE r.namespace_id = h.namespace_id AND r.kind = h.kind
    AND r.object = h.object)
AND NOT EXISTS (SELECT 1 FROM memory_erasure x WHERE x.namespace_id = h.namespace_id AND x.target_seq = h.seq
    AND x.target_item = h.of_item AND x.target_part IN ('content', 'value'))
"""

RECORD_TOLD = (
    "(SELECT s.first_line FROM memory_recordstate s WHERE s.namespace_id = h.namespace_id AND s.id = h.object)"
)


def held_statement(told: Mapping[str, str]) -> str:
    """What waits for a review. `told` holds for each kind an expression that says what a held thing `h` is called."""
    cases = " ".join(f"WHEN '{kind}' THEN {expression}" for kind, expression in told.items())
    return _HELD.replace("{told}", cases)
