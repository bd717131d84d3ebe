"""Charts of beliefs: the worst on top, "no second path" never a zero, flips named, and all numbers in the table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.charts.beliefs import (
    MOST_ROWS,
    TIE,
    Conflict,
    Probability,
    Removal,
    conflict_bars,
    nats,
    probability_bars,
    removal_dots,
    share,
)

STRENGTHS = st.lists(st.none() | st.floats(-50, 50, allow_nan=False), max_size=40)


def conflicts(strengths: list[float | None]) -> list[Conflict]:
    return [Conflict(f"obs-{i:02}", f"n{i} → n{i + 1}", value) for i, value in enumerate(strengths)]


@given(STRENGTHS)
def test_conflicts_stand_by_size_around_zero_and_a_bridge_has_words_and_no_verdict(
    strengths: list[float | None],
) -> None:
    figure = conflict_bars(conflicts(strengths))
    known = sorted((value for value in strengths if value is not None), reverse=True)
    assert len(figure.rows) == len(strengths)
    assert [row[2] for row in figure.rows[len(known) :]] == [""] * (len(strengths) - len(known))
    assert {row[3] for row in figure.rows[len(known) :]} <= {"no second path"}
    if figure.plot is None:
        assert figure.state == ("too_few" if strengths else "nothing")
        assert not known
        return
    (trace,) = figure.plot["data"]
    # Equal ones stand in their own order.
    assert trace["x"] == pytest.approx([*known, *[0.0] * (len(strengths) - len(known))][:MOST_ROWS], rel=0, abs=TIE)
    n_bars = min(len(known), MOST_ROWS)
    assert [row[2] for row in figure.rows[:n_bars]] == [nats(value) for value in trace["x"][:n_bars]]
    for value, ink, pattern in zip(trace["x"], trace["meta"]["ink"], trace["marker"]["pattern"]["shape"], strict=True):
        assert (ink, pattern) == (("danger", "/") if value > 0 else ("ok", ""))
    marked = {note["y"] for note in figure.plot["layout"].get("annotations", ())}
    assert marked == {*range(len(known), min(len(strengths), MOST_ROWS))}
    assert figure.plot["layout"]["shapes"][0]["x0"] == 0
    # The first row stands on top: the axis runs downwards.
    bottom, top = figure.plot["layout"]["yaxis"]["range"]
    assert bottom > top
    assert (f"{len(strengths) - MOST_ROWS} more in the table" in figure.finding) == (len(strengths) > MOST_ROWS)


def test_the_finding_blames_the_strongest_or_says_that_nothing_is_contradicted() -> None:
    assert conflict_bars(conflicts([0.5, 12.4, None])).finding == (
        "The rest of the evidence contradicts n1 → n2 by 12.4 nats; 1 observation has no second path."
    )
    assert conflict_bars(conflicts([-0.5])).finding.startswith("Nothing is contradicted")


def test_a_tie_blames_nobody_alone_and_puts_what_gives_way_first() -> None:
    ring = [
        Conflict("o1", "a → b", 0.8),
        Conflict("o2", "b → c", 0.8 + 4e-10),
        Conflict("o3", "c → a", 0.8 - 4e-10, True),
    ]
    figure = conflict_bars([*ring, Conflict("o4", "c → d", 0.7)])
    assert figure.finding == (
        "3 observations contradict one another equally, by 0.8 nats; in the best joint answer c → a gives way."
    )
    assert [row[0] for row in figure.rows] == ["o3", "o1", "o2", "o4"]
    unsettled = conflict_bars(ring[:2]).finding
    assert unsettled == "2 observations contradict one another equally, by 0.8 nats."
    # What differs by more than the rounding of a sum is no tie, whatever gives way.
    apart = conflict_bars([Conflict("o1", "a → b", 0.8 + 1e-6), ring[2]])
    assert apart.finding.startswith("The rest of the evidence contradicts a → b by 0.8 nats")


def test_a_label_from_outside_stays_text_in_the_plot() -> None:
    figure = conflict_bars([Conflict("<i>", "<a href='https://example.org'>x</a>", 1.0)])
    assert figure.plot is not None
    assert "<" not in str(figure.plot)
    assert figure.rows[0][1].startswith("<a")


def test_prior_and_posterior_share_the_axis_and_differ_by_pattern() -> None:
    values = [Probability("0", 0.25, 0.1), Probability("1", 0.75, 0.9)]
    figure = probability_bars(values, node="build", method="exact", n_observations=1)
    assert figure.finding == "build is most probably 1: 0.900 (exact, 1 observation)."
    assert figure.plot is not None
    posterior, prior = figure.plot["data"]
    assert (posterior["x"], prior["x"]) == ([0.9, 0.1], [0.75, 0.25])
    assert posterior["marker"]["pattern"] != prior["marker"]["pattern"]
    assert figure.plot["layout"]["xaxis"]["tickvals"] == [0, 0.25, 0.5, 0.75, 1]
    assert "error_x" not in posterior


def test_an_answer_that_is_not_exact_shows_its_bounds_and_without_evidence_there_is_none() -> None:
    bounded = [Probability("0", 0.5, 0.6, 0.5, 0.8), Probability("1", 0.5, 0.4, 0.2, 0.5)]
    figure = probability_bars(bounded, node="n", method="certified", n_observations=9)
    assert figure.plot is not None
    error = figure.plot["data"][0]["error_x"]
    assert error["array"] == pytest.approx([0.2, 0.1])
    assert error["arrayminus"] == pytest.approx([0.1, 0.2])
    assert figure.rows[0][3] == "0.500 to 0.800"
    assert probability_bars(bounded, node="n", method="exact", n_observations=0).state == "nothing"


def test_a_removal_that_flips_the_answer_stands_on_top_and_is_named() -> None:
    removals = [
        Removal("o1", "a → b", 0.99, "same", 4.0),
        Removal("o2", "b → c", 0.3, "opposite", -0.9),
        Removal("o3", "a → c", 0.9, "same", -0.1),
    ]
    figure = removal_dots(removals, node="c", top="same", now=0.9)
    assert [row[0] for row in figure.rows] == ["o2", "o1", "o3"]
    assert figure.rows[0][4] == "opposite (flips)"
    assert figure.plot is not None
    (trace,) = figure.plot["data"]
    assert trace["text"] == ["flips to opposite", "", ""]
    assert trace["marker"]["symbol"] == ["x", "circle", "circle"]
    assert figure.finding == "1 observation carries the answer: without b → c it is opposite."
    assert "No single observation" in removal_dots(removals[:1], node="c", top="same", now=0.9).finding
    assert removal_dots([], node="c", top="same", now=0.9).state == "nothing"


def test_without_an_observation_that_leaves_a_tie_the_answer_does_not_stay() -> None:
    unknown = Removal("o1", "a → b", 0.5, "same", -0.5, equals=("same", "opposite"), is_unknown=True)
    tied = Removal("o2", "b → c", 0.4, "same", -0.6, equals=("same", "opposite"))
    stays = Removal("o3", "a → c", 0.9, "same", -0.1)
    figure = removal_dots([stays, unknown], node="c", top="same", now=0.9)
    assert figure.finding == "1 observation carries the answer: without a → b nothing is known."
    assert [row[4] for row in figure.rows] == ["none: nothing is known", "same"]
    assert figure.plot is not None
    assert figure.plot["data"][0]["text"] == ["nothing is known", ""]
    figure = removal_dots([stays, tied], node="c", top="same", now=0.9)
    assert figure.finding == "1 observation carries the answer: without b → c same and opposite are equally probable."
    assert figure.rows[0][4] == "same or opposite, equally"
    even = removal_dots([stays], node="c", top="same", now=0.4, is_tied=True).finding
    assert even == "No value of c is the most probable, so no observation carries an answer."
    halves = [Probability("0", 0.5, 0.5), Probability("1", 0.5, 0.5)]
    assert probability_bars(halves, node="c", method="exact", n_observations=2).finding == (
        "c is equally probably 0 or 1: 0.500 each (exact, 2 observations)."
    )


@pytest.mark.parametrize(("value", "words"), [(0.0, "0.000"), (1e-9, "< 0.001"), (1.0, "1.000"), (1 - 1e-9, "> 0.999")])
def test_a_probability_that_is_no_certainty_is_not_printed_as_one(value: float, words: str) -> None:
    assert share(value) == words


@pytest.mark.parametrize(("value", "words"), [(12.401, "+12.40"), (-0.03, "\u22120.03"), (-1e-12, "0.00")])
def test_nats_carry_their_sign(value: float, words: str) -> None:
    assert nats(value) == words
