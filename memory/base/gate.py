"""The base gate: what every operation passes, under the namespace lock and before anything is written.

Slices register their checks in apps.py; base imports none. A check raises or returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memory.base.actor import Actor, Power
from memory.base.errors import Forbidden

Check = Callable[[Actor, "Requirement"], None]


@dataclass(frozen=True, slots=True)
class Requirement:
    """What an operation asks: any of the powers; `by_person` shuts out tokens whatever their scopes.

    `erases`: a retention hold forbids it.
    """

    powers: tuple[Power, ...]
    by_person: bool = False
    erases: bool = False


READ = Requirement(("read",))
WRITE = Requirement(("write",))
WITHDRAW = Requirement(("write", "review"))
REVIEW = Requirement(("review",), by_person=True)
OWN = Requirement(("own",), by_person=True)
ERASE = Requirement(("own",), by_person=True, erases=True)

_checks: list[Check] = []


def register(check: Check) -> None:
    if check not in _checks:
        _checks.append(check)


def permits(by: Actor, need: Requirement) -> None:
    """Raise Forbidden unless the principal may: a person's route, then the power. Doors ask this before they read."""
    if need.by_person and by.kind == "agent":
        raise Forbidden("This act is a person's; a token never may.")
    if not by.may(*need.powers):
        held = by.role or ", ".join(sorted(by.powers)) or "nothing"
        raise Forbidden(f"This act needs {' or '.join(need.powers)}; you hold {held}.")


def passes(by: Actor, need: Requirement) -> None:
    """Raise the first refusal: the principal, then what the slices registered."""
    permits(by, need)
    for check in _checks:
        check(by, need)
