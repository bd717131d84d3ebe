"""Whether a namespace is closed, and what is said to whoever writes to one."""

from __future__ import annotations

from memory.base.errors import Forbidden
from memory.ledger.models import Head


def require_open(namespace: int) -> None:
    """Raise Forbidden where the namespace is closed: for what takes text in before it asks for the lock."""
    seq = closed_seq(namespace)
    if seq is not None:
        raise closed(seq)


def closed_seq(namespace: int) -> int | None:
    """The entry that closed the namespace; None while it is open."""
    return Head.objects.filter(namespace=namespace).values_list("closed_seq", flat=True).first()


def closed(seq: int) -> Forbidden:
    """The refusal of a write to a closed namespace."""
    return Forbidden(f"This namespace was closed by entry {seq}: its texts are erased and it takes no writes.", seq=seq)
