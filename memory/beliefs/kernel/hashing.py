"""The one spelling under which laws, configurations, forecasts and labels are hashed, as existing stores hash them.

- Sorted keys, no spaces, non-ASCII kept, numbers as Python spells them: not RFC 8785, so never mixed with the ledger's.
- Whole numbers keep no point and floats keep theirs: `1` and `1.0` are two texts, so callers pass floats for instants.

Source: posterior-memory-harness 0.9.0, its fingerprints and journal hashes.
"""

from __future__ import annotations

import hashlib
import json


def peer_json(value: object) -> str:
    """The text that is hashed. Raises ValueError for NaN and infinities, TypeError for what JSON does not have.

    >>> peer_json({"b": 1.0, "a": ["é", 2]})
    '{"a":["é",2],"b":1.0}'
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def peer_sha256(value: object) -> str:
    """The SHA-256 of that text, 64 lower-case hex digits."""
    return hashlib.sha256(peer_json(value).encode()).hexdigest()


def plain_zero(value: float) -> float:
    """The double, with -0.0 as 0.0: both are one instant or mass and must hash alike."""
    return float(value) + 0.0
