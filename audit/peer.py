"""The peer package, posterior-memory-harness 0.9.0: only comparisons need it, and they say so where it is missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

PACKAGE = "posterior_memory_harness"


class NoPeer(RuntimeError):
    """The peer package is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "posterior-memory-harness 0.9.0 is not installed, so there is nothing to compare with;"
            " `uv sync --group dev` installs it."
        )


def is_installed() -> bool:
    """Whether there is something to compare with."""
    return find_spec(PACKAGE) is not None


def peer(module: str = "") -> Any:
    """The package, or a module of it.   Raises NoPeer."""
    if not is_installed():
        raise NoPeer
    return import_module(f"{PACKAGE}.{module}" if module else PACKAGE)
