"""The pages of dead ends: what a browser gets, what a refused form keeps, who may do what, and what a page costs."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest

from audit.frame import in_url
from memory.agents.operations import change_setting
from memory.base import clock
from memory.ledger.operations.erasing import erase
from memory.tombstones import queries
from memory.tombstones.content import Revival
from memory.tombstones.keeping import false_block_limit
from memory.tombstones.models import Tombstone
from memory.tombstones.operations import living
from tests.browsers import browser
from tests.query_counts import assert_baseline, count_queries
from tests.tombstones.burials import HOUR, ROUTE, SCOPE, asked, blocked, buried, spoken_for, whole_life
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

WHOLE = {
    "key": "one form", "route": "deploy xz", "scope": "package: xz\nseries: 5.6", "out_of_scope": "upstream: <5.6",
    "evidence": "a backdoor", "references": "", "revival": "a clean release (2 origins)\na second look",
    "retest": "on build-1", "retest_on": "2030-04-30", "review_on": "2030-06-30",
}  # fmt: skip


@pytest.fixture
def world() -> World:
    return World()


def text_of(answer: Any) -> str:
    """What a reader sees."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def test_a_burial_by_form_keeps_what_was_typed_until_nothing_is_missing(world: World) -> None:
    alice = browser(world.alice)
    typed = {**WHOLE, "scope": "", "revival": "", "review_on": ""}
    answer = alice.post("/tombstones/new", typed)
    shown = text_of(answer)
    assert answer.status_code == 422
    for label in ("Where it failed", "What would open it again", "Reviewed by"):
        assert f"{label} : Missing" in shown
    assert "How it is to be tried again : Missing" not in shown
    assert 'value="deploy xz"' in answer.text
    assert "a backdoor" in answer.text
    assert not Tombstone.objects.exists()
    wrong = alice.post("/tombstones/new", {**WHOLE, "scope": "package: <abc"})
    assert "a comparison such as" in text_of(wrong)
    for _ in range(2):
        done = alice.post("/tombstones/new", WHOLE)
        assert done.status_code == 302
    row = queries.tombstones(world.now()).items[0]
    assert Tombstone.objects.count() == 1
    assert (row.sign.scope, row.sign.out_of_scope) == ({"package": "xz", "series": "5.6"}, {"upstream": "<5.6"})
    assert (row.sign.revival, row.sign.n_origins) == (("a clean release", "a second look"), (2, 1))


def test_a_route_is_checked_at_any_point_and_nothing_is_written(world: World) -> None:
    before = world.now()
    buried(world, out_of_scope={"upstream_code": "<5.6"})
    size = world.now().seq
    charlie = browser(world.charlie)
    question = {"route": ROUTE, "scope": "package: xz\nseries: 5.6"}
    assert "blocked" in text_of(charlie.get("/tombstones/check", question))
    exempt = {**question, "scope": f"{question['scope']}\nupstream_code: 5.4.5"}
    assert "clear: out of scope" in text_of(charlie.get("/tombstones/check", exempt))
    past = {**question, "valid_at": in_url(before.valid_at), "known_at": f"seq:{before.seq}"}
    assert "Nothing is buried on this route" in text_of(charlie.get("/tombstones/check", past))
    assert charlie.get("/tombstones/check", {"route": ROUTE}).status_code == 422
    assert world.now().seq == size


def test_the_cards_say_what_blocks_what_would_open_it_and_what_is_left_out(world: World) -> None:
    tombstone = buried(world, revival=[Revival("seen by two", 2), "a second look"], review_at=clock.now() + HOUR)
    blocked(world)
    living.judge_block(world.scout, tombstone=tombstone, is_false=True)
    spoken_for(world, tombstone, "a second look")
    gone = buried(world, route="gone")
    living.retire(world.alice, tombstone=gone, reason="unused")
    at = world.now()
    point = f"valid_at={in_url(clock.now() + 2 * HOUR)}&known_at=seq:{at.seq}"
    shown = text_of(browser(world.charlie).get(f"/tombstones?{point}"))
    conditions = ("unmet seen by two 0 of 2 origins", "lapsed a second look")
    for words in (*conditions, "overdue", "1 block", "1 said to be false", "demoted at 3", "1 retired"):
        assert words in shown
    assert "gone" not in shown
    assert "gone" in text_of(browser(world.charlie).get("/tombstones?include=retired"))


