"""Everything whose text names a subject: a word, a phrase or a name.

- All text lives in content and in the dictionary of names, so these two are read whole; what names a subject without
  spelling it (a row that holds the id of a name) is told by the slices above, which register a finder.
- Case, the composition of accents, and the kind and number of spaces do not count. A match inside a longer word is
  told apart.
- Text inside text is read too: a column of an imported row may hold JSON, in which a letter can be spelled `\\u00e9`.

The database narrows, in a way that misses nothing; the comparison itself is made here, so that both engines agree.

Source: Unicode Standard, annex 15 (NFC).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from memory.base import sql
from memory.base.canonical import strict_loads
from memory.base.errors import Invalid
from memory.base.text import NAME_CHARS, fault
from memory.ledger.queries.addressed import UNERASABLE, Address, items_at

LEAST_CHARS = 2
NESTED_DEPTH = 4
AROUND = 60


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked for: as it was given, and folded for comparison."""

    text: str
    folded: str

    def named_in(self, text: str) -> Match:
        """How the text names the subject."""
        folded = fold(text)
        found = Match()
        start = folded.find(self.folded)
        while start >= 0:
            end = start + len(self.folded)
            is_whole = not _joins(folded, start - 1, start) and not _joins(folded, end - 1, end)
            found = Match(True, found.is_whole or is_whole)
            start = -1 if found.is_whole else folded.find(self.folded, start + 1)
        return found


@dataclass(frozen=True, slots=True)
class Match:
    """`is_whole`: at least once as a word or phrase of its own, not only inside a longer word."""

    is_named: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Naming:
    """An item that names the subject: by which parts, what it is about, and the first place where it does."""

    seq: int
    item: int
    kind: str
    object: UUID
    parts: tuple[str, ...]
    is_whole: bool
    excerpt: str = ""


Finder = Callable[[int, Subject], Iterable[Address]]
_finders: list[Finder] = []


def find_by(finder: Finder) -> None:
    """Register what names a subject without spelling it: facts of a subject, by its id."""
    if finder not in _finders:
        _finders.append(finder)


def subject_of(text: str) -> Subject:
    """The subject as it is looked for.   Raises Invalid (too short, too long, no letter or digit)."""
    folded = fold(text).strip()
    if fault(text) or not LEAST_CHARS <= len(folded) <= NAME_CHARS or not any(sign.isalnum() for sign in folded):
        raise Invalid.at("subject", expected=f"a word, phrase or name of {LEAST_CHARS} to {NAME_CHARS} characters")
    return Subject(text.strip(), folded)


def naming_items(namespace: int, subject: Subject, *, after: int = 0) -> list[Naming]:
    """Every item of entries after `after` that names the subject and still stands, in the order of the ledger."""
    found: dict[Address, Naming] = {}
    for seq, item, part, payload, kind, about in _candidates(namespace, subject, after):
        texts = [payload] if part == "name" else strings(strict_loads(payload))
        matches = [(match, text) for text in texts if (match := subject.named_in(text)).is_named]
        if matches:
            known = found.get((seq, item))
            parts = (*(known.parts if known else ()), part)
            is_whole = any(match.is_whole for match, _ in matches) or (known is not None and known.is_whole)
            shown = known.excerpt if known else _excerpt(subject, matches[0][1])
            found[seq, item] = Naming(seq, item, kind, about, parts, is_whole, shown)
    told = {address for finder in _finders for address in finder(namespace, subject)} - found.keys()
    for row in items_at(namespace, sorted(address for address in told if address[0] > after)):
        found[row.seq, row.item] = Naming(row.seq, row.item, row.kind, row.object, (), is_whole=True)
    return [found[address] for address in sorted(found)]


def _excerpt(subject: Subject, text: str) -> str:
    """The text around the place where it first names the subject."""
    plain = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()
    start = max(0, plain.lower().find(subject.folded) - AROUND)
    cut = plain[start : start + 2 * AROUND + len(subject.folded)]
    return f"{'…' if start else ''}{cut}{'…' if start + len(cut) < len(plain) else ''}"


def fold(text: str) -> str:
    """The text for caseless comparison, runs of spaces as one."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower()))


def strings(value: Any, *, depth: int = NESTED_DEPTH) -> Iterator[str]:
    """Every text of a JSON value: strings, keys, and those of JSON that stands inside a string."""
    if isinstance(value, str):
        yield value
        if depth and value[:1] in ("{", "[", '"'):
            try:
                yield from strings(json.loads(value), depth=depth - 1)
            except (ValueError, RecursionError):
                return
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner, depth=depth)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, depth=depth)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _joins(text: str, left: int, right: int) -> bool:
    """True if the two neighbours belong to one word. Scripts without spaces between words have no such neighbours."""
    if left < 0 or right >= len(text):
        return False
    return _binds(text[left]) and _binds(text[right])


def _binds(sign: str) -> bool:
    return sign.isdigit() or sign == "_" or sign.lower() != sign.upper()


def _candidates(namespace: int, subject: Subject, after: int) -> Iterator[tuple[int, int, str, str, str, UUID]]:
    """(seq, item, part, text, kind, object) of all that may name it, parts of one item together. One query."""
    like = "ILIKE" if connection.vendor == "postgresql" else "LIKE"
    unerasable = ", ".join(["%s"] * len(UNERASABLE))
    item = "JOIN memory_item i ON i.namespace_id = c.namespace_id AND i.seq = c.seq AND i.item = c.item"
    statement = (
        f"SELECT c.seq, c.item, c.part, c.payload, i.kind, i.object FROM memory_content c {item}"
        f" WHERE c.namespace_id = %s AND c.seq > %s AND c.payload {like} %s AND i.kind NOT IN ({unerasable})"
        f" UNION ALL SELECT c.seq, c.item, 'name', c.text, i.kind, i.object FROM memory_name c {item}"
        f" WHERE c.namespace_id = %s AND c.seq > %s AND c.text {like} %s ORDER BY 1, 2, 3"
    )
    pattern = _pattern(subject)
    values = [namespace, after, pattern, *UNERASABLE, namespace, after, pattern]
    for seq, number, part, text, kind, about in sql.fetch(statement, values):
        yield seq, number, part, text, kind, sql.as_id(about)


def _pattern(subject: Subject) -> str:
    """What every text that names the subject is like: its plain letters and digits, anything between them."""
    # A letter beyond ASCII, a quote or a space may be spelled otherwise where it stands.
    composed = unicodedata.normalize("NFC", subject.text)
    kept = "".join(sign if sign.isascii() and sign.isalnum() else "%" for sign in composed)
    return f"%{kept}%"
