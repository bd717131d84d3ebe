"""Rectangles of facts and the index over them: the same answers with and without it, and it keeps itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from django.db import connection, transaction

from memory.base.asof import AsOf
from memory.facts import space
from memory.facts.content import NewFact
from memory.facts.models import FactRect, FactState
from memory.facts.operations.asserting import assert_facts
from memory.facts.operations.ending import retract, supersede
from memory.facts.queries import standing as probes
from memory.facts.queries.overlapping import overlapping
from memory.facts.queries.standing import hidden_at, last_before, standing
from memory.facts.states import Entity, counting, word
from tests.statements import failing_at
from tests.world import World

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
N_VERSIONS = 32


@pytest.fixture
def world() -> World:
    """One entity of many versions, each in the place of the one before, and one of readings of an hour each."""
    made = World()
    states = [NewFact("P1", "city", number, valid_from=NOON + number * HOUR) for number in range(N_VERSIONS)]
    asserted = assert_facts(made.scout, facts=states)
    for number, (old, new) in enumerate(pairwise(asserted)):
        if number % 9 == 8:
            retract(made.scout, fact=old.id, retracted_as="wrong", reason="misread")
        else:
            supersede(made.scout, fact=old.id, at=NOON + (number + 1) * HOUR, new=new.id, reason="moved")
    readings = [
        NewFact("P1", "heat", number, valid_from=NOON + number * HOUR, valid_to=NOON + (number + 1) * HOUR)
        for number in range(N_VERSIONS)
    ]
    assert_facts(made.scout, facts=readings)
    return made


def entities(world: World) -> list[Entity]:
    rows = FactState.objects.filter(namespace=world.namespace, is_first=True).order_by("doc")
    return list(rows.values_list("subject", "attribute"))


def points(world: World) -> Iterator[AsOf]:
    """The corners of both clocks, what lies beyond them, and some between."""
    random, head = Random(4), world.now().seq
    known = [head, head - N_VERSIONS // 2, head - N_VERSIONS + 2, 3, *(random.randint(1, head) for _ in range(8))]
    hours = [0, N_VERSIONS - 1, N_VERSIONS, 3 * N_VERSIONS, -1, N_VERSIONS // 2, *random.sample(range(N_VERSIONS), 6)]
    for number, seq in enumerate(known):
        instant = NOON + hours[number] * HOUR + random.choice([-1, 0, 1]) * timedelta(microseconds=1)
        yield world.at(seq, valid_at=instant)


def answered(world: World) -> list[Any]:
    """What the probes say at each point, as ids."""
    told = []
    for at in points(world):
        for entity in entities(world):
            last = last_before(at, entity)
            told.append((last.id if last else None, *(
                sorted(row.id for row in probe(at, [entity])[entity]) for probe in (standing, hidden_at)
            )))  # fmt: skip
    return told


def scanned(world: World) -> list[Any]:
    """The same from all state rows, one by one."""
    told = []
    for at in points(world):
        for subject, attribute in entities(world):
            rows = list(
                FactState.objects.filter(
                    namespace=world.namespace, subject=subject, attribute=attribute, seq__lte=at.seq
                )
            )
            until = {row.id: row.superseded_at if word(row, at.seq) == "superseded" else row.valid_to for row in rows}
            ended = [
                (end, row.doc, row.id)
                for row in rows
                if counting(row, at.seq) and (end := until[row.id]) is not None and end <= at.valid_at
            ]
            covering = [
                row
                for row in rows
                if row.valid_from <= at.valid_at and (row.valid_to is None or at.valid_at < row.valid_to)
            ]
            counts = [
                row
                for row in covering
                if word(row, at.seq) in ("standing", "superseded")
                and ((end := until[row.id]) is None or at.valid_at < end)
            ]
            hidden = [row for row in covering if row not in counts]
            lanes = [[row for row in hidden if word(row, at.seq) == lane] for lane in ("superseded", "retracted")]
            newest = [
                sorted(lane, key=lambda row: (row.superseded_seq or row.retracted_seq, row.doc))[-20:] for lane in lanes
            ]
            told.append((max(ended)[2] if ended else None, sorted(row.id for row in counts),
                         sorted(row.id for lane in newest for row in lane)))  # fmt: skip
    return told


@pytest.mark.parametrize("n_sorted", [0, probes.SORTED])
def test_probes_answer_as_a_scan_of_all_rows_does(world: World, n_sorted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where every lane is crowded, so that the newest are looked for among the last acts."""
    monkeypatch.setattr(probes, "SORTED", n_sorted)
    assert answered(world) == scanned(world)


