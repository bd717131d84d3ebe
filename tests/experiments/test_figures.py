"""The experiments draw the recorded figures again, seed by seed, and answer as the peer does, episode by episode."""

import io
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from audit import peer
from audit.experiments import beside, cycle_rich, monitors, structural
from audit.experiments.cycle_rich import DESIGNS, FULL, HARD, NODES, Design
from audit.experiments.scoring import Scores, gain, scores, wilson
from audit.experiments.size import SMALL
from audit.experiments.tables import Column, Interval, Table, share
from memory.beliefs.kernel.questions import POLICIES

N_SEEDS = 1
N_BESIDE = 25


@cache
def recorded() -> Any:
    return json.loads((Path(__file__).parent / "fixtures" / "recorded.json").read_text())


def with_accuracies(values: list[float]) -> list[Scores]:
    return [Scores(value, 0.0, 0.0, 0.0) for value in values]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_cycles_against_noise_give_the_recorded_figures_of_a_seed(design: Design) -> None:
    told = {name.replace("hard_top1", HARD).replace("_", " "): row for name, row in
            recorded()[design.name]["accuracy"].items()}  # fmt: skip
    for number in range(N_SEEDS):
        episodes = design.episodes(number)
        for name in design.conditions:
            found = scores(cycle_rich.condition(design, episodes, name), episodes.states)
            # Hardened posteriors give exact ties, which the record left to rounding.
            tolerance = 0.01 if name == HARD else 1e-12
            assert found.accuracy == pytest.approx(told[name][number], abs=tolerance), name


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_no_marginal_of_an_episode_differs_from_the_exact_one_of_the_peer(design: Design) -> None:
    episodes = design.episodes(N_SEEDS)
    few = replace(episodes, **{name: getattr(episodes, name)[:N_BESIDE] for name in ("states", "truth", "posteriors")})
    ours = cycle_rich.condition(design, few, FULL)
    theirs = beside.solved(few.posteriors, edges=design.edges, nodes=NODES)
    assert np.abs(ours - theirs).max() < 1e-9


@pytest.mark.parametrize("policy", POLICIES)
def test_the_peer_chooses_the_same_five_observations_and_answers_the_same(policy: Any) -> None:
    episodes = structural.episodes_of(N_SEEDS)
    few = replace(episodes, **{name: getattr(episodes, name)[:N_BESIDE] for name in ("states", "truth", "posteriors")})
    chosen = [structural.retrieved(rows, policy) for rows in few.posteriors]
    answers = structural.answered(few, chosen)
    for posteriors, ours, answer in zip(few.posteriors, chosen, answers, strict=True):
        used, theirs = structural.of_peer(posteriors, policy)
        assert used == {edge.observation_id for edge in ours.edges}
        assert np.abs(theirs - answer).max() < 1e-9


@pytest.mark.parametrize("name", [design.name for design in DESIGNS])
def test_the_interval_of_a_gain_is_the_recorded_one(name: str) -> None:
    told = recorded()[name]
    accuracy = told["accuracy"]
    difference, interval = gain(with_accuracies(accuracy["full"]), with_accuracies(accuracy["hard_top1"]))
    assert difference == pytest.approx(told["gain"]["mean"], abs=1e-12)
    assert interval == pytest.approx(told["gain"]["ci95"], abs=1e-12)


def test_the_command_prints_the_recorded_figures_of_its_small_form() -> None:
    out = io.StringIO()
    call_command("experiment", "structural", "--small", "--format", "json", stdout=out)
    told = json.loads(out.getvalue())
    policies, gains = told["tables"]
    assert (told["experiment"], told["is_small"], len(gains["rows"])) == ("structural", True, 2)
    for row in policies["rows"]:
        expected = np.mean(recorded()["structural"]["accuracy"][row["policy"]][: SMALL.n_seeds])
        assert row["accuracy"] == pytest.approx(expected, abs=1e-12)
        assert row["cycle_rank"] == recorded()["structural"][row["policy"]]["cycle_rank"]
    assert [row["cycle_information"] > 0 for row in policies["rows"]] == [False, False, True]


def test_guards_with_fixed_limits_cry_wolf_and_processes_do_not() -> None:
    size = replace(SMALL, n_streams=30, n_labels=300)
    (table,) = monitors.false_alarms(size)
    rows = table.as_json()["rows"]
    assert min(row["alarmed"] for row in rows if row["instrument"] == "fixed guards") > 0.9
    for row in rows:
        if row["promised"] is not None:
            assert row["interval"].low <= row["promised"], row


def test_a_strong_change_is_found_and_its_delay_is_told() -> None:
    (table,) = monitors.drift_power(replace(SMALL, n_streams=10, n_labels=400))
    found = {row["change"]: row for row in table.as_json()["rows"] if row["instrument"] == "e-process"}
    assert found["sharpened x 2.5"]["found"] > 0.8
    assert 0 < found["sharpened x 2.5"]["median_delay"] < 240


def test_a_share_that_was_never_seen_has_an_interval_above_zero() -> None:
    assert wilson(0.0, 100) == pytest.approx((0.0, 0.0369934), abs=1e-6)
    assert wilson(0.5, 100) == pytest.approx((0.4038315, 0.5961685), abs=1e-6)


def test_a_table_is_told_in_its_units_and_kept_in_plain_numbers() -> None:
    columns = (Column("what", "what"), share("part", "part, %"), Column("far", "far", ".1e"), share("range", "range"))
    table = Table("t", "Told:", columns, (("one", 0.125, 2e-15, Interval(0.1, 0.2)), ("none", None, 0.0, None)))
    assert table.markdown().splitlines()[-2:] == [
        "| one | 12.50 | 2.0e-15 | [10.00, 20.00] |",
        "| none |  | 0.0e+00 |  |",
    ]
    assert table.as_json()["rows"][0] == {"what": "one", "part": 0.125, "far": 2e-15, "range": (0.1, 0.2)}


def test_an_experiment_refuses_what_it_cannot_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: str) -> tuple[int, str]:
        with pytest.raises(CommandError) as caught:
            call_command("experiment", *arguments)
        return caught.value.returncode, str(caught.value)

    assert refused("speed") == (
        2, "There is no experiment 'speed'; there are cycle-rich, structural, false-alarms, drift-power.",
    )  # fmt: skip
    assert refused("false-alarms", "--peer") == (
        2,
        "The peer has no part in false-alarms; it has in cycle-rich, structural.",
    )
    monkeypatch.setattr(peer, "PACKAGE", "a_package_that_is_not_here")
    code, told = refused("structural", "--peer")
    assert code == 2
    assert "is not installed" in told


def test_without_a_name_the_experiments_are_listed() -> None:
    out = io.StringIO()
    call_command("experiment", stdout=out)
    assert out.getvalue().split() == ["cycle-rich", "structural", "false-alarms", "drift-power"]
