"""The pages of records as a browser gets them."""

import csv
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from io import BytesIO, StringIO
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from django.test import Client

from audit.frame import in_url
from memory.base import clock
from memory.base.actor import RunGiven
from memory.interchange.exporting import export
from memory.interchange.slices import Selection
from memory.records.models import Record
from tests.browsers import browser
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

START = datetime(2030, 1, 1, 12, tzinfo=UTC)
type Subject = tuple[str, dict[str, str]]
SECRET = "AKIAIOSFODNN7EXAMPLE"


@pytest.fixture
def world() -> World:
    return World("acme")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def lines(text: str) -> list[str]:
    """The first lines of the rows of a list."""
    found = re.findall(r'<a class="first-line"[^>]*>(.*?)</a>', text, re.DOTALL)
    return [unescape(re.sub(r"<[^>]+>", "", line)).strip() for line in found]


def links(text: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"]+)"', text)]


def query(address: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(address).query)


def point_of(world: World) -> str:
    at = world.now()
    return f"valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}"


# The list.


def test_the_list_shows_current_records_newest_first_and_counts_what_it_leaves_out(world: World, alice: Client) -> None:
    old = world.save("said first")
    world.evolve(old.id, content="said better")
    world.withdraw(world.save("said in jest").id)
    world.erase(world.save("a private matter").id)
    world.save("said last")
    text = alice.get("/records").text
    assert lines(text) == ["said last", "said better"]
    for left_out in ("1 superseded", "1 withdrawn", "1 erased"):
        assert left_out in text


def test_what_is_left_out_is_one_link_away(world: World, alice: Client) -> None:
    world.withdraw(world.save("said in jest").id)
    (link,) = [link for link in links(alice.get("/records").text) if "include=withdrawn" in link and "csv" not in link][
        :1
    ]
    assert lines(alice.get(link).text) == ["said in jest"]


def test_an_erased_record_is_a_struck_stub_with_reason_actor_and_leaf(world: World, alice: Client) -> None:
    gone = world.save("a private matter")
    leaf = leaf_of(world, gone.id)
    world.erase(gone.id, reason="request")
    text = alice.get("/records?include=erased").text
    assert lines(text) == ["erased by alice@example.org: request"]
    assert leaf[:4] in text
    assert "private" not in text
    assert re.search(r'<tr data-row data-state="erased">', text)


def leaf_of(world: World, record: UUID) -> str:
    from memory.ledger.models import Item

    row = Record.objects.get(namespace=world.namespace, id=record)
    return bytes(Item.objects.get(namespace=world.namespace, seq=row.seq, item=row.item).hash).hex()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("agent:scout", {"agent": ["scout"]}),
        ('agent:scout type:note "refund limit"', {"agent": ["scout"], "type": ["note"], "q": ['"refund limit"']}),
        ('agent:"triage bot" waits', {"agent": ["triage bot"], "q": ["waits"]}),
        ("state:withdrawn state:erased", {"state": ["withdrawn", "erased"]}),
        ("refunds type:note type:note", {"type": ["note"], "q": ["refunds"]}),
        ("source:first_hand http://x", {"source": ["first_hand"], "q": ["http://x"]}),
    ],
)
def test_a_typed_line_leads_to_the_address_of_the_same_filter(
    world: World, alice: Client, line: str, expected: dict[str, list[str]]
) -> None:
    answer = alice.get("/records", {"q": line})
    assert answer.status_code == 302
    assert query(answer.headers["Location"]) == expected


def test_a_file_of_the_list_reads_a_typed_line_as_the_page_does(world: World, alice: Client) -> None:
    old = world.save("said first").id
    world.evolve(old, content="said better")
    kept = json.loads(body(alice, "/records.json?q=state:superseded"))
    assert [item["id"] for item in kept["items"]] == [str(old)]
    assert len(list(csv.DictReader(StringIO(body(alice, "/records.csv?q=state:superseded"))))) == 1
    both = json.loads(body(alice, "/records.json?q=state:superseded better"))
    assert both["items"] == []


@pytest.mark.parametrize("address", ["/records.json?run=4411", "/records.csv?state=lost", "/ledger.csv?ns=elsewhere"])
def test_a_file_that_is_refused_is_a_problem_document(world: World, alice: Client, address: str) -> None:
    answer = alice.get(address)
    assert answer.status_code in (404, 422)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == ("invalid" if answer.status_code == 422 else "not_found")


