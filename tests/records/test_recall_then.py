"""What was recalled for an entry is recalled for it for ever: the same records, ranks, scores and reasons.

Source: laws of the store, 4.5.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.base.asof import AsOf
from memory.ledger.queries import asof
from memory.records import fulltext
from memory.records.models import doc_of
from memory.records.queries.lists import Filter, records
from memory.records.queries.recall import recall
from tests.statements import after_first
from tests.world import World

pytestmark = pytest.mark.django_db

FAR = datetime(2999, 1, 1, tzinfo=UTC)
WORDS = ["apple", "apples", "pear", "plum", "running", "runs", "élan", "the", "x-1", "a_b", "100"]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


@pytest.fixture
def world() -> World:
    return World()


def grown(world: World, random: Random, n: int) -> None:
    world.save_all(*(" ".join(random.choices(WORDS, k=random.randint(1, 12))) for _ in range(n)))


def asked(at: AsOf) -> object:
    """Answers to some questions, but for the age, which is measured by the true-on of the point."""
    at = replace(at, valid_at=FAR)
    queries = ("apple", "apple pear plum", "running x-1", "a_b", "élan 100", "nothing", "the")
    return [
        *(recall(at, query=query, limit=7) for query in queries),
        *(records(at, where=Filter(query=query), sort="rank") for query in queries),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_saved_later_changes_no_answer_for_an_earlier_entry(seed: int, world: World) -> None:
    random = Random(seed)
    answers: dict[int, object] = {}
    for _ in range(4):
        grown(world, random, 5)
        head = world.now()
        assert head.is_head
        answers[head.seq] = asked(head)
        for seq, answer in answers.items():
            assert asked(world.at(seq)) == answer


def test_more_matches_than_a_list_ranks_crowd_out_nothing_of_an_earlier_entry(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.records.queries.lists.RANKED", 3)
    early = world.save("apple among many words that make it long").id
    then = world.now().seq
    world.save_all(*["apple"] * 9)
    found = records(world.at(then, valid_at=FAR), where=Filter(query="apple"), sort="rank")
    assert [row.id for row in found.items] == [early]


def test_an_entry_that_comes_between_resolving_and_asking_changes_nothing(world: World) -> None:
    grown(world, Random(3), 8)
    at = world.now()
    before = asked(at)
    grown(world, Random(4), 8)
    assert at.is_head
    assert asked(at) == before


def test_erasure_is_the_one_exception_and_leaves_the_answer_of_a_store_that_never_held_the_text(world: World) -> None:
    kept = World("other")
    for one in (world, kept):
        one.save("apple pear")
    gone = world.save("apple apple apple").id
    then = world.now().seq
    for one in (world, kept):
        one.save("plum")
    world.erase(gone)
    hits = [
        [hit.score for hit in fulltext.search(w.namespace, ["apple"], join="any", limit=9, below=doc_of(seq + 1, 0))]
        for w, seq in ((world, then), (kept, then - 1))
    ]
    assert hits[0] == hits[1]
    assert len(hits[0]) == 1


@settings(max_examples=60)
@given(st.lists(texts, min_size=1, max_size=8), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
@pytest.mark.parametrize("join", ["any", "all"])
def test_scores_below_a_document_are_bit_for_bit_those_of_the_index_that_held_no_more(
    join: fulltext.Join, contents: list[str], terms: list[str]
) -> None:
    namespace = 999
    fulltext.clear(namespace)
    fulltext.add(namespace, list(enumerate(contents, start=1)))
    below = len(contents) + 1
    docs = list(range(1, below))
    before = fulltext.search(namespace, terms, join=join, limit=99, below=below)
    reasons = fulltext.explain(namespace, terms, docs, below=below)
    fulltext.add(namespace, [(below, "apple pear something else"), (below + 1, "plum plum plum")])
    assert fulltext.search(namespace, terms, join=join, limit=99, below=below) == before
    assert fulltext.explain(namespace, terms, docs, below=below) == reasons
    fulltext.clear(namespace)


def test_another_writer_between_the_statements_changes_nothing(world: World) -> None:
    grown(world, Random(5), 6)
    at = asof.now(world.namespace)
    before = asked(at)
    with after_first("memory_recordtext", lambda: grown(world, Random(6), 3)):
        assert asked(at) == before
