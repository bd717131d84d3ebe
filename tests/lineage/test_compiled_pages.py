"""What people see of compiled records, and what they can do with them."""

from __future__ import annotations

import re
from uuid import UUID

import pytest

from memory.lineage.queries.compiled import compiled_records
from tests.browsers import browser
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


@pytest.fixture
def world() -> World:
    return World()


def words(text: bytes) -> str:
    """The page as it reads."""
    return " ".join(re.sub(r"<[^>]+>", " ", text.decode()).split())


def test_a_record_page_says_how_it_was_compiled_and_what_moved_on(world: World) -> None:
    raw = world.save("seen").id
    made = world.compile(raw, covers="topic-a", function="digest <b>")
    later = world.save("seen later", tags=("topic-a",)).id
    bob = browser(world.bob)
    page = words(bob.get(f"/records/{made}").content)
    for expected in ("Compiled of 1 record", "behind 1", "Behind, not wrong: 1 raw record moved on", str(later)[:8],
                     "newer on its topic", "digest &lt;b&gt;", "topic-a", "cannot run this function"):  # fmt: skip
        assert expected in page
    assert "How it was compiled" not in words(bob.get(f"/records/{raw}").content)
    world.erase(raw)
    tainted = words(browser(world.alice).get(f"/records/{made}").content)
    for expected in ("stale: source erased", "Something that it rests on is erased", "cannot be made again"):
        assert expected in tainted
    assert "Make it again" not in tainted


def test_a_person_makes_one_again_and_reads_whether_it_is_equal(world: World) -> None:
    one, two = (saved.id for saved in world.save_all("one", "two"))
    here = world.compile(one, two, function="concatenate", version="1", content=None)
    given = world.compile(one, two)
    world.withdraw(here)
    alice = browser(world.alice)
    assert "equal texts" in words(alice.get(f"/records/{here}").content)
    assert alice.get(f"/records/{here}/rebuild").status_code == 200
    answer = alice.post(f"/records/{here}/rebuild", {"key": "k1"}, follow=True)
    assert "Made before of the same sources" in words(answer.content)
    assert words(answer.content).count("equal texts") == 2
    other = alice.post(f"/records/{given}/rebuild", {"key": "k2", "content": "another text"}, follow=True)
    assert "not deterministic" in words(other.content)
    assert alice.post(f"/records/{given}/rebuild", {"key": "k3"}).status_code == 422
    assert alice.get(f"/records/{one}/rebuild").status_code == 404
    assert browser(world.bob).get(f"/records/{given}/rebuild").status_code == 403
    newest = compiled_records(world.now()).items[0].row.id
    assert other.redirect_chain[0][0].startswith(f"/records/{UUID(str(newest))}")


def test_the_list_says_every_state_and_costs_the_same_whatever_it_holds(world: World) -> None:
    counts, alice = {}, browser(world.alice)
    for n in (0, 1, 20):
        for number in range(n):
            raw = world.save(f"a note {number}", tags=("topic-a",)).id
            made = world.compile(raw, covers="topic-a")
            world.compile(made, content=f"redacted {number}", is_public=True)
        counts[f"now {n}"] = count_queries(alice, "/records/compiled")
    assert "/records/compiled" in alice.get("/records").content.decode()
    world.erase(raw)
    world.withdraw(made)
    page = words(alice.get("/records/compiled?output=public").content)
    for expected in ("21 compiled records where the kind is public", "tainted by an erasure (1)", "behind"):
        assert expected in page
    hidden = words(alice.get("/records/compiled").content)
    assert "Left out: 1 deleted" in hidden
    assert "20" not in words(alice.get("/records/compiled?state=stale").content).partition("The list")[2]
    assert_baseline("records:compiled", counts)
