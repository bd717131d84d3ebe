"""The search field as a page: what jumps, what is found in which group, what is left out, what is marked."""

import re
from dataclasses import replace
from html import unescape
from uuid import UUID, uuid4

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from audit import search
from audit.frame import in_url
from audit.search import PASSAGE_CHARS, passage
from memory.agents import operations as agents
from memory.agents import runs
from memory.base.actor import RunGiven
from memory.beliefs.operations.saving import save_query
from memory.records import operations as records
from memory.records.content import NewRecord
from tests.browsers import browser
from tests.calibration.labelling import alarmed
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

WORDS = st.lists(
    st.sampled_from(["refund", "Refunds", "a", "limit", " ", "\n", ".", "\u202e", "é", "4411"]), max_size=40
)


@pytest.fixture
def world(db: None) -> World:
    return World("acme")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def opened(world: World, title: str, **refs: str) -> UUID:
    run, _, _ = runs.open_run(replace(world.scout, run=RunGiven(title=title, refs=tuple(sorted(refs.items())))))
    return run


def saved(world: World, identity: UUID, content: str = "text") -> UUID:
    """A record of that id."""
    records.save(world.scout, records=[NewRecord("note", content, id=identity)])
    return identity


def text_of(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", markup.replace("><", "> <"))).split())


def groups(markup: str) -> dict[str, list[str]]:
    """{heading: the hits under it}, in the order of the page."""
    main = markup.split('<main id="main"')[1].split("</main>", maxsplit=1)[0]
    found = {}
    for section in main.split("<section")[1:]:
        heading = text_of(re.findall(r"<h2[^>]*>(.*?)</h2>", section, re.DOTALL)[0]).split(" ")[0]
        found[heading] = [text_of("<li" + hit) for hit in section.split("<li")[1:]]
    return found


def found(client: Client, question: str, **also: str) -> dict[str, list[str]]:
    return groups(client.get("/search", {"q": question, **also}).text)


# What jumps.


def test_a_whole_id_leads_to_its_record_or_run_in_any_spelling(world: World, alice: Client) -> None:
    record, run = world.save("text").id, opened(world, "Ticket 4411")
    for question in (str(record), record.hex, str(record).upper(), f"  {record} "):
        assert alice.get("/search", {"q": question}).headers["Location"] == f"/records/{record}"
    assert alice.get("/search", {"q": str(run)}).headers["Location"] == f"/runs/{run}"


def test_eight_digits_that_begin_one_id_alone_lead_there(world: World, alice: Client) -> None:
    record = saved(world, UUID("12345678-aaaa-4aaa-8aaa-aaaaaaaaaaaa"))
    assert alice.get("/search?q=12345678").headers["Location"] == f"/records/{record}"
    assert alice.get("/search?q=1234567").status_code == 200


def test_beliefs_are_found_by_their_ids_and_by_their_names_as_a_whole(world: World, alice: Client) -> None:
    world.bind("same-lzma", "cyclic:2")
    world.bind("rel", "cyclic:2")
    seen = world.observe("build-1/a", "a", "b", [0.9, 0.1], relation_type="same-lzma").id
    question = {"schema_version": 2, "namespace": "acme", "relation_type": "rel", "root": "a", "nodes": ["a", "b"]}
    asked = save_query(world.scout, name="is b like a?", query=question).id
    newer = save_query(world.scout, name="is b like a?", query=question | {"root": "b"}).id
    for typed, leads in (
        (str(seen), f"/beliefs/observations/{seen}"), (seen.hex[:20], f"/beliefs/observations/{seen}"),
        ("build-1/a", f"/beliefs/observations/{seen}"), ("same-lzma", "/beliefs/relations/same-lzma"),
        ("is b like a?", f"/beliefs/saved/{newer}"), (str(asked), f"/beliefs/saved/{asked}"),
    ):  # fmt: skip
        assert alice.get("/search", {"q": typed}).headers["Location"] == leads, typed
    # A word of letters may stand in texts as well: what is called so is listed.
    assert found(alice, "rel")["Beliefs"] == ["relation type rel"]
    world.observe("same-lzma", "a", "b", [0.9, 0.1])
    assert found(alice, "same-lzma")["Beliefs"] == ["observation same-lzma", "relation type same-lzma"]
    before = f"known_at=seq:1&valid_at={in_url(world.now().valid_at)}"
    assert alice.get(f"/search?q=build-1/a&{before}").status_code == 200


def test_an_alarm_is_found_by_its_id(world: World, alice: Client) -> None:
    world.bind(law="cyclic:2")
    alarm = alarmed(world)
    assert alice.get(f"/search?q={alarm}").headers["Location"] == f"/calibration/alarms/{alarm}"


def test_digits_that_begin_several_ids_are_listed(world: World, alice: Client) -> None:
    one = saved(world, UUID("12345678-aaaa-4aaa-8aaa-aaaaaaaaaaaa"))
    two = saved(world, UUID("12345678-bbbb-4aaa-8aaa-aaaaaaaaaaaa"))
    assert found(alice, "12345678")["Several"] == [str(one), str(two)]


def test_an_entry_is_named_by_its_sequence(world: World, alice: Client) -> None:
    for question in ("seq 2", "seq:2", "#2", "SEQ 2"):
        assert alice.get("/search", {"q": question}).headers["Location"] == "/ledger/2"
    assert alice.get("/search?q=seq+9999").status_code == 200


def test_a_jump_keeps_namespace_and_point(world: World, alice: Client) -> None:
    record = world.save("text").id
    at = world.now()
    world.save("later")
    point = f"ns=acme&valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}"
    assert alice.get(f"/search?q={record}&{point}").headers["Location"] == f"/records/{record}?{point}"


def test_an_id_that_is_nobody_s_is_searched_and_found_nowhere(world: World, alice: Client) -> None:
    answer = alice.get(f"/search?q={uuid4()}")
    assert answer.status_code == 200
    assert "Nothing matches" in answer.text


def test_a_word_of_hex_digits_is_a_word(world: World, alice: Client) -> None:
    saved(world, UUID("decade00-aaaa-4aaa-8aaa-aaaaaaaaaaaa"), "a decade of notes")
    assert len(found(alice, "decade")["Records"]) == 1


def test_what_is_in_another_namespace_leads_nowhere(world: World, alice: Client) -> None:
    other = World("other")
    record, run = other.save("text").id, opened(other, "Ticket 4411", ticket="4411")
    for question in (str(record), str(run), "4411"):
        answer = alice.get("/search", {"q": question, "ns": "acme"})
        assert answer.status_code == 200
        assert "Nothing matches" in answer.text


# What is found.


def test_a_run_of_that_reference_comes_first_then_runs_by_title_then_records(world: World, alice: Client) -> None:
    opened(world, "By reference", ticket="DESK-4411")
    opened(world, "About 4411", ticket="DESK-7")
    world.save("Customer 4411 asked for the invoice in Danish")
    answer = found(alice, "4411")
    assert list(answer) == ["Runs", "Records"]
    assert answer["Runs"][0].startswith("By reference")
    assert "ticket DESK-4411" in answer["Runs"][0]
    assert answer["Runs"][1].startswith("About 4411")
    assert answer["Records"][0].startswith("Customer 4411 asked for the invoice in Danish")


def test_hits_are_ranked_and_say_by_which_words(world: World, alice: Client) -> None:
    world.save("refund refund refund")
    world.save("a refund was named once among many other words that have nothing to do with it at all")
    hits = found(alice, "refund")["Records"]
    assert hits[0].startswith("refund refund refund")
    assert all("ranks by refund" in hit for hit in hits)
    assert all("current" in hit for hit in hits)


def test_the_words_are_marked_where_they_stand_deep_in_a_text(world: World, alice: Client) -> None:
    world.save("nothing here. " * 60 + "At last the refunds are named. " + "nothing there. " * 60)
    markup = alice.get("/search?q=refund").text
    assert "<mark>refunds</mark>" in markup
    (hit,) = found(alice, "refund")["Records"]
    assert hit.startswith("…")
    assert len(hit) < 2 * PASSAGE_CHARS


def test_what_is_hidden_by_default_is_counted_and_one_link_away(world: World, alice: Client) -> None:
    kept, old, gone = (world.save(f"refund {n}").id for n in range(3))
    world.supersede(old, kept)
    world.withdraw(gone)
    markup = alice.get("/search?q=refund").text
    assert len(groups(markup)["Records"]) == 1
    links = {text_of(label): unescape(url) for url, label in re.findall(r'<a href="([^"]+)">(1 \w+)</a>', markup)}
    assert links == {
        "1 superseded": "/search?q=refund&include=superseded",
        "1 withdrawn": "/search?q=refund&include=withdrawn",
    }
    shown = groups(alice.get(links["1 superseded"]).text)["Records"]
    assert len(shown) == 2
    assert any("superseded" in hit for hit in shown)


def test_what_is_only_hidden_is_not_called_nothing(world: World, alice: Client) -> None:
    world.withdraw(world.save("refund").id)
    text = text_of(alice.get("/search?q=refund").text)
    assert "among what stands" in text
    assert "Left out: 1 withdrawn" in text


def test_more_than_are_shown_are_counted_and_lead_to_the_list(world: World, alice: Client) -> None:
    for n in range(25):
        world.save(f"refund {n}")
        opened(world, f"refund {n}")
    markup = alice.get("/search?q=refund").text
    assert '<a href="/records?q=refund">5 more records, with filters</a>' in markup
    assert '<a href="/runs?q=refund">20 more runs</a>' in markup


def test_agents_pages_and_entries_are_found_by_name_and_number(world: World, alice: Client) -> None:
    made = agents.create_agent(world.alice, name="Triage-bot")
    assert found(alice, "triage") == {"Agents": ["Triage-bot"]}
    assert f'href="/agents#agent-{made.id}"' in alice.get("/search?q=triage").text
    assert found(alice, "ledger") == {"Go": ["Ledger"]}
    assert found(alice, "over") == {"Go": ["Overview"]}
    assert found(alice, "3") == {"Go": ["Entry 3 of the ledger"]}


def test_a_question_of_several_words_that_no_record_has_offers_them_one_by_one(world: World, alice: Client) -> None:
    world.save("zebra")
    markup = alice.get("/search?q=zebra+crossing").text
    assert "Nothing matches" in markup
    assert '<a href="/search?q=zebra">zebra</a>' in markup


def test_the_past_finds_what_stood_then(world: World, alice: Client) -> None:
    first = world.save("refund above 100")
    world.evolve(first.id, content="refund above 200")
    past = {"valid_at": in_url(world.now().valid_at), "known_at": f"seq:{first.seq}"}
    assert [hit[:16] for hit in found(alice, "refund", **past)["Records"]] == ["refund above 100"]
    assert [hit[:16] for hit in found(alice, "refund")["Records"]] == ["refund above 200"]


def test_without_a_question_the_page_is_the_field_alone(world: World, alice: Client) -> None:
    assert found(alice, "") == {}
    assert 'name="q" value=""' in alice.get("/search").text


@pytest.mark.parametrize("query", [f"q={'x' * 401}", "q=refund&include=everything", "q=a%00b"])
def test_a_question_that_is_none_is_refused(world: World, alice: Client, query: str) -> None:
    assert alice.get(f"/search?{query}").status_code == 422


@pytest.mark.parametrize(
    "question", ["<script>alert(1)</script>", "\u202eevil", '" onfocus="x', "%s", "' OR 1=1 --", "*"]
)
def test_any_question_is_answered_and_printed_as_text(world: World, alice: Client, question: str) -> None:
    world.save(f"{question} <b>bold</b>")
    answer = alice.get("/search", {"q": question})
    assert answer.status_code == 200
    for markup in ("<script>alert", '" onfocus="x"', "<b>bold"):
        assert markup not in answer.text


# Marks.


@given(text=WORDS.map("".join), words=st.lists(st.sampled_from(["refund", "limit", "4411", "é"]), max_size=3))
def test_marking_changes_no_character_and_marks_only_what_was_asked_for(text: str, words: list[str]) -> None:
    pieces = search.marked(text, words)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)
    for piece in pieces:
        if piece.is_match:
            assert any(piece.text.lower().startswith(word) for word in words)


