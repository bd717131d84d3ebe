"""A real classifier's forecasts in the demo: what the file holds, and what the watch makes of it before and after."""

import hashlib
from dataclasses import asdict

import numpy as np
import pytest

from audit.demo import digits, digits_source, loading
from memory.base.asof import AsOf
from memory.beliefs.models import Observation
from memory.calibration.queries.alarms import AlarmRow, alarms
from memory.calibration.queries.verdicts import SegmentRow, segments
from memory.ledger.models import Namespace
from memory.ledger.queries import asof
from memory.ledger.queries.contents import contents_of
from memory.records.queries import detail, lists

# `python -m audit.demo.digits_source` makes this file, byte for byte.
DIGEST = "b36120bdaa744ef94551d171412e1df91e7e3a856d2a3473405fd85f44e96933"

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


@pytest.fixture(scope="module")
def file() -> digits.Stated:
    return digits.stated()


def test_the_file_is_the_one_that_its_script_makes(file: digits.Stated) -> None:
    assert hashlib.sha256(digits.FILE.read_bytes()).hexdigest() == DIGEST
    assert len(file.readings) == len({one.image for one in file.readings}) == digits.N_STATED
    stated_of = [int(number) for number in digits_source.order(1_797)[-digits.N_STATED :]]
    assert [one.image for one in file.readings] == stated_of


def test_the_figures_that_the_file_tells_are_those_of_its_readings(file: digits.Stated) -> None:
    masses = np.array([one.masses for one in file.readings])
    shown = np.array([one.digit for one in file.readings])
    assert masses.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    for name, part in (("stated_as_they_are", slice(0, 500)), ("stated_turned", slice(500, 800))):
        assert asdict(digits_source.scores(masses[part], shown[part])) == pytest.approx(file.about[name], abs=1e-4)


def test_what_was_done_to_an_image_is_said_of_each_and_to_whoever_looks(file: digits.Stated) -> None:
    told = [one.disturbance for one in file.readings]
    assert told == ["none"] * 500 + ["turned clockwise by 25 degrees"] * 300
    read = [item for step in digits.steps(file) if step.path == "observations/batch" for item in step.body]
    assert [item["provenance"]["disturbance"] for item in read] == told
    notice = digits.piece(file).notice
    assert all(words in notice for words in ("after the first 500", "25 degrees", "E. Alpaydin", "CC BY 4.0"))


def test_an_image_is_turned_clockwise_about_its_middle() -> None:
    images = np.random.default_rng(7).uniform(0, 16, (3, 8, 8))
    assert digits_source.turned(images, 0) == pytest.approx(images)
    assert digits_source.turned(images, 90) == pytest.approx(np.rot90(images, -1, axes=(1, 2)))


def test_the_angle_is_the_first_at_which_the_classifier_is_too_sure() -> None:
    # Strokes under grey noise, upright and level ones, some askew: by a quarter turn each becomes the other.
    images = np.random.default_rng(7).uniform(0, 6, (400, 8, 8))
    images[:200, :, 3:5] += 8.0
    images[200:, 3:5, :] += 8.0
    shown = np.repeat(np.array([0, 1]), 200)
    for degrees in range(10):
        images[degrees::10] = digits_source.turned(images[degrees::10], 9 * degrees)
    told = digits_source.trained(images[::4], shown[::4])

    def excess(angle: int) -> float:
        found = digits_source.scores(told.stated(digits_source.turned(images, angle)), shown)
        return found.confidence - found.accuracy

    angle = digits_source.chosen_angle(told, images, shown)
    assert excess(angle - 5) < 0.15 <= excess(angle) < 0.25


@pytest.fixture(scope="module")
def store(around_all: None, file: digits.Stated) -> int:
    loaded = loading.load(digits.steps(file), piece=digits.piece(file))
    assert (loaded.n_steps, loaded.n_replayed) == (173, 0)
    return int(Namespace.objects.get(name=digits.NAMESPACE).pk)


def known(store: int, at: str) -> AsOf:
    return asof.resolve(store, valid_at=at, known_at=at)


def segment(at: AsOf) -> SegmentRow:
    (row,) = segments(at)
    assert (row.run_id, row.relation_type, row.source_family) == (digits.RUN, digits.RELATION, digits.TOOL)
    return row


def test_every_reading_is_tracked_and_has_its_label(store: int, file: digits.Stated) -> None:
    row = segment(asof.now(store))
    assert (row.n_tracked, row.n_labeled, row.n_pending) == (800, 800, 0)


@pytest.mark.parametrize(
    ("at", "n_labeled", "verdict"),
    [
        ("2024-07-04T00:00:00Z", 20, "too_few"),
        ("2024-07-22T00:00:00Z", 200, "no_alarm"),
        ("2024-08-21T07:00:00Z", 500, "calibrated"),
    ],
)
def test_before_the_images_are_turned_nothing_alarms(store: int, at: str, n_labeled: int, verdict: str) -> None:
    row = segment(known(store, at))
    assert (row.n_labeled, row.verdict, row.alarms) == (n_labeled, verdict, ())
    assert row.watch.log_evidence < 1.0


def test_after_it_the_evidence_crosses_and_the_alarm_waits_for_a_person(store: int) -> None:
    row = segment(asof.now(store))
    assert row.verdict == "alarm"
    (found,) = row.standing
    assert found.instrument == "evidence"
    assert found.level >= found.threshold == pytest.approx(-np.log(0.01 / 2))
    assert found.acknowledged is None
    week_before = segment(known(store, f"{found.opened_at - 7 * digits.DAY:%Y-%m-%dT%H:%M:%SZ}"))
    assert (week_before.verdict, week_before.is_outside, week_before.alarms) == ("no_alarm", True, ())
    assert row.lean is not None
    assert row.lean.is_over_confident


def test_the_label_that_tipped_it_is_of_an_image_that_was_turned(store: int, file: digits.Stated) -> None:
    (found,) = alarms(asof.now(store))
    place = [one.label for one in file.readings].index(found.label)
    assert found.observation_id == file.readings[place].name
    assert place >= digits.N_CLEAN
    assert (found.n_labels, provenance(store, found)["disturbance"]) == (place + 1, "turned clockwise by 25 degrees")


def test_three_records_say_whose_the_images_are_what_reads_them_and_what_is_done_to_them(store: int) -> None:
    def told(at: AsOf) -> list[str]:
        page = lists.records(at, where=lists.Filter())
        return sorted((detail.record(at, id=item.id).content or "").partition(" ")[0] for item in page.items)

    assert told(known(store, "2024-08-20T00:00:00Z")) == ["Images", "digits-classifier"]
    assert told(asof.now(store)) == ["Images", "Induced:", "digits-classifier"]


def test_the_first_entry_says_what_is_real(store: int, file: digits.Stated) -> None:
    notes = [part["note"] for part in contents_of(store, [(1, 0), (1, 1)]).values() if "note" in part]
    assert notes == [digits.piece(file).notice]


def provenance(store: int, found: AlarmRow) -> dict[str, str]:
    row = Observation.objects.get(namespace=store, id=found.observation)
    told: dict[str, str] = contents_of(store, [(row.seq, row.item)])[row.seq, row.item]["details"]["provenance"]
    return told
