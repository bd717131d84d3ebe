"""Archives in tests: of a namespace, changed with the trailer made good, and a store that has lost a namespace."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from typing import Any

from django.apps import apps
from django.db import connection, transaction

from memory.agents.setup import system
from memory.base import clock, ids
from memory.base.actor import Actor
from memory.base.canonical import canonical
from memory.interchange.jsonl import writing
from memory.interchange.operations import RestoredArchive, restore_archive
from memory.ledger.models import Namespace
from memory.ledger.operations.founding import found
from memory.records import fulltext
from tests.conftest import lifted_triggers
from tests.world import World

Line = dict[str, Any]


def archive_of(namespace: int) -> bytes:
    """The archive of the namespace as it stands."""
    stream = BytesIO()
    writing.write(stream, namespace=namespace)
    return stream.getvalue()


def lines_of(archive: bytes) -> list[Line]:
    return [json.loads(line) for line in archive.splitlines()]


def joined(lines: list[Line]) -> bytes:
    """The lines as an archive whose trailer is right: the fault is in what they say, not in how they are counted."""
    body = b"".join(canonical(line) + b"\n" for line in lines if line["type"] != "trailer")
    trailer = {"type": "trailer", "lines": body.count(b"\n"), "sha256": hashlib.sha256(body).hexdigest()}
    return body + canonical(trailer) + b"\n"


def changed(archive: bytes, change: Callable[[list[Line]], object]) -> bytes:
    """The archive after `change` has altered its lines in place."""
    lines = lines_of(archive)
    change(lines)
    return joined(lines)


@cache
def an_archive(name: str = "restored") -> bytes:
    """The archive of a namespace that no store holds; the same bytes whenever it is asked for."""
    with transaction.atomic():
        with ids.seeded(name), clock.fixed(datetime(2030, 1, 14, 12, tzinfo=UTC)):
            archive = archive_of(found(Actor(0, "system"), name=name).pk)
        transaction.set_rollback(True)
    return archive


def restored(archive: bytes, **given: Any) -> RestoredArchive:
    """What the host's command makes of the archive."""
    return restore_archive(given.pop("by", None) or system(0), BytesIO(archive), **given)


def namespace_named(name: str) -> int:
    return Namespace.objects.values_list("pk", flat=True).get(name=name)


def _tables() -> Iterator[tuple[str, str]]:
    for model in apps.get_app_config("memory").get_models():
        columns = {field.column for field in model._meta.concrete_fields}
        if model is not Namespace and "namespace_id" in columns:
            yield model._meta.db_table, "namespace_id"
    yield Namespace._meta.db_table, "id"


def lose(world: World) -> None:
    """Take the namespace out of the store as if it had never been there."""
    fulltext.clear(world.namespace)
    with transaction.atomic(), lifted_triggers(connection), connection.cursor() as cursor:
        for table, column in _tables():
            cursor.execute(f'DELETE FROM "{table}" WHERE {column} = %s', [world.namespace])
