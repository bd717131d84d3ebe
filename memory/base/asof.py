"""The as-of point: what a read is asked about.

- `seq` is the known axis: the last entry that the answer may rest on. `seq:N` is promised for ever.
- `valid_at` is the other axis: the instant of the world that is asked about.
- `source_at` replaces the known axis by the source's own claimed instants; it proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class AsOf:
    """One namespace at one point. `known_at` is the recorded instant of `seq`, None in an empty namespace."""

    namespace: int
    seq: int
    head: int
    valid_at: datetime
    known_at: datetime | None = None
    provisional: bool = False
    source_at: datetime | None = None
    pinned: bool = False
    valid_pinned: bool = False

    @property
    def is_head(self) -> bool:
        return self.seq >= self.head and self.source_at is None

    @property
    def is_now(self) -> bool:
        return not self.pinned and not self.valid_pinned and self.source_at is None
