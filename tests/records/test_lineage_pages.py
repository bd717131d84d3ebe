"""The lineage on the page of a record, its comparison with another point, ways and finds; forms that join records."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from uuid import UUID

import pytest
from django.test import Client

from audit.frame import in_url
from audit.pages import lineage
from memory.base import clock
from memory.ledger.models import Entry
from memory.lineage.models import Derivation, Edge
from memory.lineage.queries.making import making
from memory.records.models import Record
from memory.records.queries.detail import record
from tests.browsers import browser
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

SECRET = "AKIAIOSFODNN7EXAMPLE"
NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def world() -> World:
    return World("acme")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def nodes(text: str) -> dict[str, dict[str, str]]:
    """{id of the record: the marks of its node}."""
    found = {}
    for link in re.findall(r'<a href="/records/[^>]*data-node=[^>]*>', text):
        marks = dict(re.findall(r'(?:data-)?([a-z-]+)="([^"]*)"', link))
        found[marks["href"].split("/")[2].split("?")[0]] = marks
    return found


def plain(text: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def n_entries(world: World) -> int:
    return Entry.objects.filter(namespace=world.namespace).count()


def test_two_points_are_compared_by_mark_and_word_in_drawing_list_and_numbers(world: World, alice: Client) -> None:
    first = world.save("one").id
    then = world.now().seq
    second = world.evolve(first, content="two")
    text = alice.get(f"/records/{second}?against=seq:{then}").text
    marked = nodes(text)
    assert {id: marks["change"] for id, marks in marked.items()} == {str(first): "kept", str(second): "added"}
    text = alice.get(f"/records/{first}?against=seq:{then}").text
    marked = nodes(text)
    assert {id: marks["change"] for id, marks in marked.items()} == {str(first): "kept", str(second): "added"}
    assert "added" in marked[str(second)]["aria-label"]
    assert '<text class="change"' in text
    assert f"Since seq {then}" in plain(text)
    assert "1 added, 1 link" in plain(text)
    assert "· added" in plain(text.split('class="lineage-list"')[1])
    past = f"valid_at={in_url(world.now().valid_at)}&known_at=seq:{then}"
    turned = nodes(alice.get(f"/records/{first}?{past}&against=seq:{world.now().seq}").text)
    assert turned[str(second)]["change"] == "removed"


def test_a_wall_clock_to_compare_with_is_pinned_so_that_a_copied_link_never_drifts(world: World, alice: Client) -> None:
    times = [NOON, NOON + timedelta(hours=2)]
    with clock.injected(lambda: times[0]):
        first = world.save("one").id
    then = world.now().seq
    with clock.injected(lambda: times[1]):
        world.evolve(first, content="two")
    answer = alice.get(f"/records/{first}?against=2030-06-01 13:00&up=2")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/records/{first}?up=2&against=seq:{then}")
    later = alice.get(f"/records/{first}?against=2099-01-01T00:00:00Z")
    assert "provisional" in later.text
    refused = alice.get(f"/records/{first}?against=yesterday&up=2")
    assert refused.status_code == 422
    assert 'value="yesterday"' in refused.text
    assert 'aria-invalid="true"' in refused.text
    assert "Expected seq:N or an instant such as 2026-11-24 10:00; nothing is compared." in plain(refused.text)
    assert {*nodes(refused.text)} == {*nodes(alice.get(f"/records/{first}?up=2").text)}
    assert alice.get(f"/records/{first}/lineage.json?against=yesterday").json()["errors"][0]["loc"] == ["against"]


@pytest.mark.parametrize("asked", ["up=-1", "down=-1", "up=two"])
def test_levels_that_are_none_are_answered_with_how_many_there_may_be(world: World, alice: Client, asked: str) -> None:
    focus = world.save("one").id
    refused = alice.get(f"/records/{focus}/lineage.json?{asked}")
    assert refused.status_code == 422
    assert f"{asked.partition('=')[0]}: expected 0 to 300 levels" in refused.text


def test_a_way_is_thick_said_in_words_and_shown_whatever_the_levels(world: World, alice: Client) -> None:
    chain = [world.save("version 0").id]
    for number in range(1, 5):
        chain.append(world.evolve(chain[-1], content=f"version {number}"))
    text = alice.get(f"/records/{chain[-1]}?up=0&to={chain[0]}").text
    marked = nodes(text)
    assert set(marked) == {str(one) for one in chain}
    assert all("path" in marks and "on the way" in marks["aria-label"] for marks in marked.values())
    assert text.count('data-path=""><path class="line"') == 4
    assert "The way to version 0 has 4 steps" in plain(text)
    none = alice.get(f"/records/{chain[-1]}?to={world.save('stranger').id}").text
    assert "no way leads to" in plain(none)
    assert alice.get(f"/records/{chain[-1]}?to=abc").status_code == 422
    table = alice.get(f"/records/{chain[-1]}?view=table&up=0").text
    assert f"/records/{chain[-1]}?up=0&amp;to={chain[0]}" in table


def test_what_is_found_is_marked_and_what_is_not_shown_is_a_link_to_its_way(world: World, alice: Client) -> None:
    far = world.save(f"the Needle with {SECRET}").id
    middle = world.evolve(far, content="in between")
    near = world.evolve(middle, content="another needle")
    focus = world.evolve(near, content="the focus")
    text = alice.get(f"/records/{focus}?find=needle").text
    assert {id for id, marks in nodes(text).items() if "match" in marks} == {str(near)}
    assert "is found in 1 shown and 1 more of the lineage" in plain(text)
    assert f"to={far}" in unescape(text)
    assert SECRET not in text
    assert "is found in 0 shown" in plain(alice.get(f"/records/{focus}?find={SECRET[:8]}").text)


def test_a_layout_is_kept_by_ids_and_links_and_never_by_text(
    world: World, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = world.save("a root text").id
    world.split(root, *(f"part text {n}" for n in range(80)))
    keys: list[str] = []

    class Kept:
        def get_or_set(self, key: str, make: object, seconds: int) -> object:
            keys.append(key)
            return make()  # type: ignore[operator]

    monkeypatch.setattr(lineage, "cache", Kept())
    alice.get(f"/records/{root}")
    world.save("something else that moves the head")
    world.erase(root)
    alice.get(f"/records/{root}")
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert re.fullmatch(r"lineage:[0-9a-f]{64}", keys[0])


def test_the_reading_of_a_source_is_dashed_and_labelled_and_counts_what_it_leaves_out(
    world: World, alice: Client
) -> None:
    first = world.save("one", source_recorded_at=NOON).id
    second = world.evolve(first, content="two", source_recorded_at=NOON + timedelta(days=1))
    world.evolve(second, content="ours", source_recorded_at=None)
    address = f"/records/{first}?down=5&known_at=source:2030-07-01T00:00:00Z"
    text = alice.get(address).text
    assert set(nodes(text)) == {str(first), str(second)}
    assert 'data-claimed=""' in text
    assert "claimed by the source, not proven here. 1 without an instant of the source left out." in plain(text)
    told = alice.get(f"/records/{first}/lineage.json?known_at=source:2030-07-01T00:00:00Z").json()["palimpsest"]
    assert (told["claimed_by_the_source_at"], told["hidden"]) == ("2030-07-01T00:00:00Z", {"no_source_time": 1})
    listed = plain(alice.get("/records?known_at=source:2030-07-01T00:00:00Z").text)
    assert "without an instant of the source" in listed
    assert 'data-claimed=""' not in alice.get(f"/records/{first}").text


def test_the_files_state_their_caps_and_the_comparison(world: World, alice: Client) -> None:
    first = world.save("one").id
    then = world.now().seq
    second = world.evolve(first, content="two")
    svg = alice.get(f"/records/{first}/lineage.svg?against=seq:{then}").text
    assert "<desc>Lineage: 2 of 2 nodes, 1 of 1 links</desc>" in svg
    assert 'data-change="added"' in svg
    told = alice.get(f"/records/{first}/lineage.json?against=seq:{then}").json()["palimpsest"]
    edge = {"older": str(first), "newer": str(second), "relation": "evolved_from"}
    assert (told["against"]["added_links"], told["against"]["removed_links"]) == ([edge], [])


def test_how_a_record_came_to_be_stands_on_its_page_with_the_law_kept(world: World, alice: Client) -> None:
    one, two = (saved.id for saved in world.save_all("one", "two"))
    merge = world.merge(one, two, valid_time="hull")
    text = plain(alice.get(f"/records/{merge}").text)
    assert "Made by a merge of 2 records" in text
    assert "where some source is valid, the merged record is (V-some)" in text
    assert "Saved, derived from no other record" in plain(alice.get(f"/records/{one}").text)


def test_an_open_conflict_is_shown_settled_by_a_form_and_then_shown_settled(world: World, alice: Client) -> None:
    one = world.save("one", metadata={"owner": "Ann", "limit": 1}).id
    two = world.save("two", metadata={"owner": "Bob", "limit": 2}).id
    merge = world.merge(one, two)
    text = alice.get(f"/records/{merge}").text
    assert "What the sources differ in: 2 open" in plain(text)
    address = f"/records/{merge}/settle"
    assert address in text
    form = {"key": "once", "choice_0": "open", "choice_1": "1", "reason": "correction", "note": "asked Bob"}
    before = n_entries(world)
    for _ in range(2):
        answer = alice.post(address, form)
        assert answer.status_code == 302
    assert n_entries(world) == before + 1
    settled = UUID(answer.headers["Location"].split("/")[2].split("?")[0])
    assert record(world.now(), id=settled).metadata == {"owner": "Bob"}
    assert making(world.now(), record=settled).n_open == 1
    shown = plain(alice.get(f"/records/{settled}").text)
    assert "What the sources differ in: 1 open" in shown
    assert "asked Bob" in shown
    nothing = alice.post(f"/records/{settled}/settle", {**form, "key": "other", "choice_0": "open"})
    assert nothing.status_code == 422


def test_a_link_and_a_merge_are_made_by_forms_that_a_suggestion_fills_in(world: World, alice: Client) -> None:
    one = world.save("refunds above 100 EUR need a second signature").id
    two = world.save("refunds above 200 EUR need a second signature").id
    text = unescape(alice.get(f"/records/{one}/suggestions").text)
    assert "nearly the same text" in text
    (link,) = re.findall(r'href="(/records/[^"]*/link[^"]*)"[^>]*>Link as', text)
    (merge,) = set(re.findall(r'href="(/records/[^"]*/merge\?[^"]*)"', text))
    page = alice.get(link).text
    assert f'value="{two}"' in page
    assert re.search(r'<option value="related_to" selected>', page)
    before = n_entries(world)
    sent = {"key": "k", "relation": "related_to", "target": str(two)}
    assert alice.post(f"/records/{one}/link", sent).status_code == 302
    assert alice.post(f"/records/{one}/link", sent).status_code == 302
    assert Edge.objects.filter(namespace=world.namespace, relation="related_to").count() == 1
    assert str(two) in alice.get(merge).text
    form = {
        "key": "m", "others": str(two), "strategy": "union", "valid_time": "explicit", "reason": "inference",
        "valid_from": "2030-01-01T00:00:00Z",
    }  # fmt: skip
    assert alice.post(f"/records/{one}/merge", form).status_code == 302
    assert n_entries(world) == before + 2
    made = Derivation.objects.get(namespace=world.namespace, kind="merge")
    assert (made.reason, made.valid_rule) == ("inference", "explicit")
    assert Record.objects.filter(namespace=world.namespace, valid_from__year=2030).count() == 1


@pytest.mark.parametrize(
    ("act", "form", "status"),
    [
        ("link", {"relation": "related_to", "target": "ffffffff"}, 404),
        ("link", {"relation": "evolved_from", "target": "ffffffff"}, 422),
        ("merge", {"others": "ffffffff"}, 404),
        ("merge", {"others": ""}, 422),
        ("merge", {"others": "ffffffff", "valid_from": "2030-01-01"}, 404),
    ],
)
def test_a_refused_form_keeps_what_was_typed_and_writes_nothing(
    world: World, alice: Client, act: str, form: dict[str, str], status: int
) -> None:
    one = world.save("one").id
    before = n_entries(world)
    whole = {"strategy": "union", "valid_time": "intersection", "reason": "inference", "note": "typed by hand", **form}
    answer = alice.post(f"/records/{one}/{act}", {"key": "k", **whole})
    assert answer.status_code == status
    assert n_entries(world) == before
    assert form.get("target", form.get("others", "")) in answer.text


@pytest.mark.parametrize("act", ["link", "merge", "settle"])
def test_who_may_not_write_is_refused_and_meets_no_control(world: World, act: str) -> None:
    one = world.save("one").id
    for actor in (world.bob, world.charlie):
        client = browser(actor)
        before = n_entries(world)
        assert client.post(f"/records/{one}/{act}", {"key": "k"}).status_code == 403
        assert n_entries(world) == before
        assert f"/records/{one}/{act}" not in client.get(f"/records/{one}").text


def test_any_two_records_are_compared_field_by_field(world: World, alice: Client) -> None:
    one = world.save("the limit is 100 EUR", tags=("a",), metadata={"owner": "Ann", "token": SECRET}).id
    two = world.save("the limit is 200 EUR", tags=("b",), metadata={"owner": "Bob", "token": "x"}, type="fact").id
    text = alice.get(f"/records/{one}/diff?with={two}").text
    assert "−1 +1 words" in plain(text)
    for heading in ("type", "content", "tags", "metadata.owner"):
        assert f"<h2>{heading}</h2>" in text
    assert SECRET not in text
    assert 'class="diff-sides"' in alice.get(f"/records/{one}/diff?with={two}&view=split").text
    assert "one and the same record" in alice.get(f"/records/{one}/diff?with={one}").text
    assert alice.get(f"/records/{one}/diff").status_code == 422
    foreign = World("other").save("theirs").id
    assert alice.get(f"/records/{one}/diff?with={foreign}&ns=acme").status_code == 404
    world.erase(one)
    erased = alice.get(f"/records/{one}/diff?with={two}&ns=acme").text
    assert "nothing of either is compared" in erased
    assert "200 EUR" not in erased.split("records-table")[1].split("</table>")[1]


def test_two_ticked_records_lead_to_their_comparison_the_older_first(world: World, alice: Client) -> None:
    one = world.save("one").id
    two = world.evolve(one, content="two")
    assert f'name="record" value="{one}"' in alice.get(f"/records/{two}/versions").text
    assert 'name="record"' in alice.get("/records").text
    answer = alice.get(f"/records/compare?record={two}&record={one}")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/records/{one}/diff?with={two}")
    for wrong in ("", f"record={one}", f"record={one}&record={one}", f"record={one}&record={two}&record={UUID(int=1)}"):
        assert alice.get(f"/records/compare?{wrong}").status_code == 422


def test_versions_say_why_and_whether_the_line_is_sound(world: World, alice: Client) -> None:
    one = world.save("one").id
    two = world.evolve(one, content="two")
    branch = world.evolve(one, content="another two")
    text = plain(alice.get(f"/records/{two}/versions").text)
    assert "2 versions of one line" in text
    assert "consistent" in text
    assert "evolve, correction" in text
    left = plain(alice.get(f"/records/{branch}/versions").text)
    assert f"a branch that left {str(one)[:8]}" in left
    broken = world.evolve(two, content="three", source_recorded_at=NOON)
    worse = world.evolve(broken, content="four", source_recorded_at=NOON - timedelta(days=1))
    shown = plain(alice.get(f"/records/{worse}/versions").text)
    assert f"{str(worse)[:8]} claims an earlier instant than {str(broken)[:8]}" in shown


# Numbers that agree.


def counted(text: str) -> dict[str, int]:
    """{word of a relation: the number beside it} of the filter above the drawing."""
    (line,) = re.findall(r"between them(.*?)</span>", text, re.DOTALL)
    return {word: int(n) for word, n in re.findall(r">([a-z ]+) (\d+)</a>", line)}


def n_links(text: str) -> int:
    return int(re.findall(r"(\d+) of \d+ links shown", text)[0])


def branching(world: World) -> UUID:
    """A record that rests on a root from which other branches grow, which it never reaches by its own lineage."""
    root = world.save("root").id
    focus = world.evolve(root, content="middle")
    for text in ("left", "right", "far"):
        world.link(world.save(text).id, "references", root)
        world.split(root, f"{text} one", f"{text} two")
    world.link(focus, "references", root)
    return focus


def test_the_counts_of_the_filter_are_those_of_the_links_that_are_shown(world: World, alice: Client) -> None:
    focus = branching(world)
    for asked in ("", "?up=5&down=5", "?relations=derived", "?up=5&relations=derived,refers"):
        text = alice.get(f"/records/{focus}{asked}").text
        chosen = re.search(r"relations=([a-z,]+)", asked)
        words = {"derived": "derived", "refers": "referred to", "supersedes": "superseded"}
        shown = [words[word] for word in chosen[1].split(",")] if chosen else [*counted(text)]
        assert sum(counted(text).get(word, 0) for word in shown) == n_links(text) > 0
    # What the filter leaves out is counted among the same records.
    assert counted(alice.get(f"/records/{focus}?relations=derived").text)["referred to"] == 1


def test_what_leads_out_of_a_lineage_that_is_shown_whole_says_so(world: World, alice: Client) -> None:
    focus = branching(world)
    whole = alice.get(f"/records/{focus}?relations=derived").text
    assert "2 of 2 nodes, 1 of 1 links shown" in whole
    assert "Show what rests on it: 6 more, outside this lineage" in whole
    part = alice.get(f"/records/{focus}?relations=derived&up=0").text
    assert "Show what it rests on: 1 more<" in part
