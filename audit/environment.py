"""Typed readers of the process environment.

Invariants
- A value that is present and wrong stops the program with one sentence naming the variable; no default replaces it.
- A secret may come from a file instead: NAME_FILE names it. Giving both NAME and NAME_FILE is an error.
- An empty value counts as absent.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


class EnvironmentFault(ImproperlyConfigured):
    """A variable of the environment holds what it must not hold."""


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where the store lives. `engine` is `sqlite` or `postgresql`; `name` is a file path or a database name."""

    engine: str
    name: str
    host: str = ""
    port: int | None = None
    user: str = ""
    password: str = field(default="", repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict)


def read_text(name: str, *, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def read_secret(name: str, *, default: str = "") -> str:
    """The value of `name`, or the content of the file that `name`_FILE names; surrounding white space is cut."""
    file_name = read_text(f"{name}_FILE")
    value = read_text(name)
    if not file_name:
        return value or default
    if value:
        raise EnvironmentFault(f"{name} and {name}_FILE are both set; set one of them.")
    try:
        content = Path(file_name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentFault(f"{name}_FILE names {file_name!r}, which cannot be read: {error}.") from error
    if not content:
        raise EnvironmentFault(f"{name}_FILE names {file_name!r}, which is empty.")
    return content


def read_flag(name: str, *, default: bool = False) -> bool:
    value = read_text(name).lower()
    if not value:
        return default
    if value in TRUE_WORDS:
        return True
    if value in FALSE_WORDS:
        return False
    raise EnvironmentFault(f"{name} must be one of 1, true, yes, on, 0, false, no, off; got {value!r}.")


def read_integer(name: str, *, default: int, least: int, most: int) -> int:
    value = read_text(name)
    if not value:
        return default
    try:
        number = int(value)
    except ValueError as error:
        raise EnvironmentFault(f"{name} must be a whole number; got {value!r}.") from error
    if not least <= number <= most:
        raise EnvironmentFault(f"{name} must lie between {least} and {most}; got {number}.")
    return number


def read_choice(name: str, *, default: str, choices: tuple[str, ...]) -> str:
    value = read_text(name, default=default)
    if value not in choices:
        raise EnvironmentFault(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
    return value


def read_words(name: str, *, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A list separated by commas; empty parts are dropped."""
    words = tuple(word.strip() for word in read_text(name).split(",") if word.strip())
    return words or default


def read_path(name: str, *, default: Path) -> Path:
    """An absolute path; `~` is the home folder, a relative path starts at the working folder."""
    value = read_text(name)
    return Path(value).expanduser().absolute() if value else default


def read_database(name: str, *, default: Path) -> DatabaseAddress:
    """A URL of scheme sqlite, postgres or postgresql; absent, the SQLite file `default`.

    `sqlite:///relative` and `sqlite:////absolute` name a file; a PostgreSQL socket folder is given as `?host=/folder`.
    Further query parameters go to libpq as they are.
    """
    value = read_secret(name)
    if not value:
        return DatabaseAddress(engine="sqlite", name=str(default))
    try:
        url = urlsplit(value)
        port = url.port
    except ValueError as error:
        raise EnvironmentFault(f"{name} is not a URL: {error}.") from error
    parameters = dict(parse_qsl(url.query))
    path = unquote(url.path.removeprefix("/"))
    if not path:
        raise EnvironmentFault(f"{name} names no database after the last slash.")
    if url.scheme == "sqlite":
        if url.netloc or parameters:
            raise EnvironmentFault(f"{name} must have the form sqlite:///file, without host and parameters.")
        return DatabaseAddress(engine="sqlite", name=str(Path(path).absolute()))
    if url.scheme not in {"postgres", "postgresql"}:
        raise EnvironmentFault(f"{name} must start with sqlite:, postgres: or postgresql:; got {url.scheme!r}.")
    return DatabaseAddress(
        engine="postgresql",
        name=path,
        host=parameters.pop("host", unquote(url.hostname or "")),
        port=port,
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        parameters=parameters,
    )