def test_a_drawing_that_cannot_be_made_is_a_problem_document(world: World, alice: Client) -> None:
    answer = alice.get(f"/records/{world.save('one').id}/lineage.svg?up=many")
    assert (answer.status_code, answer.headers["Content-Type"]) == (422, "application/problem+json")
    assert answer.json()["errors"][0]["loc"] == ["up"]
    assert alice.get("/nowhere.json").json()["code"] == "not_found"


def test_the_field_shows_the_line_that_leads_to_the_address(world: World, alice: Client) -> None:
    world.save("refunds wait")
    typed = 'agent:"triage bot" type:note refunds'
    target = alice.get("/records", {"q": typed}).headers["Location"]
    shown = re.search(r'id="records-line"[^>]* value="([^"]*)"', alice.get(target).text)
    assert shown
    assert unescape(shown[1]) == typed


def test_a_filter_is_told_in_words_and_each_part_can_be_taken_away(world: World, alice: Client) -> None:
    world.save("refunds wait", type="decision")
    world.save("refunds go", type="note")
    text = alice.get("/records?type=decision&agent=scout&q=refunds").text
    assert lines(text) == ["refunds wait"]
    for words in ("type is decision", "agent is scout", "the text has refunds"):
        assert f"Remove the filter: {words}" in text
    (without,) = re.findall(r'href="([^"]*)" aria-label="Remove the filter: type is decision"', text)
    assert query(unescape(without)) == {"agent": ["scout"], "q": ["refunds"]}
    assert set(lines(alice.get(unescape(without)).text)) == {"refunds wait", "refunds go"}


def test_facets_count_and_lead_to_what_they_count(world: World, alice: Client) -> None:
    other = world.agent("triage-bot")
    world.save_all("one", "two", "three")
    world.save("four", by=other, type="decision")
    text = alice.get("/records").text
    facets = {
        unescape(label): (unescape(url), count)
        for url, label, count in re.findall(
            r'<li><a href="([^"]*)"[^>]*><span>([^<]*)</span><span class="number">([^<]*)</span>', text
        )
    }
    assert {name: count for name, (_, count) in facets.items()} == {
        "note": "3", "decision": "1", "scout": "3", "triage-bot": "1", "current": "4", "derived": "4",
    }  # fmt: skip
    for url, count in facets.values():
        assert len(lines(alice.get(url).text)) == int(count)


def test_the_run_of_a_record_is_a_facet_by_its_title(world: World, alice: Client) -> None:
    by = replace(world.scout, run=RunGiven(title="Ticket 4411", refs=(("ticket", "4411"),)))
    world.save("in the run", by=by)
    world.save("outside")
    text = alice.get("/records").text
    (link,) = [link for link in links(text) if link.startswith("/records?run=")]
    assert "Ticket 4411" in text
    assert lines(alice.get(link).text) == ["in the run"]
    assert "run is Ticket 4411" in alice.get(link).text


def test_a_record_out_of_its_valid_time_is_counted_as_such_and_listed_by_its_state(world: World, alice: Client) -> None:
    world.save("next winter", valid_from=START + timedelta(days=4_000))
    text = alice.get("/records").text
    assert lines(text) == []
    assert "1 not true then" in text
    for address in ("/records?include=not_valid", "/records?state=not_valid"):
        assert lines(alice.get(address).text) == ["next winter"]
    assert lines(alice.get("/records?state=current").text) == []


def test_a_text_is_ranked_and_each_hit_says_why(world: World, alice: Client) -> None:
    world.save("refund refund refund")
    world.save("a refund among many other words that have nothing to do with it")
    world.save("nothing of the kind")
    text = alice.get("/records?q=refund").text
    assert lines(text)[0] == "refund refund refund"
    assert len(lines(text)) == 2
    assert text.count("matches refund, score ") == 2
    assert lines(alice.get("/records?q=refund&sort=-recorded_at").text)[0].startswith("a refund among")


