"""The spatial index over rectangles of facts, and how a statement asks it.

- SQLite: an R*Tree beside the table, kept by triggers, so that whoever writes rectangles writes rows alone. Its closed
  32-bit bounds are coarser than the rows (low bits of the entity, spans of about four seconds), so that it finds
  candidates, and the row decides. The tree is joined by the rows' integer key, which no VACUUM changes.
- Rectangles that are open in valid time, in known seq, in both or in neither lie in four quarters of the entity's axis:
  a node that held two kinds would span the plane, and every probe would visit it. PostgreSQL splits so by itself.
- SQLite without the module: the index by entity and known seq answers the same, by walking; a start builds the tree
  again where the module is there.
- PostgreSQL: one GiST index of three ranges, asked by the very expressions that it is built on.

Source: SQLite, "The SQLite R*Tree Module"; PostgreSQL, range types and GiST.
"""

from __future__ import annotations

from typing import Any

from django.db import OperationalError, connection, router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

TABLE, TREE = "memory_factrect", "memory_factrect_space"
GIST = "fact_rect_space"
# Microseconds of every instant that a store can hold lie between.
FIRST, LAST = -62_135_596_800_000_000, 253_402_300_800_000_000
_SPAN_BITS = 22
_LOWEST, _HIGHEST = -(2**31), 2**31 - 1
_QUARTER = 2**29
_COLUMNS = "id, entity_low, entity_high, valid_low, valid_high, known_low, known_high"
_ENTITY = "int8range({0}entity, {0}entity, '[]')"
_VALID, _KNOWN = "int8range({0}valid_from, {0}valid_to)", "int8range({0}known_from, {0}known_to)"

# By the name of the database: whether its R*Tree is kept.
_kept: dict[str, bool] = {}


def rectangles() -> str:
    """What to select from, rows of rectangles as `r`; SQLite must take the tables in this order."""
    quarters = ", ".join(f"({number * _QUARTER})" for number in range(4))
    return f"(VALUES {quarters}) q CROSS JOIN {TREE} s CROSS JOIN {TABLE} r" if is_kept(connection) else f"{TABLE} r"


def within(entity: str, *, low: str, high: str, known: str) -> str:
    """SQL: `r` is of the lane of an entity, known by the seq, and shares an instant with [low, high].

    All four are SQL expressions of integers; instants are microseconds, both ends inclusive and in order.
    """
    if connection.vendor == "postgresql":
        instants = f"@> ({low})::bigint" if low == high else f"&& int8range(({low})::bigint, ({high})::bigint, '[]')"
        return (
            f"{_ENTITY.format('r.')} @> ({entity})::bigint AND {_VALID.format('r.')} {instants}"
            f" AND {_KNOWN.format('r.')} @> ({known})::bigint"
        )
    exact = (
        f"r.entity = {entity} AND r.valid_from <= {high} AND (r.valid_to IS NULL OR r.valid_to > {low})"
        f" AND r.known_from <= {known} AND (r.known_to IS NULL OR r.known_to > {known})"
    )
    if not is_kept(connection):
        return exact
    place = f"q.column1 + {_folded(entity)}"
    return (
        f"s.entity_low <= {place} AND s.entity_high >= {place} AND s.valid_low <= {_span(high)}"
        f" AND s.valid_high >= {_span(low)} AND s.known_low <= {_clamped(known)} AND s.known_high >= {_clamped(known)}"
        f" AND r.id = s.id AND {exact}"
    )


def is_kept(database: BaseDatabaseWrapper) -> bool:
    """Whether the R*Tree of a SQLite database is kept by its triggers."""
    if database.vendor != "sqlite":
        return False
    name = str(database.settings_dict["NAME"])
    if name not in _kept:
        _kept[name] = _stored(database) == triggers()
    return _kept[name]


def adapt(database: BaseDatabaseWrapper, *, has_module: bool | None = None) -> bool:
    """Make a SQLite database fit this host: build the tree where it is missing, lift its triggers without the module.

    has_module : None asks the database. Answers whether the tree is kept.
    """
    if database.vendor != "sqlite":
        return False
    can = offers_rtree(database) if has_module is None else has_module
    stored = _stored(database)
    if can and stored != triggers():
        _build(database)
    elif not can and stored:
        _lift(database)
    _kept[str(database.settings_dict["NAME"])] = can
    return can


