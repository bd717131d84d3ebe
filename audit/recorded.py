"""What an act has written, told by the page that its redirect leads to: once, in words, with the entry."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class Recorded:
    """One act that the ledger has; `replayed` where the same form was sent before.

    `about` is the id of what it was done to, for a page that names that; "" where the words do.
    """

    words: str
    seq: int
    url: str
    replayed: bool
    about: str = ""


def tell(request: HttpRequest, words: str, *, seq: int, replayed: bool = False, about: UUID | None = None) -> None:
    """Keep for the next page that the act stands as entry `seq`; of names only the id is kept."""
    tags = (str(seq), "replayed" if replayed else "", "" if about is None else str(about))
    messages.success(request, words, extra_tags=" ".join(tags).rstrip())


def told(request: HttpRequest, *, carry: str) -> tuple[Recorded, ...]:
    """What was kept; it is forgotten by being asked for."""
    found = []
    for message in messages.get_messages(request):
        seq, mark, about = f"{message.extra_tags or ''}  ".split(" ")[:3]
        if seq.isdecimal():
            url = f"/ledger/{seq}{carry}"
            found.append(Recorded(str(message.message), int(seq), url, mark == "replayed", about))
    return tuple(found)
