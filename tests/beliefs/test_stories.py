"""What pages read of beliefs: an observation with what became of it, and saved questions answered all at once."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.base.errors import NotFound
from memory.beliefs.kernel.removals import largest_difference, without_each
from memory.beliefs.operations.saving import save_query
from memory.beliefs.queries.observed import cascade, observation
from memory.beliefs.queries.saved import saved_queries
from memory.beliefs.queries.summaries import Summary, summaries
from memory.beliefs.relations import relations
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    """Three nodes, four observations: the one that says unlike is contradicted; one of them twice told, one revoked."""
    world = World()
    world.bind(law="cyclic:2")
    for id, source, target, alike in (("ab", "a", "b", 0.9), ("bc", "b", "c", 0.9), ("ac", "a", "c", 0.9)):
        world.observe(id, source, target, [alike, 1 - alike], tags=["seen"])
    world.observe("odd", "a", "c", [0.2, 0.8], provenance={"tool": "scan"})
    world.observe("echo", "a", "c", [0.1, 0.9], independent_evidence=False, derived_from=["odd"])
    world.observe("gone", "b", "c", [0.1, 0.9])
    world.revoke("gone", reason="a broken probe")
    return world


def asked(world: World, name: str, **given: object) -> None:
    query = {
        "schema_version": 2, "namespace": world.name, "relation_type": "rel", "root": "a", "nodes": ["a", "b", "c"],
        "as_of": 100.0, **given,
    }  # fmt: skip
    save_query(world.scout, name=name, query={key: value for key, value in query.items() if value is not None})


def all_summaries(world: World) -> dict[str, Summary]:
    at = world.now()
    found = summaries(at, saved=saved_queries(at), bound=relations(at.namespace, seq=at.seq))
    return {one.saved.name: one for one in found}


def test_a_summary_is_the_answer_that_the_question_gets_when_it_is_opened(world: World) -> None:
    asked(world, "all")
    asked(world, "tagged", tags=["seen"])
    asked(world, "two", max_observations=2)
    asked(world, "before", as_of=0.5)
    asked(world, "early", as_of=20.0)
    asked(world, "around", nodes=None, seeds=["a"])
    world.observe("older", "a", "b", [0.1, 0.9], evidence_family="family of ab", observed_at=0.7)
    found = all_summaries(world)
    for name, given in (("all", {}), ("tagged", {"tags": ["seen"]}), ("two", {"max_observations": 2}),
                        ("before", {"as_of": 0.5}), ("early", {"as_of": 20.0})):  # fmt: skip
        opened = world.ask("a", "b", "c", **given)
        answer = found[name].answer
        assert answer is not None
        assert answer.used.ids == opened.answer.used.ids
        np.testing.assert_array_equal(answer.marginals, opened.answer.marginals)
        assert found[name].hidden == opened.hidden_counts
    assert found["all"].strongest_nats == pytest.approx(0.847, abs=1e-3)
    assert found["all"].hidden == {"dependent": 1, "lineage": 1, "revoked": 1}
    assert found["early"].answer is not None
    assert "gone" in found["early"].answer.used.ids
    assert found["before"].last_seq is None
    assert found["around"].kind == "search"


def test_hard_contradictions_and_what_is_too_wide_for_a_list_are_told_apart(world: World) -> None:
    world.bind("hard", "cyclic:2", has_zero_floor=True)
    for id, vector in (("yes", [1.0, 0.0]), ("no", [0.0, 1.0])):
        world.observe(id, "a", "b", vector, relation_type="hard")
    asked(world, "hard", relation_type="hard")
    world.bind("wide", "cyclic:64")
    nodes = [f"n{i}" for i in range(7)]
    for i, source in enumerate(nodes):
        for target in nodes[:i]:
            world.observe(f"{source}{target}", source, target, [1.0] * 64, relation_type="wide")
    asked(world, "wide", relation_type="wide", root="n0", nodes=nodes)
    found = all_summaries(world)
    assert (found["hard"].kind, set(found["hard"].contradicting)) == ("contradiction", {"yes", "no"})
    assert found["wide"].kind == "wide"


def test_the_cost_of_summaries_does_not_grow_with_their_number(world: World) -> None:
    counts = []
    for name in ("q1", "q2", "q3"):
        asked(world, name)
        with CaptureQueriesContext(connection) as captured:
            all_summaries(world)
        counts.append(len(captured))
    assert len(set(counts)) == 1


def test_an_observation_tells_where_it_comes_from_and_what_became_of_it(world: World) -> None:
    odd, gone = world.ask("a", "b", "c").ids["odd"], world.ask("a", "b", "c").ids["gone"]
    story = observation(world.now(), id=odd)
    assert (story.observation_id, story.names["source"], story.names["target"]) == ("odd", "a", "c")
    assert story.posterior is not None
    assert story.posterior.tolist() == [0.2, 0.8]
    assert story.provenance == {"tool": "scan"}
    assert [one.observation_id for one in story.children] == ["echo"]
    assert story.n_children == 1
    assert [one.observation_id for one in observation(world.now(), id=story.children[0].id).parents] == ["odd"]
    assert story.reached == ()
    (reached,) = observation(world.now(), id=gone).reached
    assert (reached.observation_id, reached.at, reached.note) == ("gone", 50.0, "a broken probe")
    assert observation(world.at(world.now().seq - 1), id=gone).reached == ()
    with pytest.raises(NotFound):
        observation(world.at(1), id=odd)


def test_a_cascade_is_all_that_would_be_reached(world: World) -> None:
    world.observe("echo of echo", "a", "c", [0.1, 0.9], independent_evidence=False, derived_from=["echo"])
    odd = world.ask("a", "b", "c").ids["odd"]
    found = cascade(world.now(), id=odd)
    assert ([one.observation_id for one in found.told], found.n) == (["echo", "echo of echo"], 2)
    done = world.revoke("odd")
    assert sorted(done.affected) == ["echo", "echo of echo", "odd"]


def test_an_answer_without_one_observation_is_that_of_a_store_without_it(world: World) -> None:
    answer = world.ask("a", "b", "c").answer
    edge = answer.used.ids.index("odd")
    (row,) = without_each(answer, node=2, edges=[edge])
    world.revoke("odd")
    np.testing.assert_allclose(row, world.ask("a", "b", "c").answer.marginals[2], atol=1e-12)
    assert largest_difference(answer) < 1e-12
