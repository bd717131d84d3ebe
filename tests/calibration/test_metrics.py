"""Scores: closed forms, naive recomputation, and the peer's own reports."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from posterior_memory_harness.monitoring import _jensen_shannon, _metrics, _ScoredPrediction

from memory.calibration.kernel import metrics as scores
from memory.calibration.kernel.classes import classwise
from memory.calibration.kernel.smooth import smooth_error, smooth_interval
from memory.calibration.kernel.sums import ExactSums

pytestmark = pytest.mark.sqlite_only


def stream(seed: int, n: int, size: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    forecasts = generator.dirichlet(np.full(size, 0.6), size=n)
    return forecasts, generator.integers(0, size, size=n)


SAMPLES = [(0, 1, 1, 10), (1, 1, 4, 10), (2, 37, 2, 3), (3, 200, 4, 10), (4, 150, 6, 1), (5, 90, 8, 25)]


@pytest.mark.parametrize(("seed", "n", "size", "bins"), SAMPLES)
def test_the_seven_metrics_are_those_of_the_peer(seed: int, n: int, size: int, bins: int) -> None:
    forecasts, truth = stream(seed, n, size)
    records = [_ScoredPrediction(tuple(row), int(label)) for row, label in zip(forecasts, truth, strict=True)]
    sums = scores.summed(forecasts, truth, n_bins=bins)
    found = scores.metrics(sums, n_bins=bins)
    assert {key: getattr(found, key) for key in _metrics(records, bins)} == pytest.approx(
        _metrics(records, bins), abs=1e-12
    )
    half = forecasts[: n // 2 + 1].mean(axis=0)
    whole = scores.mean_forecast(sums, n_bins=bins)
    assert scores.jensen_shannon(half, whole) == pytest.approx(_jensen_shannon(half, forecasts.mean(axis=0)), abs=1e-12)


@pytest.mark.parametrize(("seed", "n", "size", "bins"), SAMPLES)
def test_brier_is_reliability_less_resolution_and_uncertainty(seed: int, n: int, size: int, bins: int) -> None:
    forecasts, truth = stream(seed, n, size)
    confidence, correct = forecasts.max(axis=1), forecasts.argmax(axis=1) == truth
    parts = scores.brier_parts(scores.summed(forecasts, truth, n_bins=bins), n_bins=bins)
    assert parts.brier == pytest.approx(np.mean((confidence - correct) ** 2), abs=1e-12)
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx(parts.brier, abs=1e-12)
    cells = np.minimum((confidence * bins).astype(int), bins - 1)
    naive = sum(
        np.mean(cells == cell) * (confidence[cells == cell].mean() - correct[cells == cell].mean()) ** 2
        for cell in set(cells.tolist())
    )
    assert parts.reliability == pytest.approx(naive, abs=1e-12)


def test_forecasts_of_one_confidence_split_by_the_closed_form() -> None:
    # Three of four come true at a stated 0.5: reliability (0.75 - 0.5)^2, no resolution, uncertainty 0.75 * 0.25.
    parts = scores.brier_parts(
        scores.summed(np.tile([0.5, 0.3, 0.2], (4, 1)), np.array([0, 0, 0, 1]), n_bins=10), n_bins=10
    )
    assert (parts.reliability, parts.resolution, parts.uncertainty) == pytest.approx((0.0625, 0.0, 0.1875), abs=1e-15)


def test_the_null_level_and_the_debiased_error_are_what_a_calibrated_model_scores() -> None:
    generator = np.random.default_rng(11)
    raw, excess, null, debiased = [], [], [], []
    for _ in range(300):
        forecasts = generator.dirichlet(np.full(4, 0.5), size=30)
        truth = (forecasts.cumsum(axis=1)[:, :-1] < generator.random((30, 1))).sum(axis=1)
        found = scores.calibration(scores.summed(forecasts, truth, n_bins=10), n_bins=10)
        raw.append(found.ece)
        excess.append(found.ece_excess)
        null.append(found.ece_null)
        debiased.append(found.rms_debiased)
    assert np.mean(raw) == pytest.approx(np.mean(null), abs=0.02)
    assert np.mean(excess) < np.mean(raw) / 3
    assert np.median(debiased) < 0.1


def test_a_bin_is_debiased_as_the_unbiased_squared_error() -> None:
    # One bin, c = 0.5, 3 of 4 true: gap 0.25, variance of outcomes 0.25, so 0.0625 - 0.25 / 4 = 0.
    found = scores.calibration(
        scores.summed(np.tile([0.5, 0.3, 0.2], (4, 1)), np.array([0, 0, 0, 1]), n_bins=10), n_bins=10
    )
    assert found.rms_debiased == pytest.approx(0.0, abs=1e-8)
    assert found.ece == pytest.approx(0.25, abs=1e-15)
    assert found.ece_null == pytest.approx(math.sqrt(2 / math.pi) * 0.25, abs=1e-15)


def test_a_tie_of_the_second_place_goes_to_the_earlier_label() -> None:
    forecasts = np.tile([0.4, 0.3, 0.3], (3, 1))
    rows = scores.statistics(forecasts, np.array([0, 1, 2]), n_bins=10)
    assert rows[:, 4].tolist() == [1, 1, 0]


@given(st.data())
def test_exact_sums_forget_in_which_order_they_were_made(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 60))
    forecasts, truth = stream(data.draw(st.integers(0, 2**20)), n, data.draw(st.integers(1, 6)))
    rows = scores.statistics(forecasts, truth, n_bins=5)
    at_once = ExactSums.of(rows)
    order = data.draw(st.permutations(range(n)))
    streamed = ExactSums.nothing(rows.shape[1])
    for position in order:
        streamed += ExactSums.of(rows[position : position + 1])
    assert streamed.packed == at_once.packed
    cut = data.draw(st.integers(0, n))
    taken = at_once - ExactSums.of(rows[order[:cut]]) if cut else at_once
    rest = ExactSums.of(rows[order[cut:]]) if cut < n else ExactSums.nothing(rows.shape[1])
    assert taken.values.tobytes() == rest.values.tobytes()
    assert np.abs(at_once.values - rows.sum(axis=0)).max() < 1e-12
    assert ExactSums.unpacked(at_once.packed).packed == at_once.packed


def naive_smooth(confidence: Any, correct: Any) -> float:
    """The definition, point by point: a reflected Gaussian over the residuals, integrated by the trapezoid rule."""
    grid = np.linspace(0, 1, 301)

    def error(width: float) -> float:
        images = np.concatenate([confidence + 2 * k for k in range(-2, 3)] + [2 * k - confidence for k in range(-2, 3)])
        weights = np.tile(correct - confidence, 10) / len(confidence)
        density = np.exp(-((grid[:, None] - images) ** 2) / (2 * width**2)) / (width * math.sqrt(2 * math.pi))
        return float(np.trapezoid(np.abs(density @ weights), grid))

    low, high = 1e-4, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if error(middle) < middle else (middle, high)
    return (low + high) / 2


@pytest.mark.parametrize("seed", [0, 3])
def test_smooth_error_is_the_fixed_point_of_its_definition(seed: int) -> None:
    generator = np.random.default_rng(seed)
    forecasts = generator.dirichlet([2, 1, 1], size=120)
    truth = np.where(generator.random(120) < 0.3 * seed / 3, 2, forecasts.argmax(axis=1))
    confidence, correct = forecasts.max(axis=1), forecasts.argmax(axis=1) == truth
    found = float(smooth_error(scores.residuals(scores.summed(forecasts, truth, n_bins=10), n_bins=10)))
    assert found == pytest.approx(naive_smooth(confidence, correct.astype(float)), abs=2e-3)


def test_the_interval_of_the_smooth_error_holds_what_a_large_sample_finds() -> None:
    generator = np.random.default_rng(5)

    def rows(n: int) -> Any:
        confidence = generator.uniform(0.5, 1, size=n)
        forecasts = np.stack([confidence, 1 - confidence], axis=1)
        truth = (generator.random(n) > confidence - 0.15).astype(np.int64)
        start = 7 + 5 * 10
        return scores.statistics(forecasts, truth, n_bins=10)[:, start : start + scores.CELLS]

    settled = float(smooth_error(rows(20_000).mean(axis=0)))
    low, high = smooth_interval(rows(400), np.random.default_rng(1))
    assert 0 < low < settled < high < 0.4


def test_each_label_is_scored_by_its_own_probability() -> None:
    forecasts, truth = stream(3, 80, 3)
    found = classwise(forecasts, truth, n_bins=4)
    for score in found:
        mass, hit = forecasts[:, score.index], truth == score.index
        cells = np.minimum((mass * 4).astype(int), 3)
        naive = sum(np.mean(cells == c) * abs(mass[cells == c].mean() - hit[cells == c].mean()) for c in set(cells))
        assert (score.mean_forecast, score.frequency) == pytest.approx((mass.mean(), hit.mean()), abs=1e-12)
        assert score.ece == pytest.approx(naive, abs=1e-12)
