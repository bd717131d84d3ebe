"""What a typed question means: an id to jump to, an entry of the ledger, a page, or words; and words shown in a text.

Invariants
- Only what can be nothing else jumps: a whole id, or at least eight hex digits that begin one id alone. Shorter hex may
  be a word ("cafe", "decade"), so it is searched; so is a name that is a word of letters alone.
- Marking changes no character of a text. A word is marked if it is asked for or differs from such a one by its ending.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from audit.navigation import PAGES, Link
from audit.templatetags.console import count

JUMP_DIGITS = 8
HEX = re.compile(r"[0-9a-f][0-9a-f-]*")
ENTRY = re.compile(r"(?:seq[: ]?|#)?(\d{1,15})")
NAMED_ENTRY = re.compile(r"(?:seq[: ]?|#)(\d{1,15})")
WORD = re.compile(r"\w+")
ENDING = re.compile(r"(?:ations?|ings?|ed|(?<=s|x|z|h)es|s)$")
SOFT_ENDING = re.compile(r"(?:ie|[eiy])$")
LEAST_STEM, LEAST_SOFT_STEM = 3, 4
PASSAGE_CHARS = 240
LEAD_CHARS = 60


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a passage; `is_match` where it is one of the words asked for."""

    text: str
    is_match: bool


def id_digits(question: str) -> str:
    """The hex digits of a question that can only be an id or the beginning of one; "" for anything else."""
    text = question.strip().lower()
    digits = text.replace("-", "")
    return digits if HEX.fullmatch(text) and JUMP_DIGITS <= len(digits) <= 32 else ""


def whole_id(question: str) -> UUID | None:
    digits = id_digits(question)
    return UUID(hex=digits) if len(digits) == 32 else None


def is_word(question: str) -> bool:
    """Whether it is one word of letters, that texts may hold whatever is called so."""
    return question.strip().isalpha()


def named_entry(question: str, *, head: int) -> int | None:
    """The entry that "seq 41", "seq:41" or "#41" names, if it stands."""
    match = NAMED_ENTRY.fullmatch(question.strip().lower())
    return _standing(match, head)


def places(question: str, *, head: int, carry: str) -> tuple[Link, ...]:
    """The pages whose name begins with the question, and the entry of that number."""
    text = question.strip().lower()
    found = [Link(page.label, page.path + carry) for page in PAGES if len(text) > 1 and _begins(page.label, text)]
    seq = _standing(ENTRY.fullmatch(text), head)
    if seq is not None:
        found.append(Link(f"Entry {count(seq)} of the ledger", f"/ledger/{seq}{carry}"))
    return tuple(found)


def _standing(match: re.Match[str] | None, head: int) -> int | None:
    return int(match[1]) if match is not None and 1 <= int(match[1]) <= head else None


def _begins(label: str, text: str) -> bool:
    return any(word.startswith(text) for word in (label.lower(), *label.lower().split()))


def passage(text: str, words: Sequence[str]) -> tuple[Piece, ...]:
    """The place in the text where the words stand first, cut to PASSAGE_CHARS, with them marked."""
    stems = {_stem(word) for word in words}
    first = next((match.start() for match in WORD.finditer(text) if _stem(match.group()) in stems), 0)
    start = max(0, first - LEAD_CHARS)
    if start:
        gap = text.find(" ", start, first)
        start = start if gap < 0 else gap + 1
    end = min(len(text), start + PASSAGE_CHARS)
    if end < len(text):
        gap = text.rfind(" ", first, end)
        end = end if gap < 0 else gap
    cut = " ".join(text[start:end].split())
    return tuple(_marked(f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}", stems))


def marked(text: str, words: Sequence[str]) -> tuple[Piece, ...]:
    """The whole text with the words marked."""
    return tuple(_marked(text, {_stem(word) for word in words}))


def _marked(text: str, stems: set[str]) -> Iterator[Piece]:
    """Words side by side that only a sign keeps apart, as in "5.6.1", are marked as one."""
    at = 0
    for start, end in _spans(text, stems):
        if start > at:
            yield Piece(text[at:start], is_match=False)
        yield Piece(text[start:end], is_match=True)
        at = end
    if at < len(text):
        yield Piece(text[at:], is_match=False)


def _spans(text: str, stems: set[str]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for match in WORD.finditer(text):
        if _stem(match.group()) not in stems:
            continue
        gap = text[spans[-1][1] : match.start()] if spans else ""
        if len(gap) == 1 and not gap.isspace():
            spans[-1] = (spans[-1][0], match.end())
        else:
            spans.append(match.span())
    return spans


def _stem(word: str) -> str:
    """The word without the ending that the text index does not tell apart either, nearly."""
    lowered = word.lower()
    without = ENDING.sub("", lowered)
    stem = without if len(without) >= LEAST_STEM else lowered
    soft = SOFT_ENDING.sub("", stem)
    return soft if len(soft) >= LEAST_SOFT_STEM else stem
