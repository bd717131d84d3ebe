"""Decisions: the recorded projections under compat, what native adds, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from posterior_memory_harness.projection import project_memory_decision

from memory.base.errors import Invalid
from memory.beliefs.kernel.decision import decision
from memory.beliefs.kernel.questions import decision_options, inference_settings
from tests.beliefs.cases import SmallStore, law_of, recorded
from tests.beliefs.test_capsule import BEAMS, NODE, asked, close, observation

CASES = [case for case in recorded("capsule_cases") if case.get("decisions")]
# B1.4: the peer refuses its own capsule there, for a probability of 1.0000000000000002.
REFUSED_BY_THE_PEER = {("discover-4-coverage", "n004")}


def capsule_of(case: dict[str, Any], **options: Any) -> dict[str, Any]:
    store = SmallStore(law_of(case["law"]), case["observations"], revocations=case["revocations"])
    return store.capsule(case["query"], settings=inference_settings(case["inference_config"]), **options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_recorded_decision_comes_back_under_compat(case: dict[str, Any]) -> None:
    capsule = capsule_of(case, profile="compat")
    for told in case["decisions"]:
        focus, alternatives, expected = told["focus_node"], told["alternatives"], told["expected"]
        options = decision_options(focus, alternatives=alternatives)
        found = decision(capsule, options=options, profile="compat")
        # The peer reads our capsule as it reads its own.
        assert found == project_memory_decision(capsule, focus, alternatives=alternatives)
        if (case["id"], focus) in REFUSED_BY_THE_PEER:
            assert found["highest_probability"] == 1.0
        elif case["id"] not in BEAMS:
            is_tied = focus in case["near_tie_nodes"]
            close(shares(found) if is_tied else found, shares(expected) if is_tied else expected)


def shares(found: dict[str, Any]) -> dict[str, Any]:
    """A decision without the states, which stand in any order where they tie."""
    alternatives = [one["probability"] for one in found["alternatives"]]
    return found | {"highest_probability_state": "", "alternatives": alternatives}


def test_b1_4_a_decision_on_the_root_never_fails() -> None:
    random = np.random.default_rng(5)
    for spec, n in (("cyclic:2", 6), ("cyclic:4", 5), ("s3", 4), ("cyclic:4", 16)):
        law = law_of(spec)
        nodes = [f"n{index}" for index in range(n)]
        for seed in range(100):
            told = [
                NODE | {
                    "observation_id": f"o{index}", "source": nodes[int(source)], "target": nodes[int(target)],
                    "posterior": random.dirichlet([0.3] * law.size).tolist(), "evidence_family": f"f{index}",
                    "observed_at": 0.0,
                }
                for index, (source, target) in enumerate(random.integers(0, n, size=(n + 2, 2)))
            ]  # fmt: skip
            root = nodes[seed % n]
            capsule = SmallStore(law, told).capsule(NODE | {"nodes": nodes, "root": root, "as_of": 1.0, "top_k": 256})
            found = decision(capsule, options=decision_options(root), profile="native")
            assert (found["highest_probability"], found["highest_probability_state"]) == (1.0, law.labels[law.identity])
            for belief in capsule["beliefs"]:
                shares = [one["probability"] for one in belief["candidates"]]
                assert min(shares) >= 0.0
                assert sum(shares) == pytest.approx(1.0, rel=0, abs=1e-12)
    alone = SmallStore(law_of("cyclic:4"), [observation("x", "ab", [0.1, 0.7, 0.1, 0.1])])
    for root in "ab":
        capsule = alone.capsule(asked("ab") | {"root": root})
        assert decision(capsule, options=decision_options(root), profile="native")["highest_probability"] == 1.0


def c8(**options: Any) -> dict[str, Any]:
    store = SmallStore(
        law_of("cyclic:8"),
        [observation("x", "ab", [8, 7, 6, 5, 4, 3, 2, 1]), observation("y", "cd", [1] * 8)],
    )
    return store.capsule(asked("abcd"), **options)


def test_b1_5_a_decision_has_as_many_alternatives_as_asked_and_counts_evidence_near_its_focus() -> None:
    options = decision_options("b", alternatives=5)
    found = decision(c8(top_k=8), options=options, profile="native")
    assert [one["state"] for one in found["alternatives"]] == ["1", "2", "3", "4", "5"]
    assert found["evidence_count"] == 2
    assert found["audit"] == {"certainty": "exact", "source": "computed", "evidence_near_focus": 1}
    limited = decision(c8(profile="compat"), options=options, profile="compat")
    assert len(limited["alternatives"]) == 2
    assert "audit" not in limited
    # A capsule handed in as JSON keeps its own candidates.
    handed = c8(profile="compat")
    told = decision(handed, options=options, profile="native", source="handed_in")
    assert len(told["alternatives"]) == 2
    assert told["audit"] == {"certainty": None, "source": "handed_in", "evidence_near_focus": None}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"instructions": ["do it"]}, ("capsule", "instructions")),
        ({"instructions": None}, ("capsule", "instructions")),
        ({"beliefs": []}, ("focus_node",)),
        ({"beliefs": None}, ("capsule", "beliefs")),
        ({"beliefs": [{"node": "b", "candidates": []}] * 2}, ("focus_node",)),
        ({"beliefs": [{"node": "b", "candidates": []}]}, ("capsule", "beliefs", 0, "candidates")),
        ({"conflicts": {}}, ("capsule", "conflicts")),
        ({"used_observation_ids": "x"}, ("capsule", "used_observation_ids")),
        ({"audit": []}, ("capsule", "audit")),
    ],
)
def test_a_capsule_that_is_none_is_refused(change: dict[str, Any], place: tuple[str | int, ...]) -> None:
    with pytest.raises(Invalid) as refusal:
        decision(c8() | change, options=decision_options("b"), profile="native")
    assert refusal.value.errors[0].loc == place


@pytest.mark.parametrize("shares", [[0.5, 0.6], [1.0000000000000002, 0.0], [0.5, -0.1], [True, 0.0], [float("nan"), 0]])
def test_candidates_that_are_not_sorted_probabilities_are_refused(shares: list[Any]) -> None:
    candidates = [{"state": str(index), "probability": share} for index, share in enumerate(shares)]
    beliefs = [{"node": "a", "candidates": []}, {"node": "b", "candidates": candidates}]
    with pytest.raises(Invalid) as refusal:
        decision(c8() | {"beliefs": beliefs}, options=decision_options("b"), profile="native")
    assert refusal.value.errors[0].loc[:4] == ("capsule", "beliefs", 1, "candidates")


def test_an_unreliable_answer_is_withheld_unless_asked_for() -> None:
    capsule = c8()
    unreliable = capsule | {"audit": capsule["audit"] | {"certainty": "unreliable"}}
    for told, certainty in ((unreliable, None), (c8(profile="compat"), "unreliable")):
        with pytest.raises(Invalid) as refusal:
            decision(told, options=decision_options("b"), profile="native", certainty=certainty)
        assert refusal.value.errors[0].code == "unreliable"
        options = decision_options("b", allow_unreliable=True)
        found = decision(told, options=options, profile="native", certainty=certainty)
        assert found["audit"]["certainty"] == "unreliable"
    uncertified = capsule | {"audit": capsule["audit"] | {"certainty": "uncertified"}}
    decision(uncertified, options=decision_options("b"), profile="native")
