"""The pages of erasure: find, tick, see what it takes, erase, read the receipt."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.http import HttpResponse
from django.test import Client

from audit.frame import in_url
from audit.pages.erasures import making
from memory.agents import operations as agents
from memory.base import clock
from memory.checks.operations import record_run
from memory.ledger.models import Content, Entry, Erasure
from memory.ledger.operations.erasing import erase
from memory.ledger.queries import erased
from memory.records.queries import detail
from tests.browsers import browser
from tests.erasures.canary import new_canary, tables_with
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

ITEM = re.compile(r'<input type="checkbox" name="item" value="([0-9.]+)"( checked)?>')
HIDDEN = re.compile(r'<input type="hidden" name="([a-z_]+)" value="([^"]*)"')
NEW = "/erasures/new"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def ticked(answer: HttpResponse) -> list[str]:
    return [address for address, checked in ITEM.findall(answer.text) if checked]


def offered(answer: HttpResponse) -> list[str]:
    return [address for address, _ in ITEM.findall(answer.text)]


def hidden(answer: HttpResponse) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in HIDDEN.findall(answer.text):
        if name != "csrfmiddlewaretoken":
            found.setdefault(name, []).append(unescape(value))
    return found


def phrase(answer: HttpResponse) -> str:
    match = re.search(r"Type “(erase \d+)” to confirm", unescape(answer.text))
    assert match is not None
    return match[1]


def preview(client: Client, *items: str, **more: object) -> HttpResponse:
    return client.post(NEW, {"item": list(items), "stage": "preview", **more})


def confirmed(client: Client, shown: HttpResponse, **more: object) -> HttpResponse:
    """The second form as it stands, filled in and sent."""
    keys = re.findall(r'name="key" value="([^"]+)"', shown.text)
    given = {**hidden(shown), "key": keys[:1], "reason": "request", "typed": phrase(shown), "stage": "erase", **more}
    return client.post(NEW, given)


def address(world: World, record: object) -> str:
    return ".".join(map(str, world.address(record)))  # type: ignore[arg-type]


def test_by_subject_what_names_it_is_listed_by_sort_and_ticked(world: World, alice: Client) -> None:
    saved = world.save("Anna Berg asked", type="note")
    world.withdraw(saved.id, reason="for anna berg")
    within, other = world.save("Joanna Bergson").id, world.save("somebody else").id
    answer = alice.get(NEW, {"subject": "Anna Berg"})
    assert answer.status_code == 200
    assert len(ticked(answer)) == 2
    assert "What was said about records" in answer.text
    assert set(offered(answer)) - set(ticked(answer)) == {address(world, within)}
    assert address(world, other) not in offered(answer)
    assert Erasure.objects.count() == 0


def test_what_names_it_inside_longer_words_is_offered_and_not_ticked(world: World, alice: Client) -> None:
    record = world.save("an annual meeting").id
    answer = alice.get(NEW, {"subject": "annu"})
    assert (offered(answer), ticked(answer)) == ([address(world, record)], [])
    assert "Only inside longer words" in answer.text


def test_a_subject_that_nothing_names_is_told_so(alice: Client) -> None:
    answer = alice.get(NEW, {"subject": "nobody at all"})
    assert (answer.status_code, offered(answer)) == (200, [])
    assert "nothing names it" in answer.text


def test_from_a_record_its_copies_are_offered_and_not_ticked(world: World, alice: Client) -> None:
    record = world.save("a line of some length").id
    merge = world.merge(record, world.save("another").id)
    page = alice.get(f"/records/{record}")
    assert f"{NEW}?record={record}" in page.text
    answer = alice.get(NEW, {"record": str(record)})
    assert ticked(answer) == [address(world, record)]
    assert offered(answer) == [address(world, record), address(world, merge)]


def test_the_way_from_a_subject_to_the_receipt(world: World, alice: Client) -> None:
    canary = new_canary()
    record = world.save(f"the key is {canary}").id
    child = world.evolve(record, content="without it")
    found = alice.get(NEW, {"subject": canary})
    shown = preview(alice, *ticked(found), subject=canary)
    assert shown.status_code == 200
    assert str(child) in shown.text
    assert "shows as erased" in shown.text
    assert Erasure.objects.count() == 0
    done = confirmed(alice, shown, note="it leaked")
    seq = Entry.objects.get(namespace=world.namespace, verb="erase").seq
    assert (done.status_code, done.headers["Location"]) == (302, f"/erasures/{seq}")
    receipt = alice.get(f"/erasures/{seq}")
    assert "it leaked" in receipt.text
    assert "a secret" not in receipt.text
    assert f"/erasures/{seq}.txt" in receipt.text
    assert tables_with(canary) == []
    assert canary not in receipt.text


def test_a_copy_that_is_ticked_goes_by_the_same_entry(world: World, alice: Client) -> None:
    record = world.save("a line of some length").id
    merge = world.merge(record, world.save("another").id)
    shown = preview(alice, address(world, record))
    assert offered(shown) == [address(world, merge)]
    again = preview(alice, address(world, record), address(world, merge))
    assert offered(again) == []
    confirmed(alice, again)
    gone = {detail.record(world.now(), id=one).erased_seq for one in (record, merge)}
    assert len(gone) == 1
    assert None not in gone


def test_a_copy_ticked_at_the_last_moment_is_shown_first(world: World, alice: Client) -> None:
    """What is sent must be what was looked at: more than that is shown before it is erased."""
    record = world.save("a line of some length").id
    merge = world.merge(record, world.save("another").id)
    shown = preview(alice, address(world, record))
    answer = confirmed(alice, shown, item=[address(world, record), address(world, merge)])
    assert answer.status_code == 412
    assert Erasure.objects.count() == 0


def test_what_came_since_is_shown_before_it_goes(world: World, alice: Client) -> None:
    record = world.save("a line of some length").id
    shown = preview(alice, address(world, record))
    world.withdraw(record, reason="private")
    answer = confirmed(alice, shown)
    assert answer.status_code == 412
    assert "has changed since you looked" in answer.text
    assert Erasure.objects.count() == 0
    assert confirmed(alice, answer).status_code == 302


@pytest.mark.parametrize("typed", ["", "erase", "erase 99", "ERASE 2"])
def test_without_the_phrase_nothing_goes(world: World, alice: Client, typed: str) -> None:
    record = world.save("a note").id
    answer = confirmed(alice, preview(alice, address(world, record)), typed=typed, note="kept words")
    assert answer.status_code == 422
    assert "kept words" in answer.text
    assert Erasure.objects.count() == 0


def test_under_a_hold_it_is_locked_and_says_who_why_and_until_when(world: World, alice: Client) -> None:
    record = world.save("a note").id
    ends = clock.now() + agents.DEFAULT_LIFE
    before = preview(alice, address(world, record))
    agents.hold(world.alice, held=True, reason="the lawsuit of May", until_at=ends)
    for answer in (preview(alice, address(world, record)), confirmed(alice, before, note="kept words")):
        assert "alice@example.org" in answer.text
        assert "the lawsuit of May" in answer.text
        assert f"{ends:%Y-%m-%d}" in answer.text
        assert "Erase for good" not in answer.text
    assert answer.status_code == 409
    assert "on_hold" in answer.text
    assert "kept words" in answer.text
    assert Erasure.objects.count() == 0
    agents.hold(world.alice, held=False, reason="it is over")
    assert confirmed(alice, preview(alice, address(world, record))).status_code == 302


def test_under_a_hold_the_first_page_says_so_too(world: World, alice: Client) -> None:
    told = "nothing is erased until"
    assert told not in alice.get(NEW).text
    agents.hold(world.alice, held=True, reason="the lawsuit of May", until_at=None)
    assert told in alice.get(NEW).text
    assert told in alice.get(f"{NEW}?subject=lawsuit").text


def test_where_people_write_nothing_the_page_says_why_and_holds_no_form(world: World, alice: Client) -> None:
    answer = alice.get(f"{NEW}?known_at=seq:1&valid_at={in_url(world.now().valid_at)}")
    assert answer.status_code == 409
    assert "You look at the past; nothing can be written there." in answer.text
    assert "<h1>Erase</h1>" in answer.text
    assert 'name="subject"' not in answer.text
    assert "Conflict of state" not in answer.text
    assert browser(world.bob).get(NEW).status_code == 403


def test_a_form_sent_twice_erases_once(world: World, alice: Client) -> None:
    record = world.save("a note").id
    shown = preview(alice, address(world, record))
    first, again = confirmed(alice, shown), confirmed(alice, shown)
    assert first.status_code == 302
    # What would go is nothing by now, so the second answer shows that.
    assert again.status_code in (302, 412)
    assert Entry.objects.filter(namespace=world.namespace, verb="erase").count() == 1


def test_more_than_can_be_listed_go_together(world: World, alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "MOST", 3)
    records = [saved.id for saved in world.save_all(*(f"about anna berg {n}" for n in range(7)))]
    found = alice.get(NEW, {"subject": "anna berg"})
    assert len(ticked(found)) == 3
    assert 'name="rest" value="yes" checked' in found.text
    kept = records[0]
    some = [one for one in ticked(found) if one != address(world, kept)]
    confirmed(alice, preview(alice, *some, subject="anna berg", rest="yes"))
    left = {record for record in records if detail.record(world.now(), id=record).content is not None}
    assert left == {kept}


@pytest.mark.parametrize(
    "query", [{"subject": "a"}, {"record": "nothing"}, {"item": "1"}, {"item": "x.y"}, {"subject": "%%"}]
)
def test_what_cannot_be_looked_for_is_named(alice: Client, query: dict[str, str]) -> None:
    answer = alice.get(NEW, query)
    assert (answer.status_code, 'role="alert"' in answer.text) == (422, True)


def test_what_does_not_exist_is_not_found(alice: Client) -> None:
    assert alice.get(NEW, {"record": "00000000-0000-4000-8000-000000000000"}).status_code == 404
    assert alice.get(NEW, {"item": "1.99"}).status_code == 404
    assert preview(alice, "1.99").status_code == 404
    assert preview(alice).status_code == 422
    assert alice.get("/erasures/1").status_code == 404


@pytest.mark.parametrize("who", ["bob", "charlie"])
def test_who_is_no_owner_reads_receipts_and_meets_no_way_to_erase(world: World, who: str) -> None:
    record = world.save("a note").id
    done = world.erase(record, note="asked for")
    kept = world.save("another").id
    client = browser(getattr(world, who))
    assert client.get(NEW).status_code == 403
    assert client.post(NEW, {"item": address(world, kept), "stage": "preview"}).status_code == 403
    for path in ("/erasures", f"/erasures/{done.seq}", f"/records/{kept}"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert NEW not in answer.text
    assert "asked for" in client.get(f"/erasures/{done.seq}").text


def test_nothing_is_erased_from_a_page_of_the_past(world: World, alice: Client) -> None:
    answer = alice.get(f"{NEW}?valid_at=2999-01-01T00:00:00Z&known_at=seq:2")
    assert answer.status_code == 409


def test_the_list_tells_each_erasure_newest_first(world: World, alice: Client) -> None:
    assert "Nothing was erased yet" in alice.get("/erasures").text
    first = world.erase(world.save("one").id, reason="secret")
    second = world.erase(world.save("two").id, reason="policy")
    text = alice.get("/erasures").text
    assert text.index(f"/erasures/{second.seq}") < text.index(f'/erasures/{first.seq}"')
    assert "a secret that must not be kept" in text
    assert "have not been written anew" in text
    record_run(world.system, name="scrub", version=1, verdict="ok", at_seq=second.seq, n_checked=1, found=[], report={})
    assert "have not been written anew" not in alice.get("/erasures").text
    assert "scrubbed" in alice.get(f"/erasures/{first.seq}").text


def test_the_commitments_of_a_receipt_come_as_a_file(world: World, alice: Client) -> None:
    done = world.erase(world.save("one", summary="s").id)
    answer = alice.get(f"/erasures/{done.seq}.txt")
    kept = erased.commitments(world.namespace, seq=done.seq)
    assert answer.text.split() == [digest.hex() for digest in kept.values()]
    assert f"lab-erased-{done.seq}.txt" in answer.headers["Content-Disposition"]


def test_a_receipt_whose_note_was_erased_says_by_what(world: World, alice: Client) -> None:
    done = world.erase(world.save("one").id, note="it was about somebody")
    again = erase(world.alice, items=[(done.seq, 0)], reason="mistake")
    text = alice.get(f"/erasures/{done.seq}").text
    assert "it was about somebody" not in text
    assert f"/erasures/{again.seq}" in text
    assert not Content.objects.filter(namespace=world.namespace, seq=done.seq).exists()


def test_the_retention_is_set_by_an_owner_and_shown_where_one_erases(world: World, alice: Client) -> None:
    assert "No retention is set" in alice.get("/erasures").text
    assert alice.post("/settings/retention", {"days": "30"}).status_code == 302
    assert "30 days" in alice.get("/erasures").text
    assert "30 days" in alice.get(NEW).text
    assert 'value="30"' in alice.get("/agents").text
    assert alice.post("/settings/retention", {"days": "0"}).status_code == 422
    assert alice.post("/settings/retention", {"days": ""}).status_code == 302
    assert "No retention is set" in alice.get("/erasures").text
    assert browser(world.bob).post("/settings/retention", {"days": "1"}).status_code == 403


def test_what_is_older_than_the_retention_is_offered_the_oldest_first(
    world: World, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MOST", 2)
    begun = clock.now()
    records = []
    for n in range(4):
        with clock.fixed(begun + timedelta(days=n)):
            records.append(world.save(f"note {n}").id)
    agents.change_setting(world.alice, name="retention", value="7")
    for day, n_older in ((0, 0), (8, 2), (30, 4)):
        with clock.fixed(begun + timedelta(days=day, hours=1)):
            text = alice.get(NEW).text
            offered_now = ticked(alice.get(NEW, {"older": "yes"}))
        assert (f"{n_older} records are older" in text) == (n_older > 0)
        assert offered_now == [address(world, record) for record in records[: min(n_older, 2)]]
    world.erase(*records)
    with clock.fixed(begun + timedelta(days=30)):
        assert "No record is older" in alice.get(NEW).text


# What the pages cost.


def test_the_pages_cost_the_same_whatever_they_hold() -> None:
    index, shown, found, named = {}, {}, {}, {}
    for n in (0, 1, 50):
        world = World(f"lab{n}")
        client = browser(world.alice)
        ns = f"ns=lab{n}"
        records = [saved.id for saved in world.save_all(*(f"about anna berg {i}" for i in range(n)))] if n else []
        found[f"now {n}"] = count_queries(client, f"{NEW}?{ns}&subject=anna%20berg")
        if records:
            world.merge(*records[: max(2, n)], content="a summary") if n > 1 else world.evolve(records[0], content="x")
            named[f"now {n}"] = count_queries(client, f"{NEW}?{ns}&" + "&".join(f"record={r}" for r in records))
            for record in records[:20]:
                world.erase(record)
            seq = world.now().seq
            shown[f"now {n}"] = count_queries(client, f"/erasures/{seq}?{ns}")
        index[f"now {n}"] = count_queries(client, f"/erasures?{ns}")
    found["no question"] = count_queries(client, f"{NEW}?ns=lab50")
    named = {f"records, {key}": n for key, n in named.items()}
    assert_baseline("erasures:index", index)
    assert_baseline("erasures:detail", shown)
    assert_baseline("erasures:new", {**found, **named})
