"""The pages of beliefs: conflicts first, nothing hidden without its reason, and who may revoke what."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from urllib.parse import quote, unquote
from uuid import UUID

import pytest

from audit.frame import in_url
from audit.pages.beliefs.address import graph_url
from audit.pages.beliefs.words import AUTHORITY
from memory.beliefs.kernel.terms import Budget
from memory.beliefs.models import Revocation
from tests.beliefs.told import ODD, asked, told
from tests.browsers import browser
from tests.calibration.labelling import label, watch
from tests.contract.callers import caller
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

QUERY = {"schema_version": 2, "relation_type": "rel", "root": "a", "nodes": ["a", "b", "c"]}
HOSTILE = "<script>window.ran=1</script> \u202ecod"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def ids(world: World) -> dict[str, UUID]:
    return told(world)


def graph(**more: str) -> str:
    return graph_url(QUERY, carried=(), **more)


def text_of(answer: Any) -> str:
    """What a reader sees."""
    shown = re.sub(r"<script type=\"application/json\".*?</script>", " ", answer.text, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", shown)).split())


def states_of(answer: Any) -> list[str]:
    """The badges of an observation: its own, and that of each revocation."""
    return re.findall(r'data-state="(current|revoked|pending)"', answer.text.partition('<main id="main"')[2])


def test_the_list_explains_a_conflict_and_puts_what_is_contradicted_first(world: World, ids: dict[str, UUID]) -> None:
    asked(world, "calm", nodes=["a", "b"])
    asked(world, "odd one")
    asked(world, "around", nodes=None, seeds=["a"])
    shown = text_of(browser(world.charlie).get("/beliefs"))
    assert shown.index("What a conflict is") < shown.index("Saved questions")
    rows = shown[shown.index("newest answer") :]
    assert rows.index("odd one") < rows.index("calm") < rows.index("around")
    assert "+0.85" in rows
    assert "no second path" in rows
    assert "searched when opened" in rows
    assert "hidden: 1 not independent, 1 revoked" in rows
    assert AUTHORITY in shown


def test_a_graph_tells_what_is_contradicted_used_hidden_and_carries_the_answer(
    world: World, ids: dict[str, UUID]
) -> None:
    client = browser(world.charlie)
    answer = client.get(graph())
    shown = text_of(answer)
    assert "The rest of the evidence contradicts a → c by 0.8 nats" in shown
    assert "c is most probably 0: 0.911 (exact, 4 observations)" in shown
    assert "No single observation carries the answer" in shown
    assert shown.index("Conflicts") < shown.index("Nodes 3")
    for words in ("not independent: it repeats or sums up others", "revoked", AUTHORITY, "every assignment summed up"):
        assert words in shown
    assert f"/beliefs/observations/{ids[ODD]}" in answer.text
    assert 'data-standing="contradicted"' in answer.text
    assert 'data-standing="unused"' in answer.text
    # Without the odd one the others say alike with 0.976; to the end of a path nothing else speaks.
    assert "odd a → c 1 all together say 0 0.800 0 0.976 contradicts +0.85" in shown
    whole = text_of(client.get(graph_url({**QUERY, "nodes": ["a", "b", "c", "d"]}, carried=())))
    assert "cd c → d 0 0.800 nothing no second path 1.0" in whole
    assert "1 observation has no second path" in whole


def test_a_ring_that_ties_blames_none_alone_and_what_leaves_nothing_known_carries_the_answer(world: World) -> None:
    world.bind(law="cyclic:2")
    for id, source, target, vector in (("ab", "a", "b", [0.9, 0.1]), ("bc", "b", "c", [0.9, 0.1]),
                                       ("ca", "c", "a", [0.2, 0.8])):  # fmt: skip
        world.observe(id, source, target, vector)
    client = browser(world.charlie)
    page = client.get(graph())
    shown = text_of(page)
    strengths = re.findall(r"contradicts (\+\d\.\d\d) 1\.0", shown)
    assert len(set(strengths)) == 1, strengths
    assert "3 observations contradict one another equally, by" in shown
    assert "in the best joint answer c → a gives way" in shown
    used = shown[shown.index("Observations used") :]
    assert used.index("c → a") < used.index("a → b") < used.index("b → c")
    alone = text_of(client.get(graph_url({**QUERY, "nodes": ["a", "b"]}, carried=())))
    assert "1 observation carries the answer: without a → b nothing is known." in alone
    assert "it stays" not in alone


def test_every_figure_is_a_file_too_and_the_answer_is_that_of_the_api(world: World, ids: dict[str, UUID]) -> None:
    client = browser(world.charlie)
    answer = client.get(graph())
    links = [unescape(link) for link in re.findall(r'href="([^"]+figure=[^"]+)"', answer.text)]
    assert len(links) == 3
    for link in links:
        told_rows = b"".join(client.get(link).streaming_content).decode().splitlines()
        assert len(told_rows) > 2
    seq = world.now().seq
    at = {"valid_at": in_url(world.now().valid_at), "known_at": f"seq:{seq}"}
    page = client.get(graph_url(QUERY, carried=tuple(at.items())).replace("/graph?", "/graph.json?"))
    api = caller(world, world.scout).post(f"/beliefs/query?valid_at={at['valid_at']}&known_at=seq:{seq}", QUERY)
    assert json.loads(page.content) == api.json()


def test_running_again_and_comparing_with_another_point_say_by_how_much_it_differs(
    world: World, ids: dict[str, UUID]
) -> None:
    client = browser(world.alice)
    again = re.search(r"largest difference of a probability is (\S+) \.", text_of(client.get(graph(again="1"))))
    assert again is not None
    assert float(again[1]) < 1e-12
    before = world.now().seq
    world.revoke(ODD)
    shown = text_of(client.get(graph(against=f"seq:{before}")))
    assert f"Since seq {before}" in shown
    assert "0 observations came, 1 went" in shown
    assert "went: odd" in shown
    assert "had no law then" in text_of(client.get(graph(against="seq:1")))
    wrong = client.get(graph(against="never"))
    assert wrong.status_code == 422
    assert "nothing is compared" in text_of(wrong)


def test_an_answer_that_is_sampled_never_looks_like_an_exact_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.bind(law="cyclic:2")
    nodes = [f"v{i}" for i in range(5)]
    for i, source in enumerate(nodes):
        for target in nodes[:i]:
            world.observe(f"{source}{target}", source, target, [0.8, 0.2])
    address = graph_url({**QUERY, "root": "v0", "nodes": nodes}, carried=())
    client = browser(world.charlie)
    exact = text_of(client.get(address))
    assert "(exact" in exact
    assert "bounds" not in exact
    tiny = Budget(largest_entries=4, total_entries=32, samples=2_000)
    monkeypatch.setattr("audit.pages.beliefs.graph.PAGE_BUDGET", tiny)
    shown = text_of(client.get(address))
    assert "sampled from a part of the graph" in shown
    assert "(exact" not in shown
    assert re.search(r"bounds .* 0\.\d{3} to [01]\.\d{3}", shown)
    assert "largest difference" in text_of(client.get(f"{address}&again=1"))
    # What each observation carries is worked out exactly or not at all.
    assert client.get(f"{address}&figure=removals".replace("/graph?", "/graph.csv?")).status_code == 422


def test_a_question_by_hand_becomes_an_address_and_a_saved_one_leads_to_its_own(
    world: World, ids: dict[str, UUID]
) -> None:
    client = browser(world.charlie)
    assert client.get("/beliefs/graph").status_code == 200
    typed = client.get("/beliefs/graph", {"relation_type": "rel", "root": "a", "nodes": "b\nc"})
    assert typed.status_code == 302
    assert json.loads(unquote(typed.url.partition("query=")[2]).replace("+", " ")) == QUERY
    found = client.get("/beliefs/graph", {"relation_type": "rel", "root": "a"}, follow=True)
    assert "Nodes 4" in text_of(found)
    assert client.get("/beliefs/graph", {"root": "a"}).status_code == 422
    saved = client.get(f"/beliefs/saved/{asked(world)}", follow=True)
    assert "<h1>is c like a</h1>" in saved.text.replace("<bdi>", "").replace("</bdi>", "")
    assert "rel seen from a" in text_of(saved)
    # Another question does not go by its name.
    other = client.get(f"{graph_url({**QUERY, 'root': 'b'}, carried=())}&saved={asked(world)}")
    assert "is c like a" not in other.text
    assert client.get("/beliefs/graph?query={").status_code == 422
    assert client.get("/beliefs/graph?query=[]").status_code == 422
    assert client.get(graph_url({**QUERY, "relation_type": "none"}, carried=())).status_code == 404


def test_what_cannot_all_hold_is_named_with_its_observations(world: World) -> None:
    world.bind("hard", "cyclic:2", has_zero_floor=True)
    for id, vector in (("yes", [1.0, 0.0]), ("no", [0.0, 1.0])):
        world.observe(id, "a", "b", vector, relation_type="hard")
    client = browser(world.charlie)
    answer = client.get(graph_url({**QUERY, "relation_type": "hard", "nodes": ["a", "b"]}, carried=()))
    assert answer.status_code == 409
    assert "cannot all hold" in text_of(answer)
    link = unescape(re.search(r'href="(/beliefs/observations\?[^"]+)"', answer.text)[1])  # type: ignore[index]
    assert "a → b" in text_of(client.get(link, follow=True))
    asked(world, "hard", relation_type="hard", nodes=["a", "b"])
    assert "cannot all hold" in text_of(client.get("/beliefs"))


def test_an_observation_shows_its_vectors_origin_life_and_what_came_of_it(world: World, ids: dict[str, UUID]) -> None:
    client = browser(world.charlie)
    answer = client.get(f"/beliefs/observations/{ids[ODD]}")
    shown = text_of(answer)
    for words in ("The relation is most probably 1: 0.800", '"tool": "scan"', "Derived from it 1 echo", "known to its"):
        assert words in shown
    assert "Revoke…" not in shown
    assert "Derived from odd" in text_of(client.get(f"/beliefs/observations/{ids['echo']}"))
    gone = text_of(client.get(f"/beliefs/observations/{ids['gone']}"))
    assert "from 1970-01-01 00:00:50 UTC on" in gone
    assert "revoked revoked" not in gone.lower()
    assert states_of(client.get(f"/beliefs/observations/{ids['gone']}")) == ["revoked", "revoked"]
    early = client.get(f"/beliefs/observations/{ids['gone']}?valid_at=1970-01-01T00:00:49Z", follow=True)
    assert "will be revoked from 1970-01-01 00:00:50 UTC on" in text_of(early)
    assert states_of(early) == ["current", "pending"]
    assert "a broken probe" in gone
    assert "bob" in gone
    assert (
        client.get(f"/beliefs/observations/{ids[ODD]}?known_at=seq:1&valid_at=2030-01-01T00:00:00Z").status_code == 404
    )
    found = client.get("/beliefs/observations?observation_id=odd")
    assert found.url == f"/beliefs/observations/{ids[ODD]}"
    assert client.get("/beliefs/observations?observation_id=none").status_code == 404
    csv = b"".join(client.get(f"/beliefs/observations/{ids[ODD]}.csv").streaming_content).decode()
    assert csv.splitlines()[1] == "1,0.500,0.800"


def test_a_forecast_leads_to_its_segment_and_a_label_says_how_it_turned_out(world: World) -> None:
    world.bind(law="cyclic:2")
    watch(world, "weekly")
    id = world.observe("ab", "a", "b", [0.9, 0.1], provenance={"tool": "scan"}).id
    client = browser(world.charlie)
    answer = client.get(f"/beliefs/observations/{id}")
    assert "No label has told how it turned out" in text_of(answer)
    link = re.search(r'href="(/calibration/segments/[^"]+)">weekly', answer.text)
    assert link is not None
    assert client.get(link[1]).status_code == 200
    first = label(world, "ab", "0")
    label(world, "ab", "1", correction_reason="the probe was read wrongly")
    shown = text_of(client.get(f"/beliefs/observations/{id}"))
    assert f"It turned out to be 0 as of 1970-01-01 00:00:02 UTC, seq {first.seq}" in shown
    assert "corrected to 1" in shown
    past = client.get(f"/beliefs/observations/{id}?known_at=seq:{first.seq}&valid_at=2030-01-01T00:00:00Z")
    assert "corrected to" not in text_of(past)


def test_a_revocation_says_what_it_reaches_and_is_written_once(world: World, ids: dict[str, UUID]) -> None:
    here = f"/beliefs/observations/{ids[ODD]}/revoke"
    bob = browser(world.bob)
    page = bob.get(here)
    assert "1 observation derived from it speaks no more either" in text_of(page)
    assert bob.post(here, {"key": "one", "cascade": "derived", "reason": ""}).status_code == 422
    for _ in range(2):
        done = bob.post(here, {"key": "one", "cascade": "derived", "reason": "a broken probe"})
        assert done.status_code == 302
    assert Revocation.objects.filter(observation=ids[ODD]).count() == 1
    told_page = text_of(bob.get(f"/beliefs/observations/{ids[ODD]}"))
    assert "Revoked with 1 derived from it, recorded as seq" in told_page
    assert "Nothing is contradicted" in text_of(bob.get(graph()))
    again = bob.post(here, {"key": "two", "cascade": "derived", "reason": "again"})
    assert again.status_code == 404
    assert bob.get(here).status_code == 409


def test_an_auditor_revokes_nothing_and_nobody_in_the_past(world: World, ids: dict[str, UUID]) -> None:
    here = f"/beliefs/observations/{ids[ODD]}/revoke"
    given = {"key": "one", "cascade": "derived", "reason": "a broken probe"}
    charlie = browser(world.charlie)
    assert charlie.get(here).status_code == 403
    assert charlie.post(here, given).status_code == 403
    past = f"{here}?known_at=seq:{world.now().seq - 1}&valid_at=2030-01-01T00:00:00Z"
    assert browser(world.bob).post(past, given).status_code == 409
    assert browser(world.bob, checks_csrf=True).post(here, given).status_code == 403
    assert not Revocation.objects.filter(observation=ids[ODD]).exists()


def test_the_past_is_answered_as_it_was(world: World, ids: dict[str, UUID]) -> None:
    before = world.now()
    world.revoke(ODD)
    point = (("valid_at", "2030-01-01T00:00:00Z"), ("known_at", f"seq:{before.seq}"))
    client = browser(world.bob)
    then = text_of(client.get(graph_url(QUERY, carried=point)))
    assert "contradicts a → c" in then
    assert "contradicts" not in text_of(client.get(graph())).partition("Conflicts")[2].partition("The graph")[0]
    # The point of the page wins over an instant in the question.
    assert "contradicts a → c" in text_of(client.get(graph_url({**QUERY, "as_of": 0.0}, carried=point)))
    assert "prior" in text_of(client.get(graph_url({**QUERY, "as_of": 0.0}, carried=())))
    assert "Revoke…" not in text_of(client.get(f"/beliefs/observations/{ids[ODD]}?{'&'.join(map('='.join, point))}"))


def test_a_law_shows_its_table_and_how_it_is_read(world: World) -> None:
    world.bind("turns/by 2", "s3")
    client = browser(world.charlie)
    shown = text_of(client.get(f"/beliefs/relations/{quote('turns/by 2', safe='')}"))
    assert "The order matters" in shown
    assert "then 123 132 213 231 312 321 inverse" in shown
    assert "one event speaks once for each pair of nodes" in shown
    world.bind("big", "cyclic:64")
    assert "The first 32 of 64 labels" in text_of(client.get("/beliefs/relations/big"))
    assert client.get("/beliefs/relations/none").status_code == 404


def test_hostile_names_stay_text_everywhere(world: World) -> None:
    ids = told(world, hostile=HOSTILE)
    asked(world, HOSTILE)
    document = {**QUERY, "nodes": ["c", HOSTILE], "root": "c"}
    client = browser(world.alice)
    for address in ("/beliefs", graph_url(document, carried=()), f"/beliefs/observations/{ids[ODD]}",
                    f"/beliefs/observations/{ids['cd']}/revoke", f"/beliefs/observations/{ids['gone']}"):  # fmt: skip
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert "<script>window" not in answer.text
        assert "\u202e" not in answer.text.replace(quote("\u202e"), "")


def test_a_page_costs_the_same_however_much_it_shows(world: World) -> None:
    client = browser(world.alice)
    found = {"now 0": count_queries(client, "/beliefs")}
    ids = told(world)
    asked(world)
    found["now 1"] = count_queries(client, "/beliefs")
    graphs = {"now 1": count_queries(client, graph_url({**QUERY, "nodes": ["a", "b"]}, carried=()))}
    details = {"now 1": count_queries(client, f"/beliefs/observations/{ids['ab']}")}
    for n in range(20):
        asked(world, f"question {n}")
        world.observe(f"more {n}", "a", "c", [0.6, 0.4], independent_evidence=False, derived_from=["ab"])
    found["now 21"] = count_queries(client, "/beliefs")
    graphs["now 20"] = count_queries(client, graph())
    graphs["against 20"] = count_queries(client, graph(against="seq:9"))
    details["now 20"] = count_queries(client, f"/beliefs/observations/{ids['ab']}")
    relation = count_queries(client, "/beliefs/relations/rel")
    assert_baseline("beliefs:index", found)
    assert_baseline("beliefs:graph", graphs)
    assert_baseline("beliefs:observation", details)
    assert_baseline("beliefs:relation", {"now 20": relation})
