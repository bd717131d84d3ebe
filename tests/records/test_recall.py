"""Recall: the current records that answer best, within a budget, ranked by the words of one namespace alone."""

from __future__ import annotations

import json
import lzma
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import operations as records
from memory.records.content import NewRecord
from memory.records.fulltext import words
from memory.records.queries.recall import Recall, recall
from tests.world import World

pytestmark = pytest.mark.django_db

FIXTURES = Path(__file__).parent / "fixtures" / "longmemeval"
JANUARY, MARCH = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)


@cache
def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lzma.open(FIXTURES / f"{name}.jsonl.xz", "rt", encoding="utf-8")]


def told(session: dict[str, Any]) -> str:
    return "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in session["turns"])


def remembering(world: World) -> dict[UUID, str]:
    """The sessions of the benchmark, one record for each. {record: session}"""
    sessions = lines("sessions")
    saved = records.save(world.scout, records=[NewRecord("session", told(session)) for session in sessions])
    return {one.id: session["id"] for one, session in zip(saved, sessions, strict=True)}


def asked(world: World, question: str, *, limit: int = 5) -> list[UUID]:
    return [item.id for item in recall(world.now(), query=question, limit=limit, budget_tokens=10**9).items]


def test_a_session_that_answers_is_among_the_first_five_for_each_question_of_the_benchmark() -> None:
    world = World()
    sessions = remembering(world)
    missed = [
        question["question"]
        for question in lines("questions")
        if not {sessions[id] for id in asked(world, question["question"])}
        & set(question["ground_truth"]["supporting_session_ids"])
    ]
    assert (len(lines("questions")), missed) == (16, [])


def test_the_texts_of_another_namespace_change_no_rank_and_no_score() -> None:
    world, other = World(), World("elsewhere")
    remembering(world)
    questions = [question["question"] for question in lines("questions")]
    before = [[(item.id, item.score, item.why) for item in answer(world, text).items] for text in questions]
    other.save_all(*(text for text in questions for _ in range(20)))
    after = [[(item.id, item.score, item.why) for item in answer(world, text).items] for text in questions]
    assert after == before


def answer(world: World, query: str, **options: Any) -> Recall:
    return recall(world.now(), query=query, **{"budget_tokens": 10**9, **options})


# What is hidden.


def test_what_is_hidden_is_absent_and_counted_by_why() -> None:
    world = World()
    kept = world.save("the fox lives in the forest")
    withdrawn = world.save("the fox lives in the garden")
    erased = world.save("the fox lives in the zoo")
    world.save("the fox lived in the barn", valid_from=JANUARY, valid_to=MARCH)
    old = world.save("the fox lives in a hole")
    newer = world.evolve(old.id, content="the fox lives in a burrow")
    world.withdraw(withdrawn.id)
    world.erase(erased.id)
    found = answer(world, "where does the fox live")
    assert {item.id for item in found.items} == {kept.id, newer}
    assert found.hidden == {"not_valid": 1, "superseded": 1, "withdrawn": 1}


def test_in_the_past_and_at_another_valid_instant_other_records_are_current() -> None:
    world = World()
    old = world.save("the fox lives in a hole")
    world.evolve(old.id, content="the fox lives in a burrow")
    world.save("the fox lives in a barn", valid_from=JANUARY, valid_to=MARCH)
    then = recall(world.at(old.seq), query="fox")
    assert [item.text for item in then.items] == ["the fox lives in a hole"]
    in_february = recall(world.at(world.now().seq, valid_at=JANUARY + timedelta(days=40)), query="fox barn")
    assert in_february.items[0].text == "the fox lives in a barn"


def test_hidden_matches_are_passed_over_and_never_shorten_the_answer() -> None:
    world = World()
    for number in range(30):
        world.withdraw(world.save(f"fox fox fox {number}").id)
    world.save_all(*(f"a fox among many other words {number}" for number in range(5)))
    found = answer(world, "fox", limit=5)
    assert (len(found.items), found.hidden) == (5, {"withdrawn": 30})


def test_types_narrow_the_answer() -> None:
    world = World()
    world.save("a fox", type="note")
    fact = world.save("a fox", type="fact")
    assert [item.id for item in answer(world, "fox", types=("fact",)).items] == [fact.id]
    assert answer(world, "fox", types=("unheard-of",)).items == ()


# Budget and limit.


def test_the_answer_stays_within_its_budget_and_says_what_did_not_fit() -> None:
    world = World()
    world.save("fox " * 100)
    small = world.save("a fox")
    found = answer(world, "fox", budget_tokens=10)
    assert [item.id for item in found.items] == [small.id]
    assert (found.n_tokens, found.hidden) == (sum(item.n_tokens for item in found.items), {"budget": 1})
    assert found.n_tokens <= 10
    assert answer(world, "fox", budget_tokens=0).items == ()


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_is_told_than_was_asked_for(limit: int) -> None:
    world = World()
    world.save_all(*(f"fox number {number}" for number in range(10)))
    assert len(answer(world, "fox", limit=limit).items) == limit


# Ranking.


def test_the_reasons_name_the_words_that_count_and_add_up_to_the_score() -> None:
    world = World()
    world.save_all("nothing of the kind", "also nothing here", "still nothing", "and nothing more")
    best = world.save("leases end and fences refuse")
    world.save("a fence around the garden")
    found = answer(world, "what do fences and leases do")
    assert found.items[0].id == best.id
    for item in found.items:
        assert sum(score for _, score in item.why) == pytest.approx(item.score, abs=1e-4)
        assert [score for _, score in item.why] == sorted((score for _, score in item.why), reverse=True)


def test_rare_words_count_more_than_frequent_ones_and_equal_matches_go_newest_first() -> None:
    world = World()
    world.save_all(*(f"the common word {number}" for number in range(8)))
    rare = world.save("the common and the extraordinary word")
    assert answer(world, "common extraordinary").items[0].id == rare.id
    first, second = world.save("twin words").id, world.save("twin words").id
    assert [item.id for item in answer(world, "twin").items] == [second, first]


def test_words_are_found_in_other_forms_in_summaries_and_in_tags() -> None:
    world = World()
    form = world.save("we were painting the bridges")
    summary = world.save("no such word here", summary="about volcanoes")
    tag = world.save("nor here", tags=("glacier",))
    asked_for = {"who painted a bridge": form, "volcano": summary, "glaciers": tag}
    assert {query: answer(world, query).items[0].id for query in asked_for} == {
        query: saved.id for query, saved in asked_for.items()
    }


def test_common_words_alone_still_ask_something() -> None:
    assert words("what is the fox") == ["fox"]
    assert words("to be or not to be") == ["not"]
    assert words("it is") == ["it", "is"]
    assert words("") == words("?!") == []


def test_a_query_without_words_or_in_an_empty_namespace_has_no_answer() -> None:
    world = World()
    assert answer(world, "fox").items == ()
    world.save("a fox")
    assert answer(world, "?!").items == answer(world, "").items == ()


def test_any_query_is_answered() -> None:
    world = World()
    world.save_all('say "NEAR(a b)" AND NOT x*', "a fox & a dog | cat:* <-> 'quoted' \\", "ÄÖÜ ß 東京 🦊")
    at = world.now()

    @given(st.text(max_size=60) | st.text("abfox \"'*():&|!<->^{}-+\\ANDORTNEAR", max_size=60))
    def ask(query: str) -> None:
        found = recall(at, query=query.replace("\0", ""))
        assert len(found.items) <= 3

    ask()
    assert answer(world, "東京").items
    assert answer(world, "near").items
