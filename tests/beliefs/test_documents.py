"""Payloads: the recorded verdicts under both profiles, and each rule in which we differ on purpose."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.errors import DomainError, Invalid, Malformed
from memory.beliefs.kernel.acts import label_index, outcome_document, outcome_schema, revocation_document
from memory.beliefs.kernel.documents import (
    Parent,
    Profile,
    canonical_observation,
    observation_document,
    observation_schema,
    provenance_text,
    read_payload,
    require_parent,
)
from memory.beliefs.kernel.laws import Law, built_in
from memory.beliefs.kernel.masses import flags, vector
from memory.beliefs.kernel.questions import (
    decision_document,
    decision_schema,
    inference_settings,
    node_priors,
    query_document,
    query_schema,
)
from tests.beliefs.cases import recorded

C4 = built_in("cyclic:4")
RECORDED = recorded("payloads")
OBSERVATION = RECORDED["base_payloads"]["observation"]
QUERY = RECORDED["base_payloads"]["query"]
SEEDS = RECORDED["base_payloads"]["query_seeds"]
OUTCOME = RECORDED["base_payloads"]["outcome"]
BASE = RECORDED["database"]["one_observation"]
LONG = {
    "o091": {"x": "a" * (65_537 - len('{"x":""}'))},
    "o093": {"x": "é" * (65_537 // 2)},
}

# Verdicts that a store or the command line gives, not the payload: by case, what it takes.
BEYOND_THE_PAYLOAD = {
    "o001": "the command line fills in the relation type",
    "q174": "the command line fills in the relation type",
    "o106": "the store knows which parents exist",
    "o120": "the store knows which ids exist; an identical retry is a success under native (B3.5)",
    "o121": "the command line compares the relation types",
    "o183": "the store knows what is tracked (B4.7: exit 4)",
}
# B4.2: a repeated key is refused, under compat the last one counts.
REFUSED_UNDER_NATIVE_ALONE = {"o064"}


def _document(kind: str, payload: object, profile: Profile) -> Any:
    if kind == "query":
        return query_document(payload)
    return (outcome_document if kind == "outcome" else observation_document)(payload, profile=profile)


def _judge(case: dict[str, Any], profile: Profile) -> None:
    """All that is checked of a payload before a store is asked."""
    text = case["payload_text"] or json.dumps(OBSERVATION | {"provenance": LONG[case["id"]]})
    payload = read_payload(text.encode("utf-8", "surrogatepass"), profile=profile)
    document = _document(case["kind"], payload, profile)
    if case["kind"] == "query":
        node_priors(document, C4)
    elif case["kind"] == "outcome":
        label_index(document, C4)
    else:
        vector(document.posterior, C4, "posterior")
        if document.prior is not None:
            vector(document.prior, C4, "prior")
        parent = observation_document(BASE, profile=profile)
        for index, id in enumerate(document.derived_from):
            if id == "base":
                known = Parent(id, "ns", "rel", "a", "b", 0.5, parent.lineage)
                require_parent(document, index=index, observed_at=document.observed_at or 0.0, parent=known)


@pytest.mark.parametrize("profile", ["native", "compat"])
@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: f"{case['id']}-{case['note'][:40]}")
def test_a_recorded_payload_gets_its_verdict(case: dict[str, Any], profile: Profile) -> None:
    is_refused = case["cli_exit"] != 0
    if case["id"] in BEYOND_THE_PAYLOAD:
        is_refused = case["validator_error"] is not None
    if case["id"] in REFUSED_UNDER_NATIVE_ALONE:
        is_refused = profile == "native"
    if not is_refused:
        _judge(case, profile)
        return
    with pytest.raises((Invalid, Malformed)) as refusal:
        _judge(case, profile)
    assert refusal.value.errors
    assert refusal.value.detail.isprintable()


# B4.8: what no schema can tell of a payload, by case.
BEYOND_A_SCHEMA = {
    "o063": "a sum",
    "o091": "bytes of a text",
    "o093": "bytes of a text",
    "o100": "two values compared",
    "o103": "two values compared",
    "q136": "two values compared",
    "q172": "two values compared",
    "q139": "2.0 is an integer to a schema",
    "q148": "2.0 is an integer to a schema",
}


@pytest.mark.parametrize("profile", ["native", "compat"])
def test_b4_8_the_published_schema_gives_the_verdict_of_the_validator(profile: Profile) -> None:
    schemas = {
        "observation": jsonschema_rs.validator_for(observation_schema(profile=profile)),
        "query": jsonschema_rs.validator_for(query_schema()),
        "outcome": jsonschema_rs.validator_for(outcome_schema(profile=profile)),
    }
    differing = set()
    for case in RECORDED["cases"]:
        text = case["payload_text"] or json.dumps(OBSERVATION | {"provenance": LONG[case["id"]]})
        try:
            payload = read_payload(text.encode("utf-8", "surrogatepass"), profile=profile)
        except DomainError:
            continue
        try:
            _document(case["kind"], payload, profile)
            is_valid = True
        except Invalid:
            is_valid = False
        if schemas[case["kind"]].is_valid(payload) != is_valid:
            differing.add(case["id"])
    assert differing == set(BEYOND_A_SCHEMA)


def test_b4_8_the_schema_of_a_decision_takes_a_query_or_a_capsule() -> None:
    schema = jsonschema_rs.validator_for(decision_schema())
    options = {"focus_node": "b", "alternatives": 3}
    for payload in (QUERY | options, SEEDS | options | {"max_hops": 1}, {"capsule": {}} | options):
        decision_document(payload)
        assert schema.is_valid(payload)
    wrong = (QUERY, QUERY | options | {"capsule": {}}, QUERY | options | {"max_hops": 1}, QUERY | options | {"x": 1})
    for payload in (*wrong, QUERY | {"focus_node": None}, QUERY | SEEDS | options):
        with pytest.raises(Invalid):
            decision_document(payload)
        assert not schema.is_valid(payload)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"trust": 1.5, "tags": None}, ("trust",)),
        ({"posterior": [0.1, -0.1, 0.5, 0.5]}, ("posterior", 1)),
        ({"posterior": {"0": 1.0, "1": True}}, ("posterior", "1")),
        ({"posterior": {}}, ("posterior",)),
        ({"posterior": [0.1] * 257}, ("posterior",)),
        ({"prior": [1e308] * 4}, ("prior",)),
        ({"tags": ["a", "a"]}, ("tags", 1)),
        ({"tags": ["a"] * 65}, ("tags",)),
        ({"derived_from": ["p", "o1"]}, ("derived_from", 1)),
        ({"provenance": {"a": [1, {"b": "\ud800"}]}}, ("provenance", "a", 1, "b")),
        ({"provenance": {"\x00": 1}}, ("provenance",)),
        ({"provenance": {"n": 10**400}}, ("provenance", "n")),
        ({"source": "\udfff"}, ("source",)),
        ({"valid_from": 2, "valid_until": 1}, ("valid_until",)),
        ({"schema_version": 2.0}, ("schema_version",)),
        ({"observed_at": 10**400}, ("observed_at",)),
        ({"revoked_at": None}, ("revoked_at",)),
        ({"schema_version": 1, "derived_from": None}, ("derived_from",)),
    ],
)
def test_a_refusal_names_the_place_in_the_payload(change: dict[str, Any], place: tuple[str | int, ...]) -> None:
    with pytest.raises(Invalid) as refusal:
        observation_document(OBSERVATION | change, profile="native")
    assert refusal.value.errors[0].loc == place
    refusal.value.detail.encode()


def test_every_unknown_and_missing_key_is_named_at_once() -> None:
    payload = {key: value for key, value in OBSERVATION.items() if key not in ("source", "target")}
    with pytest.raises(Invalid) as refusal:
        observation_document(payload | {"sauce": "a", "Target": "b"}, profile="native")
    assert {(place.loc, place.code) for place in refusal.value.errors} == {
        (("source",), "missing"), (("target",), "missing"), (("sauce",), "unknown"), (("Target",), "unknown"),
    }  # fmt: skip


def test_b4_1_big_integers_nesting_and_overflow_are_errors_of_the_input() -> None:
    deep = b'{"provenance":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    for text in (deep, b'{"observed_at": 1' + b"0" * 400 + b"}", b'{"observed_at": 1' + b"0" * 5000 + b"}"):
        for profile in ("native", "compat"):
            with pytest.raises(Invalid):
                read_payload(text, profile=profile)
    with pytest.raises(Invalid):
        observation_document(OBSERVATION | {"posterior": [1e308] * 4}, profile="compat")
    within = read_payload(b'{"n": 123456789012345678901234567890}', profile="native")
    assert within == {"n": 123456789012345678901234567890}


def test_b4_2_a_repeated_key_is_refused_by_name_and_kept_last_under_compat() -> None:
    text = b'{"a": {"x": 1, "x": 2}}'
    with pytest.raises(Invalid) as refusal:
        read_payload(text, profile="native")
    assert refusal.value.errors[0].loc == ("a", "x")
    assert read_payload(text, profile="compat") == {"a": {"x": 2}}


def _flags(posterior: list[float], prior: Any = None, law: Law = C4) -> tuple[str, ...]:
    return flags(vector(posterior, law, "posterior"), None if prior is None else vector(prior, law, "prior"))


def test_b4_3_mass_outside_the_prior_is_flagged() -> None:
    assert _flags([0.98, 0.01, 0.01, 0.0], [0.5, 0.5, 0.0, 0.0]) == ("mass_outside_prior",)
    assert _flags([0.98, 0.02, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]) == ()


def test_b4_4_vectors_that_say_nothing_are_flagged() -> None:
    nothing = ("rescaled", "uninformative_vector")
    assert _flags([0.0] * 4) == nothing
    assert _flags([1e-13, 5e-13, 0.0, 0.0]) == nothing
    assert _flags([1e-12, 0.0, 0.0, 0.0]) == nothing
    assert _flags([1e-13, 2e-12, 0.0, 0.0]) == ("rescaled",)
    assert _flags([0.5, 0.5, 0.0, 0.0], {}) == ("mass_outside_prior", *nothing)
    assert _flags([0.0], law=built_in("cyclic:1")) == ("rescaled",)
    assert _flags([1.0], law=built_in("cyclic:1")) == ()


def test_b4_5_a_node_prior_of_another_length_is_refused_without_evidence_and_on_the_root() -> None:
    for node in ("a", "b"):
        query = query_document(QUERY | {"node_priors": {node: [0.2] * 5}})
        with pytest.raises(Invalid) as refusal:
            node_priors(query, C4)
        assert refusal.value.errors[0].loc == ("node_priors", node)


def test_masses_follow_the_labels_of_the_law() -> None:
    document = observation_document(OBSERVATION | {"posterior": {"3": 2, "0": 1}}, profile="native")
    assert vector(document.posterior, C4, "posterior").tolist() == [1.0, 0.0, 0.0, 2.0]
    for wrong, place in (({"4": 1.0}, ("posterior", "4")), ([1.0] * 3, ("posterior",))):
        with pytest.raises(Invalid) as refusal:
            vector(wrong, C4, "posterior")
        assert refusal.value.errors[0].loc == place


@given(st.permutations(sorted(OBSERVATION)), st.booleans())
def test_a_retry_of_a_payload_is_equal_whatever_its_spelling(order: list[str], is_whole: bool) -> None:
    base = {**OBSERVATION, "provenance": {"n": 10**20, "x": [1.0, {"y": -0.0}]}, "tags": ["b", "a"], "trust": 1.0}
    payload = {key: base[key] for key in (*order, "provenance", "tags", "trust")}
    if is_whole:
        payload |= {"trust": 1, "provenance": {"x": [1, {"y": 0}], "n": 1e20}, "tags": ["a", "b"], "prior": None}
    first, again = (canonical_observation(observation_document(one, profile="native")) for one in (base, payload))
    assert first == again


@pytest.mark.parametrize(
    "change",
    [{"trust": 0.5}, {"posterior": [0.1, 0.7, 0.2, 0.0]}, {"observed_at": None}, {"provenance": {"n": 2**60 + 1}},
     {"provenance": {"n": 2**60}}, {"derived_from": ["p"]}, {"posterior": {"0": 0.1, "1": 0.7, "2": 0.1, "3": 0.1}}],
)  # fmt: skip
def test_another_payload_is_another_one(change: dict[str, Any]) -> None:
    first = observation_document(OBSERVATION, profile="native")
    other = observation_document(OBSERVATION | change, profile="native")
    assert canonical_observation(first) != canonical_observation(other)


def test_integers_of_provenance_keep_all_their_digits() -> None:
    text = b'{"provenance": {"tweet": 1790000000000000001}}'
    given_ = OBSERVATION | read_payload(text, profile="native")
    assert provenance_text(observation_document(given_, profile="native")) == '{"tweet":1790000000000000001}'


def test_an_interval_may_be_one_instant_and_lie_before_the_observation() -> None:
    found = observation_document(OBSERVATION | {"valid_from": 0, "valid_until": 0}, profile="native")
    assert (found.valid_from, found.valid_until) == (0.0, 0.0)


def test_claimed_instants_are_fields_under_compat_alone() -> None:
    payload = OBSERVATION | {"tracked_at": 3, "schema_version": 1}
    assert observation_document(payload, profile="compat").tracked_at == 3.0
    label = OUTCOME | {"recorded_at": -0.0}
    assert str(outcome_document(label, profile="compat").recorded_at) == "0.0"
    with pytest.raises(Invalid):
        observation_document(payload, profile="native")
    with pytest.raises(Invalid):
        outcome_document(label, profile="native")


def test_a_child_is_held_against_its_parent() -> None:
    child = observation_document(OBSERVATION | {"derived_from": ["x", "p"], "lineage_root_id": "R"}, profile="native")
    parent = Parent("p", "ns", "rel", "a", "b", 0.5, child.lineage)
    require_parent(child, index=1, observed_at=0.5, parent=parent)
    family = replace(child, lineage_root_id=None, evidence_family="R")
    # The three kinds of keys share one space of texts.
    require_parent(family, index=1, observed_at=0.5, parent=parent)
    wrong = (
        replace(parent, namespace="other"),
        replace(parent, relation_type="other"),
        replace(parent, observed_at=0.75),
        replace(parent, lineage=replace(parent.lineage, key="S")),
        replace(parent, source="b", target="a"),
    )
    for one in wrong:
        with pytest.raises(Invalid) as refusal:
            require_parent(child, index=1, observed_at=0.5, parent=one)
        assert refusal.value.errors[0].loc == ("derived_from", 1)
    for one in wrong[3:]:
        require_parent(replace(child, independent_evidence=False), index=1, observed_at=0.5, parent=one)


def test_a_query_has_the_defaults_of_the_peer() -> None:
    found = query_document(SEEDS)
    assert (found.max_observations, found.top_k, found.max_hops, found.max_nodes) == (512, 3, 2, 32)
    assert (found.inference, found.retrieval_policy, found.hard_top1, found.is_discovery) == (
        "auto", "recent", False, True,
    )  # fmt: skip
    assert not query_document(QUERY).is_discovery
    with pytest.raises(Invalid):
        query_document(SEEDS | {"seeds": ["a", "b", "c"], "max_nodes": 2})


def test_a_decision_is_on_a_query_or_on_a_capsule() -> None:
    asked = decision_document(QUERY | {"focus_node": "b", "alternatives": 16, "allow_unreliable": True})
    assert asked.query == query_document(QUERY)
    assert (asked.options.focus_node, asked.options.alternatives, asked.options.allow_unreliable) == ("b", 16, True)
    handed = decision_document({"capsule": {"beliefs": []}, "focus_node": "b"})
    assert (handed.query, handed.capsule, handed.options.alternatives) == (None, {"beliefs": []}, 2)
    for change in ({"alternatives": 17}, {"alternatives": 2.0}, {"focus_node": ""}, {"capsule": {}}, {"x": 1}):
        with pytest.raises(Invalid):
            decision_document(QUERY | {"focus_node": "b"} | change)


def test_a_revocation_takes_descendants_along_unless_it_says_otherwise() -> None:
    native, compat = (revocation_document({"at": 5}, profile=profile) for profile in ("native", "compat"))
    assert (native.cascade, native.reexpose, native.at) == ("derived", False, 5.0)
    assert (compat.cascade, compat.reexpose) == ("record", True)
    for change in ({"at": "now"}, {"reason": ""}, {"reason": "\ud800"}, {"cascade": "all"}, {"reexpose": 1}, {"id": 1}):
        with pytest.raises(Invalid):
            revocation_document(change, profile="native")


def test_of_the_settings_of_the_library_one_changes_an_answer() -> None:
    accepted = {
        "max_exact_assignments": 1023, "beam_size": 4, "beam_stability_check": False, "beam_stability_multiplier": 3,
        "beam_marginal_tv_tolerance": 0.5, "beam_entropy_tolerance": 0, "point_mass_error": 0.05,
    }  # fmt: skip
    assert inference_settings(accepted).point_mass_error == 0.05
    assert inference_settings({}).point_mass_error == 1e-6
    for key, value in (("point_mass_error", 1), ("beam_size", 0), ("beam_stability_multiplier", 1), ("width", 2)):
        with pytest.raises(Invalid):
            inference_settings({key: value})


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
READERS = (
    lambda value: observation_document(value, profile="native"),
    lambda value: outcome_document(value, profile="compat"),
    lambda value: revocation_document(value, profile="native"),
    query_document,
    decision_document,
)


@given(JSON_VALUES, st.sampled_from(sorted({*OBSERVATION, *QUERY, *OUTCOME, "provenance", "node_priors", "prior"})))
def test_any_json_is_read_or_refused_by_a_refusal_of_ours(value: object, key: str) -> None:
    for payload in (value, OBSERVATION | {key: value}, QUERY | {key: value}, OUTCOME | {key: value}):
        for read in READERS:
            try:
                found = read(payload)
            except DomainError as refusal:
                refusal.detail.encode()
                for place in refusal.errors:
                    str((place.loc, place.expected, place.got)).encode()
                continue
            assert found is not None
            if hasattr(found, "posterior"):
                canonical_observation(found)
