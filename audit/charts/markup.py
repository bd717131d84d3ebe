"""Text for SVG: escaping, numbers, elements.

Invariants
- Whatever comes from outside passes ``text`` or ``attribute``; nothing else writes it.
- Characters that are not seen or not allowed in XML are replaced by one visible sign, so that no label hides another.
- Only addresses inside the site become links.
"""

import unicodedata
from html import escape

REPLACED = "\ufffd"
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class OutsideAddress(ValueError):
    """A link that would lead out of the site or run a script."""

    def __init__(self, url: str) -> None:
        super().__init__(f"a link inside the site begins with '/', '?' or '#', got {url[:40]!r}")


def text(value: str) -> str:
    return escape(seen(value), quote=False)


def attribute(value: str) -> str:
    return escape(seen(value), quote=True)


def address(url: str) -> str:
    """The escaped value of an href. Raises OutsideAddress."""
    if not url.startswith(("/", "?", "#")) or url.startswith(("//", "/\\")):
        raise OutsideAddress(url)
    return attribute(url)


def number(value: float) -> str:
    """At most one decimal, without a trailing ".0"."""
    return f"{value:.1f}".removesuffix(".0")


def shortened(value: str, n_characters: int) -> str:
    """One line of at most ``n_characters``, the last of them "…" where something was cut."""
    line = " ".join(value.split())
    return line if len(line) <= n_characters else line[: n_characters - 1].rstrip() + "…"


def seen(value: str) -> str:
    """The text with one visible sign for each character that is not seen on its own."""
    # Most text is of letters alone, and nothing that is printable is unseen.
    if value.isprintable():
        return value
    return "".join(REPLACED if unicodedata.category(character) in UNSEEN else character for character in value)
