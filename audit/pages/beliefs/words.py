"""What pages of beliefs share: claimed instants in words, names without secrets, shares as bars, states of answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from django.utils.safestring import SafeString, mark_safe

from audit.charts.beliefs import ARROW, share
from audit.charts.markup import number
from audit.secrets import covered

AUTHORITY = "Confidence is not authority: this belief grants no act."
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = (-62_135_596_800.0, 253_402_300_799.0)
HIDDEN: Mapping[str, str] = {
    "beyond": "beyond the last hop of the search",
    "dependent": "not independent: it repeats or sums up others",
    "erased": "erased",
    "lineage": "its lineage speaks by a newer one",
    "limit": "left out by the limit of the question",
    "not_observed": "not observed yet at this point",
    "not_valid": "not valid at this point",
    "revoked": "revoked",
    "tags": "without a tag that the question asks for",
}
"""Why an observation between the nodes does not speak, in words."""

METHODS: Mapping[str, str] = {
    "enumeration": "every assignment summed up",
    "junction_tree": "exact, by a junction tree",
    "subgraph": "sampled from a part of the graph, weighted by the rest",
}


@dataclass(frozen=True, slots=True)
class Share:
    """A probability with its bar on the axis from 0 to 1."""

    value: float

    @property
    def words(self) -> str:
        return share(self.value)

    @property
    def svg(self) -> SafeString:
        width = number(100 * min(1.0, max(0.0, self.value)))
        return mark_safe(  # noqa: S308  (a number and nothing else)
            '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<rect class="track" width="100" height="10"/><rect class="bar" width="{width}" height="10"/>'
            '<path class="half" d="M50 0V10"/></svg>'
        )


def instant_words(seconds: float | None, *, absent: str = "open") -> str:
    """A claimed instant as a time where it has one, else as its number; both ends of its intervals are closed."""
    if seconds is None:
        return absent
    if not FIRST <= seconds <= LAST:
        return f"{seconds!r} s"
    moment = EPOCH + timedelta(seconds=seconds)
    shown = f"{moment:%Y-%m-%d %H:%M:%S} UTC"
    return shown if moment.microsecond == 0 else f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC"


def named(text: str, *, absent: str = "erased") -> str:
    """A name that a client chose, with what looks like a secret covered."""
    return covered(text) if text else absent


def between(source: str, target: str) -> str:
    """An observation by its two nodes."""
    return f"{named(source)}{ARROW}{named(target)}"


def relation_url(relation_type: str, *, carry: str) -> str:
    """The page of a relation type, whatever its name holds."""
    return f"/beliefs/relations/{quote(relation_type, safe='')}{carry}"
