"""What templates may ask for beyond if and for: times, intervals, ids, states, glyphs and untrusted text.

Invariants
- Every text is escaped here or by the template; what is marked safe was built by ``format_html``.
- Relative times are worked out from ``frame.read_at``, the one reading of the clock for the page.
"""

import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

from django import template
from django.template.context import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from audit import states
from memory.base.word_diff import DiffPart, WordDiff
from memory.base.word_diff import word_diff as compare_words

register = template.Library()

NARROW_SPACE = "\u202f"
AGES = ((86_400 * 365, "year"), (86_400 * 30, "month"), (86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
NEARLY = 0.05
DIRECTION_MARKS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@register.simple_tag
def glyph(name: str) -> SafeString:
    """The shape of a state, hidden from readers that hear the word beside it."""
    return format_html(
        '<svg class="glyph" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">'
        '<path fill-rule="evenodd" d="{}"/></svg>',
        states.GLYPHS[name],
    )


@register.inclusion_tag("components/_state_badge.html")
def state_badge(key: str, word: str = "", title: str = "") -> dict[str, Any]:
    """Word, shape and colour of a state; ``word`` replaces the listed one where the page has a better one."""
    shown = states.state(key)
    return {"key": key, "word": word or shown.word, "tone": shown.tone, "glyph_name": shown.glyph, "title": title}


@register.filter
def utc(at: datetime | None) -> str:
    """Absolute UTC to the second: "2026-11-12 14:03:07 UTC"."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at else ""


@register.filter
def exact(at: datetime | None) -> str:
    """RFC 3339 in UTC with microseconds, for ``datetime`` attributes and machines."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") if at else ""


@register.filter
def day(at: datetime | None) -> str:
    """Midnight is printed as its day, any other instant to the second."""
    if at is None:
        return ""
    moment = at.astimezone(UTC)
    is_midnight = (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)
    return moment.strftime("%Y-%m-%d") if is_midnight else utc(at).removesuffix(" UTC")


@register.filter
def duration(length: timedelta | float | None) -> str:
    """The largest unit that fits, in words: "3 days", "40 minutes", "less than a second"."""
    if length is None:
        return ""
    return _in_units(length)


def _in_units(length: timedelta | float, *, nearly: float = 0) -> str:
    """`nearly`: the share of a unit that may be missing from it."""
    seconds = abs(length.total_seconds() if isinstance(length, timedelta) else float(length))
    for size, unit in AGES:
        n = int(seconds / size + nearly)
        if n:
            return f"{n} {unit}{'' if n == 1 else 's'}"
    return "less than a second"


@register.filter
def ago(at: datetime | None, read_at: datetime | None) -> str:
    """Relative to the reading of the page: "3 days ago", "in 2 hours", "now".

    What lies ahead is told by the unit that it nearly fills: 90 days that began a minute ago are still "in 3 months".
    """
    if at is None or not read_at:
        return ""
    distance = read_at - at
    if abs(distance) < timedelta(seconds=1):
        return "now"
    return f"{duration(distance)} ago" if distance > timedelta(0) else f"in {_in_units(distance, nearly=NEARLY)}"


@register.inclusion_tag("components/_time.html", takes_context=True)
def instant(
    context: Context, at: datetime | None, absent: str = "not recorded", inline: bool = False
) -> dict[str, Any]:
    """An instant: absolute on the first line, relative on the second (or behind it when ``inline``)."""
    frame = context.get("frame")
    return {"at": at, "absent": absent, "inline": inline, "relative": ago(at, frame.read_at if frame else None)}


@register.inclusion_tag("components/_interval.html")
def interval(start: datetime | None, end: datetime | None, claimed: bool = False) -> dict[str, Any]:
    """A half-open interval; ``claimed`` marks bounds that only the source vouches for."""
    return {"start": start, "end": end, "claimed": claimed}


@register.inclusion_tag("components/_copyable_id.html")
def copyable_id(value: str, url: str = "", short: int = 0, label: str = "id") -> dict[str, Any]:
    """An id or hash, grouped for reading and copied whole; ``short`` shows only so many characters of it."""
    return {"value": value, "shown": value[:short] if short else value, "url": url, "short": short, "label": label}


@register.filter
def grouped(value: str) -> SafeString:
    """Groups of four characters as elements, so that a copied text holds no spaces. A prefix "rec_" stays whole.

    A UUID brings its own groups.
    """
    if "-" in value:
        return format_html('<span class="grouped">{}</span>', value)
    prefix, mark, rest = value.rpartition("_")
    groups = [rest[i : i + 4] for i in range(0, len(rest), 4)]
    return format_html(
        '<span class="grouped">{}{}</span>',
        format_html("<span>{}</span>", prefix + mark) if mark else "",
        format_html_join("", "<span>{}</span>", ((group,) for group in groups)),
    )


@register.filter
def count(value: int | None) -> str:
    """A number with narrow spaces between thousands: "184 203"."""
    return "" if value is None else f"{value:,}".replace(",", NARROW_SPACE)


@register.filter
def size(n_bytes: int | None) -> str:
    """Bytes in the unit that keeps three digits: "318 B", "12.4 kB", "3.1 MB"."""
    if n_bytes is None:
        return ""
    amount = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


@register.filter
def untrusted(text: str) -> SafeString:
    """Text from outside: escaped, no link made live, control and direction characters shown as marks."""
    return format_html_join("", "{}", ((_shown(piece),) for piece in _pieces(text)))


@register.filter
def changed(part: DiffPart) -> SafeString:
    """One part of a word diff, without a space of its own: it stands in preformatted text."""
    shown = untrusted(part.text)
    match part.kind:
        case "removed":
            return format_html("<del>{}</del>", shown)
        case "added":
            return format_html("<ins>{}</ins>", shown)
        case _:
            return shown


@register.simple_tag
def words_changed(before: str, after: str) -> WordDiff:
    return compare_words(before, after=after)


def _is_unseen(character: str) -> bool:
    if character in "\n\t":
        return False
    return character in DIRECTION_MARKS or unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn"}


def _pieces(text: str) -> list[str]:
    """The text cut before and after each character that is not seen on its own."""
    pieces, start = [], 0
    for position, character in enumerate(text):
        if _is_unseen(character):
            pieces += [text[start:position], character]
            start = position + 1
    return [piece for piece in [*pieces, text[start:]] if piece]


def _shown(piece: str) -> SafeString | str:
    if len(piece) != 1 or not _is_unseen(piece):
        return piece
    name = unicodedata.name(piece, "control character")
    return format_html('<span class="unseen" title="{}">U+{}</span>', name.lower(), f"{ord(piece):04X}")