def offers_rtree(database: BaseDatabaseWrapper) -> bool:
    """Whether SQLite has the module here."""
    with database.cursor() as cursor:
        try:
            cursor.execute("CREATE VIRTUAL TABLE temp.memory_probe USING rtree_i32(id, low, high)")
        except OperationalError:
            return False
        cursor.execute("DROP TABLE temp.memory_probe")
    return True


def triggers() -> dict[str, str]:
    """{name: statement} of the triggers that keep the tree."""
    return dict(_triggers())


class RectangleIndex(Operation):
    """Migration operation: the spatial index of the database."""

    reduces_to_sql = False
    reversible = True

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        return "RectangleIndex", (), {}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """The index is no part of the model state."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        database = schema_editor.connection
        if not router.allow_migrate(database.alias, app_label):
            return
        if database.vendor != "postgresql":
            adapt(database)
            return
        ranges = ", ".join(each.format("") for each in (_ENTITY, _VALID, _KNOWN))
        schema_editor.execute(f"CREATE INDEX {GIST} ON {TABLE} USING gist ({ranges})", params=None)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        database = schema_editor.connection
        if not router.allow_migrate(database.alias, app_label):
            return
        if database.vendor == "postgresql":
            schema_editor.execute(f"DROP INDEX {GIST}", params=None)
            return
        _lift(database)
        schema_editor.execute(f"DROP TABLE IF EXISTS {TREE}", params=None)

    def describe(self) -> str:
        return "Create the spatial index over rectangles of facts"


def _folded(entity: str) -> str:
    return f"(({entity}) & {_QUARTER - 1})"


def _span(instant: str) -> str:
    return _clamped(f"(({instant}) >> {_SPAN_BITS})")


def _clamped(number: str) -> str:
    return f"max({_LOWEST}, min({_HIGHEST}, {number}))"


def _coordinates(row: str) -> str:
    """SQL: the values of a row as the tree keeps them, half-open ends closed."""
    open_ends = f"({row}.valid_to IS NULL) * 2 + ({row}.known_to IS NULL)"
    entity = f"({open_ends}) * {_QUARTER} + {_folded(f'{row}.entity')}"
    valid_high = f"coalesce({_span(f'{row}.valid_to - 1')}, {_HIGHEST})"
    known_high = f"coalesce({_clamped(f'{row}.known_to - 1')}, {_HIGHEST})"
    return (
        f"{row}.id, {entity}, {entity}, {_span(f'{row}.valid_from')}, {valid_high}, {_clamped(f'{row}.known_from')},"
        f" {known_high}"
    )


def _triggers() -> tuple[tuple[str, str], ...]:
    add = f"INSERT INTO {TREE} ({_COLUMNS}) VALUES ({_coordinates('new')});"
    remove = f"DELETE FROM {TREE} WHERE id = old.id;"
    bodies = (("insert", add), ("update", f"{remove} {add}"), ("delete", remove))
    return tuple(
        (f"{TREE}_{event}", f"CREATE TRIGGER {TREE}_{event} AFTER {event.upper()} ON {TABLE} BEGIN {body} END")
        for event, body in bodies
    )


def _stored(database: BaseDatabaseWrapper) -> dict[str, str]:
    """{name: statement} of the triggers that stand; those of an earlier form count as others."""
    with database.cursor() as cursor:
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s AND name GLOB %s",
            [TABLE, f"{TREE}_*"],
        )
        return dict(cursor.fetchall())


def _build(database: BaseDatabaseWrapper) -> None:
    """What stood in a tree without its triggers may be stale, so that all of it is built anew."""
    with transaction.atomic(using=database.alias), database.cursor() as cursor:
        _lift(database)
        cursor.execute(f"DROP TABLE IF EXISTS {TREE}")
        cursor.execute(f"CREATE VIRTUAL TABLE {TREE} USING rtree_i32({_COLUMNS})")
        cursor.execute(f"INSERT INTO {TREE} ({_COLUMNS}) SELECT {_coordinates('r')} FROM {TABLE} r")
        for _, statement in _triggers():
            cursor.execute(statement)


def _lift(database: BaseDatabaseWrapper) -> None:
    with database.cursor() as cursor:
        for name, _ in _triggers():
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
    _kept[str(database.settings_dict["NAME"])] = False
