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


def named(text: str) -> str:
    """The whole name of a check: as it stands, or without the family before its dot, as `L2` for `law.L2`.

    Raises NotFound (no such check).
    """
    for name in names():
        if text in (name, name.rpartition(".")[2]):
            return name
    raise NotFound(f"There is no check {text!r}; there are {', '.join(names())}.")


def run(by: Actor, *, name: str) -> Recorded:
    """Run the check now.   Raises NotFound (no such check), and what the check raises."""
    return _checks[named(name)](by)
