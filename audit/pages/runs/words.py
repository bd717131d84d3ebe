"""References and runtimes of runs in words.

A reference is text that a client chose: it becomes a link only as a whole http or https address, and is then marked
as leading out of the console.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

OUTSIDE = ("http", "https")


@dataclass(frozen=True, slots=True)
class Reference:
    """One external reference. `url` is empty where the value is no address of the web."""

    key: str
    value: str
    url: str


def references(refs: Mapping[str, str]) -> tuple[Reference, ...]:
    """The references by key, the trace last: it is for machines."""
    ordered = sorted(refs.items(), key=lambda pair: (pair[0] == "trace", pair[0]))
    return tuple(Reference(key, value, outside_url(value)) for key, value in ordered)


def outside_url(value: str) -> str:
    """The value if it is an http or https address with a host and without spaces or control characters, else ""."""
    if not value.isprintable() or " " in value:
        return ""
    try:
        parts = urlsplit(value)
    except ValueError:
        return ""
    return value if parts.scheme in OUTSIDE and parts.hostname else ""


def model_of(runtime: Mapping[str, str]) -> str:
    """Model and version, as far as they were said."""
    return " ".join(runtime[name] for name in ("model", "version") if runtime.get(name))