def test_pages_follow_one_another_without_gaps_in_both_directions(world: World, alice: Client) -> None:
    world.save_all(*(f"thing {n:03}" for n in range(120)))
    address, seen = "/records", []
    pages = []
    while address:
        text = alice.get(address).text
        pages.append(lines(text))
        seen += lines(text)
        older = re.search(r'rel="next" href="([^"]*)"', text)
        address = unescape(older[1]) if older else ""
    assert seen == [f"thing {n:03}" for n in reversed(range(120))]
    newer = re.search(r'rel="prev" href="([^"]*)"', text)
    assert newer
    assert lines(alice.get(unescape(newer[1])).text) == pages[-2]
    assert lines(alice.get("/records?sort=recorded_at").text)[0] == "thing 000"


@pytest.mark.parametrize(
    "address",
    ["sort=rank", "sort=colour", "after=x", "state=lost", "source=rumour", "include=all", "run=4411", "q=%00"],
)
def test_an_address_that_no_list_knows_is_refused_by_name(world: World, alice: Client, address: str) -> None:
    answer = alice.get(f"/records?{address}")
    assert answer.status_code == 422
    assert f"<code>{address.split('=', maxsplit=1)[0]}</code>" in answer.text


def test_the_three_empty_states_are_told_apart(world: World, alice: Client) -> None:
    with clock.fixed(START):
        empty = world.now().seq
        assert "No records yet" in alice.get("/records").text
    with clock.fixed(START + timedelta(days=1)):
        world.save("the first")
    none = alice.get("/records?type=decision")
    then = alice.get(f"/records?valid_at={in_url(START)}&known_at=seq:{empty}")
    assert "No row where type is decision." in none.text
    assert "Nothing at that point in time" in then.text
    (first, *_) = [
        link for link in links(then.text) if "seq:" in link and link.startswith("/records?valid_at=2030-01-02")
    ]
    assert lines(alice.get(first).text) == ["the first"]


def test_the_list_of_the_past_shows_the_states_of_then(world: World, alice: Client) -> None:
    kept = world.save("said first").id
    point = point_of(world)
    world.withdraw(kept)
    assert lines(alice.get("/records").text) == []
    assert lines(alice.get(f"/records?{point}").text) == ["said first"]


def test_what_was_erased_since_is_erased_in_the_past_too(world: World, alice: Client) -> None:
    kept = world.save("a private matter").id
    point = point_of(world)
    world.erase(kept)
    assert "private" not in alice.get(f"/records?include=erased&{point}").text
    assert "private" not in alice.get(f"/records/{kept}?{point}").text


def test_htmx_gets_the_rows_alone_and_everyone_else_the_page(world: World, alice: Client) -> None:
    world.save("one")
    part = alice.get("/records", headers={"HX-Request": "true"}).text
    boosted = alice.get("/records", headers={"HX-Request": "true", "HX-Boosted": "true"}).text
    assert lines(part) == lines(boosted) == ["one"]
    assert "<html" not in part
    assert "<html" in boosted


def test_a_list_holds_no_record_of_another_namespace(world: World, alice: Client) -> None:
    World("elsewhere").save("theirs")
    world.save("ours")
    assert lines(alice.get("/records?ns=acme").text) == ["ours"]


# Exports.


def body(client: Client, address: str) -> str:
    return b"".join(client.get(address).streaming_content).decode()  # type: ignore[attr-defined]


def test_the_csv_holds_the_whole_filter_and_no_formula(world: World, alice: Client) -> None:
    for text in ("=HYPERLINK(1)", "+1", "-1", "@sum", "\tx", "plain, with a comma"):
        world.save(text)
    world.save_all(*(f"thing {n}" for n in range(600)))
    world.save("other", type="decision")
    rows = list(csv.DictReader(StringIO(body(alice, "/records.csv?type=note&sort=recorded_at"))))
    assert len(rows) == 606
    assert [row["first_line"] for row in rows[:6]] == [
        "'=HYPERLINK(1)", "'+1", "'-1", "'@sum", "x", "plain, with a comma",
    ]  # fmt: skip
    assert {row["agent"] for row in rows} == {"scout"}


def test_the_json_of_one_point_is_the_same_bytes_for_two_people(world: World, alice: Client) -> None:
    world.save_all("one", "two")
    point = point_of(world)
    world.save("later")
    first = body(alice, f"/records.json?{point}")
    world.withdraw(UUID(json.loads(first)["items"][0]["id"]))
    assert body(browser(world.charlie), f"/records.json?{point}") == first
    assert [item["first_line"] for item in json.loads(first)["items"]] == ["two", "one"]
    assert json.loads(first)["truncated"] is False


