"""Checkpoints that left the house: the newest one in the folder that receives them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Delivery:
    """A checkpoint over `seq` entries that lies in the folder since `delivered_at`."""

    seq: int
    delivered_at: datetime
    path: Path


def newest_in(folder: Path, *, namespace: str) -> Delivery | None:
    """The newest checkpoint of the namespace of that name in the folder; None where there is none."""
    pattern = re.compile(re.escape(namespace) + r"-(\d{12})\.txt")
    found = [(int(match[1]), path) for path in folder.glob("*.txt") if (match := pattern.fullmatch(path.name))]
    if not found:
        return None
    seq, path = max(found)
    return Delivery(seq, datetime.fromtimestamp(path.stat().st_mtime, tz=UTC), path)
