"""What checks leave for a person: the newest run of a check that found something, unless it is waived."""

from __future__ import annotations

_FAILING = """
SELECT r.seq, r.id AS about, 'check_run' AS about_kind, r.check_name AS told
FROM memory_checkrun r WHERE r.namespace_id = %(namespace)s AND r.verdict IN ('failed', 'violated')
AND r.check_name {which} 'law.%%'
AND NOT EXISTS (SELECT 1 FROM memory_checkrun s WHERE s.namespace_id = r.namespace_id
    AND s.check_name = r.check_name AND s.seq > r.seq)
AND NOT EXISTS (SELECT 1 FROM memory_waiver w WHERE w.namespace_id = r.namespace_id
    AND w.check_name = r.check_name AND w.expires_at > %(now)s)
"""

BROKEN_LAWS = _FAILING.replace("{which}", "LIKE")
FAILING_SCANS = _FAILING.replace("{which}", "NOT LIKE")
