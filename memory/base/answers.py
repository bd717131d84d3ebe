"""What an operation answers that makes nothing of its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Appended:
    """The entry that answers an operation; `replayed` where an earlier request under the same key wrote it."""

    seq: int
    replayed: bool = False
