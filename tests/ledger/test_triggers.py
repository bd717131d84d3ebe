"""The database itself keeps evidence: what operations never do, it refuses, by whatever way it is asked."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import count, cycle
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, models, transaction
from django.db.models import F, ProtectedError

from memory.agents.models import TokenRevocation
from memory.agents.operations import issue_token
from memory.base.models import Content, Evidence, SameNamespaceKey
from memory.base.sql import insert
from memory.base.triggers import postgresql_triggers, sqlite_triggers
from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.beliefs.models import Forecast, Revocation
from memory.beliefs.operations.monitors import open_run
from memory.calibration.models import AlarmTurn, LabelOutcome
from memory.facts import space
from memory.facts.models import Retraction, Supersession
from memory.ledger.models import Content as ContentRow
from memory.ledger.models import Erasure, Name
from memory.lineage.models import LINKS, Compilation, Edge
from memory.records.models import Record
from memory.tombstones.models import RouteHit
from tests.calibration.labelling import alarmed
from tests.every_table import GUARDED, another_value, populate, stored_rows
from tests.tombstones.burials import asked, buried
from tests.world import World

EVIDENCE = [model for model in GUARDED if issubclass(model, Evidence)]
CONTENT = [model for model in GUARDED if issubclass(model, Content)]
PART_OF = {"memory_content": "OLD.part", "memory_name": "'name'"}


def run(statement: str, values: list[Any] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def refusal(act: Callable[[], object]) -> str:
    """What the database says; empty if it lets the act happen, which is then undone."""
    try:
        with transaction.atomic():
            act()
            transaction.set_rollback(True)
    except (DatabaseError, ProtectedError) as error:
        return str(error)
    return ""


def not_refused(models_: list[type[models.Model]], act: Callable[[type[models.Model]], object]) -> list[str]:
    """The tables on which the act succeeds, or fails for another reason than the guard."""
    guards = ("append-only", "content goes only with an erasure", "through protected foreign keys")
    said = {model._meta.db_table: refusal(lambda model=model: act(model)) for model in models_}
    return [f"{table}: {words}" for table, words in said.items() if not any(guard in words for guard in guards)]


def rows(model: type[models.Model], world: World) -> models.QuerySet[Any]:
    where = {"pk": world.namespace} if model.__name__ == "Namespace" else {"namespace": world.namespace}
    found = model._default_manager.filter(**where)
    assert found.exists(), f"{model.__name__} is empty, so nothing could be refused"
    return found


def last_column(model: type[models.Model]) -> str:
    return model._meta.concrete_fields[-1].column


@pytest.fixture
def world() -> World:
    world = World()
    populate(world)
    return world


pytestmark = pytest.mark.django_db


def test_no_row_is_updated_through_the_orm(world: World) -> None:
    def update(model: type[models.Model]) -> None:
        name = model._meta.concrete_fields[-1].attname
        rows(model, world).update(**{name: F(name)})

    assert not_refused(GUARDED, update) == []


def test_no_row_is_updated_by_a_statement(world: World) -> None:
    def update(model: type[models.Model]) -> None:
        column = connection.ops.quote_name(last_column(model))
        run(f"UPDATE {model._meta.db_table} SET {column} = {column}")

    assert not_refused(GUARDED, update) == []


def test_no_row_is_deleted_through_the_orm(world: World) -> None:
    assert not_refused(GUARDED, lambda model: rows(model, world).delete()) == []


def test_no_row_is_deleted_by_a_statement(world: World) -> None:
    assert not_refused(GUARDED, lambda model: run(f"DELETE FROM {model._meta.db_table}")) == []


def test_no_table_is_truncated(world: World) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no TRUNCATE")
    # A table with pending checks of foreign keys is not truncated for that reason alone.
    connection.check_constraints()
    assert not_refused(GUARDED, lambda model: run(f"TRUNCATE {model._meta.db_table} CASCADE")) == []


@pytest.mark.sqlite_only
def test_insert_or_replace_replaces_no_row(world: World) -> None:
    def replace(model: type[models.Model]) -> None:
        run(f"INSERT OR REPLACE INTO {model._meta.db_table} SELECT * FROM {model._meta.db_table}")

    assert not_refused(GUARDED, replace) == []


@pytest.mark.sqlite_only
def test_without_recursive_triggers_insert_or_replace_would_go_round_the_guard(world: World) -> None:
    statement = "INSERT OR REPLACE INTO memory_content SELECT * FROM memory_content"
    run("PRAGMA recursive_triggers = OFF")
    try:
        assert refusal(lambda: run(statement)) == ""
    finally:
        run("PRAGMA recursive_triggers = ON")
    assert refusal(lambda: run(statement)) != ""


def name_in_an_erasure(world: World, *, seq: int, item: int, part: str) -> None:
    row = (world.namespace, 1, 900, seq, item, part, "request")
    insert(Erasure, [row])


def test_content_goes_only_with_an_erasure_that_names_it(world: World) -> None:
    saved = world.save("text that may go", summary="a summary that stays")
    seq, item = world.address(saved.id)
    content = ContentRow.objects.filter(namespace=world.namespace, seq=seq, item=item)
    name_in_an_erasure(world, seq=seq, item=item, part="content")
    with pytest.raises(DatabaseError, match="only with an erasure"), transaction.atomic():
        content.filter(part="details").delete()
    assert content.filter(part="content").delete()[0] == 1
    assert list(content.values_list("part", flat=True)) == ["details"]


def test_an_erasure_of_another_namespace_names_nothing_here(world: World) -> None:
    other = World("elsewhere")
    saved = world.save("text")
    seq, item = world.address(saved.id)
    name_in_an_erasure(other, seq=seq, item=item, part="content")
    with pytest.raises(DatabaseError, match="only with an erasure"), transaction.atomic():
        ContentRow.objects.filter(namespace=world.namespace, seq=seq, item=item).delete()


def test_a_name_goes_only_with_an_erasure_of_the_part_name(world: World) -> None:
    name = Name.objects.get(namespace=world.namespace, text="build-7")
    name_in_an_erasure(world, seq=name.seq, item=name.item, part="content")
    with pytest.raises(DatabaseError, match="only with an erasure"), transaction.atomic():
        name.delete()
    insert(Erasure, [(world.namespace, 1, 901, name.seq, name.item, "name", "request")])
    assert name.delete()[0] == 1


def expected_triggers() -> dict[str, set[str]]:
    """By table, what its base class asks for: names on PostgreSQL, whole statements on SQLite, where the spatial index
    has triggers too."""
    make = sqlite_triggers if connection.vendor == "sqlite" else postgresql_triggers
    expected = {}
    for model in GUARDED:
        table = model._meta.db_table
        statements = [text for text in make(table, erasable=PART_OF.get(table)) if text.startswith("CREATE TRIGGER")]
        expected[table] = set(statements) if connection.vendor == "sqlite" else {text.split()[2] for text in statements}
    if space.is_kept(connection):
        expected[space.TABLE] = set(space.triggers().values())
    return expected


def standing_triggers() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
        else:
            # 'O': fires for everybody. Triggers of foreign keys are internal.
            cursor.execute(
                "SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
                " WHERE NOT t.tgisinternal AND t.tgenabled = 'O'"
            )
        for table, trigger in cursor.fetchall():
            found.setdefault(table, set()).add(trigger)
    return found


def test_the_triggers_in_the_database_are_those_of_the_models_and_no_others() -> None:
    assert standing_triggers() == expected_triggers()


@pytest.mark.parametrize("model", [Record, ContentRow], ids=lambda model: model.__name__)
def test_a_trigger_that_is_gone_is_noticed(model: type[models.Model]) -> None:
    """As after the remake of a SQLite table, which a later change of a column would be."""
    table = model._meta.db_table
    name = f"{table}_no_update" if connection.vendor == "sqlite" else f"{table}_append_only ON {table}"
    run(f"DROP TRIGGER {name}")
    assert standing_triggers() != expected_triggers()


def same_namespace_keys() -> list[tuple[type[models.Model], SameNamespaceKey]]:
    return [
        (model, key)
        for model in apps.get_app_config("memory").get_models()
        for key in model._meta.constraints
        if isinstance(key, SameNamespaceKey)
    ]


KEYS = same_namespace_keys()


def unique_columns(model: type[models.Model]) -> set[str]:
    """Columns of unique keys whose value no other table and no list of words gives."""
    keys = [each.fields for each in model._meta.constraints if isinstance(each, models.UniqueConstraint)]
    keys.append(tuple(getattr(model._meta.pk, "field_names", ())))
    given = {column for owner, key in KEYS if owner is model for column in key.columns}
    return {name for key in keys for name in key} - given - {"namespace_id", "part", "relation"}


free_items = count(990)
free_relations = cycle(sorted(set(LINKS) - {"references"}))


# What a further row of the table may say where the one that stands has said the rest.
OF_ITS_OWN: dict[type[models.Model], dict[str, Any]] = {
    LabelOutcome: {"supersedes": None},
    AlarmTurn: {"kind": "close"},
}


def copied(model: type[models.Model], world: World, **changes: Any) -> dict[str, Any]:
    """A row like one that stands, unlike it in every unique column."""
    row = next(stored_rows(model, world.namespace))
    for name in unique_columns(model):
        is_counted = name in ("item", "position")
        row[name] = next(free_items) if is_counted else another_value(model._meta.get_field(name), row[name])
    if model is Edge:
        row["relation"] = next(free_relations)
    if model is Compilation:
        row["record"] = world.save("compiled by nobody yet", by=world.alice).id
    if model in (Supersession, Retraction):
        row["old" if model is Supersession else "fact"] = world.tell(
            "anna", "city", "a value of its own", by=world.alice
        ).id
    if model is RouteHit:
        routes = [f"a route of its own {next(free_items)}" for _ in range(2)]
        row["tombstone"], _ = (buried(world, by=world.alice, route=route) for route in routes)
        row["route_check"] = asked(world, by=world.alice, route=routes[1]).id
    if model is Forecast:
        untracked = world.observe(None, "a", "c", [1, 0, 0, 0], by=world.alice, independent_evidence=False)
        row["observation"] = untracked.id
        config = MonitorConfig(run_id=f"a run of its own {next(free_items)}")
        row["monitor_run"] = open_run(world.alice, config=config).id
    if model in (Revocation, LabelOutcome):
        row["observation"] = world.observe(None, "a", "c", [1, 0, 0, 0], by=world.alice).id
    if model is AlarmTurn:
        number, by_alice = next(free_items), copy(world)
        # A copied row may have frozen the agent.
        by_alice.scout = world.alice
        row["alarm"] = alarmed(by_alice, observation_id=f"sure {number}", run_id=f"strict {number}")
    if model is TokenRevocation:
        row["token"] = issue_token(world.alice, agent=world.scout_id).id
    return {**row, **OF_ITS_OWN.get(model, {}), **changes}


def put(model: type[models.Model], row: dict[str, Any]) -> None:
    insert(model, [tuple(row[field.attname] for field in model._meta.concrete_fields)])


def broken_keys(world: World, value_for: Callable[[type[models.Model], SameNamespaceKey], Any]) -> list[str]:
    """The keys that a row with the value in their last column breaks, by what the commit says."""
    said = {}
    for model, key in KEYS:
        try:
            with transaction.atomic():
                put(model, copied(model, world, **{key.columns[1]: value_for(model, key)}))
        except DatabaseError as error:
            said[key.name] = str(error)
    return sorted(name for name, words in said.items() if "FOREIGN KEY" in words or f'"{name}"' in words)


NAMES = sorted(key.name for _, key in KEYS)


@pytest.mark.django_db(transaction=True)
def test_no_row_mentions_what_does_not_exist() -> None:
    world = World()
    populate(world)
    unknown = {"BigIntegerField": 10**9}
    kind = {key.name: model._meta.get_field(key.columns[1]).get_internal_type() for model, key in KEYS}
    assert broken_keys(world, lambda _, key: unknown.get(kind[key.name], uuid4())) == NAMES


@pytest.mark.django_db(transaction=True)
def test_no_row_mentions_what_stands_in_another_namespace() -> None:
    world, other = World(), World("elsewhere")
    populate(world)
    populate(other)
    for number in range(20):
        other.save(f"so that the other log is the longer one, {number}")

    def of_the_other(_: type[models.Model], key: SameNamespaceKey) -> Any:
        target = next(model for model in GUARDED if model._meta.db_table == key.to)
        column = key.to_columns[1]
        here = {row[column] for row in stored_rows(target, world.namespace)}
        return max({row[column] for row in stored_rows(target, other.namespace)} - here)

    assert broken_keys(world, of_the_other) == NAMES


@pytest.mark.django_db(transaction=True)
def test_the_same_rows_are_accepted_where_what_they_mention_stands_here() -> None:
    """The control of the two tests above: nothing else about those rows is refused."""
    world = World()
    populate(world)
    standing = {
        key.to: list(stored_rows(next(model for model in GUARDED if model._meta.db_table == key.to), world.namespace))
        for _, key in KEYS
    }
    accepted = []
    for model, key in KEYS:
        for row in standing[key.to]:
            try:
                with transaction.atomic():
                    put(model, copied(model, world, **{key.columns[1]: row[key.to_columns[1]]}))
            except DatabaseError:
                continue  # a unique column: another of the rows may be free
            accepted.append(key.name)
            break
    assert sorted(accepted) == NAMES


def test_every_evidence_table_belongs_to_an_entry_of_its_own_namespace() -> None:
    keyed = {model for model, key in KEYS if key.to == "memory_entry"}
    assert {model.__name__ for model in GUARDED if model not in keyed} == {"Namespace", "Entry"}
