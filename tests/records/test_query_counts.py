"""What the pages of records cost, whatever they hold."""

from uuid import UUID

import pytest

from audit.frame import in_url
from tests.browsers import browser
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = pytest.mark.django_db

SIZES = (0, 1, 50)


@pytest.fixture
def world() -> World:
    return World()


def past(world: World) -> str:
    """The point at the head, written as a past one."""
    at = world.now()
    return f"?valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}"


def later(world: World) -> None:
    """Something is recorded afterwards, so that the point before it is not the head."""
    world.save("recorded later")


def fill(world: World, n: int) -> list[UUID]:
    return [saved.id for saved in world.save_all(*(f"seen thing {i}" for i in range(n)))] if n else []


def test_the_list_costs_the_same_whatever_it_holds() -> None:
    counts = {}
    for n in SIZES:
        world = World(f"lab{n}")
        ids = fill(world, n)
        point = past(world)
        alice = browser(world.alice)
        counts[f"now {n}"] = count_queries(alice, f"/records?ns=lab{n}")
        later(world)
        counts[f"past {n}"] = count_queries(alice, f"/records{point}&ns=lab{n}")
    counts["text 50"] = count_queries(alice, "/records?ns=lab50&q=thing")
    for one in ids[:20]:
        world.erase(one)
    counts["erased 50"] = count_queries(alice, "/records?ns=lab50&include=erased")
    assert_baseline("records:index", counts)


def test_a_record_with_its_lineage_costs_the_same_whatever_it_is_tied_to(world: World) -> None:
    counts = {}
    alice = browser(world.alice)
    for n in SIZES:
        focus = tied(world, n)
        point = past(world)
        counts[f"now {n}"] = count_queries(alice, f"/records/{focus}")
        later(world)
        counts[f"past {n}"] = count_queries(alice, f"/records/{focus}{point}")
        if n != 1:
            seq = point.rsplit(":", 1)[1]
            counts[f"against {n}"] = count_queries(alice, f"/records/{focus}?against=seq:{seq}")
    root = world.save("more than a drawing holds").id
    for start in range(6):
        world.split(root, *(f"part {start} of hundreds, {n}" for n in range(100)))
    counts["now 600"] = count_queries(alice, f"/records/{root}")
    counts["to 50"] = count_queries(alice, f"/records/{focus}?to={UUID(int=1)}")
    gone, hidden = world.save("to be erased").id, world.save("to be withdrawn").id
    world.erase(gone)
    world.withdraw(hidden)
    counts["erased 1"] = count_queries(alice, f"/records/{gone}")
    counts["withdrawn 1"] = count_queries(alice, f"/records/{hidden}")
    assert_baseline("records:detail", counts)


def tied(world: World, n: int) -> UUID:
    """A record with `n` ancestors and `n` descendants."""
    if n < 2:
        first = world.save("alone").id
        if not n:
            return first
        focus = world.evolve(first, content="said better")
        world.evolve(focus, content="said best")
        return focus
    focus = world.merge(*fill(world, n))
    world.split(focus, *(f"part {i}" for i in range(n)))
    return focus


@pytest.mark.parametrize("page", ["versions", "entries"])
def test_a_tab_of_a_record_costs_the_same_however_long_it_is(world: World, page: str) -> None:
    counts = {}
    alice = browser(world.alice)
    for n in (1, 20):
        here = world.save("version 0").id
        for version in range(1, n):
            here = world.evolve(here, content=f"version {version}")
        point = past(world)
        counts[f"now {n}"] = count_queries(alice, f"/records/{here}/{page}")
        later(world)
        counts[f"past {n}"] = count_queries(alice, f"/records/{here}/{page}{point}")
    assert_baseline(f"records:{page}", counts)


def test_suggestions_cost_the_same_however_many_there_are(world: World) -> None:
    counts = {}
    alice = browser(world.alice)
    for n in (1, 20):
        for number in range(n + 1):
            here = world.save(f"a text that is nearly the same, number {number}").id
        point = past(world)
        counts[f"now {n}"] = count_queries(alice, f"/records/{here}/suggestions")
        later(world)
        counts[f"past {n}"] = count_queries(alice, f"/records/{here}/suggestions{point}")
    assert_baseline("records:suggestions", counts)


def test_a_comparison_of_two_records_costs_the_same_now_and_then(world: World) -> None:
    alice = browser(world.alice)
    first = world.save("one", metadata={"k": 1}).id
    second = world.evolve(first, content="two", metadata={"k": 2})
    point = past(world)
    now = count_queries(alice, f"/records/{first}/diff?with={second}")
    later(world)
    then = count_queries(alice, f"/records/{first}/diff{point}&with={second}")
    assert_baseline("records:diff", {"now": now, "past": then})