def test_an_owner_leads_a_dead_end_to_its_end_by_forms(world: World) -> None:
    tombstone, alice = buried(world), browser(world.alice)
    check = blocked(world)
    page = f"/tombstones/{tombstone}"
    refused = alice.post(f"{page}/revive", {"key": "1", "reason": "too early"})
    assert refused.status_code == 422
    assert "revival_unmet" in refused.text
    assert "too early" in refused.text
    until = (clock.now() + timedelta(days=9)).date().isoformat()
    acts: list[tuple[str, dict[str, Any]]] = [
        ("right-block", {"check": str(check)}),
        ("evidence", {"key": "2", "condition": "#1", "until_on": until, "origin": "upstream", "note": "released"}),
        ("revive", {"key": "3"}),
        ("retest", {"key": "4", "outcome": "failed", "reason": "it broke"}),
        ("keep", {"key": "5", "review_on": "2031-01-01", "reason": "still so"}),
        ("retire", {"key": "6", "reason": "the product ended"}),
    ]
    for path, body in acts:
        assert alice.post(f"{page}/{path}", body).status_code == 302, path
    answer = alice.get(page)
    shown = text_of(answer)
    for words in ("retired", "It blocks no more", "re-test failed: active again", "it broke", "the product ended",
                  "cleared released from upstream", "right", "Failed 2 times".lower()):  # fmt: skip
        assert words in shown
    assert f"{page}/retire" not in answer.text
    wrong = alice.post(f"{page}/retire", {"key": "7", "reason": "again"})
    assert wrong.status_code == 409


@pytest.mark.parametrize("who", ["bob", "charlie"])
def test_others_than_owners_see_no_form_and_are_refused(world: World, who: str) -> None:
    tombstone, person = buried(world), browser(getattr(world, who))
    assert 'method="post"' not in person.get(f"/tombstones/{tombstone}").text.partition("<main")[2]
    for path in ("evidence", "false-block", "right-block", "revive", "retest", "retire", "keep"):
        assert person.post(f"/tombstones/{tombstone}/{path}", {"reason": "x"}).status_code == 403
        assert person.get(f"/tombstones/{tombstone}/{path}").status_code == 302
    assert person.get("/tombstones/new").status_code == 403
    assert person.post("/settings/false_block_limit", {"limit": "5"}).status_code == 403


def test_the_limit_is_set_by_an_owner_within_its_bounds(world: World) -> None:
    alice = browser(world.alice)
    assert alice.post("/settings/false_block_limit", {"limit": "0"}).status_code == 422
    assert alice.post("/settings/false_block_limit", {"limit": "5"}).status_code == 302
    assert false_block_limit(world.now()) == 5


def test_a_dead_end_whose_text_is_erased_shows_its_life_without_words(world: World) -> None:
    tombstone = whole_life(world)
    row = Tombstone.objects.get(namespace=world.namespace, id=tombstone)
    erase(world.alice, items=[(row.seq, row.item)], reason="request")
    answer = browser(world.charlie).get(f"/tombstones/{tombstone}")
    shown = text_of(answer)
    assert "A route whose name is erased" in shown
    assert "Its text is erased" in shown
    assert "re-test passed: retired" in shown
    assert ROUTE not in shown


def test_the_pages_cost_the_same_whatever_they_hold() -> None:
    listed, whole = {}, {}
    for n in (0, 1, 20):
        world = World(f"lab{n}")
        change_setting(world.alice, name="false_block_limit", value="900")
        for each in range(n):
            tombstone = buried(world, route=f"route {each}", references=(world.save(f"note {each}").id,))
            spoken_for(world, tombstone)
            blocked(world, route=f"route {each}")
        alice = browser(world.alice)
        listed[f"now {n}"] = count_queries(alice, f"/tombstones?ns=lab{n}")
        if n:
            first = Tombstone.objects.filter(namespace=world.namespace).latest("seq").id
            for _ in range(n):
                living.judge_block(world.scout, tombstone=first, is_false=True)
                spoken_for(world, first)
                asked(world, route=f"route {n - 1}", scope=SCOPE)
            whole[f"now {n}"] = count_queries(alice, f"/tombstones/{first}?ns=lab{n}")
    assert_baseline("tombstones:index", listed)
    assert_baseline("tombstones:detail", whole)