def test_an_export_says_when_its_cap_cut_it(world: World, alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from audit.pages.records import exports

    world.save_all("one", "two", "three")
    monkeypatch.setattr(exports, "CAP", 2)
    found = json.loads(body(alice, "/records.json"))
    assert (len(found["items"]), found["truncated"]) == (2, True)


# One record.


def test_the_text_is_escaped_marked_and_makes_nothing_live(world: World, alice: Client) -> None:
    hostile = "<script>alert(1)</script> https://evil.example/ \u202ecod.exe\u0007 {{ frame }}"
    record = world.save(hostile, summary="<b>summary</b>", origin="javascript:alert(1)", tags=("<i>",))
    text = alice.get(f"/records/{record.id}").text
    assert "<script>alert" not in text
    assert "<b>summary" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert not [link for link in links(text) if "evil" in link or link.startswith("javascript")]
    for mark in ("U+202E", "U+0007", "{{ frame }}"):
        assert mark in text
    assert "\u202e" not in text


def test_the_strip_leads_to_the_run_of_the_scan_that_covers_the_record(world: World, alice: Client) -> None:
    record = world.save("one").id
    assert "not checked yet" in alice.get(f"/records/{record}").text
    report = alice.post("/ledger/verify").headers["Location"]
    assert f'href="{report}">ok by the scan of seq {world.now().seq}<' in alice.get(f"/records/{record}").text


def test_what_looks_like_a_secret_is_covered_and_shown_to_those_who_may(world: World, alice: Client) -> None:
    record = world.save(f"the key is {SECRET} and no other").id
    world.evolve(record, content=f"the key was {SECRET}")
    nadia = browser(world.charlie)
    for client in (alice, nadia):
        for path in (
            f"/records/{record}",
            f"/records/{record}/versions",
            "/records?include=superseded",
            f"/records/{record}?view=table",
        ):
            assert SECRET not in client.get(path).text
    assert SECRET in alice.get(f"/records/{record}?text=uncovered").text
    assert SECRET not in nadia.get(f"/records/{record}?text=uncovered").text
    assert "text=uncovered" not in nadia.get(f"/records/{record}").text


def test_the_strip_tells_what_the_entry_says_and_counts_what_was_not_given(world: World, alice: Client) -> None:
    by = replace(
        world.scout, host="ci-3", on_behalf_of="the desk",
        run=RunGiven(
            title="Ticket 4411", refs=(("trace", "ab"), ("pull", "7")), runtime=(("model", "m1"), ("version", "2"))
        ),
    )  # fmt: skip
    full = alice.get(f"/records/{world.save('text', by=by, source_class='first_hand', origin='mail').id}").text
    bare = alice.get(f"/records/{world.save('text').id}").text
    for told in (
        "agent scout",
        "ci-3",
        "the desk",
        "Ticket 4411 (pull 7)",
        "m1 2",
        "first-hand, authenticated",
        "mail",
    ):
        assert told in full
    assert "3 not given" in full
    assert "prompt hash, request id, idempotency key" in full
    assert "8 not given" in bare


def test_a_long_text_is_cut_and_shown_whole_on_demand(world: World, alice: Client) -> None:
    record = world.save("word " * 2_000 + "END").id
    assert "END" not in alice.get(f"/records/{record}").text
    assert "END" in alice.get(f"/records/{record}?text=whole").text


def test_an_erased_record_says_who_when_and_why_and_keeps_its_hashes(world: World, alice: Client) -> None:
    record = world.save("a private matter")
    leaf = leaf_of(world, record.id)
    derived = world.evolve(record.id, content="said better")
    world.erase(record.id, reason="request")
    text = alice.get(f"/records/{record.id}").text
    assert "Erased by alice@example.org, reason: request" in text
    assert f'data-copy="{leaf}"' in text
    assert f'data-copy="{record.digest.hex()}"' in text
    assert "private" not in text
    assert "nothing to compare" in alice.get(f"/records/{derived}/versions").text


def test_the_lineage_stands_on_the_page_as_drawing_and_as_list(world: World, alice: Client) -> None:
    first = world.save("seen first").id
    focus = world.evolve(first, content="said better")
    world.evolve(focus, content="said best")
    text = alice.get(f"/records/{focus}").text
    assert "3 of 3 nodes, 2 of 2 links shown" in text
    assert text.count("data-node=") == 3
    listed = text.split('class="lineage-list"')[1]
    assert "seen first" in listed
    assert "said best" in listed


def test_a_hidden_side_opens_and_closes_by_links_of_the_drawing(world: World, alice: Client) -> None:
    root = world.save("root").id
    middle = world.evolve(root, content="middle")
    world.split(root, "left", "right")
    page = alice.get(f"/records/{middle}")
    (expand,) = {link for link in links(page.text) if "open=" in link}
    assert query(expand)["open"] == [f"{root}:down"]
    part = alice.get(expand, headers={"HX-Request": "true"}).text
    assert part.lstrip().startswith("<section")
    assert "4 of 4 nodes" in part
    assert f"/records/{middle}" in {urlsplit(link).path + "?" * bool(urlsplit(link).query) for link in links(part)}


def test_a_lineage_above_the_caps_says_so_and_pages_through_all(world: World, alice: Client) -> None:
    root = world.save("root").id
    for start in range(0, 600, 100):
        world.split(root, *(f"part {start + n}" for n in range(100)))
    text = alice.get(f"/records/{root}").text
    assert "500 of 601 nodes, 499 of 600 links shown" in text
    assert "cut by the cap on nodes" in text
    address, seen = f"/records/{root}?view=table", set()
    while address:
        page = alice.get(address).text
        seen |= set(lines(page))
        older = re.search(r'rel="next" href="([^"]*)"', page)
        address = unescape(older[1]) if older else ""
    assert seen == {f"part {n}" for n in range(600)}


def test_the_lineage_is_exported_whole_with_the_caps_inside(world: World, alice: Client) -> None:
    first = world.save("seen first").id
    focus = world.evolve(first, content="said better")
    last = world.evolve(focus, content="said best")
    found = alice.get(f"/records/{focus}/lineage.json").json()
    stream = BytesIO()
    export(world.alice, world.now(), stream, format="prov", selection=Selection(focus=focus))
    assert {name: part for name, part in found.items() if name != "palimpsest"} == json.loads(stream.getvalue())
    assert set(found["entity"]) == {f"ml:record/{one}" for one in (first, focus, last)}
    assert {(edge["prov:usedEntity"], edge["prov:generatedEntity"]) for edge in found["wasDerivedFrom"].values()} == {
        (f"ml:record/{first}", f"ml:record/{focus}"),
        (f"ml:record/{focus}", f"ml:record/{last}"),
    }
    assert found["palimpsest"]["drawing_caps"] == {"nodes": 500, "links": 1_500, "depth": 300}
    svg = alice.get(f"/records/{focus}/lineage.svg")
    assert svg.headers["Content-Type"].startswith("image/svg+xml")
    assert "attachment" in svg.headers["Content-Disposition"]
    assert svg.text.count("data-node=") == 3
    assert "hx-get" not in svg.text


def test_versions_stand_beside_the_ones_before_them(world: World, alice: Client) -> None:
    first = world.save("the limit is 100 EUR").id
    second = world.evolve(first, content="the limit is 200 EUR")
    text = alice.get(f"/records/{second}/versions").text
    assert "<del>100</del>" in text
    assert "<ins>200</ins>" in text
    assert text.index("Version 2") < text.index("Version 1")


def test_the_entries_that_touch_a_record_are_listed_and_lead_to_the_ledger(world: World, alice: Client) -> None:
    record = world.save("first").id
    derived = world.evolve(record, content="second")
    world.link(derived, "references", world.save("other").id)
    world.withdraw(record)
    world.erase(record)
    text = alice.get(f"/records/{record}/entries").text
    seqs = [int(seq) for seq in re.findall(r'<a class="mono" href="/ledger/(\d+)">', text.split("<tbody>")[1])]
    at = world.now()
    assert seqs == sorted(seqs, reverse=True)
    assert seqs == [at.seq, at.seq - 1, at.seq - 4, at.seq - 5]
    assert "evolved from" in text


@pytest.mark.parametrize("tail", ["", "/versions", "/entries", "/source", "/lineage.json", "/withdraw"])
def test_a_record_that_is_not_there_is_not_found(world: World, alice: Client, tail: str) -> None:
    theirs = World("elsewhere").save("theirs").id
    for record in (UUID(int=5), theirs):
        assert alice.get(f"/records/{record}{tail}?ns=acme").status_code == 404


def test_the_beginning_of_an_id_leads_to_its_record(world: World, alice: Client) -> None:
    one = world.save("one", id=UUID("aaaa1111-0000-4000-8000-000000000001")).id
    world.save("two", id=UUID("aaaa2222-0000-4000-8000-000000000002"))
    for prefix in ("aaaa1", "AAAA1111", "aaaa1111-0000", one.hex):
        assert alice.get(f"/records/{prefix}").headers["Location"] == f"/records/{one}"
    several = alice.get("/records/aaaa")
    assert several.status_code == 409
    assert sorted(lines(several.text)) == ["one", "two"]
    assert alice.get("/records/bbbb").status_code == 404
    assert alice.get("/records/xyz").status_code == 422


# Acts.

ACTS = {
    "withdraw": {"reason": "said in jest"},
    "restore": {"reason": "meant after all"},
    "evolve": {"content": "said better", "reason": "correction", "note": ""},
    "supersede": {"new": "", "reason": "correction"},
}


@pytest.fixture
def subject(world: World) -> Subject:
    """A record and what the form of an evolve of it carries."""
    saved = world.save("said first")
    return str(saved.id), {"base": saved.digest.hex()}


def test_a_reviewer_withdraws_with_a_reason_and_restores(world: World, subject: Subject) -> None:
    record, _ = subject
    bob = browser(world.bob)
    answer = bob.post(f"/records/{record}/withdraw", ACTS["withdraw"], follow=True)
    assert "The record is withdrawn, recorded as" in answer.text
    assert f'href="/ledger/{world.now().seq}"' in answer.text
    assert "Withdrawn: said in jest." in answer.text
    assert lines(bob.get("/records").text) == []
    bob.post(f"/records/{record}/restore", ACTS["restore"])
    assert lines(bob.get("/records").text) == ["said first"]


def test_an_owner_evolves_from_the_version_that_was_read(world: World, alice: Client) -> None:
    record = world.save("said first\r\nin two lines")
    page = alice.get(f"/records/{record.id}/evolve").text
    base = re.search(r'name="base" value="([0-9a-f]{64})"', page)
    assert base
    assert base[1] == record.digest.hex()
    given = {**ACTS["evolve"], "base": base[1], "content": "said better\r\nin two lines"}
    answer = alice.post(f"/records/{record.id}/evolve", given, follow=True)
    assert "The new version is recorded as" in answer.text
    assert "said better\nin two lines" in unescape(answer.text)


def test_a_stale_evolve_is_412_with_what_stands_now_beside_the_draft(
    world: World, alice: Client, subject: Subject
) -> None:
    record, carried = subject
    current = world.evolve(UUID(record), content="said by another")
    before = world.now().seq
    answer = alice.post(f"/records/{record}/evolve", {**ACTS["evolve"], **carried, "content": "my own draft"})
    assert answer.status_code == 412
    assert world.now().seq == before
    for side in ("said by another", "my own draft"):
        assert side in re.sub(r"<[^>]+>", "", answer.text)
    action = re.search(r'<form class="stack" method="post" action="([^"]*)"', answer.text)
    base = re.search(r'name="base" value="([0-9a-f]{64})"', answer.text)
    assert action
    assert base
    assert action[1] == f"/records/{current}/evolve"
    again = alice.post(action[1], {**ACTS["evolve"], "base": base[1], "content": "my own draft"})
    assert again.status_code == 302
    assert world.now().seq == before + 1


def test_an_owner_supersedes_by_the_beginning_of_an_id(world: World, alice: Client, subject: Subject) -> None:
    record, _ = subject
    other = world.save("takes its place")
    alice.post(f"/records/{record}/supersede", {**ACTS["supersede"], "new": str(other.id)[:13]})
    text = alice.get(f"/records/{record}").text
    assert "Superseded by entry" in text
    assert f"/records/{other.id}" in links(text)


@pytest.mark.parametrize(
    ("act", "given", "status", "code"),
    [
        ("restore", {"reason": "not withdrawn"}, 409, "conflict"),
        ("supersede", {"new": "ffff", "reason": "correction"}, 404, "not_found"),
        ("supersede", {"new": "?", "reason": "correction"}, 422, "invalid"),
        ("evolve", {"content": "said first", "reason": "correction"}, 422, "invalid"),
    ],
)
def test_a_refused_act_is_shown_on_its_page_with_what_was_typed(
    world: World, alice: Client, subject: Subject, act: str, given: dict[str, str], status: int, code: str
) -> None:  # fmt: skip
    record, carried = subject
    before = world.now().seq
    answer = alice.post(f"/records/{record}/{act}", {**carried, **given})
    assert answer.status_code == status
    assert f"<code>{code}</code>" in answer.text
    assert given.get("new", given["reason"]) in answer.text
    assert world.now().seq == before


@pytest.mark.parametrize("act", ACTS)
def test_a_form_that_is_not_filled_in_is_422_and_writes_nothing(
    world: World, alice: Client, subject: Subject, act: str
) -> None:
    before = world.now().seq
    answer = alice.post(f"/records/{subject[0]}/{act}", {"key": "k"})
    assert answer.status_code == 422
    assert "Nothing was recorded" in answer.text
    assert world.now().seq == before


def test_a_form_sent_twice_is_written_once(world: World, alice: Client, subject: Subject) -> None:
    record, carried = subject
    given = {**ACTS["evolve"], **carried, "key": "a1b2"}
    first = alice.post(f"/records/{record}/evolve", given)
    before = world.now().seq
    second = alice.post(f"/records/{record}/evolve", given)
    assert first.headers["Location"] == second.headers["Location"]
    assert world.now().seq == before
    assert "the first answer again" in alice.get(second.headers["Location"]).text


@pytest.mark.parametrize("act", ACTS)
def test_a_stranger_an_auditor_and_a_form_without_its_token_write_nothing(
    world: World, client: Client, subject: Subject, act: str
) -> None:
    record, carried = subject
    before = world.now().seq
    address, given = f"/records/{record}/{act}", {**ACTS[act], **carried}
    assert client.post(address, given).status_code == 401
    assert browser(world.charlie).post(address, given).status_code == 403
    assert browser(world.alice, checks_csrf=True).post(address, given).status_code == 403
    assert world.now().seq == before


@pytest.mark.parametrize("act", ["evolve", "supersede"])
def test_what_is_an_owners_is_refused_to_a_reviewer(world: World, subject: Subject, act: str) -> None:
    record, carried = subject
    answer = browser(world.bob).post(f"/records/{record}/{act}", {**ACTS[act], **carried})
    assert answer.status_code == 403
    assert "an act for an owner of acme; you are its reviewer" in answer.text


def test_an_auditor_meets_no_control_and_a_reviewer_only_theirs(world: World, subject: Subject) -> None:
    record, _ = subject

    def controls(text: str) -> set[str]:
        return {link.rsplit("/", 1)[1] for link in links(text) if link.startswith(f"/records/{record}/")} & ACTS.keys()

    assert controls(browser(world.charlie).get(f"/records/{record}").text) == set()
    assert controls(browser(world.bob).get(f"/records/{record}").text) == {"withdraw"}
    assert controls(browser(world.alice).get(f"/records/{record}").text) == {"withdraw", "evolve", "supersede"}
    assert browser(world.charlie).get(f"/records/{record}/withdraw").status_code == 403


def test_at_a_past_point_the_controls_are_off_and_say_why(world: World, alice: Client, subject: Subject) -> None:
    record, carried = subject
    point = point_of(world)
    text = alice.get(f"/records/{record}?{point}").text
    assert "You look at the past; nothing can be written there." in text
    assert f"/records/{record}/evolve" not in text
    for act, given in ACTS.items():
        assert alice.get(f"/records/{record}/{act}?{point}").status_code == 409
        assert alice.post(f"/records/{record}/{act}?{point}", {**given, **carried}).status_code == 409


def test_a_frozen_agent_does_not_stop_people(world: World, alice: Client, subject: Subject) -> None:
    from memory.agents import operations as agents

    agents.freeze(world.alice, agent=world.scout.agent, reason="wrote to the wrong tenant")  # type: ignore[arg-type]
    record, _ = subject
    assert alice.post(f"/records/{record}/withdraw", ACTS["withdraw"]).status_code == 302
