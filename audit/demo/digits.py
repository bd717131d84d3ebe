"""The story of `digits`: a small classifier states of images which digit they show, and labels come the next day.

- Real: the images, the digits that they show, and the probabilities, stated once by a real classifier
  (`audit.demo.digits_source`) and kept in a file.
- Induced: after the first N_CLEAN images each is turned before it is read; every reading says so in its provenance.
- Invented: the days on which all this happens.

Invariants
- A day's images are read, stored together, and labelled the next morning before the next are read. So at most N_A_DAY
  forecasts are open at once: each further one would split the evidence once more.
- The alarm waits: nobody in the story has said that it is seen.
"""

import json
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import batched
from pathlib import Path
from typing import Any

from audit.demo.lines import id_of
from audit.demo.steps import Piece, Step
from audit.demo.story import merged

NAMESPACE = "digits"
FILE = Path(__file__).with_name("digits.ndjson.xz")
N_STATED = 800
N_CLEAN = 500
N_A_DAY = 10
NO_DISTURBANCE = "none"
RUN, RELATION, TOOL, ZERO = "default", "shows-digit", "digits-classifier", "zero"
NOTICE = (
    "Replayed. Real: the probabilities that a small classifier, its temperature fitted on other images, stated of"
    " {n_stated} images of handwritten digits, and the digit that each shows. Induced: after the first {n_clean}, every"
    " image was turned by {angle_degrees} degrees before it was read; each reading says so in its provenance. Invented:"
    " the days. Data: {data_set}, by {authors}, {licence}."
)
DAY = timedelta(days=1)
CURTAIN = datetime(2024, 7, 1, 7, 0, tzinfo=UTC)
FIRST_IMAGE = datetime(2024, 7, 1, 9, 0, tzinfo=UTC)
BETWEEN_IMAGES = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Reading:
    """An image by its number in the data set, what was done to it first, and what was stated. masses : by digit."""

    image: int
    digit: int
    disturbance: str
    masses: tuple[float, ...]

    @property
    def name(self) -> str:
        return f"image-{self.image:04d}"

    @property
    def label(self) -> str:
        """The name of the event that tells what it shows."""
        return f"label-{self.image:04d}"


@dataclass(frozen=True, slots=True)
class Stated:
    """The file: what it says of itself, and the readings in their order."""

    about: Mapping[str, Any]
    readings: Sequence[Reading]


def stated() -> Stated:
    """What the classifier stated."""
    first, *lines = lzma.decompress(FILE.read_bytes()).decode().splitlines()
    told = [json.loads(line) for line in lines]
    return Stated(
        json.loads(first),
        [Reading(one["image"], one["digit"], one["disturbance"], tuple(one["stated"])) for one in told],
    )


def piece(file: Stated) -> Piece:
    """The namespace, whose notice says what of it is real."""
    return Piece(NAMESPACE, NOTICE.format(n_stated=N_STATED, n_clean=N_CLEAN, **file.about), CURTAIN)


def steps(file: Stated) -> list[Step]:
    """Every step, first to last."""
    days = [
        step for day, readings in enumerate(batched(file.readings, N_A_DAY)) for step in _day(day, readings, file.about)
    ]
    return merged([*_founding(), *_told(file.about), *days], [])


def _founding() -> list[Step]:
    """What a reading means: the ten digits in a circle that begins at zero; and forecasts are kept for their labels."""
    at = CURTAIN + timedelta(seconds=40)
    law = Step("law", at, "triage-bot", f"relations/{RELATION}", {"law": "cyclic:10"}, method="PUT", re_enacted=False)
    later = at + timedelta(seconds=5)
    return [law, Step("monitor", later, "triage-bot", f"monitors/{RUN}", {}, method="PUT", re_enacted=False)]


def _told(about: Mapping[str, Any]) -> list[Step]:
    """Three records: where the images are from, what reads them, and what is done to them from some day on."""
    n, held_out = about["n_images"], about["held_out"]
    data_set = f"Images and digits: {about['data_set']}, by {about['authors']}, {about['licence']}. {about['changes']}"
    classifier = (
        f"{TOOL} is {about['classifier']}, trained on {n['training']} images; its temperature of"
        f" {about['temperature']} was fitted on {n['held_out']} others, of which it reads {held_out['accuracy']:.3f}"
        f" rightly and says {held_out['confidence']:.3f} on average."
    )
    disturbance = (
        f"Induced: from here on every image is turned clockwise by {about['angle_degrees']} degrees before {TOOL}"
        " reads it."
    )
    published = {"class": "relayed", "origin": "doi.org", "pointer": "https://doi.org/10.24432/C50P49"}
    own = {"class": "first_hand", "origin": "scan-bot"}
    start = CURTAIN + timedelta(minutes=1)
    return [
        _note("data-set", start, data_set, published),
        _note("classifier", start + timedelta(seconds=1), classifier, own),
        _note("disturbance", FIRST_IMAGE + N_CLEAN // N_A_DAY * DAY - BETWEEN_IMAGES, disturbance, own),
    ]


def _note(key: str, at: datetime, text: str, source: Mapping[str, str]) -> Step:
    id = str(id_of(key, namespace=NAMESPACE))
    body = {"id": id, "type": "note", "content": text, "source": source}
    return Step(key, at, "scan-bot", "records", body, re_enacted=False)


def _day(day: int, readings: Sequence[Reading], about: Mapping[str, Any]) -> list[Step]:
    first = FIRST_IMAGE + day * DAY
    seen = [first + n * BETWEEN_IMAGES for n in range(len(readings))]
    labels = [
        {"outcome_event_id": one.label, "observation_id": one.name, "true_relation": str(one.digit)} for one in readings
    ]
    return [
        Step(
            f"read-{day + 1:02d}", seen[-1] + BETWEEN_IMAGES, "scan-bot", "observations/batch",
            [_observation(one, at, about) for one, at in zip(readings, seen, strict=True)], re_enacted=False,
        ),
        Step(
            f"label-{day + 1:02d}", first + DAY - timedelta(hours=1), "triage-bot", "outcomes/batch", labels,
            re_enacted=False,
        ),
    ]  # fmt: skip


def _observation(reading: Reading, at: datetime, about: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "schema_version": 2, "observation_id": reading.name, "relation_type": RELATION, "source": reading.name,
        "target": ZERO, "posterior": list(reading.masses), "evidence_family": reading.name,
        "observed_at": at.timestamp(), "calibration_revision": f"temperature {about['temperature']}",
        "provenance": {"tool": TOOL, "disturbance": reading.disturbance, "data_set": about["data_set"]},
    }  # fmt: skip