@given(text=WORDS.map(" ".join), words=st.lists(st.sampled_from(["refund", "limit", "4411"]), min_size=1, max_size=3))
def test_a_passage_is_a_part_of_the_text_and_holds_a_word_where_the_text_does(text: str, words: list[str]) -> None:
    pieces = passage(text, words)
    shown = "".join(piece.text for piece in pieces).strip("…")
    assert shown in " ".join(text.split())
    assert len(shown) <= PASSAGE_CHARS
    has_word = any(piece.is_match for piece in search.marked(text, words))
    assert any(piece.is_match for piece in pieces) == has_word


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("retry", "retries"),
        ("refund", "Refunds"),
        ("deploy", "deployed"),
        ("note", "notes"),
        ("box", "boxes"),
        ("4411", "4411"),
    ],
)
def test_a_word_is_marked_in_its_other_endings(word: str, text: str) -> None:
    assert search.marked(text, [word])[0].is_match


@pytest.mark.parametrize(("word", "text"), [("note", "not"), ("cat", "category"), ("a", "as"), ("441", "4411")])
def test_another_word_is_not_marked(word: str, text: str) -> None:
    assert not search.marked(text, [word])[0].is_match


def test_words_that_only_a_sign_keeps_apart_are_marked_as_one() -> None:
    pieces = search.marked("xz 5.6.1 and 5, 6", ["5", "6", "1"])
    assert [piece.text for piece in pieces if piece.is_match] == ["5.6.1", "5", "6"]


# What it costs.


@pytest.mark.django_db
def test_a_search_costs_the_same_whatever_it_finds() -> None:
    counts = {}
    for n in (0, 1, 50):
        world = World(f"lab{n}")
        for i in range(n):
            world.save(f"refund {i}")
            opened(world, f"refund {i}", ticket=str(i))
        alice = browser(world.alice)
        counts[f"now {n}"] = count_queries(alice, f"/search?ns=lab{n}&q=refund")
        at = world.now()
        world.save("recorded later")
        point = f"valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}"
        counts[f"past {n}"] = count_queries(alice, f"/search?{point}&ns=lab{n}&q=refund")
    counts["no question"] = count_queries(alice, "/search?ns=lab50")
    assert_baseline("search:index", counts)
