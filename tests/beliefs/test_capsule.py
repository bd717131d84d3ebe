"""Capsules: the recorded ones under both profiles, and each value that the audit adds."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memory.base.errors import Conflict, Invalid
from memory.beliefs.kernel.answering import Answer, seed_of
from memory.beliefs.kernel.capsule import ranked
from memory.beliefs.kernel.documents import Profile
from memory.beliefs.kernel.questions import inference_settings, query_document
from memory.beliefs.kernel.terms import Budget
from tests.beliefs.cases import SmallStore, law_of, recorded
from tests.beliefs.contraction import Contracted, contracted

CASES = {case["id"]: case for case in recorded("capsule_cases")}
NODE = {"namespace": "ns", "relation_type": "rel", "schema_version": 2}

# B1.1: the peer searches with a beam, we answer exactly; keys and retrieval stay.
BEAMS = {id for id, case in CASES.items() if str(case["expected"].get("inference_backend")).startswith("beam")}
BEAMS |= {"exact-over-budget"}  # refused by the peer for its 1024 states
# B2.2: edges between two nodes at the last hop; its own stores disagree there.
STORES_DISAGREE = {id for id, case in CASES.items() if "expected_memory_store" in case}
# B4.5: the length of a node prior is checked with and without evidence, on the root too.
SMALL = Budget(largest_entries=16, total_entries=256, samples=2_000)
PRIOR_REFUSED = {"nodeprior-bad-size-with-evidence", "nodeprior-too-long-no-evidence", "nodeprior-root-bad-size"}


def store_of(case: dict[str, Any], **options: Any) -> SmallStore:
    return SmallStore(law_of(case["law"]), case["observations"], revocations=case["revocations"], **options)


def capsule_of(case: dict[str, Any], profile: Profile, **options: Any) -> dict[str, Any]:
    settings = inference_settings(case["inference_config"])
    return store_of(case).capsule(case["query"], profile=profile, settings=settings, **options)


def answer_of(case: dict[str, Any]) -> Answer:
    store, query = store_of(case), query_document(case["query"])
    return store.answered(query, store.retrieved(query, profile="native"))


def oracle(found: Answer, *, without: int | None = None) -> Contracted:
    """The same question put to the oracle, perhaps without one observation."""
    kept = [edge for edge in range(len(found.used.ids)) if edge != without]
    pairs = list(zip(found.used.source.tolist(), found.used.target.tolist(), strict=True))
    return contracted(
        found.law,
        n=len(found.nodes),
        root=found.root,
        edges=[pairs[edge] for edge in kept],
        factors=np.exp(found.log_factors[kept]),
        priors={node: np.exp(logs) for node, logs in found.log_priors.items()},
    )


def close(found: object, expected: object, place: str = "") -> None:
    """Equal in shape, order of keys, texts and numbers to 1e-9."""
    if isinstance(expected, dict):
        assert isinstance(found, dict), place
        assert list(found) == list(expected), place
        for key, value in expected.items():
            close(found[key], value, f"{place}.{key}")
    elif isinstance(expected, list):
        assert isinstance(found, list), place
        assert len(found) == len(expected), place
        for index, value in enumerate(expected):
            close(found[index], value, f"{place}[{index}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=0, abs=1e-9), place
    else:
        assert found == expected, place
        assert isinstance(found, bool) == isinstance(expected, bool), place


def without_ties(capsule: dict[str, Any], nodes: list[str]) -> dict[str, Any]:
    """The states of nodes that tie by rounding, in one order: what is shown of a tie is a set."""
    beliefs = [
        belief if belief["node"] not in nodes else belief | {"candidates": _grouped(belief["candidates"])}
        for belief in capsule["beliefs"]
    ]
    return capsule | {"beliefs": beliefs}


def _grouped(candidates: list[dict[str, Any]]) -> list[Any]:
    groups: list[tuple[float, set[str]]] = []
    for one in candidates:
        if groups and groups[-1][0] - one["probability"] < 1e-9:
            groups[-1][1].add(one["state"])
        else:
            groups.append((one["probability"], {one["state"]}))
    last = groups.pop()
    # A tie may go on beyond the last candidate that is shown, so that any of its states may stand there.
    return [[probability, sorted(states)] for probability, states in groups] + [[last[0], len(last[1])]]


@pytest.mark.parametrize("profile", ["native", "compat"])
@pytest.mark.parametrize("case", [case for id, case in CASES.items() if id not in BEAMS | PRIOR_REFUSED],
                         ids=lambda case: case["id"])  # fmt: skip
def test_a_recorded_capsule_comes_back(case: dict[str, Any], profile: Profile) -> None:
    expected = case["expected_memory_store" if case["id"] in STORES_DISAGREE else "expected"]
    found = capsule_of(case, profile)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    audit = found.pop("audit", None)
    assert (audit is None) == (profile == "compat")
    if audit is not None and expected["retrieval"]["mode"] == "explicit" and audit["dropped_observation_count"]:
        # B2.1: a limit that was hit is told.
        told = {"observation_limit_hit": True, "truncated": True}
        expected = expected | {"retrieval": expected["retrieval"] | told}
    ties = case["near_tie_nodes"]
    close(without_ties(found, ties), without_ties(expected, ties))


@pytest.mark.parametrize("id", sorted(BEAMS))
def test_b1_1_where_the_peer_searches_with_a_beam_we_answer_exactly(id: str) -> None:
    case = CASES[id]
    found = capsule_of(case, "native", top_k=256)
    assert (found["inference_backend"], found["approximate"]) == ("exact", False)
    assert found["inference_diagnostics"]["stable"] is True
    answer = answer_of(case)
    expected = oracle(answer)
    shown = np.array([
        [{one["state"]: one["probability"] for one in belief["candidates"]}[label] for label in answer.law.labels]
        for belief in found["beliefs"]
    ])  # fmt: skip
    assert shown == pytest.approx(expected.marginals, rel=0, abs=1e-9)
    assert found["log_evidence"] == pytest.approx(expected.log_z, rel=0, abs=1e-9)
    if "retrieval" in case["expected"]:
        close(found["retrieval"], case["expected"]["retrieval"])
        assert [*case["expected"], "audit"] == list(found)


def test_b1_1_on_chains_that_the_peer_calls_stable_the_true_marginals_come_back() -> None:
    for case in recorded("beam_vs_exact"):
        store = SmallStore(law_of(case["law"]), [NODE | one for one in case["observations"]])
        query = query_document(NODE | {"nodes": case["nodes"], "root": case["root"], "as_of": 1e9, "top_k": 256})
        found = store.answered(query, store.retrieved(query, profile="native"))
        expected = np.array([case["exact_marginals"][node] for node in case["nodes"]])
        assert found.marginals == pytest.approx(expected, rel=0, abs=1e-9), case["id"]


def test_b1_1_an_exact_answer_over_the_budget_is_refused_with_its_width() -> None:
    case = CASES["exact-over-budget"]
    with pytest.raises(Invalid) as refusal:
        capsule_of(case, "native", budget=SMALL)
    assert refusal.value.errors[0].loc == ("inference",)
    assert {"width", "largest_entries", "total_entries"} <= set(refusal.value.extra)
    asked = case | {"query": case["query"] | {"inference": "auto"}}
    found = capsule_of(asked, "native", budget=SMALL)
    audit = found["audit"]
    assert found["approximate"] is True
    assert found["inference_backend"] == "subgraph-2000"
    assert (found["inference_diagnostics"]["mode"], audit["method"]) == ("subgraph", "subgraph")
    assert found["inference_diagnostics"]["stable"] is (audit["certainty"] == "certified")
    assert set(audit["left_out_of_proposal"]) < set(found["used_observation_ids"])
    assert audit["left_out_of_proposal"]
    for row, belief in zip(audit["intervals"], found["beliefs"], strict=True):
        shown = {one["state"]: one["probability"] for one in belief["candidates"]}
        for label, lower, upper in zip(audit["labels"], row["lower"], row["upper"], strict=True):
            assert 0.0 <= lower <= upper <= 1.0
            assert lower - 1e-9 <= shown.get(label, lower) <= upper + 1e-9
    assert capsule_of(asked, "native", budget=SMALL) == found


@pytest.mark.parametrize("id", sorted(PRIOR_REFUSED))
def test_b4_5_a_node_prior_of_another_length_is_refused_with_and_without_evidence(id: str) -> None:
    with pytest.raises(Invalid) as refusal:
        capsule_of(CASES[id], "compat")
    assert refusal.value.errors[0].loc[0] == "node_priors"


def test_b4_5_a_prior_on_the_root_changes_nothing_and_is_told() -> None:
    case = CASES["nodeprior-root-bad-size"]
    asked = case | {"query": case["query"] | {"node_priors": {case["query"]["root"]: [0.1, 0.2, 0.3, 0.4]}}}
    found = capsule_of(asked, "native")
    assert found["audit"].pop("root_prior_ignored") is True
    plain = capsule_of(case | {"query": case["query"] | {"node_priors": {}}}, "native")
    assert plain["audit"].pop("root_prior_ignored") is False
    assert found == plain


AUDITED = ["exact-s3-2", "exact-Q8-1", "trust-prior-0", "parallel-reversed", "selfloop", "disconnected", "beam-0"]


@pytest.mark.parametrize("id", AUDITED)
def test_b1_2_what_an_observation_adds_equals_a_rerun_without_it(id: str) -> None:
    answer, audit = answer_of(CASES[id]), capsule_of(CASES[id], "native")["audit"]
    whole = oracle(answer)
    strengths = [one["strength_nats"] for one in audit["conflicts"]]
    assert strengths == sorted(strengths, reverse=True)
    assert {one["observation_id"] for one in audit["conflicts"]} == {
        id for id, trust in zip(answer.used.ids, answer.used.trust, strict=True) if trust > 0
    }
    for one in audit["conflicts"]:
        edge = answer.used.ids.index(one["observation_id"])
        rerun = oracle(answer, without=edge)
        factor = np.exp(answer.log_factors[edge])
        strength = rerun.log_z + math.log(factor.mean()) - whole.log_z
        assert one["loo_log_evidence"] == pytest.approx(rerun.log_z, rel=0, abs=1e-9)
        assert one["strength_nats"] == pytest.approx(strength, rel=0, abs=1e-9)
        cavity, belief = np.array(one["cavity"]), np.array(one["relation_posterior"])
        assert cavity.sum() == pytest.approx(1.0)
        assert belief == pytest.approx(cavity * factor / (cavity @ factor), rel=0, abs=1e-9)
        if one["is_bridge"]:
            assert one["strength_nats"] == pytest.approx(0.0, abs=1e-9)
            assert cavity == pytest.approx(np.full(answer.law.size, 1 / answer.law.size), abs=1e-9)


def observation(id: str, ends: str, posterior: list[float], **more: Any) -> dict[str, Any]:
    source, target = ends
    base = {"observation_id": id, "source": source, "target": target, "posterior": posterior, "observed_at": 1.0}
    return NODE | base | {"evidence_family": id} | more


def asked(nodes: str, **more: Any) -> dict[str, Any]:
    return NODE | {"nodes": list(nodes), "root": nodes[0], "as_of": 9.0} | more


def c4(*observations: dict[str, Any]) -> SmallStore:
    return SmallStore(law_of("cyclic:4"), observations)


def test_b1_2_among_many_the_one_bad_edge_is_blamed_in_nats() -> None:
    letters = "abcdefghijklmnopqrstuv"

    def sure(label: int, mass: float) -> list[float]:
        return [mass if state == label else (1 - mass) / 3 for state in range(4)]

    def told(rest: float) -> list[dict[str, Any]]:
        bad = observation("bad", "ab", [1 - 3 * rest, rest, rest, rest])
        bystanders = [observation(f"s{node}", f"a{node}", sure(0, 0.95)) for node in letters[2:18]]
        paths = [
            observation(f"{start}{node}", f"{start}{node}", sure(label, 0.9995))
            for node in letters[18:22]
            for start, label in (("a", 2), ("b", 1))
        ]
        return [bad, *bystanders, *paths]

    found = c4(*told(1e-6)).capsule(asked(letters))
    first, second = found["audit"]["conflicts"][:2]
    assert (first["observation_id"], round(first["strength_nats"], 1)) == ("bad", 12.4)
    assert second["strength_nats"] <= 1e-9
    assert [one["observation_id"] for one in found["conflicts"]] == ["bad"]
    assert found["beliefs"][1]["candidates"][0]["state"] == "1"
    assert found["audit"]["near_contradiction"] is None
    stronger = c4(*told(1e-8)).capsule(asked(letters))
    assert round(stronger["audit"]["conflicts"][0]["strength_nats"], 1) == 17.0


def test_b1_3_a_strong_prior_is_told_apart_and_no_trust_is_counted() -> None:
    store = c4(
        observation("strong", "ab", [0.6, 0.4, 0, 0], prior=[0.97, 0.01, 0.01, 0.01]),
        observation("none", "ab", [0, 0, 1, 0], trust=0),
    )
    found = store.capsule(asked("ab"))
    (strong,) = found["audit"]["conflicts"]
    assert (strong["local_top1"], strong["likelihood_top1"], strong["inferred_relation"]) == ("0", "1", "1")
    assert found["audit"]["zero_trust_count"] == 1
    # The list of the peer's keeps both.
    assert [one["observation_id"] for one in found["conflicts"]] == ["none", "strong"]


def test_b1_6_gaps_under_a_billionth_of_a_thousandth_follow_the_labels() -> None:
    rows = np.array([
        [0.25, 0.25 + 4e-13, 0.25 - 4e-13, 0.25],
        [0.1, 0.2, 0.3, 0.4],
        [0.3, 0.3 + 2e-12, 0.2, 0.2],
    ])  # fmt: skip
    order, shown = ranked(rows)
    assert order.tolist() == [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 2, 3]]
    assert (np.diff(shown, axis=1) <= 0).all()
    assert shown == pytest.approx(np.take_along_axis(rows, order, axis=1), abs=1e-12)
    clutter = [observation(f"c{index}", "ab", [0.25] * 4) for index in range(5)]
    beliefs = c4(*clutter).capsule(asked("abcd", top_k=1))["beliefs"]
    assert [belief["candidates"][0]["state"] for belief in beliefs] == ["0"] * 4


def test_b1_7_the_bayes_factor_does_not_change_with_an_unconnected_node() -> None:
    store = c4(
        observation("x", "ab", [0.7, 0.1, 0.1, 0.1]),
        observation("y", "ab", [0.6, 0.2, 0.1, 0.1]),
        observation("z", "bc", [0.1, 0.2, 0.3, 0.4]),
    )
    priors = {"node_priors": {"c": [0.4, 0.3, 0.2, 0.1]}}
    near, far = (store.capsule(asked(nodes, **priors)) for nodes in ("abc", "abcde"))
    assert far["log_evidence"] == pytest.approx(near["log_evidence"] + 2 * math.log(4))
    assert far["audit"]["log_bayes_factor"] == pytest.approx(near["audit"]["log_bayes_factor"], abs=1e-12)
    # Two agreeing observations speak for each other.
    alone = c4(observation("x", "ab", [0.7, 0.1, 0.1, 0.1])).capsule(asked("ab"))
    assert alone["audit"]["log_bayes_factor"] == pytest.approx(0.0, abs=1e-12)
    assert near["audit"]["log_bayes_factor"] > 0.1
    empty = store.capsule(asked("de"))
    assert (empty["audit"]["log_bayes_factor"], empty["inference_backend"]) == (0.0, "prior-only")


def test_b4_3_mass_outside_the_prior_keeps_the_value_of_the_peer_and_is_flagged() -> None:
    store = c4(observation("out", "ab", [0.98, 0.01, 0.01, 0], prior=[0.5, 0.5, 0, 0]))
    found = store.capsule(asked("ab"))
    assert found["beliefs"][1]["candidates"][0] == {"state": "2", "probability": pytest.approx(1.0, abs=1e-9)}
    assert found["audit"]["flags"] == [{"observation_id": "out", "flags": ["mass_outside_prior"]}]


def test_b4_4_vectors_that_say_nothing_are_flagged() -> None:
    for id in ("all-zero-posterior", "tiny-scale-posterior"):
        flags = capsule_of(CASES[id], "native")["audit"]["flags"]
        assert [one["flags"] for one in flags] == [["rescaled", "uninformative_vector"]], id


def test_b4_6_a_hard_contradiction_names_a_minimal_set_under_a_zero_floor() -> None:
    hard = [observation("p", "ab", [1, 0, 0, 0]), observation("q", "ab", [0, 1, 0, 0])]
    beside = [observation("r", "ab", [0.4, 0.3, 0.2, 0.1]), observation("s", "bc", [1, 0, 0, 0])]
    with pytest.raises(Conflict) as refusal:
        c4(*hard, *beside).capsule(asked("abc"), has_zero_floor=True)
    assert refusal.value.extra["observation_ids"] == ["p", "q"]
    triangle = [observation(id, ends, [float(state == label) for state in range(4)])
                for id, ends, label in (("x", "ab", 1), ("y", "bc", 1), ("z", "ac", 3))]  # fmt: skip
    with pytest.raises(Conflict) as refusal:
        c4(*triangle, beside[0]).capsule(asked("abc"), has_zero_floor=True)
    assert refusal.value.extra["observation_ids"] == ["x", "y", "z"]
    held = c4(*hard[:1], *beside).capsule(asked("abc"), has_zero_floor=True)
    assert held["beliefs"][1]["candidates"][0] == {"state": "0", "probability": 1.0}


def test_b4_6_a_near_contradiction_names_its_set_and_the_answer_stands() -> None:
    triangle = [observation(id, ends, [float(state == label) for state in range(4)])
                for id, ends, label in (("x", "ab", 1), ("y", "bc", 1), ("z", "ac", 3))]  # fmt: skip
    others = [observation("t", "cd", [0.7, 0.1, 0.1, 0.1]), observation("u", "cd", [0.1, 0.7, 0.1, 0.1])]
    found = c4(*triangle, *others).capsule(asked("abcd"))
    assert sorted(found["audit"]["near_contradiction"]) == ["x", "y", "z"]
    assert found["audit"]["conflicts"][0]["strength_nats"] > 20
    assert c4(*triangle[:2], *others).capsule(asked("abcd"))["audit"]["near_contradiction"] is None
    parallel = [observation("p", "ab", [1, 0, 0, 0]), observation("q", "ab", [0, 1, 0, 0])]
    audit = c4(*parallel, *others).capsule(asked("abcd"))["audit"]
    assert (sorted(audit["near_contradiction"]), audit["near_contradiction_minimal"]) == (["p", "q"], True)


def test_evidence_is_counted_where_it_touches_and_where_it_reaches() -> None:
    store = c4(
        observation("x", "ab", [0.7, 0.1, 0.1, 0.1]),
        observation("loop", "bb", [0.7, 0.1, 0.1, 0.1]),
        observation("y", "cd", [0.7, 0.1, 0.1, 0.1]),
    )
    assert store.capsule(asked("abcde"))["audit"]["evidence"] == [
        {"node": node, "touching_count": touching, "connected_count": connected}
        for node, touching, connected in (("a", 1, 2), ("b", 2, 2), ("c", 1, 1), ("d", 1, 1), ("e", 0, 0))
    ]


def test_the_seed_follows_the_question_and_its_evidence_and_not_the_instant() -> None:
    query = query_document(asked("abc"))
    seeds = {
        seed_of(query, ["x", "y"]),
        seed_of(replace(query, as_of=10.0), ["x", "y"]),
        seed_of(query, ["y"]),
        seed_of(replace(query, top_k=2), ["x", "y"]),
    }
    assert len(seeds) == 3
