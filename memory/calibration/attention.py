"""What calibration leaves for a person, for the frame of every page and the queue of all that waits: alarms that nobody
has seen.

An alarm is called by its source family and relation type; a name that is erased leaves nothing to call it by.
"""

from __future__ import annotations

OPEN_ALARMS = """
SELECT a.seq AS seq, a.id AS about, 'alarm' AS about_kind,
    (SELECT f.text || ' · ' || r.text FROM memory_name f JOIN memory_name r ON r.namespace_id = f.namespace_id
        WHERE f.namespace_id = a.namespace_id AND f.id = a.source_family AND r.id = a.relation_type) AS told
FROM memory_alarm a WHERE a.namespace_id = %(namespace)s AND NOT EXISTS (SELECT 1 FROM memory_alarmturn t
    WHERE t.namespace_id = a.namespace_id AND t.alarm = a.id)
"""
