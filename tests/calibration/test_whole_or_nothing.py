"""A label and what it tips stand together or not at all, wherever the write is cut off and whoever else writes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory.calibration.models import Alarm, LabelOutcome, LockedReference
from memory.ledger.queries.verification import scan
from tests.calibration.labelling import forecast, label, watch, watched
from tests.statements import Planted, after_first, failing_at, in_thread
from tests.states import projected, row_counts
from tests.world import World

pytestmark = pytest.mark.django_db


def _cut_off_everywhere(world: World, act: Callable[[], object]) -> None:
    before = row_counts(), projected(world.namespace)
    number, failed = 0, True
    while failed:
        number += 1
        with failing_at(number) as watching:
            try:
                act()
            except Planted:
                assert watching.has_failed
            failed = watching.has_failed
        if failed:
            assert (row_counts(), projected(world.namespace)) == before, watching.statements[-1]
    assert number > 10
    assert row_counts() != before[0]
    assert scan(world.namespace).is_clean


def test_an_observation_and_its_forecast_are_cut_off_together() -> None:
    world = watched("lab")
    _cut_off_everywhere(world, lambda: forecast(world, "o1"))


def test_a_label_is_cut_off_with_the_reference_that_it_fills_and_the_alarm_that_it_tips() -> None:
    world = World("lab")
    world.bind(law="cyclic:3")
    watch(world, "r", reference_size=1, current_size=1, min_current_size=1)
    forecast(world, "sure", posterior=(1.0, 0.0, 0.0))
    _cut_off_everywhere(world, lambda: label(world, "sure", "1"))
    assert (Alarm.objects.count(), LockedReference.objects.count()) == (1, 2)


@pytest.mark.django_db(transaction=True)
def test_a_label_that_somebody_else_tells_meanwhile_is_told_once() -> None:
    world = watched("lab")
    forecast(world, "o1")
    with after_first("memory_name", lambda: in_thread(lambda: label(world, "o1", outcome_event_id="e"))) as watching:
        mine = label(world, "o1", outcome_event_id="e")
    assert watching.statements
    assert (mine.recorded, LabelOutcome.objects.count()) == (False, 1)
    assert scan(world.namespace).is_clean
