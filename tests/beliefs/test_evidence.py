"""What may speak at a point, against a model of it in a few lines; on both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.base import projections, sql
from memory.beliefs.kernel.discovery import EdgesInMemory, retrieve_around
from memory.beliefs.kernel.questions import query_document
from memory.beliefs.kernel.retrieval import LightEdge, newest_first
from memory.beliefs.models import Observation, ObservationReach
from memory.beliefs.queries import evidence
from memory.beliefs.queries.asking import ask
from memory.beliefs.queries.evidence import Evidence, Moment, listed
from memory.ledger.models import Name
from memory.ledger.operations.erasing import erase
from memory.ledger.queries.contents import name_ids
from tests.world import World

pytestmark = pytest.mark.django_db

NODES, FAMILIES, TAGS = "abcd", "xyz", "tu"
NO_FIXTURE = [HealthCheck.function_scoped_fixture]
numbers = count()


@dataclass
class Said:
    """An observation of the model and what was said of it."""

    id: str
    seq: int
    source: str
    target: str
    at: float
    valid: tuple[float | None, float | None]
    family: str
    independent: bool
    tags: frozenset[str]
    score: float
    stored: UUID
    parents: tuple[int, ...] = ()
    revoked: tuple[int, float, bool, bool] | None = None
    erased: bool = False
    lineage: Any = field(default=None)


instants = st.integers(0, 6).map(float)
observing = st.tuples(
    st.just("observe"), st.sampled_from(NODES), st.sampled_from(NODES), instants,
    st.tuples(st.none() | instants, st.none() | instants), st.sampled_from(FAMILIES), st.integers(0, 4).map(bool),
    st.frozensets(st.sampled_from(TAGS)), st.integers(0, 3),
)  # fmt: skip
revoking = st.tuples(st.just("revoke"), st.integers(0, 9), instants, st.booleans(), st.booleans())
erasing = st.tuples(st.just("erase"), st.integers(0, 9))
histories = st.lists(st.one_of(observing, observing, observing, revoking, erasing), min_size=3, max_size=12)


def played(world: World, relation: str, rule: str, history: list[Any]) -> list[Said]:
    """The history in the store and in the model."""
    said: list[Said] = []
    for act, *told in history:
        if act == "observe":
            said.append(_observed(world, relation, rule, said, told))
        elif said and act == "revoke":
            one = said[told[0] % len(said)]
            if one.revoked is None and not one.erased and told[1] >= one.at:
                cascade = "derived" if told[2] else "record"
                done = world.revoke(one.id, at=told[1], cascade=cascade, reexpose=told[3])
                one.revoked = (done.seq, told[1], told[2], told[3])
        elif said:
            one = said[told[0] % len(said)]
            if not one.erased:
                address = Observation.objects.values_list("seq", "item").get(namespace=world.namespace, id=one.stored)
                erase(world.alice, items=[address], reason="request", note="asked for")
                one.erased = True
    return said


def _observed(world: World, relation: str, rule: str, said: list[Said], told: list[Any]) -> Said:
    source, target, at, (start, end), family, independent, tags, parent = told
    start, end = (end, start) if start is not None and end is not None and end < start else (start, end)
    older = [i for i, one in enumerate(said) if one.at <= at and not independent and not one.erased]
    parents = tuple(older[parent : parent + 1])
    number = next(numbers)
    id = f"o{number:06}"
    mass = 0.3 + 0.05 * (number % 10)
    done = world.observe(
        id, source, target, [mass, 1 - mass], relation_type=relation, observed_at=at, valid_from=start,
        valid_until=end, evidence_family=family, independent_evidence=independent, tags=sorted(tags),
        derived_from=[said[one].id for one in parents],
    )  # fmt: skip
    lineage = family if rule == "global" else (family, frozenset((source, target)))
    score = evidence_score(mass)
    return Said(
        id, done.seq, source, target, at, (start, end), family, independent, tags, score, done.id, parents,
        lineage=lineage,
    )  # fmt: skip


def evidence_score(mass: float) -> float:
    from memory.beliefs.kernel.laws import built_in
    from memory.beliefs.kernel.retrieval import information_score
    from memory.beliefs.states import read_vectors

    vectors = read_vectors([mass, 1 - mass], None, built_in("cyclic:2"))
    return information_score(vectors.posterior, vectors.prior, trust=1.0)


def reaching(said: list[Said], index: int, *, seq: int, at: float) -> list[bool]:
    """Whether each revocation in force, its own or of what it comes of, re-exposes."""
    found, ahead, seen = [], [(index, True)], set[int]()
    while ahead:
        one, is_own = ahead.pop()
        if one in seen:
            continue
        seen.add(one)
        revoked = said[one].revoked
        if revoked and revoked[0] <= seq and revoked[1] <= at and (is_own or revoked[2]):
            found.append(revoked[3])
        ahead += [(parent, False) for parent in said[one].parents]
    return found


def speaking(said: list[Said], *, seq: int, at: float, tags: frozenset[str], among: str | None) -> dict[str, Said]:
    """Who may speak, by the words of the docstring of `evidence`."""
    newest: dict[Any, tuple[tuple[float, str], Said, bool]] = {}
    for index, one in enumerate(said):
        start, end = one.valid
        within = (start is None or start <= at) and (end is None or end >= at)
        stated = one.seq <= seq and one.independent and one.at <= at and within and tags <= one.tags
        # The tags of an erased observation are gone with it.
        stated = stated and not (one.erased and tags)
        if not stated or (among is not None and not {one.source, one.target} <= set(among)):
            continue
        reached = reaching(said, index, seq=seq, at=at)
        if reached and all(reached):
            continue
        key = (one.at, "" if one.erased else one.id)
        if one.lineage not in newest or newest[one.lineage][0] < key:
            newest[one.lineage] = (key, one, bool(reached) or one.erased)
    return {one.id: one for _, one, is_lost in newest.values() if not is_lost}


def nodes_of(world: World, texts: str) -> dict[str, bytes]:
    """The nodes that have a name here."""
    return {text: id.bytes for text, id in name_ids(world.namespace, texts).items()}


def ids_of(edges: Iterator[LightEdge] | tuple[LightEdge, ...] | list[LightEdge]) -> list[str]:
    return [edge.observation_id.decode() for edge in edges]


@pytest.mark.parametrize("rule", ["edge", "global"])
@settings(suppress_health_check=NO_FIXTURE)
@given(histories, instants, st.integers(0, 12), st.frozensets(st.sampled_from(TAGS), max_size=1))
def test_what_may_speak_is_what_a_model_says(
    rule: str, history: list[Any], at: float, back: int, tags: frozenset[str]
) -> None:
    world = _world()
    relation = f"rel {next(numbers)}"
    bound = world.bind(relation, "cyclic:2", lineage_key=rule).relation
    said = played(world, relation, rule, history)
    head = world.now().seq
    seq = max(bound.seq, head - back)
    moment = Moment(world.namespace, bound.name, seq, at, tuple(sorted(tags)))
    names = nodes_of(world, NODES)
    every = speaking(said, seq=seq, at=at, tags=tags, among=None)
    store = Evidence(moment)
    for frontier in ("a", "bc"):
        touched = [one for one in every.values() if {one.source, one.target} & set(frontier)]
        here = [names[node] for node in frontier if node in names]
        assert set(ids_of(store.touching(here, order="newest"))) == {one.id for one in touched}
        ordered = sorted(touched, key=lambda one: (-one.score, -one.at, one.id))
        assert ids_of(store.touching(here, order="information")) == [one.id for one in ordered]
    assert store.n_touching([names[node] for node in "a" if node in names]) == sum(
        "a" in (one.source, one.target) for one in every.values()
    )
    among = "abc"
    here = [names[node] for node in among if node in names]
    found = listed(moment, here)
    assert set(ids_of(found.edges)) == speaking(said, seq=seq, at=at, tags=tags, among=among).keys()
    between = [one for one in said if one.seq <= seq and {one.source, one.target} <= set(among)]
    assert len(found.edges) + len(found.hidden) == len(between)
    inner = [one.id for one in every.values() if {one.source, one.target} <= set(among)]
    assert sorted(ids_of(store.between(here))) == sorted(inner)


_worlds: list[World] = []


def _world() -> World:
    """One world for all examples of a test; the transaction of the test takes it away."""
    from memory.ledger.models import Namespace

    if not _worlds or not Namespace.objects.filter(pk=_worlds[0].namespace).exists():
        _worlds[:] = [World()]
    return _worlds[0]


@settings(suppress_health_check=NO_FIXTURE, max_examples=5)
@given(st.lists(histories, min_size=1, max_size=2))
def test_derived_rows_are_made_anew_as_they_were(told: list[list[Any]]) -> None:
    world = _world()
    for history in told:
        relation = f"rel {next(numbers)}"
        world.bind(relation, "cyclic:2")
        played(world, relation, "edge", history)
    ours = [one for one in projections.registered() if one.name.startswith(("observation", "monitor"))]
    assert len(ours) >= 4
    for one in ours:
        before = list(one.dump(world.namespace))
        one.rebuild(world.namespace)
        assert list(one.dump(world.namespace)) == before, one.name


@pytest.mark.parametrize("page", [2, 640])
def test_a_search_over_the_store_is_a_search_in_memory(page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "FIRST_PAGE", page)
    world = World()
    bound = world.bind("rel", "cyclic:2").relation
    ends = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a"), ("c", "f"), ("f", "f"), ("a", "b")]
    for number, (source, target) in enumerate(ends):
        world.observe(
            f"o{number}", source, target, [0.5 + 0.05 * number, 0.5 - 0.05 * number], observed_at=float(number % 3)
        )
    moment = Moment(world.namespace, bound.name, world.now().seq, 10.0)
    names = nodes_of(world, "abcdef")
    every = list(Evidence(moment).between(list(names.values())))
    assert len(every) == len(ends)
    for policy in ("recent", "coverage", "cycle_aware"):
        for limit, most in ((100, 32), (3, 32), (100, 3)):
            around: dict[str, Any] = {
                "seeds": [names["a"]], "root": names["a"], "max_hops": 2, "max_nodes": most, "limit": limit,
                "policy": policy,
            }  # fmt: skip
            assert retrieve_around(Evidence(moment), **around) == retrieve_around(EdgesInMemory(every), **around)


@pytest.mark.sqlite_only
@pytest.mark.parametrize("is_analysed", [False, True])
def test_what_touches_a_node_is_found_by_the_indexes_of_nodes(is_analysed: bool) -> None:
    """PostgreSQL knows hubs by its statistics; SQLite is told what to walk."""
    world = World()
    bound = world.bind("rel", "cyclic:2").relation
    for number in range(40):
        world.observe(f"o{number}", "hub", f"n{number % 4}", [0.9, 0.1], observed_at=float(number))
    if is_analysed:
        sql.run("ANALYZE", [])
    store = Evidence(Moment(world.namespace, bound.name, world.now().seq, 99.0))
    here = [one.bytes for one in name_ids(world.namespace, ["hub", "n1"]).values()]
    both = {"observation_state_from", "observation_state_to"}
    for read, expected in (
        (lambda: store.touching(here, order="newest"), both), (lambda: store.touching(here, order="information"), both),
        (lambda: [store.n_touching(here)], both), (lambda: store.between(here), {"observation_state_source"}),
        (lambda: listed(store.moment, here).edges, {"observation_state_source"}),
    ):  # fmt: skip
        steps = _plan(read)
        reading = {step.split(" ")[4] for step in steps if step.startswith("SEARCH s USING INDEX")}
        assert reading == expected, steps
        assert not [step for step in steps if step.startswith(("SCAN s", "SCAN o", "SCAN r"))], steps
        assert all("observation_state_lineage" in step for step in steps if step.startswith("SEARCH o"))


def _plan(read: Callable[[], Any]) -> list[str]:
    """The steps by which SQLite answers the last statement of the read."""
    told: list[tuple[str, Any]] = []

    def noted(execute: Any, statement: str, values: Any, many: bool, context: Any) -> Any:
        told.append((statement, values))
        return execute(statement, values, many, context)

    with connection.execute_wrapper(noted):
        list(read())
    statement, values = told[-1]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {statement}", values)
        return [step for *_, step in cursor.fetchall()]


def test_without_its_rules_the_model_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the rule of lineages, or of revocations, off, the same world answers otherwise."""
    world = World()
    bound = world.bind("rel", "cyclic:2").relation
    for id, at in (("o1", 1.0), ("o2", 2.0)):
        world.observe(id, "a", "b", [0.9, 0.1], observed_at=at, evidence_family="one")
    world.observe("o3", "a", "b", [0.9, 0.1], derived_from=["o2"], observed_at=3.0, evidence_family="one")
    here = list(nodes_of(world, "ab").values())

    def speaks() -> list[str]:
        return ids_of(Evidence(Moment(world.namespace, bound.name, world.now().seq, 9.0)).between(here))

    assert speaks() == ["o3"]
    world.revoke("o2", at=5.0)
    assert speaks() == []
    monkeypatch.setattr(evidence, "_reached", lambda alias, more="": "SELECT 1 WHERE 1 = 0 AND %s = %s")
    assert speaks() == ["o3"]
    monkeypatch.undo()
    ObservationReach.objects.filter(namespace=world.namespace, is_own=False).delete()
    assert speaks() == ["o3"]