@pytest.mark.sqlite_only
def test_without_the_module_the_answers_are_the_same_and_a_start_with_it_builds_the_tree_again(world: World) -> None:
    before = answered(world)
    try:
        assert not space.adapt(connection, has_module=False)
        assert answered(world) == before
        retract(
            world.scout,
            fact=FactState.objects.filter(value="28").latest("doc").id,
            retracted_as="wrong",
            reason="misread",
        )
        after = answered(world)
        assert after != before
        assert_tree_is_stale()
    finally:
        assert space.adapt(connection)
    assert answered(world) == after
    assert_tree_follows()


def assert_tree_is_stale() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM memory_factrect r WHERE r.id NOT IN (SELECT id FROM memory_factrect_space)"
        )
        assert cursor.fetchone()[0] > 0


def assert_tree_follows() -> None:
    """One box for each row, none besides, and the tree's own check finds nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM memory_factrect_space ORDER BY id")
        assert [id for (id,) in cursor.fetchall()] == list(FactRect.objects.order_by("id").values_list("id", flat=True))
        cursor.execute("SELECT rtreecheck('memory_factrect_space')")
        assert cursor.fetchone() == ("ok",)


def _replaced() -> None:
    row = FactRect.objects.values_list("id", "namespace", "entity", "lane", "doc", "valid_from", "known_from").first()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT OR REPLACE INTO memory_factrect (id, namespace_id, entity, lane, doc, valid_from, known_from)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)",
            row,
        )


CHANGES: dict[str, Callable[[], object]] = {
    "update": lambda: FactRect.objects.filter(lane=0).update(known_to=10**7),
    "delete": lambda: FactRect.objects.filter(lane=1).delete(),
    "replace": _replaced,
}


@pytest.mark.sqlite_only
@pytest.mark.parametrize("change", CHANGES)
def test_the_tree_follows_any_statement_and_is_undone_with_it(world: World, change: str) -> None:
    assert_tree_follows()
    try:
        with transaction.atomic():
            CHANGES[change]()
            assert_tree_follows()
            raise InterruptedError
    except InterruptedError:
        assert_tree_follows()


def test_a_page_of_entities_takes_as_many_statements_as_one(world: World) -> None:
    facts = [NewFact(f"S{number}", "city", number, valid_from=NOON) for number in range(40)]
    assert_facts(world.scout, facts=facts)
    at, every = world.at(world.now().seq, valid_at=NOON + HOUR), entities(world)
    for probe in (standing, hidden_at):
        counts = []
        for asked in (every[:1], every):
            with failing_at(0) as watch:
                probe(at, asked)
            counts.append(len(watch.statements))
        assert counts[0] == counts[1] <= 2


def test_facts_of_a_batch_are_compared_by_one_statement_and_never_with_the_very_same(world: World) -> None:
    told = [NewFact("P9", "city", value, valid_from=NOON) for value in ("Rome", "Rome", "Oslo")]
    told.append(NewFact("P9", "city", "Rome", stance="denies", valid_from=NOON + HOUR, valid_to=NOON + 2 * HOUR))
    told.append(NewFact("P9", "city", "Rome", valid_from=NOON - HOUR, valid_to=NOON))
    made = assert_facts(world.scout, facts=told)
    rows = list(FactState.objects.filter(id__in=[one.id for one in made]).order_by("doc"))
    seq = world.now().seq
    with failing_at(0) as watch:
        pairs = list(overlapping(world.namespace, rows, seq=seq))
    found = {row.item: {other.item for other in others} for row, others in pairs}
    assert found == {0: {2, 3}, 1: {2, 3}, 2: {0, 1, 3}, 3: {0, 1, 2}, 4: set()}
    assert len(watch.statements) == 1
