"""Imports by the name of their format: one way in for pages, routes, commands and tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from memory.base.actor import Actor
from memory.base.errors import Invalid
from memory.interchange.contextfs.kernel.vocabulary import ForeignStoreError
from memory.interchange.contextfs.operations import Options, Progress, Report, import_store
from memory.interchange.targets import founder

IMPORTERS: dict[str, Callable[..., Report]] = {"contextfs": import_store}


def import_file(
    by: Actor, path: Path, *, format: str, options: Options, owners: Iterable[int] = (), dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:  # fmt: skip
    """Import the file at `path`; targets that do not exist are founded, owned by the importer and by `owners`.

    Raises Invalid (format; a file that is no such store; options), Forbidden (a target of somebody else), Conflict.
    """
    importer = IMPORTERS.get(format)
    if importer is None:
        raise Invalid.at("format", expected=" or ".join(sorted(IMPORTERS)), got=format)
    ensure = founder(by, owners=owners)
    try:
        return importer(by, path, options=options, ensure=ensure, dry_run=dry_run, progress=progress)
    except ForeignStoreError as error:
        raise Invalid.at("file", expected=error.expected, got=error.got, code=error.code) from error
