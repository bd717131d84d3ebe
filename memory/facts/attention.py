"""What facts leave for a person, for the frame of every page and the queue of all that waits: open conflicts.

A fact and a conflict are called by their subject and attribute; a name that is erased leaves nothing to call them by.
"""

from __future__ import annotations

_ENTITY = """(SELECT s.text || ' · ' || a.text FROM memory_name s JOIN memory_name a ON a.namespace_id = s.namespace_id
    WHERE s.namespace_id = {row}.namespace_id AND s.id = {row}.subject AND a.id = {row}.attribute)"""

OPEN_CONFLICTS = f"""
SELECT c.opened_seq AS seq, c.id AS about, 'conflict' AS about_kind, {_ENTITY.replace("{row}", "c")} AS told
FROM memory_conflictcase c WHERE c.namespace_id = %(namespace)s AND c.closed_seq IS NULL
"""

FACT_TOLD = f"""(SELECT {_ENTITY.replace("{row}", "f")} FROM memory_fact f
    WHERE f.namespace_id = h.namespace_id AND f.id = h.object)"""
