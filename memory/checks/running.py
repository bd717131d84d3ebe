"""Checks by name: what can be run on demand, told by the slices and by the site, which register it here."""

from __future__ import annotations

from collections.abc import Callable

from memory.base.actor import Actor
from memory.base.errors import NotFound
from memory.checks.operations import Recorded

Check = Callable[[Actor], Recorded]
_checks: dict[str, Check] = {}


def run_by_name(name: str, check: Check) -> None:
    """Register a check: it looks at the actor's namespace and records what it found."""
    _checks[name] = check


def names() -> tuple[str, ...]:
    """The names of all checks, in order."""
    return tuple(sorted(_checks))


def run(by: Actor, *, name: str) -> Recorded:
    """Run the check now.   Raises NotFound (no such check), and what the check raises."""
    if name not in _checks:
        raise NotFound(f"There is no check {name!r}; there are {', '.join(names())}.")
    return _checks[name](by)
