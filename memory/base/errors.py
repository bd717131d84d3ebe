"""Everything that can be refused, one word for each cause.

- `CODES` is the only table of codes; the OpenAPI document, the README table and the tests of the shape come from it.
- One exception class for each code; raise the narrowest one and say expected and got.

Source: RFC 9457 (problem details); api names of the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

Loc = tuple[str | int, ...]

WHOLE = "the body"
"""What is wrong where no place in it is."""


@dataclass(frozen=True, slots=True)
class Code:
    """One cause: its word, HTTP status, title and meaning."""

    code: str
    status: int
    title: str
    meaning: str


CODES: dict[str, Code] = {
    row[0]: Code(*row)
    for row in (
        ("malformed", 400, "Unreadable JSON", "The body is not JSON."),
        ("unauthorized", 401, "Not signed in", "No token or session, or one that is unknown, expired or revoked."),
        ("forbidden", 403, "Not allowed", "The token's scopes or the person's role do not cover this act."),
        ("not_found", 404, "Not found", "No such thing in this namespace, or no such namespace for you."),
        ("method_not_allowed", 405, "Method not allowed", "The address exists, but not for this method."),
        ("conflict", 409, "Conflict of state", "The state of the store forbids this act."),
        ("idempotency_mismatch", 409, "Key used before", "The same key came with another payload."),
        ("ambiguous", 409, "Ambiguous prefix", "Several ids begin so; the candidates are listed."),
        ("on_hold", 409, "On hold", "A retention hold forbids erasing."),
        ("withdrawn", 410, "Withdrawn", "The record was withdrawn; include=withdrawn shows it."),
        ("erased", 410, "Erased", "The content is erased; what remains proves that it was."),
        ("stale_version", 412, "Stale version", "The thing has moved on; the current version is given."),
        ("too_large", 413, "Too large", "The body or one of its parts is over its limit."),
        ("invalid", 422, "Invalid input", "Anything else that is wrong with the input; the places are named."),
        ("stopped", 423, "Stopped", "The agent is frozen, so its writes are refused."),
        ("rate_limited", 429, "Too many attempts", "Wait and try again."),
        ("internal", 500, "Internal error", "A fault of ours; the request id finds it in the log."),
        ("unavailable", 503, "Unavailable", "The store is busy or out of reach; try again after Retry-After."),
    )
}


@dataclass(frozen=True, slots=True)
class Place:
    """One thing that is wrong: where, why, what was expected and what came."""

    loc: Loc
    code: str
    expected: str = ""
    got: str = ""


class DomainError(Exception):
    """A refusal: `code` names the cause, `errors` the places, `extra` what the client needs to go on."""

    code: ClassVar[str] = "internal"

    def __init__(self, detail: str, *, errors: Sequence[Place] = (), **extra: object) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)
        self.extra = extra

    @property
    def status(self) -> int:
        return CODES[self.code].status

    @property
    def title(self) -> str:
        return CODES[self.code].title


class Malformed(DomainError):
    code = "malformed"


class Unauthorized(DomainError):
    code = "unauthorized"


class Forbidden(DomainError):
    code = "forbidden"


class NotFound(DomainError):
    code = "not_found"


class Conflict(DomainError):
    code = "conflict"


class IdempotencyMismatch(DomainError):
    code = "idempotency_mismatch"


class Ambiguous(DomainError):
    code = "ambiguous"


class OnHold(DomainError):
    code = "on_hold"


class Withdrawn(DomainError):
    code = "withdrawn"


class Erased(DomainError):
    code = "erased"


class StaleVersion(DomainError):
    code = "stale_version"


class TooLarge(DomainError):
    code = "too_large"


class Invalid(DomainError):
    code = "invalid"

    @classmethod
    def at(cls, *loc: str | int, expected: str, got: object = "", code: str = "invalid") -> Invalid:
        """One wrong place, in one sentence."""
        where = ".".join(str(step) for step in loc) or WHOLE
        shown = "" if got == "" else str(got)[:200]
        tail = f", got {shown}" if shown else ""
        return cls(f"{where}: expected {expected}{tail}", errors=(Place(loc, code, expected, shown),))


class Stopped(DomainError):
    code = "stopped"


class RateLimited(DomainError):
    code = "rate_limited"


class Unavailable(DomainError):
    code = "unavailable"


class Raced(Exception):
    """A fact read before the lock changed before it was taken; the operation starts again."""
