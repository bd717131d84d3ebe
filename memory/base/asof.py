"""The as-of point: what a read is asked about.

- `seq` is the known axis: the last entry that the answer may rest on. `seq:N` is promised for ever.
- `valid_at` is the other axis: the instant of the world that is asked about.
- `source_at` replaces the known axis by the source's own claimed instants; it proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.base import instants


@dataclass(frozen=True, slots=True)
class AsOf:
    """One namespace at one point. `known_at` is the recorded instant of `seq`, None in an empty namespace.

    `closed_seq`: the namespace was closed by that entry, later than `seq` perhaps: its texts are gone at every point.
    """

    namespace: int
    seq: int
    head: int
    valid_at: datetime
    known_at: datetime | None = None
    provisional: bool = False
    source_at: datetime | None = None
    pinned: bool = False
    valid_pinned: bool = False
    closed_seq: int | None = None

    @property
    def is_head(self) -> bool:
        return self.seq >= self.head and self.source_at is None

    @property
    def words(self) -> str:
        """How a refusal names the point: "as of entry 12", or the instant that is read by the source's own."""
        if self.source_at is None:
            return f"as of entry {self.seq}"
        return f"by the instants of its source as of {instants.text(self.source_at)}"

    @property
    def is_now(self) -> bool:
        return not self.pinned and not self.valid_pinned and self.source_at is None
