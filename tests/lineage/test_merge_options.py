"""The options of a merge: whose word counts, an interval of the caller's, a summary; and what a refusal tells."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.canonical import canonical
from memory.base.errors import Conflict, Erased, Invalid, NotFound
from memory.base.intervals import Interval
from memory.ledger.models import Entry
from memory.lineage.kernel import Source, merged
from memory.lineage.models import Derivation
from memory.records.queries.detail import record
from tests.contract.callers import caller, places
from tests.lineage.sources import source
from tests.world import World

DAY = timedelta(days=1)
START = datetime(2026, 1, 1, tzinfo=UTC)

starts = st.none() | st.integers(0, 3).map(lambda n: START + n * DAY)


@st.composite
def timed(draw: st.DrawFn) -> list[Source]:
    return [
        source(n, tags=(f"tag {n}",), metadata={"k": n}, valid_from=draw(starts), seq=draw(st.integers(1, 3)))
        for n in range(1, draw(st.integers(2, 4)) + 1)
    ]


@given(timed(), st.sampled_from(["latest", "oldest"]))
def test_one_source_gives_tags_and_metadata_whatever_the_order_of_naming(sources: list[Source], which: str) -> None:
    answers = {
        canonical([found.tags, found.metadata, found.conflicts, found.content, found.type])
        for order in permutations(sources)
        for found in [merged(order, strategy=which)]  # type: ignore[arg-type]
    }
    assert len(answers) == 1
    found = merged(sources, strategy=which)  # type: ignore[arg-type]
    chosen = next(one for one in sources if one.tags == found.tags)
    assert (found.metadata, found.conflicts) == (chosen.metadata, {})
    times = [(one.valid_from or datetime.min.replace(tzinfo=UTC), one.seq, one.id) for one in sources]
    wanted = max(times) if which == "latest" else min(times)
    assert (chosen.valid_from or datetime.min.replace(tzinfo=UTC), chosen.seq, chosen.id) == wanted
    assert all(one.content in found.content for one in sources)


def test_an_open_start_is_older_than_every_instant_and_later_entries_are_later() -> None:
    without, early, late = source(3, seq=9), source(1, valid_from=START, seq=2), source(2, valid_from=START, seq=1)
    given_ids = {"latest": early.id, "oldest": without.id}
    for which, id in given_ids.items():
        tagged = [Source(**{**fields(one), "tags": (str(one.id),)}) for one in (without, early, late)]
        assert merged(tagged, strategy=which).tags == (str(id),)  # type: ignore[arg-type]


def fields(one: Source) -> dict[str, object]:
    return {name: getattr(one, name) for name in Source.__slots__}


@pytest.mark.django_db
class TestInAStore:
    @pytest.fixture
    def world(self) -> World:
        return World()

    def test_an_explicit_interval_is_kept_as_given_and_named_so(self, world: World) -> None:
        one = world.save("one", valid_from=START, valid_to=START + DAY).id
        two = world.save("two", valid_from=START + 3 * DAY).id
        made = world.merge(one, two, valid_time="explicit", interval=Interval(START + 5 * DAY, None), summary="both")
        found = record(world.now(), id=made)
        assert (found.row.valid_from, found.row.valid_to, found.summary) == (START + 5 * DAY, None, "both")
        assert Derivation.objects.get(namespace=world.namespace).valid_rule == "explicit"

    def test_an_interval_comes_with_its_rule_alone(self, world: World) -> None:
        one, two = world.save_all("one", "two")
        for options in ({"interval": Interval(START, None)}, {"valid_time": "explicit"}):
            with pytest.raises(Invalid, match="valid_time"):
                world.merge(one.id, two.id, **options)

    def test_sources_without_a_common_time_are_listed_with_their_intervals(self, world: World) -> None:
        one = world.save("one", valid_from=START, valid_to=START + DAY).id
        two = world.save("two", valid_from=START + DAY).id
        before = Entry.objects.filter(namespace=world.namespace).count()
        with pytest.raises(Conflict) as caught:
            world.merge(two, one)
        first_day, second_day = "2026-01-01T00:00:00.000000Z", "2026-01-02T00:00:00.000000Z"
        assert caught.value.extra["intervals"] == [
            {"record": str(two), "valid_from": second_day, "valid_to": None},
            {"record": str(one), "valid_from": first_day, "valid_to": second_day},
        ]
        assert Entry.objects.filter(namespace=world.namespace).count() == before

    def test_every_refusal_writes_nothing(self, world: World) -> None:
        one, two = (saved.id for saved in world.save_all("one", "two"))
        foreign = World("other").save("theirs").id
        gone = world.save("to be erased").id
        world.erase(gone)
        before = Entry.objects.filter(namespace=world.namespace).count()
        for sources, refusal in (
            ([one], Invalid),
            ([one, one], Invalid),
            ([one, foreign], NotFound),
            ([one, gone], Erased),
        ):
            with pytest.raises(refusal) as caught:
                world.merge(*sources)
            assert "other" not in caught.value.detail
        assert Entry.objects.filter(namespace=world.namespace).count() == before
        assert world.merge(gone, two, content="what is left")

    def test_over_http(self, world: World) -> None:
        agent = caller(world, world.scout)
        one, two = (str(saved.id) for saved in world.save_all("one", "two"))
        body = {"kind": "merge", "records": [one, two]}
        answer = agent.post("/derivations", body | {"valid_time": "explicit", "valid_from": "2026-01-01T00:00:00Z"})
        assert answer.status_code == 201
        shown = agent.get(f"/records/{answer.json()['records'][0]}").json()
        assert (shown["valid_from"], shown["valid_to"]) == ("2026-01-01T00:00:00.000000Z", None)
        refused = agent.post("/derivations", body | {"valid_from": "2026-01-01T00:00:00Z"})
        assert (refused.status_code, places(refused)) == (422, [["valid_from"]])
        turned = {"valid_time": "explicit", "valid_from": "2026-01-02T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"}
        assert agent.post("/derivations", body | turned).status_code == 422


@pytest.mark.django_db
def test_a_stale_evolve_tells_what_changed_since_the_version_that_was_known() -> None:
    world = World()
    saved = world.save("refunds above 100 EUR need a signature", tags=("a",), metadata={"owner": "Ann", "n": 1})
    second = world.evolve(saved.id, content="refunds above 200 EUR need a signature")
    third = world.evolve(second, metadata={"owner": "Bob", "n": 1}, tags=("a", "b"))
    body = {"kind": "evolve", "record": str(saved.id), "base": saved.digest.hex(), "content": "mine"}
    answer = caller(world, world.scout).post("/derivations", body)
    assert answer.status_code == 412
    told = answer.json()
    assert (told["current"]["record"], told["since"]) == (str(third), str(saved.id))
    differs = {one["field"]: one for one in told["differs"]}
    assert set(differs) == {"content", "tags", "metadata.owner"}
    assert differs["tags"] == {"field": "tags", "before": ["a"], "after": ["a", "b"]}
    changed = [(part["kind"], part["text"]) for part in differs["content"]["words"] if part["kind"] != "kept"]
    assert changed == [("removed", "100"), ("added", "200")]
    newer = record(world.now(), id=second).digest.hex()
    later = caller(world, world.scout).post("/derivations", body | {"base": newer}).json()
    assert (later["since"], [one["field"] for one in later["differs"]]) == (str(second), ["tags", "metadata.owner"])


@pytest.mark.django_db
def test_a_stale_evolve_says_nothing_of_a_text_that_is_erased() -> None:
    world = World()
    saved = world.save("a secret of the first version")
    world.evolve(saved.id, content="a harmless version")
    world.erase(saved.id)
    body = {"kind": "evolve", "record": str(saved.id), "base": saved.digest.hex(), "content": "mine"}
    told = caller(world, world.scout).post("/derivations", body).json()
    assert told["differs"] == [{"field": "content", "erased": True}]
