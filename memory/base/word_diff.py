"""The difference of two texts, word by word.

Invariants
- The kept and removed parts joined give the old text, the kept and added parts joined the new one, byte for byte.
- Equal input gives an equal answer: no junk heuristic, no chance.
"""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

type DiffKind = Literal["kept", "removed", "added"]

MOST_WORDS = 3_000
"""Above this many differing words the middle counts as replaced whole: the comparison is quadratic at worst."""

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class DiffPart:
    kind: DiffKind
    text: str


@dataclass(frozen=True, slots=True)
class WordDiff:
    """The parts in reading order, removed before added where both stand in one place."""

    parts: tuple[DiffPart, ...]

    @property
    def is_same(self) -> bool:
        return all(part.kind == "kept" for part in self.parts)

    @property
    def before(self) -> tuple[DiffPart, ...]:
        return tuple(part for part in self.parts if part.kind != "added")

    @property
    def after(self) -> tuple[DiffPart, ...]:
        return tuple(part for part in self.parts if part.kind != "removed")

    @property
    def n_removed(self) -> int:
        return _count_words(self.parts, kind="removed")

    @property
    def n_added(self) -> int:
        return _count_words(self.parts, kind="added")


def shared_words(one: str, other: str) -> float:
    """The part of the distinct words of both texts that both have, whatever their case; 0 where neither has any."""
    left, right = (set(re.findall(r"\w+", text.casefold())) for text in (one, other))
    return len(left & right) / len(left | right) if left | right else 0.0


def word_diff(before: str, *, after: str) -> WordDiff:
    """The difference that turns ``before`` into ``after``."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    head = _common_length(old, new)
    tail = _common_length(old[head:][::-1], new[head:][::-1])
    parts: list[DiffPart] = [DiffPart("kept", "".join(old[:head]))]
    parts += _middle(old[head : len(old) - tail], new[head : len(new) - tail])
    parts.append(DiffPart("kept", "".join(old[len(old) - tail :])))
    runs = groupby((part for part in parts if part.text), key=lambda part: part.kind)
    return WordDiff(tuple(DiffPart(kind, "".join(part.text for part in run)) for kind, run in runs))


def _common_length(left: list[str], right: list[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _middle(old: list[str], new: list[str]) -> list[DiffPart]:
    if max(len(old), len(new)) > MOST_WORDS:
        return [DiffPart("removed", "".join(old)), DiffPart("added", "".join(new))]
    parts: list[DiffPart] = []
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(DiffPart("kept", "".join(old[old_from:old_to])))
        else:
            parts.append(DiffPart("removed", "".join(old[old_from:old_to])))
            parts.append(DiffPart("added", "".join(new[new_from:new_to])))
    return parts


def _count_words(parts: tuple[DiffPart, ...], *, kind: DiffKind) -> int:
    return sum(len(re.findall(r"\w+", part.text)) for part in parts if part.kind == kind)
