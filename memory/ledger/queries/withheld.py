"""What a reader may not read yet: slices above say which items of the ledger, and the doors of the ledger obey.

Invariants
- To the reader, a withheld item does not exist: it is refused as one that is not there.
- Its hash stays in every proof of the others, since the log is one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from memory.base.actor import Actor
from memory.ledger.queries.addressed import Address

# The reader and the items that are asked for -> those of them that it may not read.
Withholder = Callable[[Actor, Collection[Address]], Collection[Address]]
_withholders: list[Withholder] = []


def withhold_by(withholder: Withholder) -> None:
    """Register what keeps items from a reader."""
    if withholder not in _withholders:
        _withholders.append(withholder)


def withheld_from(reader: Actor, addresses: Collection[Address]) -> set[Address]:
    """Those of the items that the reader may not read."""
    return {address for withholder in _withholders for address in withholder(reader, addresses)}
