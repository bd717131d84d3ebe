"""Filters for text of records: what looks like a secret is covered, whatever else it holds is shown as it is."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from audit.secrets import COVER, covered, pieces
from audit.templatetags.console import untrusted

register = template.Library()


@register.filter
def masked(text: str) -> SafeString:
    """Text from outside, escaped and marked as `untrusted` does, with a named cover over each secret."""
    return format_html_join("", "{}", ((_shown(piece.text, piece.kind),) for piece in pieces(text)))


@register.filter
def covered_line(text: str) -> SafeString:
    """One line of it, for lists and titles: covers without names."""
    return untrusted(covered(text))


@register.filter
def spaced(word: str) -> str:
    """A word of the wire as people read it: "evolved_from" as "evolved from"."""
    return word.replace("_", " ")


def _shown(text: str, kind: str) -> SafeString:
    if not kind:
        return untrusted(text)
    return format_html('<span class="masked" title="looks like a secret">{} {}</span>', COVER, kind)
