"""Records to measure with: texts of common and rare words, the same in every run."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import shake_256
from itertools import count

from memory.records.content import NewRecord

SYLLABLES = ("ba", "co", "di", "fu", "ga", "ho", "ki", "lu", "ma", "ne", "po", "ri", "sa", "to", "ve", "zu")
N_WORDS = 4_096
WORDS_PER_RECORD = 45
TYPES = ("note", "fact", "decision", "error", "procedure")


def word(number: int) -> str:
    """One of N_WORDS words."""
    return "".join(SYLLABLES[number >> shift & 15] for shift in (8, 4, 0))


def text(seed: str) -> str:
    """About 300 bytes. Squaring the draw makes few words common and most of them rare."""
    drawn = shake_256(seed.encode()).digest(2 * WORDS_PER_RECORD)
    numbers = (int.from_bytes(drawn[at : at + 2]) for at in range(0, len(drawn), 2))
    return " ".join(word(number * number * N_WORDS >> 32) for number in numbers)


def records(seed: str) -> Iterator[NewRecord]:
    """Without end."""
    for number in count():
        yield NewRecord(TYPES[number % len(TYPES)], text(f"{seed}/{number}"), tags=(word(number % 97),))
