"""The stretches of a line over both clocks: at every point they say what the line of versions itself answers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.lineage.queries.spans import line_spans, longest_lines
from memory.lineage.queries.timeline import line_of, timeline
from tests.lineage.lines import FIRST, line, on
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def points(world: World) -> Iterator[AsOf]:
    """Every entry by every day, and the edges of the days."""
    for seq in range(world.now().seq + 1):
        for day in (-1, 0, 1, 3, 4, 6, 9):
            yield world.at(seq, valid_at=on(day))
        yield world.at(seq, valid_at=on(3) - timedelta(microseconds=1))


@pytest.mark.parametrize("seed", [1, 3])
def test_at_every_point_the_stretches_answer_as_the_line_does(world: World, seed: int) -> None:
    record = line(world, Random(seed), n_acts=14)
    found = line_spans(world.now(), record=record)
    answers = set()
    for at in points(world):
        try:
            expected = timeline(at, line=line_of(at, record=record)).answer
        except NotFound:
            expected = None
        span = found.answer(valid_at=at.valid_at, known_at=at.known_at or FIRST - timedelta(days=9_999))
        assert (span.record if span else None) == expected, at
        answers.add(expected)
    assert len(answers) > 2


def test_a_picture_that_ends_at_an_entry_is_the_same_whatever_comes_later(world: World) -> None:
    first = world.save("version 1").id
    second = world.evolve(first, content="version 2")
    world.withdraw(second)
    then = world.now()
    before = line_spans(then, record=first)
    world.restore(second)
    world.evolve(second, content="version 3")
    assert line_spans(world.at(then.seq), record=first) == before
    assert [span.ended_as for span in before.spans] == ["superseded", "withdrawn"]
    after = line_spans(world.now(), record=first).spans
    assert [span.ended_as for span in after] == ["superseded", "withdrawn", "superseded", ""]
    with pytest.raises(NotFound):
        line_spans(world.at(1), record=first)


def test_by_a_sources_own_instants_a_version_stands_until_its_successor_claims_one(world: World) -> None:
    old, new = (world.save(f"a relayed note {day}", source_recorded_at=on(day)).id for day in (1, 4))
    world.supersede(old, new)
    kept = world.save("another relayed note", source_recorded_at=on(2)).id
    world.evolve(kept, content="said better here")
    head = world.now().seq
    reading = AsOf(world.namespace, head, head, on(5), source_at=on(5))
    (ended,) = line_spans(reading, record=old).spans
    assert (ended.began.at, ended.ended and ended.ended.at, ended.ended_as) == (on(1), on(4), "superseded")
    found = line_spans(reading, record=kept)
    assert [(one.record, one.began.at, one.ended) for one in found.spans] == [(kept, on(2), None)]
    assert found.hidden == {"no_source_time": 1}


def test_the_longest_lines_come_first_and_what_is_erased_names_none(world: World) -> None:
    short = world.save("alone").id
    gone = world.save("to be erased").id
    head = world.save("version 1").id
    for number in (2, 3):
        head = world.evolve(head, content=f"version {number}")
    world.erase(gone)
    listed = longest_lines(world.now())
    assert [(one.newest, one.n_versions) for one in listed] == [(head, 3), (short, 1)]
    assert longest_lines(world.at(world.now().seq - 3))[0].n_versions < 3
