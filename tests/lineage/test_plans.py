"""How the database answers: by an index for each step, whatever ANALYZE has noted, and with one number of queries."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.models.signals import post_migrate
from django.test.utils import CaptureQueriesContext

from memory.lineage.maintenance import forget_edge_statistics
from memory.lineage.queries.ancestry import ancestry, descendants
from memory.lineage.queries.freshness import freshness_of
from memory.lineage.queries.graph import graph
from memory.records.models import Record
from memory.records.queries import detail
from tests.world import World

pytestmark = pytest.mark.django_db

READS: dict[str, Callable[[World], object]] = {
    "ancestry": lambda world: ancestry(world.now(), record=newest(world)),
    "descendants": lambda world: descendants(world.now(), record=oldest(world)),
    "freshness": lambda world: freshness_of(world.now(), [newest(world)]),
    "graph": lambda world: graph(world.now(), focus=oldest(world), up=2, down=2),
}


@pytest.fixture
def world() -> World:
    """A chain, a few merges and links."""
    world = World()
    record = world.save("the first").id
    others = [world.save(f"other {number}").id for number in range(5)]
    for number in range(12):
        record = world.evolve(record, content=f"version {number}")
    for other in others:
        record = world.merge(record, other)
        world.link(other, "references", record)
    world.compile(world.compile(record, covers="topic"), *others)
    return world


def oldest(world: World) -> UUID:
    return Record.objects.filter(namespace=world.namespace).order_by("seq").values_list("id", flat=True)[0]


def newest(world: World) -> UUID:
    return Record.objects.filter(namespace=world.namespace).order_by("-seq").values_list("id", flat=True)[0]


def statements(read: Callable[[World], object], world: World) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        read(world)
    return [query["sql"] for query in captured]


def plans(read: Callable[[World], object], world: World) -> list[str]:
    """What SQLite does with the edge table, step by step."""
    steps = []
    for statement in statements(read, world):
        if "memory_edge" in statement:
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
                steps.extend(row[-1] for row in cursor.fetchall())
    return [step for step in steps if "memory_edge" in step or " e " in step or step.startswith("SEARCH e")]


def whole_reads(steps: list[str]) -> list[str]:
    """The steps that read more of the edge table than the edges of one record."""
    return [step for step in steps if "source=?" not in step and "target=?" not in step]


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


@pytest.mark.sqlite_only
@pytest.mark.parametrize("name", READS)
def test_every_step_goes_by_an_index_on_the_end_of_an_edge(name: str, world: World) -> None:
    steps = plans(READS[name], world)
    assert steps
    assert whole_reads(steps) == []


@pytest.mark.sqlite_only
@pytest.mark.parametrize("name", READS)
def test_after_analyze_and_the_end_of_a_migration_it_still_does(name: str, world: World) -> None:
    before = plans(READS[name], world)
    analyze()
    assert any("BLOOM" in step for step in plans(READS["ancestry"], world)), "this SQLite has no such trap"
    assert forget_edge_statistics(connection)
    assert plans(READS[name], world) == before
    assert not any("BLOOM" in step for step in before)


@pytest.mark.sqlite_only
def test_the_end_of_a_migration_forgets_statistics_on_edges_and_no_others(world: World) -> None:
    analyze()
    assert {"memory_edge", "memory_entry"} <= counted_tables()
    config = apps.get_app_config("memory")
    post_migrate.send(sender=config, app_config=config, using="default", verbosity=0, interactive=False, plan=[])
    assert "memory_edge" not in counted_tables()
    assert "memory_entry" in counted_tables()
    assert not forget_edge_statistics(connection)


def counted_tables() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT tbl FROM sqlite_stat1")
        return {row[0] for row in cursor.fetchall()}


def test_forgetting_where_nothing_was_noted_changes_nothing() -> None:
    assert forget_edge_statistics(connection) is False


@pytest.mark.django_db(transaction=True)
def test_the_command_that_migrates_forgets_them_too() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL keeps its statistics")
    world = World()
    world.evolve(world.save().id, content="newer")
    analyze()
    call_command("migrate", verbosity=0)
    try:
        assert "memory_edge" not in counted_tables()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE sqlite_stat1")


@pytest.mark.parametrize("name", ["ancestry", "descendants"])
def test_the_number_of_queries_does_not_grow_with_the_answer(name: str) -> None:
    counts = []
    for length in (2, 30):
        world = World(f"chain-{length}")
        record = world.save().id
        for number in range(length):
            record = world.evolve(record, content=f"version {number}")
        read = {"ancestry": ancestry, "descendants": descendants}[name]
        start = record if name == "ancestry" else oldest(world)
        at = world.now()
        counts.append(len(statements(lambda _, read=read, at=at, start=start: read(at, record=start), world)))
    assert counts[0] == counts[1] == 2


def test_a_record_is_looked_up_by_its_key(world: World) -> None:
    """Trap: a scan of the table for each look-up."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
        sql = str(statements(lambda w: detail.resolved(w.now(), prefix=str(newest(w))[:12]), world)[-1])
        cursor.execute(f"EXPLAIN {'QUERY PLAN ' if connection.vendor == 'sqlite' else ''}{sql}")
        plan = " ".join(str(row[-1]) for row in cursor.fetchall())
    assert "SCAN memory_record" not in plan
    assert "id>" in plan or "id >=" in plan
