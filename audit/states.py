"""The word, the tone and the shape of every state the console can print.

Invariants
- Colour never speaks alone: each state has a word and a shape, and states that meet in one place differ in both.
- A state that is not listed raises ``KeyError``; a page never invents a badge.
- Unknown, not checked and not recorded have marks of their own; none of them is drawn like a good answer.
"""

from dataclasses import dataclass
from typing import Literal

type Tone = Literal["plain", "muted", "accent", "ok", "warn", "danger", "gone"]

GLYPHS: dict[str, str] = {
    "dot": "M6 2.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 0 1 0-7z",
    "ring": "M6 2a4 4 0 1 1 0 8a4 4 0 0 1 0-8zm0 1.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 0 0 0-5z",
    "half": "M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9zM6 2.9v6.2a3.1 3.1 0 0 1 0-6.2z",
    "slash": (
        "M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9zM3.3 7.8A3.2 3.2 0 0 1 7.8 3.3zM8.7 4.2A3.2 3.2 0 0 1 4.2 8.7z"
    ),
    "struck": "M1 2h10v2.4H1zM1 7.6h10V10H1zM0 5.4h12v1.2H0z",
    "dashes": "M1 5.25h2.5v1.5H1zm3.75 0h2.5v1.5h-2.5zm3.75 0H11v1.5H8.5z",
    "check": "M4.7 9.6L1.4 6.3l1.1-1.1l2.2 2.2l4.8-4.8l1.1 1.1z",
    "cross": "M2.6 1.5L6 4.9l3.4-3.4l1.1 1.1L7.1 6l3.4 3.4l-1.1 1.1L6 7.1l-3.4 3.4l-1.1-1.1L4.9 6L1.5 2.6z",
    "question": (
        "M3.2 4.3C3.2 2.5 4.4 1.4 6.1 1.4s2.8 1.1 2.8 2.6c0 1.2-.7 1.8-1.4 2.3c-.6.4-.8.6-.8 1.2H5.2"
        "c0-1.3.6-1.8 1.2-2.3c.6-.4.9-.7.9-1.2c0-.7-.5-1.1-1.2-1.1c-.8 0-1.3.5-1.3 1.4zM5.1 8.6h1.7v1.8H5.1z"
    ),
    "clash": "M1 2.3h6.2V.8L11 3L7.2 5.2V3.7H1zM11 9.7H4.8v1.5L1 9l3.8-2.2v1.5H11z",
    "bar": "M1.5 4h9v4h-9z",
    "clock": (
        "M6 1.2a4.8 4.8 0 1 1 0 9.6a4.8 4.8 0 0 1 0-9.6zm0 1.4a3.4 3.4 0 1 0 0 6.8a3.4 3.4 0 0 0 0-6.8z"
        "M5.4 3.5h1.2v2.3l1.7 1l-.6 1l-2.3-1.4z"
    ),
    "lock": "M3.2 5V3.9a2.8 2.8 0 0 1 5.6 0V5h.7v5.5h-7V5zm1.4 0h2.8V3.9a1.4 1.4 0 0 0-2.8 0z",
    "triangle": "M6 1.3L11.2 10.5H.8zM5.4 4.6v3h1.2v-3zm0 3.6v1.1h1.2V8.2z",
    "square": "M2.2 2.2h7.6v7.6H2.2z",
    "frame": "M1.8 1.8h8.4v8.4H1.8zm1.4 1.4v5.6h5.6V3.2z",
    "up": "M6 1.8L10.4 6.6L9.3 7.6L6.75 4.9v5.3h-1.5V4.9L2.7 7.6L1.6 6.6z",
    "back": "M5 2v2.2h2.2a3.2 3.2 0 0 1 0 6.4H3V9.1h4.2a1.7 1.7 0 0 0 0-3.4H5V8L1.4 5z",
    "shield": "M6 1l4.2 1.6v3.1c0 2.6-1.7 4.4-4.2 5.3C3.5 10.1 1.8 8.3 1.8 5.7V2.6z",
}
"""Outlines on a field of 12 × 12, filled by the current colour under the even-odd rule."""


@dataclass(frozen=True, slots=True)
class State:
    """How one state is printed."""

    word: str
    tone: Tone
    glyph: str


def _family(tone: Tone, glyph: str, **words: str) -> dict[str, State]:
    return {key: State(word=word, tone=tone, glyph=glyph) for key, word in words.items()}


STATES: dict[str, State] = {
    # What is remembered.
    **_family("accent", "dot", current="current", known="known", active="active", live="live", open="open"),
    **_family("warn", "half", held="held"),
    **_family("warn", "back", behind="behind"),
    **_family("warn", "clock", provisional="provisional", retest_due="re-test due", retest_only="re-test only"),
    **_family("muted", "ring", superseded="superseded", retired="retired", audit_only="audit only"),
    **_family("gone", "slash", deleted="deleted", withdrawn="withdrawn", retracted="retracted", revoked="revoked"),
    **_family("gone", "struck", erased="erased"),
    **_family("muted", "question", unknown="unknown"),
    **_family("danger", "clash", conflict="conflict"),
    **_family("muted", "back", rolled_back="rolled back"),
    # Verdicts. Not checked and undecidable are answers, and not good ones.
    **_family("ok", "check", ok="ok", holds="holds", verified="verified", met="met", permitted="permitted"),
    **_family("danger", "cross", failed="failed", violated="violated", blocked="blocked", refused="refused"),
    **_family("muted", "dashes", not_checked="not checked", not_reached="not reached", not_recorded="not recorded"),
    **_family("warn", "question", undecidable="undecidable", delivery_unknown="delivery unknown", too_few="too few"),
    **_family("warn", "half", no_alarm="no alarm yet"),
    **_family("danger", "triangle", not_run="not run", alarm="alarm", missed="missed"),
    **_family("ok", "shield", independent="independent", applied="applied", enforced="enforced"),
    **_family("muted", "frame", unmet="unmet", draft="draft", proposed="proposed", intent_only="intent only"),
    **_family("muted", "clock", expired="expired", lapsed="lapsed", pending="pending", stale="stale"),
    # Work and decisions.
    **_family("accent", "half", running="running", in_review="in review", needs_approval="needs approval"),
    **_family("plain", "square", done="done (self-report)", finished="finished", reported="effect reported"),
    **_family("ok", "up", approved="approved", promoted="promoted", accepted="accepted by resource"),
    **_family("muted", "cross", declined="declined", voided="voided"),
    **_family("danger", "square", stopped="stopped", frozen="frozen"),
    **_family("warn", "bar", suspended="suspended", waived="waived", escalated="escalated", repair_open="repair open"),
    **_family("ok", "dot", alive="alive", calibrated="calibrated"),
    **_family("muted", "lock", hold="on hold", cannot_refuse="cannot refuse yet"),
    **_family("muted", "bar", shadow="shadow", advisory="advisory", partial="partial"),
    # Beliefs: how an answer was come to, and what the rest says of one observation.
    **_family("muted", "dashes", nothing="nothing to draw", bridge="no second path"),
    **_family("ok", "check", exact="exact", corroborated="corroborated"),
    **_family("ok", "half", certified="certified interval"),
    **_family("warn", "question", uncertified="approximate, no guarantee"),
    **_family("danger", "triangle", unreliable="unreliable"),
    **_family("danger", "clash", contradicted="contradicted"),
}


def state(key: str) -> State:
    """How ``key`` is printed. Raises KeyError for a state that nobody has given a word."""
    return STATES[key]
