"""The file of `digits`, computed: what a small classifier states of images of digits, as they are and turned.

    .venv/bin/uv run --no-project --with scikit-learn python -m audit.demo.digits_source

Invariants
- The same data gives the same file: the order of the images follows from hashes of their numbers, no chance is drawn.
- The images fall into three parts. The first trains; on the second the temperature and the angle are chosen; only of
  the third is anything stated, and nothing is chosen by looking at it.
- The angle follows a rule: the smallest in steps of ANGLE_STEP at which, on the second part, mean confidence exceeds
  accuracy by GAP. GAP was set in a trial with another split, so that an alarm could be expected within 300 labels.

Data: Alpaydin and Kaynak 1998, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository,
doi:10.24432/C50P49, CC BY 4.0: its 1,797 test images, as scikit-learn packages them.
Source: Guo, Pleiss, Sun, Weinberger 2017 (temperature scaling).
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.demo.digits import FILE, N_CLEAN, N_STATED, NO_DISTURBANCE

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SIDE = 8
DARKEST = 16
N_DIGITS = 10
N_TRAINING = 598
N_STEPS = 3_000
STEP_LENGTH = 0.5
PENALTY = 1e-4
TEMPERATURES = np.arange(0.30, 3.005, 0.01)
ANGLE_STEP = 5
GAP = 0.15
SIGNIFICANT_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Scores:
    """Of some images: the share predicted rightly, mean probability of the prediction, mean -log of the true mass."""

    accuracy: float
    confidence: float
    nll: float


@dataclass(frozen=True, slots=True)
class Classifier:
    """Multinomial logistic regression on grey values. weights : (65, 10), the last row for the constant."""

    weights: Floats
    temperature: float = 1.0

    def logits(self, images: Floats) -> Floats:
        """(n, 10) before the temperature. images : (n, 8, 8), 0..16."""
        return np.asarray(features(images) @ self.weights)

    def stated(self, images: Floats) -> Floats:
        """(n, 10) rows that sum to one."""
        return softmax(self.logits(images) / self.temperature)


def main() -> None:
    """Write the file and tell its figures."""
    images, digits = data_set()
    lines = [json.dumps(line, ensure_ascii=False) for line in computed(images, digits)]
    FILE.write_bytes(lzma.compress("\n".join([*lines, ""]).encode(), preset=9 | lzma.PRESET_EXTREME))
    sys.stdout.write(f"{FILE.name}: {len(lines) - 1} readings, {FILE.stat().st_size} bytes\n{lines[0]}\n")


def data_set() -> tuple[Floats, Integers]:
    """(1797, 8, 8) images in grey values 0..16, and which digit each shows."""
    # No part of the environment: only whoever computes the file anew needs it.
    from sklearn.datasets import load_digits  # type: ignore[import-not-found]  # noqa: PLC0415

    found = load_digits()
    return np.asarray(found.images, np.float64), np.asarray(found.target, np.int64)


def order(n: int) -> Integers:
    """The numbers of the images, shuffled by their hashes."""
    return np.array(sorted(range(n), key=lambda number: hashlib.sha256(f"digits/{number}".encode()).digest()))


def computed(images: Floats, digits: Integers) -> Iterator[dict[str, Any]]:
    """The lines of the file: what it holds, then one for each reading."""
    shuffled = order(len(images))
    training, held_out, shown = np.split(shuffled, [N_TRAINING, len(images) - N_STATED])
    classifier = tempered(trained(images[training], digits[training]), images[held_out], digits[held_out])
    angle = chosen_angle(classifier, images[held_out], digits[held_out])
    seen = images[shown].copy()
    seen[N_CLEAN:] = turned(seen[N_CLEAN:], angle)
    masses = classifier.stated(seen)
    yield {
        "data_set": "Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, doi:10.24432/C50P49",
        "authors": "E. Alpaydin, C. Kaynak",
        "licence": "CC BY 4.0",
        "changes": "Of each image only its number, its digit and what a classifier states of it stand here.",
        "classifier": "multinomial logistic regression on 64 grey values",
        "temperature": round(classifier.temperature, 2),
        "angle_degrees": angle,
        "n_images": {"training": len(training), "held_out": len(held_out), "stated": len(shown)},
        "held_out": asdict(scores(classifier.stated(images[held_out]), digits[held_out])),
        "held_out_turned": asdict(scores(classifier.stated(turned(images[held_out], angle)), digits[held_out])),
        "stated_as_they_are": asdict(scores(masses[:N_CLEAN], digits[shown[:N_CLEAN]])),
        "stated_turned": asdict(scores(masses[N_CLEAN:], digits[shown[N_CLEAN:]])),
    }
    for place, number in enumerate(shown):
        yield {
            "image": int(number),
            "digit": int(digits[number]),
            "disturbance": NO_DISTURBANCE if place < N_CLEAN else f"turned clockwise by {angle} degrees",
            "stated": [float(f"{mass:.{SIGNIFICANT_DIGITS}g}") for mass in masses[place]],
        }


def trained(images: Floats, digits: Integers) -> Classifier:
    """By gradient descent on the penalised mean -log of the true mass, from zero."""
    given, wanted = features(images), np.eye(N_DIGITS)[digits]
    weights = np.zeros((given.shape[1], N_DIGITS))
    for _ in range(N_STEPS):
        slope = given.T @ (softmax(given @ weights) - wanted) / len(given) + PENALTY * weights
        weights -= STEP_LENGTH * slope
    return Classifier(weights)


def tempered(classifier: Classifier, images: Floats, digits: Integers) -> Classifier:
    """With the temperature that fits these images best."""
    logits = classifier.logits(images)
    losses = [scores(softmax(logits / temperature), digits).nll for temperature in TEMPERATURES]
    return Classifier(classifier.weights, float(TEMPERATURES[int(np.argmin(losses))]))


def chosen_angle(classifier: Classifier, images: Floats, digits: Integers) -> int:
    """The smallest angle at which these images are read with too much confidence, by GAP."""
    for angle in range(ANGLE_STEP, 90, ANGLE_STEP):
        told = scores(classifier.stated(turned(images, angle)), digits)
        if told.confidence - told.accuracy >= GAP:
            return angle
    raise ValueError("No angle makes the classifier too confident.")


def scores(masses: Floats, digits: Integers) -> Scores:
    """masses : (n, 10).   digits : (n,) what is true."""
    true_mass = masses[np.arange(len(digits)), digits]
    told = (masses.argmax(axis=1) == digits).mean(), masses.max(axis=1).mean(), -np.log(true_mass).mean()
    return Scores(*(round(float(value), 4) for value in told))


def turned(images: Floats, degrees: float) -> Floats:
    """The images turned clockwise about their middle, grey values between pixels by bilinear interpolation."""
    cosine, sine = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    down, right = np.mgrid[0:SIDE, 0:SIDE] - (SIDE - 1) / 2
    # Where each pixel comes from, in the image with a border of two white pixels.
    from_down = cosine * down - sine * right + (SIDE - 1) / 2 + 2
    from_right = cosine * right + sine * down + (SIDE - 1) / 2 + 2
    padded = np.pad(images, ((0, 0), (2, 2), (2, 2)))
    row, column = np.floor(from_down).astype(np.int64), np.floor(from_right).astype(np.int64)
    lower, further = from_down - row, from_right - column
    return np.asarray(
        padded[:, row, column] * (1 - lower) * (1 - further)
        + padded[:, row, column + 1] * (1 - lower) * further
        + padded[:, row + 1, column] * lower * (1 - further)
        + padded[:, row + 1, column + 1] * lower * further
    )


def features(images: Floats) -> Floats:
    """(n, 65): grey values in 0..1 and a constant."""
    flat = images.reshape(len(images), SIDE * SIDE) / DARKEST
    return np.concatenate([flat, np.ones((len(images), 1))], axis=1)


def softmax(logits: Floats) -> Floats:
    """Rows that sum to one."""
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


if __name__ == "__main__":
    main()
