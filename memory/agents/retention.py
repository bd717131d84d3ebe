"""How long a namespace means to keep text.

A retention erases nothing by itself: erasing is an owner's act. It says what has been kept for too long.
"""

from __future__ import annotations

from datetime import timedelta

from memory.agents.operations import UNLIMITED
from memory.agents.queries import setting

NAME = "retention"


def retention(namespace: int) -> timedelta | None:
    """For how long text is kept; None where nothing is said or it is unlimited."""
    value = setting(namespace, NAME, UNLIMITED)
    return None if value == UNLIMITED else timedelta(days=int(value))
