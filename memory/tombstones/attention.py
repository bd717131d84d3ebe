"""What waits for an owner among tombstones, for the frame of every page.

Source: the same rule as `queries.due`, said in SQL; a test holds the two together.
"""

from __future__ import annotations

# The newest turn of a kind is found by its seq; `due_at` is the date that the newest turn set, else the earlier of the
# first two. What waits since a date waits since the last entry before it.
DUE_TOMBSTONES = """
SELECT CASE WHEN w.revived_seq IS NOT NULL THEN w.revived_seq ELSE (
    SELECT e.seq FROM memory_entry e WHERE e.namespace_id = %(namespace)s AND e.recorded_at <= w.due_at
    ORDER BY e.recorded_at DESC LIMIT 1) END AS seq,
    w.id AS about, 'tombstone' AS about_kind, (SELECT n.text FROM memory_name n
        WHERE n.namespace_id = %(namespace)s AND n.id = w.route) AS told
FROM (
    SELECT t.seq, t.id, t.route, COALESCE(
        (SELECT u.due_at FROM memory_tombstoneturn u WHERE u.namespace_id = t.namespace_id AND u.tombstone = t.id
            AND u.due_at IS NOT NULL ORDER BY u.seq DESC LIMIT 1),
        CASE WHEN t.retest_at < t.review_at THEN t.retest_at ELSE t.review_at END) AS due_at,
    (SELECT u.seq FROM memory_tombstoneturn u WHERE u.namespace_id = t.namespace_id AND u.tombstone = t.id
        AND u.kind = 'revive' AND NOT EXISTS (SELECT 1 FROM memory_tombstoneturn v
            WHERE v.namespace_id = u.namespace_id AND v.tombstone = u.tombstone AND v.kind = 'retest_failed'
            AND v.seq > u.seq) ORDER BY u.seq DESC LIMIT 1) AS revived_seq
    FROM memory_tombstone t WHERE t.namespace_id = %(namespace)s AND NOT EXISTS (
        SELECT 1 FROM memory_tombstoneturn u WHERE u.namespace_id = t.namespace_id AND u.tombstone = t.id
        AND u.kind IN ('retest_passed', 'retire'))
) AS w WHERE w.revived_seq IS NOT NULL OR w.due_at <= %(now)s
"""
