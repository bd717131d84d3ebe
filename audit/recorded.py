"""What an act has written, told by the page that its redirect leads to: once, in words, with the entry."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class Recorded:
    """One act that the ledger has; `replayed` where the same form was sent before."""

    words: str
    seq: int
    url: str
    replayed: bool


def tell(request: HttpRequest, words: str, *, seq: int, replayed: bool = False) -> None:
    """Keep for the next page that the act stands as entry `seq`."""
    messages.success(request, words, extra_tags=f"{seq} {'replayed' if replayed else ''}".strip())


def told(request: HttpRequest, *, carry: str) -> tuple[Recorded, ...]:
    """What was kept; it is forgotten by being asked for."""
    found = []
    for message in messages.get_messages(request):
        seq, _, mark = (message.extra_tags or "").partition(" ")
        if seq.isdecimal():
            found.append(Recorded(str(message.message), int(seq), f"/ledger/{seq}{carry}", mark == "replayed"))
    return tuple(found)
