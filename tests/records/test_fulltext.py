"""The text index: built by one path, equal to a rebuilt one whatever has happened, and empty of what was erased."""

from __future__ import annotations

import pytest

from memory.records import fulltext
from memory.records.models import RecordState
from memory.records.queries import lists
from tests.histories import history
from tests.states import projected, rebuilt
from tests.world import World

pytestmark = pytest.mark.django_db


def docs(world: World, query: str, join: fulltext.Join = "all") -> list[int]:
    return [hit.doc for hit in fulltext.search(world.namespace, fulltext.words(query), join=join, limit=100)]


def doc(world: World, text: str, **given: object) -> int:
    saved = world.save(text, **given)
    return RecordState.objects.get(namespace=world.namespace, id=saved.id).doc


@pytest.mark.slow
def test_after_a_thousand_operations_index_and_projections_equal_rebuilt_ones() -> None:
    """Trap: an index that derivations fill with surplus and wrong rows."""
    world = World()
    assert len(list(history(world, seed=11, n_acts=1000))) == 1000
    before = projected(world.namespace)
    assert len(before["record_texts"]) > 1000
    assert rebuilt(world.namespace) == before
    indexed = {row[0] for row in before["record_texts"]}
    with_text = RecordState.objects.filter(namespace=world.namespace, erased_seq__isnull=True)
    assert indexed == set(with_text.values_list("doc", flat=True))


def test_all_words_or_any_word_as_is_asked() -> None:
    world = World()
    both, one = doc(world, "red apples"), doc(world, "green apples")
    assert docs(world, "red apple") == [both]
    assert sorted(docs(world, "red apple", "any")) == sorted([both, one])
    assert docs(world, "blue apple") == []


def test_an_erased_text_leaves_no_token_and_the_others_keep_theirs() -> None:
    world = World()
    gone, kept = world.save("unrepeatable words"), doc(world, "other words")
    before = fulltext.dump(world.namespace)
    world.erase(gone.id)
    assert fulltext.dump(world.namespace) == [row for row in before if row[0] == kept]
    assert docs(world, "unrepeatable") == []
    assert docs(world, "words") == [kept]


def test_scores_after_an_erasure_are_those_of_a_store_that_never_held_the_text() -> None:
    world, other = World(), World("other")
    for text in ("red apples", "green pears", "yellow plums and more words"):
        world.save(text)
        other.save(text)
    world.erase(world.save("apples " * 50).id)
    scores = [
        [hit.score for hit in fulltext.search(w.namespace, ["apples", "pears"], join="any", limit=9)]
        for w in (world, other)
    ]
    assert scores[0] == pytest.approx(scores[1])


def test_a_list_by_text_finds_whole_records_and_counts_the_hidden() -> None:
    world = World()
    shown = world.save("red apples")
    hidden = world.save("red apples again")
    world.withdraw(hidden.id)
    page = lists.records(world.now(), where=lists.Filter(query="apple red"), sort="rank")
    assert ([row.id for row in page.items], page.hidden) == ([shown.id], {"withdrawn": 1})
    assert page.items[0].score is not None


def test_pages_of_a_search_hold_every_match_once() -> None:
    world = World()
    saved = {world.save(f"apple number {number}").id for number in range(12)}
    found, after = [], ""
    while True:
        page = lists.records(world.now(), where=lists.Filter(query="apple"), sort="rank", after=after, limit=5)
        found += [row.id for row in page.items]
        after = page.next
        if not after:
            break
    assert len(found) == 12
    assert set(found) == saved


def test_nothing_is_found_where_nothing_was_ever_saved() -> None:
    world = World()
    assert docs(world, "apple") == []
    assert fulltext.dump(world.namespace) == []
    assert fulltext.explain(world.namespace, ["apple"], [1]) == {1: {}}
