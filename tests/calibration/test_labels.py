"""Labels in the store: what stands, what is refused, what they tip, and that derived tables follow evidence alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memory.base.errors import Conflict, Erased, Invalid, NotFound
from memory.beliefs.kernel.acts import outcome_document
from memory.beliefs.operations.revoking import named
from memory.calibration.models import (
    Alarm,
    ForecastState,
    LabelOutcome,
    LabelState,
    LockedReference,
    ProcessRestart,
    SegmentState,
)
from memory.calibration.operations.alarms import close
from memory.calibration.operations.recording import record, record_each
from memory.calibration.projection import ForecastStates, LabelStates, SegmentStates
from memory.calibration.queries.verdicts import segments
from memory.calibration.queries.watches import course, standing_watch
from memory.ledger.models import Content
from memory.ledger.operations.erasing import erase
from tests.calibration.labelling import drawn, forecast, label, watched
from tests.world import World

pytestmark = pytest.mark.django_db


def test_a_label_is_one_entry_and_telling_it_again_is_none() -> None:
    world = watched("lab")
    forecast(world, "o1")
    head = world.now().seq
    first = label(world, "o1", outcome_event_id="e1")
    assert (first.recorded, first.correction, first.seq) == (True, False, head + 1)
    assert not label(world, "o1", outcome_event_id="e1").recorded
    assert not label(world, "o1", outcome_event_id="e2").recorded
    assert world.now().seq == head + 1
    with pytest.raises(Conflict, match="correction"):
        label(world, "o1", "1")
    with pytest.raises(Conflict, match="another meaning"):
        label(world, "o1", outcome_event_id="e1", labeled_at=3.0)
    corrected = label(world, "o1", "1", correction_reason=" misread ")
    assert (corrected.recorded, corrected.correction) == (True, True)
    assert LabelOutcome.objects.get(id=corrected.id).supersedes == first.id


def test_what_cannot_be_labelled_is_refused() -> None:
    world = watched("lab")
    forecast(world, "o1", observed_at=1.5)
    world.observe(
        "dependent", "a", "b", [0.5, 0.3, 0.2], derived_from=["o1"], independent_evidence=False, observed_at=2.0
    )
    with pytest.raises(NotFound, match="not tracked"):
        label(world, "nowhere")
    with pytest.raises(NotFound, match="not tracked"):
        label(world, "dependent")
    with pytest.raises(Invalid, match="label of the law"):
        label(world, "o1", "9")
    with pytest.raises(Invalid, match="labeled_at"):
        label(world, "o1", labeled_at=1.0)
    with pytest.raises(Conflict, match="no label to correct"):
        label(world, "o1", correction_reason="why")


def test_a_batch_is_all_or_nothing_unless_it_is_asked_otherwise() -> None:
    world = watched("lab")
    forecast(world, "o1", "o2")
    told = [
        outcome_document({"observation_id": id, "true_relation": "0", "labeled_at": 2.0}, profile="native")
        for id in ("o1", "nowhere", "o2")
    ]
    head = world.now().seq
    with pytest.raises(NotFound, match="1: "):
        record(world.scout, documents=told)
    assert world.now().seq == head
    one, refused, two = record_each(world.scout, documents=told)
    assert isinstance(refused, NotFound)
    assert {getattr(answer, "seq", 0) for answer in (one, two)} == {head + 1}
    again = record(world.keyed("k"), documents=[told[0], told[2]])
    assert [answer.recorded for answer in again] == [False, False]


def test_the_same_request_is_answered_by_the_entry_that_it_wrote() -> None:
    world = watched("lab")
    forecast(world, "o1", "o2")
    told = [
        outcome_document({"observation_id": id, "true_relation": "0", "labeled_at": 2.0}, profile="native")
        for id in ("o1", "o2")
    ]
    keyed = world.keyed("k")
    first = record(keyed, documents=told)
    second = record(keyed, documents=told)
    assert [replace(answer, replayed=False) for answer in second] == first
    assert all(answer.replayed for answer in second)


def test_the_reference_is_locked_by_the_label_that_fills_it() -> None:
    world = watched("lab")
    forecast(world, *(f"o{n}" for n in range(12)))
    for n in range(5):
        label(world, f"o{n}", labeled_at=50.0 + n)
    assert not LockedReference.objects.exists()
    filling = label(world, "o5", labeled_at=60.0)
    locked = LockedReference.objects.filter(seq=filling.seq)
    assert sorted(row.source_family is None for row in locked) == [False, True]
    assert {row.label for row in locked} == {filling.id}
    before = [bytes(row.reference) for row in SegmentState.objects.all()]
    label(world, "o6", labeled_at=2.0)  # claims an instant before all others
    assert [bytes(row.reference) for row in SegmentState.objects.all()] == before
    label(world, "o0", "1", correction_reason="misread", labeled_at=70.0)
    assert [bytes(row.reference) for row in SegmentState.objects.all()] != before
    assert LockedReference.objects.count() == 2


def test_an_alarm_stands_in_the_entry_of_the_label_that_tipped_it() -> None:
    world = watched("lab")
    tipped = _disturb(world, 34)
    alarms = {alarm.instrument: alarm for alarm in Alarm.objects.all()}
    assert set(alarms) == {"evidence", "change"}
    for alarm in alarms.values():
        assert alarm.seq == LabelOutcome.objects.get(id=alarm.label).seq
        assert alarm.level >= alarm.threshold
    assert {alarm for done in tipped for alarm in done.alarms} == {alarm.id for alarm in alarms.values()}
    # Nothing is opened twice while it stands open.
    assert Alarm.objects.count() == 2
    shown = [bytes(row.posterior or b"") for row in ForecastState.objects.all()]
    (segment,) = segments(world.now())
    held = segment.watch
    assert held.log_evidence > held.evidence_threshold
    label(world, "o0", "0", correction_reason="misread", labeled_at=90.0)
    assert ProcessRestart.objects.values_list("cause", "epoch").get() == ("correction", 2)
    assert Alarm.objects.count() == 2
    assert [bytes(row.posterior or b"") for row in ForecastState.objects.all()] == shown
    # Corrections by an agent, back and forth, empty nothing and raise no threshold.
    for truth in "0102":
        label(world, "o1", truth, correction_reason="misread", labeled_at=90.0)
    forecast(world, "more", posterior=(0.9, 0.05, 0.05))
    label(world, "more", "1")
    label(world, "more", "0", correction_reason="misread", labeled_at=90.0)
    (after,) = segments(world.now())
    assert ProcessRestart.objects.count() == 1
    assert (after.watch.epoch, after.watch.evidence_threshold) == (1, held.evidence_threshold)
    assert after.watch.log_evidence > held.log_evidence
    assert [one.evidence_threshold for one in course(world.now(), after.state).restarts] == [held.evidence_threshold]
    _same_when_rebuilt(world)
    for alarm in alarms.values():
        close(world.bob, alarm=alarm.id, reason="repaired")
    assert list(ProcessRestart.objects.order_by("seq").values_list("cause", "epoch")) == [
        ("correction", 2), ("closing", 3), ("closing", 4)
    ]  # fmt: skip
    assert standing_watch(world.now(), after.state).epoch == 4
    label(world, "o2", "0", correction_reason="misread", labeled_at=90.0)
    assert ProcessRestart.objects.count() == 3
    _same_when_rebuilt(world)


def _disturb(world: World, n: int) -> list[object]:
    done = []
    for number in range(n):
        forecast(world, f"o{number}", posterior=(0.9, 0.05, 0.05))
        done.append(label(world, f"o{number}", "1" if number % 2 else "2"))
    return done


def test_erasing_an_observation_takes_its_forecast_out_of_every_sum_and_watch() -> None:
    world = watched("lab")
    for number, posterior in enumerate(drawn(3, 14, 3)):
        forecast(world, f"o{number}", posterior=posterior, family="t" if number % 3 else "u")
        label(world, f"o{number}", str(number % 3))
    label(world, "o9", "1", correction_reason="a private reason")
    rows = [named(world.namespace, name) for name in ("o2", "o9", "o12")]
    erase(world.alice, items=[(row.seq, row.item) for row in rows], reason="request", note="")
    assert not Content.objects.filter(part="note", payload__contains="private").exists()
    assert ForecastState.objects.filter(posterior__isnull=True).count() == 3
    _same_when_rebuilt(world)
    with pytest.raises((Erased, NotFound)):
        label(world, "o2", "2", correction_reason="again")


def _same_when_rebuilt(world: World) -> None:
    projectors = (ForecastStates(), LabelStates(), SegmentStates())
    before = [list(projector.dump(world.namespace)) for projector in projectors]
    assert all(before)
    for projector in projectors:
        projector.rebuild(world.namespace)
    assert [list(projector.dump(world.namespace)) for projector in projectors] == before


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_is_kept_entry_by_entry_is_what_evidence_gives(seed: int) -> None:
    world = watched("lab", reference_size=3, current_size=3, min_current_size=1)
    generator = np.random.default_rng(seed)
    waiting: list[str] = []
    labelled: dict[str, int] = {}
    for number in range(45):
        kind = generator.choice(["issue", "label", "correct"], p=[0.45, 0.35, 0.2])
        if kind == "issue" or not waiting:
            waiting.append(f"o{number}")
            forecast(world, f"o{number}", posterior=generator.dirichlet([1, 1, 1]), family="tu"[number % 2])
        elif kind == "label" or not labelled:
            name = waiting.pop(int(generator.integers(len(waiting))))
            labelled[name] = int(generator.integers(3))
            label(world, name, str(labelled[name]))
        else:
            name = sorted(labelled)[int(generator.integers(len(labelled)))]
            labelled[name] = (labelled[name] + 1) % 3
            label(world, name, str(labelled[name]), correction_reason="misread")
    _same_when_rebuilt(world)
    assert LabelState.objects.filter(until_seq__isnull=True).count() == len(labelled) > 5
