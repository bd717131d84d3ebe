"""What goes when items are erased: these, what must go with them, what repeats them, names that nothing else uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memory.base.errors import Conflict
from memory.ledger.models import Item
from memory.ledger.queries import asof, naming, radius
from memory.ledger.queries.addressed import UNERASABLE, Address, items_at

Reach = Callable[[int, Sequence[Item]], Iterable[Address]]
_reaches: list[Reach] = []


def reach(function: Reach) -> None:
    """Register what else must go with an item: its raw copy in an import."""
    if function not in _reaches:
        _reaches.append(function)


def going(namespace: int, items: Sequence[Address], *, quoting: bool = False) -> list[Item]:
    """The items and what must go with them, each once; with what repeats a line of them where that is wanted.

    Raises NotFound (no such item), Conflict (the value of a setting).
    """
    found = _reached(namespace, items)
    if any(item.kind in UNERASABLE for item in found):
        raise Conflict("The value of a setting is no text about anybody: change the setting.")
    if quoting:
        quotes = radius.quotes_of(asof.now(namespace), items=found)
        found = _reached(namespace, [*items, *((quote.seq, quote.item) for quote in quotes)])
    return found


def with_unused_names(namespace: int, items: Sequence[Item]) -> list[Item]:
    """The items and the names of the dictionary that nothing else will use once they are erased."""
    known = {(item.seq, item.item) for item in items}
    unused = [address for address in naming.unused_without(namespace, items) if address not in known]
    return [*items, *items_at(namespace, unused)]


def _reached(namespace: int, items: Sequence[Address]) -> list[Item]:
    found = items_at(namespace, items)
    known = {(item.seq, item.item) for item in found}
    more = [address for function in _reaches for address in function(namespace, found) if address not in known]
    return [*found, *items_at(namespace, more)]
