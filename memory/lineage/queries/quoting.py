"""Copies of a text in other records: descendants that repeat a line of it, and records that say the same.

A generated merge quotes its sources whole; an evolve carries summary and metadata over.

- A line is one line of content or summary, or of a text in the metadata, without the spaces around it. Tags and origin
  are labels that many records share: they are found by subject.
- A line of LEAST_CHARS or more is found anywhere in the other text; a shorter one only where it is a line there too.
- A line without a letter or digit says nothing and is not looked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from memory.base.asof import AsOf
from memory.ledger.models import Item
from memory.ledger.queries.contents import contents_of
from memory.ledger.queries.radius import Quote
from memory.lineage.queries.resting import descendants_of
from memory.records.content import text_digest
from memory.records.models import RecordState

LEAST_CHARS = 8
LINE_SHOWN = 160
CHUNK = 400
SAME_TEXT = "same_text"


def quoting_records(at: AsOf, items: Sequence[Item]) -> Iterator[Quote]:
    """Every record that repeats a line of the records among the items and still stands, in the order of the ledger."""
    records = [item for item in items if item.kind == "record"]
    stored = contents_of(at.namespace, [(item.seq, item.item) for item in records])
    texts = [parts for item in records if (parts := stored[item.seq, item.item])]
    lines = Lines(line for parts in texts for line in lines_of(parts))
    if not texts:
        return
    others = descendants_of(at, [item.object for item in records])
    others = {**_same_text(at, texts), **others}
    for start in range(0, len(others), CHUNK):
        chunk = list(others)[start : start + CHUNK]
        states = RecordState.objects.filter(namespace=at.namespace, id__in=chunk, erased_seq__isnull=True)
        rows = list(states.order_by("doc").values_list("id", "seq", "item"))
        held = contents_of(at.namespace, [(seq, item) for _, seq, item in rows])
        for record, seq, item in rows:
            if found := lines.in_text(lines_of(held[seq, item])):
                yield Quote(seq, item, record, others[record], len(found), found[0][:LINE_SHOWN])


def _same_text(at: AsOf, texts: Iterable[Mapping[str, Any]]) -> dict[UUID, str]:
    digests = [text_digest(parts["content"]) for parts in texts if "content" in parts]
    found: dict[UUID, str] = {}
    for start in range(0, len(digests), CHUNK):
        rows = RecordState.objects.filter(namespace=at.namespace, text_digest__in=digests[start : start + CHUNK])
        found.update(dict.fromkeys(rows.filter(seq__lte=at.seq).values_list("id", flat=True), SAME_TEXT))
    return found


def lines_of(parts: Mapping[str, Any]) -> list[str]:
    """The lines of a record's parts that say something, in order, each once."""
    details = parts.get("details", {})
    texts = [parts.get("content", ""), details.get("summary", ""), *_values(details.get("metadata", {}))]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if any(sign.isalnum() for sign in line)))


def _values(value: Any) -> Iterator[str]:
    """The texts of a JSON value; its keys say nothing."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _values(inner)


class Lines:
    """Lines to be looked for in many texts: each text is read once, whatever the number of lines."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._whole: set[str] = set()
        self._by_beginning: defaultdict[str, list[str]] = defaultdict(list)
        for line in dict.fromkeys(lines):
            self._whole.add(line)
            if len(line) >= LEAST_CHARS:
                self._by_beginning[line[:LEAST_CHARS]].append(line)

    def in_text(self, lines: Sequence[str]) -> list[str]:
        """Those of the lines that stand in the other lines, in the order in which they are met."""
        found: dict[str, None] = {}
        for line in lines:
            if line in self._whole:
                found[line] = None
                continue
            for start in range(len(line) - LEAST_CHARS + 1):
                for wanted in self._by_beginning.get(line[start : start + LEAST_CHARS], ()):
                    if line.startswith(wanted, start):
                        found[wanted] = None
        return list(found)
