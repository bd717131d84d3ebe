"""The pages of facts as a browser gets them: three answers, what is left out, who meets which control, kept drafts."""

import csv
import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from io import StringIO
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.test import Client

from audit.frame import in_url
from memory.agents import operations as agents
from memory.base import clock
from memory.facts.operations import ending
from tests.browsers import browser
from tests.contract.callers import caller
from tests.facts.stating import SHOP, SPRING, SUMMER, Stated, contradict, declare, every_state, state
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

HOSTILE = '<script>window.ran = true</script> & "quoted" \u202eturned'
DAY = datetime(2030, 1, 14, 12, tzinfo=UTC)
ROW = re.compile(
    r'<tr data-row data-state="(\w+)"><th scope="row"[^>]*>.*?</tr>(?:\s*<tr data-more>.*?</tr>)*', re.DOTALL
)  # fmt: skip


@pytest.fixture
def world() -> World:
    return World("shop")


@pytest.fixture
def stated(world: World) -> Stated:
    return every_state(world, hostile=HOSTILE)


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def text_of(html: str) -> str:
    """The words of a piece of a page."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).strip()


def rows(client: Client, query: str = "") -> dict[str, str]:
    """{attribute: the words of its row} of the facts of SHOP."""
    page = client.get(f"/facts?subject={quote(SHOP)}&{query}").text
    table = page[page.index('id="facts-rows"') :]
    found = (match.group() for match in ROW.finditer(table))
    return {text_of(re.search(r'fact-attribute"[^>]*>(.*?)</a>', row, re.DOTALL)[1]): text_of(row) for row in found}  # type: ignore[index]


def form_of(page: str) -> dict[str, str]:
    """The hidden fields of the verdict form."""
    form = page[page.index('id="verdict-form"') :]
    return {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)}


def test_known_unknown_and_conflict_are_three_answers_each_with_why(stated: Stated, alice: Client) -> None:
    found = rows(alice)
    for attribute, words in {
        "city": "Berlin 4 messages, 2 origins known",
        "limit_checked": "no value unknown what was said has ended before it; what was known last",
        "owner_name": "no value unknown the value that covered it is erased",
        "opened": "no value unknown nothing says anything of this instant left out: 1 withdrawn",
        "refund_limit": "250 1 message, 1 origin known left out: 1 superseded",
        "sells": "bicycles 1 message, 1 origin conflict settle it",
    }.items():
        assert words in found[attribute], attribute


def test_each_value_stands_in_a_line_with_since_when_it_holds_and_was_recorded(stated: Stated, alice: Client) -> None:
    page = alice.get(f"/facts?subject={quote(SHOP)}&include=superseded").text
    lines = [text_of(line) for line in re.findall(r"<tr data-(?:row|more).*?</tr>", page, re.DOTALL)]
    for attribute, first, second in (
        ("sells", r"bicycles .* conflict settle it \[ 2026-03-01 → open\)", r"not bicycles .* \[ 2026-06-01 → open\)"),
        ("refund_limit", r"250 .* known \[ 2026-06-01 → open\)", r"200 superseded \[ 2026-03-01 → 2026-06-01 \)"),
    ):
        (n,) = [n for n, line in enumerate(lines) if line.startswith(f"{attribute} ")]
        recorded = r" \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
        assert re.match(f"{attribute} timeline {first}{recorded}", lines[n]), lines[n]
        assert re.match(f"{second}{recorded}", lines[n + 1]), lines[n + 1]


def test_what_is_left_out_is_counted_and_one_link_away(stated: Stated, alice: Client) -> None:
    page = alice.get("/facts").text
    line = text_of(page[page.index("filter-line") : page.index("</p>", page.index("filter-line"))])
    assert line.endswith("Left out: 1 superseded 1 withdrawn 1 erased 1 candidate")
    for word, attribute, shown in (
        ("superseded", "refund_limit", "200 superseded"), ("withdrawn", "opened", "2019 retracted"),
    ):  # fmt: skip
        assert re.search(rf'href="[^"]*include={word}[^"]*">1 {word}<', page)
        told = rows(alice, f"include={word}")[attribute]
        assert shown in told
        assert f"1 {word}" not in told


def test_a_filter_is_told_in_words_kept_by_every_link_and_taken_away_by_one(stated: Stated, alice: Client) -> None:
    page = alice.get("/facts?attribute=city&q=Acme&status=known&include=held").text
    assert "Berlin" in page
    for words in ("attribute is city", "the subject's name has Acme", "status is known", "held shown too"):
        (url,) = re.findall(rf'href="([^"]*)" aria-label="Remove the filter: {re.escape(words)}"', unescape(page))
        left = alice.get(unescape(url)).text
        assert words not in unescape(left)
        assert "Remove the filter:" in left
    for address in ("/facts.json", "/facts.csv"):
        assert f'{address}?attribute=city&amp;q=Acme&amp;status=known&amp;include=held"' in page
    assert text_of(alice.get("/facts?status=conflict").text).count("settle it") == 3


def test_the_three_empty_states_differ(world: World, alice: Client) -> None:
    assert "No facts yet" in alice.get("/facts").text
    before = world.now()
    state(world, "city", "Berlin")
    assert "No row where the subject's name has nobody" in unescape(alice.get("/facts?q=nobody").text)
    then = urlencode({"valid_at": in_url(before.valid_at), "known_at": f"seq:{before.seq}"})
    assert "There is content from" in alice.get(f"/facts?{then}").text
    asked = alice.get(f"/facts?subject={quote(SHOP)}&attribute=colour").text
    assert "unknown" in asked
    assert "nothing says anything of this instant" in asked


def test_the_file_of_a_list_holds_the_answers_of_the_api(world: World, stated: Stated, alice: Client) -> None:
    at = world.now()
    point = {"valid_at": in_url(at.valid_at), "known_at": f"seq:{at.seq}", "include": "superseded,withdrawn"}
    file = json.loads(b"".join(alice.get(f"/facts.json?{urlencode(point)}").streaming_content))  # type: ignore[attr-defined]
    api = caller(world, world.alice).get("/facts", **point).json()
    assert file["items"] == api["items"]
    assert len(file["items"]) == 10


def test_what_agents_wrote_is_never_more_than_text(stated: Stated, world: World, alice: Client) -> None:
    facts, case = stated.facts, stated.cases[-1]
    asked = ("/facts", f"/facts?subject={quote(HOSTILE)}", f"/facts/{facts['hostile']}", f"/facts/{facts['old']}",
             "/facts/conflicts", f"/facts/conflicts/{case}", f"/records/{stated.source}/facts")  # fmt: skip
    for address in asked:
        page = alice.get(address)
        assert page.status_code == 200, address
        assert "<script>window" not in page.text, address
        assert "\u202e" not in re.sub(
            r"(?:href|value|title|aria-label|action|data-copy|data-announce)=\"[^\"]*\"|<title>.*?</title>",
            "",
            page.text,
        ), address


def test_a_fact_tells_its_life_what_it_rests_on_and_that_it_grants_nothing(stated: Stated, alice: Client) -> None:
    old, new, known = (stated.facts[name] for name in ("old", "new", "known"))
    page = alice.get(f"/facts/{old}").text
    assert f'href="/facts/{new}"' in page
    assert re.search(r"asserted .* superseded from 2026-06-01 .* bob@example.org the desk wrote", text_of(page))
    page = alice.get(f"/facts/{known}").text
    assert f'href="/records/{stated.source}"' in page
    assert f'href="/facts/{new}"' in page
    assert "0.9 on the scale “likelihood”" in page
    assert "A fact never grants an act, however sure it is" in page
    assert alice.get(f"/facts/{stated.facts['erased']}").text.count("a name that must go") == 0
    assert f'href="/facts/{known}"' in alice.get(f"/records/{stated.source}/facts").text


@pytest.mark.parametrize(
    ("person", "may_assert", "may_settle"), [("alice", True, True), ("bob", False, True), ("charlie", False, False)]
)
def test_a_role_meets_the_controls_that_it_may_use_and_no_other(
    world: World, stated: Stated, person: str, may_assert: bool, may_settle: bool
) -> None:  # fmt: skip
    client, case, fact = browser(getattr(world, person)), stated.cases[0], stated.facts["known"]
    assert ("/facts/new" in client.get("/facts").text) == may_assert
    assert client.get("/facts/new").status_code == (200 if may_assert else 403)
    page = client.get(f"/facts/conflicts/{case}").text
    assert ("data-verdict-form" in page) == may_settle
    assert ("an owner’s verdict" in page) == (person == "bob")
    for verb in ("supersede", "retract"):
        assert (f"/facts/{fact}/{verb}" in client.get(f"/facts/{fact}").text) == may_settle
        assert client.get(f"/facts/{fact}/{verb}").status_code == (200 if may_settle else 403)
    head = world.now().seq
    sent = {"verdict": "keep_a", "reason": "seen", "version": "0" * 64, "a": str(fact), "b": str(fact)}
    assert client.post(f"/facts/conflicts/{case}/verdict", sent).status_code == (412 if may_settle else 403)
    assert client.post("/facts/new", {"subject": "x"}).status_code == (422 if may_assert else 403)
    assert world.now().seq == head
    past = f"valid_at={in_url(world.now().valid_at)}&known_at=seq:{world.now().seq - 1}"
    assert "data-verdict-form" not in client.get(f"/facts/conflicts/{case}?{past}").text


def test_a_verdict_on_a_case_that_has_moved_keeps_the_draft_and_can_then_be_sent(world: World, alice: Client) -> None:
    contradict(world, "vat_id", "980", "981", valid_from=SPRING)
    contradict(world, "tax_rate", 19, 7, valid_from=SPRING)
    first, second = re.findall(r'"/facts/conflicts/([0-9a-f-]{36})"', alice.get("/facts/conflicts").text)
    url = f"/facts/conflicts/{first}"
    draft = {**form_of(alice.get(url).text), "verdict": "keep_b", "reason": "the register says 981"}
    state(world, "vat_id", "980", origin="a letter", valid_from=SUMMER)
    head = world.now().seq
    answer = alice.post(f"{url}/verdict", draft)
    assert answer.status_code == 412
    assert "The case has moved since you opened it" in answer.text
    assert ">the register says 981</textarea>" in answer.text
    assert 'value="keep_b" checked' in answer.text
    assert world.now().seq == head

    again = {**form_of(answer.text), "verdict": "keep_b", "reason": "the register says 981"}
    preview = alice.post(f"{url}/preview", again)
    assert "Keep B: this will append 1 entry of 3 items: the verdict and 2 retractions as wrong." in preview.text
    assert world.now().seq == head
    answer = alice.post(f"{url}/verdict", again)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/facts/conflicts/{second}")
    assert world.now().seq == head + 1
    assert f'is recorded as <a href="/ledger/{head + 1}">' in alice.get(answer.headers["Location"]).text
    assert "nothing clashes" in alice.get(url).text
    assert "the register says 981" in alice.get(url).text


def test_a_verdict_that_is_refused_keeps_what_was_typed(world: World) -> None:
    contradict(world, "vat_id", "980", "981", valid_from=SPRING, valid_to=SUMMER)
    bob = browser(world.bob)
    (case,) = re.findall(r'"/facts/conflicts/([0-9a-f-]{36})"', bob.get("/facts/conflicts").text)
    url = f"/facts/conflicts/{case}"
    sent: dict[str, Any] = {**form_of(bob.get(url).text), "reason": "as I said"}
    head = world.now().seq
    for more, status in (
        ({"verdict": "both_hold"}, 403), ({"verdict": "split_at", "split_at": "2026-07-01"}, 422),
        ({"verdict": "split_at"}, 422), ({"verdict": "keep_a", "reason": ""}, 422), ({"verdict": "newest"}, 422),
    ):  # fmt: skip
        answer = bob.post(f"{url}/verdict", {**sent, **more})
        assert answer.status_code == status, more
        assert ("as I said" in answer.text) == ("reason" not in more), more
    assert world.now().seq == head
    assert bob.post(f"{url}/verdict", {**sent, "verdict": "split_at", "split_at": "2026-04-01"}).status_code == 302
    assert world.now().seq == head + 1


def test_two_points_of_a_subject_are_told_apart_by_mark_and_word(world: World, alice: Client) -> None:
    state(world, "city", "Berlin", valid_from=SPRING)
    state(world, "phone", "4411", valid_from=SPRING, valid_to=SUMMER)
    declare(world, "refund_limit")
    old = state(world, "refund_limit", 200, valid_from=SPRING)
    new = state(world, "refund_limit", 250, valid_from=SUMMER)
    ending.supersede(world.bob, fact=old, at=SUMMER, new=new, reason="a new rule")
    state(world, "owner_name", "Ada", valid_from=SUMMER)
    at = world.now()
    point = urlencode({"valid_at": in_url(SUMMER + timedelta(days=9)), "known_at": f"seq:{at.seq}"})
    page = alice.get(f"/facts?subject={quote(SHOP)}&{point}&against=2026-04-01")
    assert "as recorded by seq 0" in page.text
    # The same recording, another instant of the world: a point of its own is reached from its own address.
    then = urlencode({"valid_at": in_url(SPRING + timedelta(days=9)), "known_at": f"seq:{at.seq}"})
    page = alice.get(f"/facts?subject={quote(SHOP)}&{then}&against=now")
    changes = {
        text_of(attribute): change
        for change, attribute in re.findall(
            r'<tr data-row data-change="(\w+)">.*?data-label="attribute">(.*?)</td>', page.text, re.DOTALL
        )
    }
    assert changes == {"city": "kept", "phone": "added", "refund_limit": "changed", "owner_name": "removed"}
    band = text_of(page.text[page.text.index("diff-band") : page.text.index("</div>", page.text.index("diff-band"))])
    assert "+ 1 added − 1 removed ≠ 1 changed = 1 kept" in band
    assert alice.get(f"/facts?subject={quote(SHOP)}&against=never").status_code == 422


def test_a_typed_fact_is_asserted_as_what_it_is_read_as(world: World, alice: Client) -> None:
    given = {"subject": SHOP, "attribute": "refund_limit", "stance": "asserts", "source_class": "first_hand"}
    for value, read_as, kept in (("250", "number", 250), ("250", "text", "250"), ("TRUE", "truth", True)):
        answer = alice.post("/facts/new", {**given, "value": value, "read_as": read_as, "valid_from": "2026-03-01"})
        assert answer.status_code == 302, answer.text
        fact = answer.headers["Location"].rpartition("/")[2]
        told = caller(world, world.alice).get(f"/facts/{fact}").json()["fact"]
        assert told["value"] == kept
        assert type(told["value"]) is type(kept)
        assert told["valid_from"] == "2026-03-01T00:00:00.000000Z"
    head = world.now().seq
    for wrong in (
        {"value": "many", "read_as": "number"},
        {"attribute": "Two Words"},
        {"valid_to": "later"},
        {"references": "4411"},
    ):
        answer = alice.post("/facts/new", {**given, "value": "1", "read_as": "text", **wrong})
        assert answer.status_code == 422, wrong
        assert next(iter(wrong.values())) in answer.text
    assert world.now().seq == head


def test_a_held_fact_is_seen_by_reviewers_on_its_page_and_counts_nowhere(world: World, alice: Client) -> None:
    agents.change_setting(world.alice, name="review_policy", value="attribute=payee -> hold 14 d\n-> auto")
    held = state(world, "payee", "DE 00 4411")
    assert "DE 00 4411" not in alice.get(f"/facts?subject={quote(SHOP)}").text
    page = alice.get(f"/facts/{held}").text
    assert "It waits for a person and counts for nothing until then" in page
    assert SHOP not in alice.get("/").text
    assert SHOP not in alice.get("/ledger").text


def filled(world: World, n: int) -> Client:
    """Facts, unknowns and conflicts, n of each."""
    declare(world, "limit")
    for index in range(n):
        subject = f"Shop {index}"
        state(world, "city", "Berlin", subject=subject, references=(world.save(f"a letter about {index}").id,))
        state(world, "phone", "4411", subject=subject, valid_from=SPRING, valid_to=SUMMER)
        for value in (1, 2):
            state(world, "limit", value, subject=subject, valid_from=SPRING)
    return browser(world.alice)


def test_the_pages_cost_the_same_whatever_they_hold() -> None:
    lists, subjects, details, queues, cases = ({} for _ in range(5))  # type: ignore[var-annotated]
    for n in (0, 1, 25):
        world = World(f"lab{n}")
        alice = filled(world, n)
        ns = f"ns=lab{n}"
        at = world.now()
        past = urlencode({"valid_at": in_url(at.valid_at), "known_at": f"seq:{at.seq}"})
        lists[f"now {n}"] = count_queries(alice, f"/facts?{ns}")
        queues[f"now {n}"] = count_queries(alice, f"/facts/conflicts?{ns}")
        if n:
            fact = re.search(r'"/facts/([0-9a-f-]{36})', alice.get(f"/facts?{ns}&attribute=city").text)[1]  # type: ignore[index]
            case = re.search(r'"/facts/conflicts/([0-9a-f-]{36})', alice.get(f"/facts/conflicts?{ns}").text)[1]  # type: ignore[index]
            details[f"now {n}"] = count_queries(alice, f"/facts/{fact}?{ns}")
            cases[f"now {n}"] = count_queries(alice, f"/facts/conflicts/{case}?{ns}")
            subjects[f"now {n}"] = count_queries(alice, f"/facts?{ns}&subject=Shop+0")
            world.save("recorded later")
            lists[f"past {n}"] = count_queries(alice, f"/facts?{ns}&{past}")
            subjects[f"against {n}"] = count_queries(alice, f"/facts?{ns}&subject=Shop+0&against=seq:3")
    for page, found in (("facts:index", lists), ("facts:subject", subjects), ("facts:detail", details),
                        ("facts:conflicts", queues), ("facts:case", cases)):  # fmt: skip
        assert_baseline(page, found)


def test_the_first_page_tells_how_many_conflicts_opened_and_closed_by_day(world: World, alice: Client) -> None:
    with clock.fixed(DAY):
        past = World("past")
        past.save("a letter")
        contradict(past, "vat_id", "980", "981")
    with clock.fixed(DAY + timedelta(days=2)):
        first, _ = contradict(past, "tax_rate", 19, 7)
        ending.retract(past.bob, fact=first, retracted_as="wrong", reason="misread")
        client = browser(past.alice)
        page = text_of(client.get("/?ns=past").text)
        days = list(csv.DictReader(StringIO(client.get("/overview.csv?ns=past").text)))
    assert "2 conflicts opened, 1 closed in 14 days" in page
    turns = {day["day"]: (day["conflicts opened"], day["conflicts closed"]) for day in days[-4:]}
    assert turns == {
        "2030-01-13": ("", ""),
        "2030-01-14": ("1", "0"),
        "2030-01-15": ("0", "0"),
        "2030-01-16": ("1", "1"),
    }


def test_a_fact_is_found_by_its_id_and_by_its_subject_and_a_held_one_is_not(world: World, alice: Client) -> None:
    fact = state(world, "city", "Berlin")
    for typed in (str(fact), fact.hex[:12]):
        assert alice.get("/search", {"q": typed}).headers["Location"] == f"/facts/{fact}"
    page = unescape(alice.get("/search", {"q": "acme gmbh"}).text)
    assert f'href="/facts?{urlencode({"subject": SHOP, "attribute": "city"})}"' in page
    agents.change_setting(world.alice, name="review_policy", value="attribute=payee -> hold 14 d\n-> auto")
    held = state(world, "payee", "DE 00 4411", subject="Secret payee")
    for typed in (str(held), "Secret payee"):
        answer = alice.get("/search", {"q": typed})
        assert answer.status_code == 200
        assert "No run, record, fact" in answer.text
