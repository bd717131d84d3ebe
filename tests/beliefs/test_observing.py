"""Observing through operations: one entry, answered again as before, refused in its place, nothing left behind."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection

from memory.base.errors import Conflict, DomainError, Erased, IdempotencyMismatch, Invalid, NotFound
from memory.beliefs.kernel.documents import ObservationDocument, observation_document
from memory.beliefs.kernel.laws import built_in
from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.beliefs.models import Forecast, MonitorTally, Observation, RelationLaw
from memory.beliefs.operations.binding import Binding
from memory.beliefs.operations.monitors import open_run
from memory.beliefs.operations.observing import Asked, Observed, observe, observe_each
from memory.beliefs.projection import ObservationStates
from memory.beliefs.queries.asking import finite
from memory.beliefs.relations import _read
from memory.ledger.models import Entry, Name
from memory.ledger.operations.erasing import erase
from tests.contract.callers import caller
from tests.world import World

pytestmark = pytest.mark.django_db

NATIVE = Asked("native")
C4 = (0.1, 0.7, 0.1, 0.1)


@pytest.fixture
def world() -> World:
    world = World()
    world.bind()
    return world


def seen(id: str | None, source: str = "a", target: str = "b", masses: Any = C4, **more: Any) -> ObservationDocument:
    given = {
        "schema_version": 2, "observation_id": id, "namespace": "lab", "relation_type": "rel", "source": source,
        "target": target, "posterior": list(masses), "evidence_family": f"family of {id}", "observed_at": 1.0, **more,
    }  # fmt: skip
    return observation_document(given, profile="native")


def n_entries(world: World) -> int:
    return Entry.objects.filter(namespace=world.namespace).count()


def codes(answers: list[Observed | DomainError]) -> list[str]:
    return [one.code if isinstance(one, DomainError) else "new" if one.recorded else "known" for one in answers]


def test_a_law_is_bound_once_with_its_settings(world: World) -> None:
    before = n_entries(world)
    again = world.bind()
    assert (again.replayed, again.relation.lineage_key, again.relation.prior_support) == (True, "edge", "reject")
    assert n_entries(world) == before
    for law, more in (("s3", {}), ("cyclic:4", {"lineage_key": "global"}), ("cyclic:4", {"has_zero_floor": True})):
        with pytest.raises(Conflict, match="for good"):
            world.bind("rel", law, **more)
    legacy = world.bind("legacy", "cyclic:2", profile="compat").relation
    assert (legacy.lineage_key, legacy.prior_support) == ("global", "flag")


def test_a_retry_is_answered_as_before_whatever_the_service_had_filled(world: World) -> None:
    filled = seen("o1", observed_at=None)
    (first,) = observe(world.scout, documents=[filled], asked=NATIVE)
    before = n_entries(world)
    (second,) = observe(world.scout, documents=[filled], asked=NATIVE)
    assert (first.recorded, second.recorded, second.digest, n_entries(world)) == (True, False, first.digest, before)
    for other in (seen("o1", observed_at=None, trust=0.5), seen("o1", observed_at=7.0), seen("o1", tags=["t"])):
        with pytest.raises(Conflict, match="another payload"):
            observe(world.scout, documents=[other], asked=NATIVE)
    with pytest.raises(Conflict, match="exists already"):
        observe(world.scout, documents=[filled], asked=Asked("compat"))
    erase(world.alice, items=[Observation.objects.values_list("seq", "item").get(id=first.id)], reason="request")
    with pytest.raises(Erased):
        observe(world.scout, documents=[filled], asked=NATIVE)


def test_a_batch_is_stored_whole_or_as_far_as_it_goes_and_repeated_as_it_was(world: World) -> None:
    observe(world.scout, documents=[seen("o0")], asked=NATIVE)
    batch = [
        seen("o0"), seen("o1"), seen(None, masses=(1, 0, 0, 0)), seen("bad", masses=(1, 0)),
        seen("child", independent_evidence=False, derived_from=["o1"]),
        seen("orphan", independent_evidence=False, derived_from=["bad"]), seen("o1"),
    ]  # fmt: skip
    before = n_entries(world)
    with pytest.raises(Invalid, match="3: posterior"):
        observe(world.scout, documents=batch[:4], asked=NATIVE)
    assert n_entries(world) == before
    by = world.keyed("one")
    answers = observe_each(by, documents=batch, asked=NATIVE)
    assert codes(answers) == ["known", "new", "new", "invalid", "new", "not_found", "invalid"]
    assert n_entries(world) == before + 1
    again = observe_each(by, documents=batch, asked=NATIVE)
    assert n_entries(world) == before + 1
    for first, second in zip(answers, again, strict=True):
        if isinstance(first, Observed):
            assert second == replace(first, replayed=True)
        else:
            assert isinstance(second, DomainError)
    with pytest.raises(IdempotencyMismatch):
        observe_each(by, documents=batch[:2], asked=NATIVE)


@pytest.mark.parametrize(
    ("child", "error", "said"),
    [
        ({"derived_from": ["nothing"]}, NotFound, "no observation nothing"),
        ({"derived_from": ["o1"], "observed_at": 0.5}, Invalid, "not observed later"),
        ({"derived_from": ["o1"]}, Invalid, "keep the lineage"),
        ({"derived_from": ["o1"], "evidence_family": "family of o1", "target": "c"}, Invalid, "both endpoints"),
        ({"derived_from": ["o1"], "relation_type": "other"}, Invalid, "relation type"),
    ],
)
def test_a_parent_that_does_not_fit_is_refused_in_its_place(
    world: World, child: dict[str, Any], error: type[DomainError], said: str
) -> None:
    world.bind("other", "cyclic:4")
    observe(world.scout, documents=[seen("o1")], asked=NATIVE)
    before = n_entries(world)
    with pytest.raises(error, match=said) as refused:
        observe(world.scout, documents=[seen("o2", **child)], asked=NATIVE)
    assert refused.value.errors[0].loc == ("derived_from", 0)
    assert n_entries(world) == before


def test_b3_6_a_failed_observation_binds_no_law_and_opens_no_run() -> None:
    world = World()
    wrong = Asked("native", bind=Binding("rel", built_in("cyclic:7")), watch=MonitorConfig())
    before = n_entries(world)
    with pytest.raises(Invalid):
        observe(world.scout, documents=[seen("o1")], asked=wrong)
    assert (n_entries(world), RelationLaw.objects.count()) == (before, 0)
    right = replace(wrong, bind=Binding("rel", built_in("cyclic:4")))
    (done,) = observe(world.scout, documents=[seen("o1")], asked=right)
    assert (done.tracking, n_entries(world), Forecast.objects.count()) == ("tracked", before + 1, 1)


def test_b3_9_a_full_run_or_a_long_family_blocks_no_memory(world: World) -> None:
    config = MonitorConfig(reference_size=1, current_size=1, min_current_size=1, max_tracked=2)
    open_run(world.scout, config=config)
    told = observe(
        world.scout, asked=NATIVE, documents=[
            seen("long", provenance={"tool": "x" * 129}), seen("told", independent_evidence=False),
            *(seen(f"o{number}") for number in range(3)),
        ],
    )  # fmt: skip
    assert [one.tracking for one in told] == ["family_too_long", "dependent", "tracked", "tracked", "capacity"]
    assert (Observation.objects.count(), Forecast.objects.count()) == (5, 2)
    with pytest.raises(Conflict, match="another configuration"):
        open_run(world.scout, config=replace(config, max_tracked=3))


def test_what_stands_or_is_refused_takes_no_room_in_a_run_and_leaves_no_name(world: World) -> None:
    open_run(world.scout, config=MonitorConfig(reference_size=1, current_size=1, min_current_size=1, max_tracked=3))
    observe(world.scout, documents=[seen("o1")], asked=NATIVE)
    batch = [
        seen("o1"), seen("wrong", "lost node", masses=(1, 0), provenance={"tool": "lost tool"}), seen("o2"),
        seen("orphan", "lost end", independent_evidence=False, derived_from=["nobody"]), seen("o3"), seen("o4"),
    ]  # fmt: skip
    answers = observe_each(world.scout, documents=batch, asked=NATIVE)
    assert codes(answers) == ["known", "invalid", "new", "not_found", "new", "new"]
    assert [answers[index].tracking for index in (2, 4, 5)] == ["tracked", "tracked", "capacity"]  # type: ignore[union-attr]
    assert MonitorTally.objects.get(namespace=world.namespace).n_tracked == Forecast.objects.count() == 3
    lost = Name.objects.filter(namespace=world.namespace, text__startswith="lost")
    assert not lost.exists()
    assert not Name.objects.filter(namespace=world.namespace, text__in=["wrong", "orphan"]).exists()


def test_b4_3_mass_outside_the_prior_is_refused_or_flagged(world: World) -> None:
    outside = {"prior": [0.5, 0.5, 0, 0], "posterior": [0.98, 0.01, 0.01, 0]}
    with pytest.raises(Invalid, match="outside the prior"):
        world.observe("o1", "a", "b", **outside)
    world.bind("loose", "cyclic:4", prior_support="flag")
    assert world.observe("o1", "a", "b", relation_type="loose", **outside).flags == ("mass_outside_prior",)


def test_b4_6_hard_evidence_that_cannot_hold_names_a_smallest_set(world: World) -> None:
    world.bind("hard", "cyclic:4", has_zero_floor=True)

    def said(id: str, source: str, target: str, relation: int) -> None:
        masses = [float(relation == one) for one in range(4)]
        world.observe(id, source, target, masses, relation_type="hard")

    for id, source, target, relation in (("o1", "a", "b", 1), ("o2", "b", "c", 1), ("o3", "a", "c", 3)):
        said(id, source, target, relation)
    said("aside", "c", "d", 2)
    with pytest.raises(Conflict) as refused:
        world.ask("a", "b", "c", "d", relation_type="hard")
    assert refused.value.extra["observation_ids"] == ["o1", "o2", "o3"]
    world.revoke("o3")
    assert world.ask("a", "b", "c", "d", relation_type="hard").answer.marginals[2].tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize(("reexpose", "left"), [(False, 0.25), (True, 0.85)])
def test_b3_4_a_revoked_source_takes_its_echo_and_an_older_word_back_only_if_asked(
    world: World, reexpose: bool, left: float
) -> None:
    one = {"evidence_family": "one"}
    world.observe("older", "a", "b", [0.85, 0.05, 0.05, 0.05], **one)
    world.observe("source", "a", "b", [0.05, 0.85, 0.05, 0.05], observed_at=2.0, **one)
    world.observe("echo", "a", "b", [0.05, 0.9, 0.03, 0.02], observed_at=3.0, derived_from=["source"], **one)
    assert world.ask("a", "b").answer.used.ids == ("echo",)
    done = world.revoke("source", reexpose=reexpose)
    assert done.affected == ("source", "echo")
    assert world.ask("a", "b").answer.marginals[1, 0] == pytest.approx(left)
    with pytest.raises(NotFound, match="revoked already"):
        world.revoke("source")
    with pytest.raises(Invalid, match="not before it was observed"):
        world.revoke("older", at=0.5)


@pytest.mark.sqlite_only
def test_a_revocation_tells_all_that_it_reaches_in_statements_that_do_not_grow(world: World) -> None:
    echoes = [seen(f"echo {number}", derived_from=["source"], independent_evidence=False) for number in range(500)]
    observe(world.scout, documents=[seen("source"), *echoes], asked=NATIVE)
    raw, kind = connection.connection, sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER
    most = raw.setlimit(kind, 450)
    try:
        assert len(world.revoke("source").affected) == 501
    finally:
        raw.setlimit(kind, most)


def test_without_its_law_nothing_can_be_asked_or_observed(world: World) -> None:
    world.observe("o1", "a", "b", C4)
    address = RelationLaw.objects.values_list("seq", "item").get(namespace=world.namespace)
    assert _read.cache_info().currsize
    erase(world.alice, items=[address], reason="mistake")
    assert not _read.cache_info().currsize, "what was read of a law goes with its text"
    with pytest.raises(Erased):
        world.ask("a", "b")
    with pytest.raises(Erased):
        world.observe("o2", "a", "b", C4)
    with pytest.raises(NotFound, match="no law"):
        world.ask("a", "b", relation_type="unbound")
    states = ObservationStates()
    stands = list(states.dump(world.namespace))
    states.rebuild(world.namespace)
    assert list(states.dump(world.namespace)) == stands, "what only the law can read went with it"


def test_b4_6_a_contradiction_is_a_problem_that_names_its_set(world: World) -> None:
    world.bind("hard", "cyclic:2", has_zero_floor=True)
    for id, masses in (("o1", [1, 0]), ("o2", [0, 1])):
        world.observe(id, "a", "b", masses, relation_type="hard")
    query = {"relation_type": "hard", "nodes": ["a", "b"], "root": "a"}
    answer = caller(world, world.scout).post("/beliefs/query", query)
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert answer.json()["observation_ids"] == ["o1", "o2"]


def test_what_is_infinite_beyond_the_budget_is_null_in_a_document() -> None:
    told = {"log_evidence_interval": [-math.inf, 0.5], "conflicts": [{"strength_nats": math.inf}], "n": 1}
    assert finite(told) == {"log_evidence_interval": [None, 0.5], "conflicts": [{"strength_nats": None}], "n": 1}
