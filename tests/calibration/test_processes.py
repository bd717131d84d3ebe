"""Bets, processes, dealing and the watch over a segment: closed forms, naive recomputation, short simulations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.calibration.kernel import bets, dealing, processes
from memory.calibration.kernel.dealing import Dealer
from memory.calibration.kernel.discovery import discoveries, mean_evidence
from memory.calibration.kernel.simulation import CALIBRATED, DRIFTS, World, alarms, draw, simulate
from memory.calibration.kernel.watching import ALPHA, RUN_LENGTH, Watch

pytestmark = pytest.mark.sqlite_only

LAW = st.lists(st.floats(0.001, 1), min_size=1, max_size=6).map(lambda masses: np.array(masses) / sum(masses))


@given(LAW)
def test_every_bet_has_mean_one_while_the_label_follows_the_forecast(forecast: Any) -> None:
    size = len(forecast)
    factors = np.exp(bets.evidence_bets(np.tile(forecast, (size, 1)), np.arange(size)))
    assert factors.shape == (size, bets.N_EVIDENCE)
    assert forecast @ factors == pytest.approx(np.ones(bets.N_EVIDENCE), abs=1e-12)
    assert factors[:, bets.N_RATIOS :].min() >= 0.2 - 1e-12


def test_bets_on_ranks_have_mean_one_while_ranks_are_uniform() -> None:
    # The integral of k * u^(k - 1) over a fine grid of quantiles of a substitution that removes the pole.
    v = (np.arange(200_000) + 0.5) / 200_000
    for position, kappa in enumerate(bets.KAPPAS):
        u = v ** (1 / kappa)
        density = u ** (1 - kappa) / kappa  # du/dv
        # Ranks under the floor bet less than they might, so the mean lies a little below.
        assert 0.98 < (np.exp(bets.order_bets(u)[:, position]) * density).mean() < 1.001


def test_evidence_is_the_mixture_over_starts_and_change_the_sum_over_starts() -> None:
    factors = np.random.default_rng(0).uniform(0.4, 1.8, size=(25, 3))
    shares = np.log([0.2, 0.3, 0.5])
    wealth, sums = np.full(3, processes.NEVER), np.full(3, processes.NEVER)
    for step, factor in enumerate(factors, start=1):
        wealth = processes.step_evidence(wealth, np.log(factor), step=step)
        sums = processes.step_change(sums, np.log(factor))
        products = [factors[start:step].prod(axis=0) for start in range(step)]
        begun = sum(product / ((start + 1) * (start + 2)) for start, product in enumerate(products))
        e_value = np.exp(shares) @ begun + 1 / (step + 1)
        assert processes.log_evidence(wealth, steps=step, shares=shares) == pytest.approx(math.log(e_value), abs=1e-12)
        assert processes.log_change(sums) == pytest.approx(math.log(np.mean(sum(products))), abs=1e-12)


def test_weights_of_streams_and_shares_of_epochs_sum_to_one() -> None:
    n = 10_000
    assert sum(math.exp(processes.log_weight(stream)) for stream in range(n)) + 1 / (n + 1) == pytest.approx(1)
    assert sum(processes.level_of(0.05, epoch) for epoch in range(1, n)) < 0.05
    assert float(processes.combined_evidence(np.zeros(7))) == pytest.approx(0, abs=1e-12)
    assert float(processes.combined_evidence(np.log([5.0, 2.0]))) == pytest.approx(math.log(5 / 2 + 2 / 6 + 1 / 3))


def stepwise(events: list[tuple[str, int]]) -> tuple[list[int | None], int, int]:
    """Dealing forecast by forecast: the stream of each release, how many were passed over and expired."""
    holders: dict[int, int] = {}
    n_streams = passed = expired = 0
    released: list[int | None] = []
    for kind, place in events:
        if kind == "label":
            stream = next((stream for stream, holder in holders.items() if holder == place), None)
            released.append(stream)
            holders.pop(-1 if stream is None else stream, None)
            continue
        for stream, holder in list(holders.items()):
            if place - holder > dealing.EXPIRY:
                del holders[stream]
                expired += 1
        free = next((stream for stream in range(dealing.MAX_STREAMS) if stream not in holders), None)
        if free is None:
            passed += 1
        else:
            holders[free] = place
            n_streams = max(n_streams, free + 1)
    return released, passed, expired


@given(st.data())
def test_dealing_many_at_once_equals_dealing_each(data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dealing, "MAX_STREAMS", data.draw(st.integers(1, 4)))
        patch.setattr(dealing, "EXPIRY", data.draw(st.integers(1, 9)))
        dealer, events, issued, released = Dealer(), [], 0, []
        for n_more, back in data.draw(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=25)):
            events += [("issue", place) for place in range(issued + 1, issued + n_more + 1)]
            issued += n_more
            place = max(issued - back, 1)
            events.append(("label", place))
            dealer.deal(issued)
            released.append(dealer.release(place))
        assert (released, dealer.n_passed_over, dealer.n_expired) == stepwise(events)


def test_labels_in_order_use_one_stream_and_late_ones_as_many_as_are_open() -> None:
    prompt, late = Dealer(), Dealer()
    for place in range(1, 200):
        prompt.deal(place)
        assert prompt.release(place) == 0
        late.deal(place)
        if place > 5:
            assert late.release(place - 5) == (place - 6) % 6
    assert len(late.holders) == 6


def watched(forecasts: Any, truth: Any, watch: Watch, *, start: int = 0) -> list[Any]:
    return [
        watch.label(forecast, int(label), place=place, n_issued=place, chance=0.5, n_segments=1)
        for place, (forecast, label) in enumerate(zip(forecasts, truth, strict=True), start=start + 1)
    ]


def test_a_watch_goes_on_from_its_bytes_as_if_it_had_never_stopped() -> None:
    forecasts, truth = draw(World("calibrated"), np.random.default_rng(3), n_streams=1, n_labels=260)
    whole, first = Watch(), Watch()
    steps = watched(forecasts[0], truth[0], whole)
    watched(forecasts[0][:130], truth[0][:130], first)
    again = Watch.unpacked(first.packed)
    assert watched(forecasts[0][130:], truth[0][130:], again, start=130) == steps[130:]
    assert again.packed == whole.packed
    assert Watch.unpacked(b"").packed == Watch().packed


def test_a_watch_equals_the_simulated_streams() -> None:
    world = World("sharpened", "sharpened", 2.5)
    forecasts, truth = draw(world, np.random.default_rng(8), n_streams=2, n_labels=150)
    evidence, _ = alarms(world, forecasts, truth)
    for stream in range(2):
        steps = watched(forecasts[stream], truth[stream], Watch())
        assert next(n for n, step in enumerate(steps) if step.is_miscalibrated) == evidence[stream]


def test_evidence_crosses_once_in_an_epoch_and_later_epochs_ask_for_more() -> None:
    watch = Watch()
    forecasts, truth = np.tile([0.9, 0.05, 0.05], (400, 1)), np.array([1, 2] * 200)
    steps = watched(forecasts, truth, watch)
    crossed = [n for n, step in enumerate(steps) if step.is_miscalibrated]
    assert len(crossed) == 1
    assert steps[crossed[0]].log_evidence >= -math.log(ALPHA / 2) > steps[crossed[0] - 1].log_evidence
    n_changes = sum(step.is_changed for step in steps)
    assert n_changes > 1
    watch.restart()
    assert (watch.log_evidence, watch.epoch) == (0.0, 2)
    assert watch.evidence_threshold == pytest.approx(-math.log(ALPHA / 6))


def test_the_threshold_of_change_is_the_run_length_of_all_segments_together() -> None:
    watch = Watch()
    forecasts, truth = np.tile([0.9, 0.05, 0.05], (60, 1)), np.ones(60, np.int64)
    steps = watched(forecasts, truth, watch)
    changed = next(n for n, step in enumerate(steps) if step.is_changed)
    assert steps[changed].log_change >= math.log(RUN_LENGTH) > steps[changed - 1].log_change


def test_harder_data_disturb_the_order_and_not_the_calibration() -> None:
    generator = np.random.default_rng(2)
    watch = Watch()
    easy, hard = generator.dirichlet([9, 1, 1], size=300), generator.dirichlet([1, 1, 1], size=900)
    forecasts = np.concatenate([easy, hard])
    truth = (forecasts.cumsum(axis=1)[:, :-1] < generator.random((1_200, 1))).sum(axis=1)
    steps = [
        watch.label(forecast, int(label), place=n, n_issued=n, chance=float(generator.random()), n_segments=1)
        for n, (forecast, label) in enumerate(zip(forecasts, truth, strict=True), start=1)
    ]
    assert max(step.log_order for step in steps) > math.log(100)
    assert max(step.log_evidence for step in steps) < math.log(100)


def test_the_mean_of_e_values_is_one_verdict_and_e_bh_a_list() -> None:
    assert mean_evidence([]) == 0.0
    assert mean_evidence([math.log(30), math.log(10)]) == pytest.approx(math.log(20))
    # Of four at rate 0.1 the k-th largest must reach 40 / k: 50 and 21 do for k = 2, and 13 not for k = 3.
    e_values = [21.0, 1.0, 50.0, 13.0]
    assert discoveries([math.log(value) for value in e_values], rate=0.1) == [2, 0]
    assert discoveries([math.log(9.0)], rate=0.1) == []


def test_calibrated_streams_raise_no_more_alarms_than_stated_however_late_their_labels() -> None:
    rows = simulate(CALIBRATED, n_streams=60, n_labels=300, seed=4)
    alarming = {(row.world, row.instrument): row.early for row in rows}
    assert max(share for (_, instrument), share in alarming.items() if instrument != "fixed guards") <= 2 / 60
    assert alarming["calibrated", "fixed guards"] > 0.9


def test_one_product_over_forecasts_that_were_open_together_would_cry_wolf() -> None:
    world = World("late", delay=20, is_shocked=True)
    forecasts, truth = draw(world, np.random.default_rng(1), n_streams=40, n_labels=400)
    n_false = 0
    for stream in range(40):
        log_bets = bets.ratio_bets(forecasts[stream], truth[stream])
        paths = log_bets.cumsum(axis=0)
        n_false += bool((processes.log_sum(paths - math.log(bets.N_RATIOS)) >= -math.log(ALPHA)).any())
    assert n_false / 40 > 0.1


def test_changes_are_found() -> None:
    rows = simulate((DRIFTS[4], DRIFTS[2]), n_streams=20, n_labels=1_500, seed=2)
    found = {(row.world, row.instrument): row for row in rows if row.instrument != "fixed guards"}
    assert min(row.found or 0 for row in found.values()) > 0.6
    assert max(row.early for row in found.values()) <= 0.1
