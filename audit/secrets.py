"""What looks like a secret in text from outside, so that a page can cover it.

Invariants
- A cover is a courtesy to the reader over the shoulder: it changes nothing that is stored, and proves nothing.
- The pieces joined give the text back, byte for byte.
- Every pattern is bounded and scans forward only, so that no text makes it slow.

Source: published formats of the issuers; gitleaks, default rules.
"""

import re
from dataclasses import dataclass

COVER = "••••••••"

_WORD = r"[A-Za-z0-9_\-]"
_KINDS: dict[str, str] = {
    "private key": (
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s]{0,8000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
    ),
    "AWS access key": r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    "GitHub token": rf"\b(?:gh[pousr]_[A-Za-z0-9]{{36,255}}|github_pat_{_WORD}{{22,255}})",
    "GitLab token": rf"\bglpat-{_WORD}{{20,255}}",
    "Slack token": r"\bxox[abeprs]-[A-Za-z0-9\-]{10,255}",
    "Stripe key": r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}",
    "Google API key": rf"\bAIza{_WORD}{{35}}",
    "model API key": rf"\bsk-{_WORD}{{20,255}}",
    "agent token": rf"\bplm_{_WORD}{{40,60}}",
    "signed token": rf"\beyJ{_WORD}{{10,2000}}\.eyJ{_WORD}{{10,4000}}\.{_WORD}{{5,1000}}",
    "password in an address": r"(?<=://)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)",
    "bearer token": r"(?<=[Bb]earer )[A-Za-z0-9_\-.=]{20,2000}",
    "password": (
        r"(?<![A-Za-z0-9])(?P<name>(?i:password|passwd|passphrase|pwd|secret|api[_\-]?key|access[_\-]?token))"
        r"(?P<mark>[\"']?\s{0,3}[:=]\s{0,3}[\"']?)(?P<value>[^\s\"',;]{8,400})"
    ),
}
_GROUPS = list(_KINDS)
_ANY = re.compile("|".join(f"(?P<kind{index}>{pattern})" for index, pattern in enumerate(_KINDS.values())))


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; `kind` says what it looks like, "" for plain text."""

    text: str
    kind: str = ""


def pieces(text: str) -> list[Piece]:
    """The text cut at whatever looks like a secret."""
    found: list[Piece] = []
    start = 0
    for match in _ANY.finditer(text):
        kind = next(name for index, name in enumerate(_GROUPS) if match[f"kind{index}"] is not None)
        first, last = match.span("value") if match["value"] is not None else match.span()
        if first > start:
            found.append(Piece(text[start:first]))
        found.append(Piece(text[first:last], kind))
        start = last
    return [*found, Piece(text[start:])] if start < len(text) else found


def covered(text: str) -> str:
    """The text with each of them covered."""
    return "".join(COVER if piece.kind else piece.text for piece in pieces(text))


def has_secret(text: str) -> bool:
    return _ANY.search(text) is not None