def test_observations_whose_names_are_erased_still_speak_once_for_a_lineage_and_in_one_order() -> None:
    world = World()
    bound = world.bind("rel", "cyclic:2").relation
    for id in "pqrs":
        world.observe(id, "a", "b", [0.9, 0.1], evidence_family="one")
    for number, id in enumerate("tuv"):
        world.observe(id, "a", "b", [0.9, 0.1], evidence_family=f"another {number}")
    here = list(nodes_of(world, "ab").values())
    for gone, n_speak in (("q", 4), ("rs", 4), ("p", 4), ("tv", 4)):
        names = Name.objects.filter(namespace=world.namespace, text__in=list(gone)).values_list("seq", "item")
        erase(world.alice, items=list(names), reason="request")
        moment = Moment(world.namespace, bound.name, world.now().seq, 9.0)
        told = [edge.observation_id for edge in Evidence(moment).touching(here, order="newest")]
        assert told == [edge.observation_id for edge in newest_first(listed(moment, here).edges)]
        assert told == [edge.observation_id for edge in Evidence(moment).touching(here, order="information")]
        assert len(told) == n_speak


def test_what_a_search_left_out_says_whether_a_limit_a_newer_word_or_its_last_hop_did_it() -> None:
    world = World()
    world.bind("rel", "cyclic:2", lineage_key="global")
    for id, source, target, more in (
        ("old", "a", "b", {"evidence_family": "one"}), ("ab", "a", "b", {}), ("ac", "a", "c", {}),
        ("rim", "b", "c", {}), ("new", "x", "y", {"evidence_family": "one", "observed_at": 2.0}),
    ):  # fmt: skip
        world.observe(id, source, target, [0.9, 0.1], **more)

    def hidden(**given: Any) -> Mapping[str, str]:
        query = {"schema_version": 2, "namespace": "lab", "relation_type": "rel", "root": "a", "seeds": ["a"], **given}
        return ask(world.now(), query=query_document(query), profile="native").hidden

    assert hidden(max_hops=1) == {"old": "lineage", "rim": "beyond"}
    assert hidden() == {"old": "lineage"}
    assert hidden(max_observations=2) == {"old": "lineage", "rim": "limit"}
    assert hidden(max_hops=1, retrieval_policy="coverage") == {"old": "lineage"}
