"""What differs between two records, field by field: text word by word, metadata key by key.

Invariants: fields that agree are left out; order is that of FIELDS, keys of metadata sorted; where a text is erased
nothing is said of its words, only that it is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import instants
from memory.base.canonical import canonical
from memory.base.word_diff import WordDiff, word_diff
from memory.lineage.queries.sources import SourceRecord, load_sources

FIELDS = ("type", "content", "summary", "tags", "metadata", "valid_from", "valid_to", "origin", "pointer")
TEXTS = ("content", "summary")


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs. `before` and `after` are plain values, None where there is none or it is erased.

    `words` is the difference of a text, None where either side is erased. `field` of a key is `metadata.<key>`.
    """

    field: str
    before: Any
    after: Any
    words: WordDiff | None = None
    is_erased: bool = False


def differences(namespace: int, *, before: UUID, after: UUID) -> tuple[Difference, ...]:
    """All fields in which the records differ.   Raises NotFound; two queries."""
    if before == after:
        return ()
    old, new = load_sources(namespace, [before, after])
    return tuple(_differences(old, new))


def _differences(old: SourceRecord, new: SourceRecord) -> Iterator[Difference]:
    one, other = old.carried_as_is(), new.carried_as_is()
    is_erased = old.content is None or new.content is None
    for name in FIELDS:
        before, after = _plain(getattr(one, name)), _plain(getattr(other, name))
        if is_erased and name not in ("type", "valid_from", "valid_to"):
            if name == "content":
                yield Difference(name, old.content, new.content, is_erased=True)
        elif name == "metadata":
            yield from _keys(one.metadata, other.metadata)
        elif canonical(before) != canonical(after):
            words = word_diff(before, after=after) if name in TEXTS else None
            yield Difference(name, before, after, words)


def _keys(before: Any, after: Any) -> Iterator[Difference]:
    for key in sorted({*before, *after}):
        had, has = key in before, key in after
        if had != has or canonical(before[key]) != canonical(after[key]):
            yield Difference(f"metadata.{key}", before.get(key), after.get(key))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return instants.text(value)
    return list(value) if isinstance(value, tuple) else value


def as_json(found: tuple[Difference, ...]) -> list[dict[str, Any]]:
    """For a problem document or an answer: texts as their parts in reading order, other fields by both values."""
    told: list[dict[str, Any]] = []
    for one in found:
        if one.is_erased:
            told.append({"field": one.field, "erased": True})
        elif one.words is not None:
            parts = [{"kind": part.kind, "text": part.text} for part in one.words.parts]
            told.append({"field": one.field, "words": parts})
        else:
            told.append({"field": one.field, "before": one.before, "after": one.after})
    return told
