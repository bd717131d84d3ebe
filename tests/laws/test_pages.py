"""The board of invariants, the page of one, its runs and waivers, as a browser gets them."""

from __future__ import annotations

import ast
import csv
import json
import re
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from audit.laws import recording, tasks
from audit.laws.clauses import LAWS
from audit.pages.laws.invariants import INVARIANTS, code_of
from audit.pages.laws.remedies import OTHERWISE, remedy
from memory.base import clock, jobs
from memory.checks.board import board
from memory.checks.models import CheckRun, Waiver
from memory.checks.operations import Found, record_run, waive
from memory.checks.queries import CheckDetail, check_run
from memory.ledger.models import Entry, Node
from memory.ledger.queries import asof
from tests.browsers import browser
from tests.laws import planting
from tests.laws.planting import Scene, planted
from tests.ledger.shown import words
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

LAWS_FOLDER = Path(__file__).parent.parent.parent / "audit" / "laws"


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.PALIMPSEST_HOME = tmp_path
    return tmp_path


@pytest.fixture
def world() -> World:
    return World("lab")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def rows(text: str) -> list[tuple[str, str]]:
    """(state, title) of each row of the board, from the top."""
    found = re.findall(r'<tr data-row data-state="(\w+)"><th scope="row"[^>]*><a[^>]*>([^<]+)</a>', text)
    return [(state, title) for state, title in found]


def detail_of(run: CheckRun) -> CheckDetail:
    return check_run(asof.now(run.namespace.pk), id=run.id)


def broken(world: World, name: str = "law.L7", *, n: int = 1, verdict: str = "violated") -> None:
    found = [Found("edge_end_missing", object=uuid4(), seq=one + 1) for one in range(n)]
    record_run(
        world.charlie, name=name, version=1, verdict=verdict, at_seq=1, n_checked=9, found=found, report={"n": n}
    )  # fmt: skip


def waived(world: World, name: str = "law.L7", *, reason: str = "known since March") -> None:
    waive(world.alice, name=name, reason=reason, expires_at=clock.now() + timedelta(days=3))


def test_every_invariant_is_listed_and_one_that_never_ran_is_told_as_loudly(world: World, alice: Client) -> None:
    text = alice.get("/laws").text
    assert {title for _, title in rows(text)} == {invariant.title for invariant in INVARIANTS}
    assert {state for state, _ in rows(text)} == {"not_run"}
    assert text.count('<span class="never">never</span>') == len(INVARIANTS)
    assert 'data-state="not_run" data-tone="danger"' in text


def test_the_laws_are_run_from_the_board_by_whoever_may_read(world: World) -> None:
    world.save("a note")
    answer = browser(world.charlie).post("/laws/run", follow=True)
    assert answer.redirect_chain == [("/laws", 302)]
    states = {title: state for state, title in rows(answer.text)}
    assert {states[law.title] for law in LAWS} == {"holds", "undecidable"}
    assert CheckRun.objects.filter(namespace=world.namespace).count() == len(LAWS)
    assert "up to date" in words(answer.text)
    world.save_all("another", "and another")
    text = words(browser(world.charlie).get("/laws").text)
    assert "1 entry since" in text
    assert "up to date" not in text
    world.save("a third")
    assert "2 entries since" in words(browser(world.charlie).get("/laws").text)


def test_a_run_that_a_job_did_says_how_long_it_took_and_its_report_does_not(world: World, alice: Client) -> None:
    recording.run(world.charlie, clauses=["L1"])
    assert "took" not in words(alice.get("/laws").text)
    start = clock.now()
    with clock.fixed(start):
        job = jobs.ask(world.alice, kind=tasks.KIND, given={"clauses": ["L1"], "namespace": world.name, "key": ""})
    with clock.fixed(start + timedelta(minutes=4)):
        tasks.run_laws(job.id)
    assert words(alice.get("/laws").text).count("took 4 minutes") == 1
    assert "took 4 minutes, from being asked for to being written down" in words(alice.get("/laws/law.L1").text)
    assert "took" not in words(alice.get("/laws/law.L2").text)
    first, second = (run.report | {"measures": {}} for run in map(detail_of, CheckRun.objects.order_by("seq")))
    assert first == second


def test_what_is_broken_stands_first_then_what_never_ran_then_what_is_waived(world: World, alice: Client) -> None:
    recording.run(world.charlie)
    broken(world, "law.L6")
    broken(world, "law.L7", n=3)
    waived(world, "law.L7")
    states = [state for state, _ in rows(alice.get("/laws").text)]
    assert states == ["violated", "not_run", "not_run", "violated", "undecidable", *["holds"] * 5]
    told = words(alice.get("/laws").text)
    assert "1 is broken, 1 is broken and waived and 2 have never run" in told
    waiver = board(world.now())["law.L7"].waivers[0]
    assert f"waived until {waiver.expires_at:%Y-%m-%d %H:%M} UTC" in told


def test_a_check_that_is_not_described_is_listed_by_its_name(world: World, alice: Client) -> None:
    broken(world, "probe.clock", verdict="failed")
    assert rows(alice.get("/laws").text)[0] == ("violated", "Check: probe.clock")
    assert "Check: probe.clock" in words(alice.get("/laws/probe.clock").text)
    assert alice.get("/laws/astrology").status_code == 404


def test_a_day_on_which_others_ran_is_a_gap_and_no_good_answer(world: World, alice: Client) -> None:
    start = clock.now()
    for day, names in enumerate((["law.L1", "law.L2"], ["law.L1"], ["law.L1"], ["law.L1", "law.L2"])):
        with clock.fixed(start + timedelta(days=day)):
            for name in names:
                broken(world, name, n=0, verdict="holds")
    text = alice.get("/laws/law.L2").text
    assert re.findall(r'<g data-outcome="(\w+)"', text) == ["holds", "not_run", "not_run", "holds"]
    assert "No violation in the last 2 runs, and 2 days without one." in words(text)
    assert re.findall(r'<g data-outcome="(\w+)"', alice.get("/laws/law.L1").text) == ["holds"] * 4


def test_the_board_as_csv_and_json_says_the_same(world: World, alice: Client) -> None:
    recording.run(world.charlie)
    broken(world, n=4)
    told = json.loads(alice.get("/laws.json").getvalue())["items"]
    lines = list(csv.DictReader(StringIO(alice.get("/laws.csv").getvalue().decode())))
    assert [line["check"] for line in lines] == [item["check"] for item in told]
    assert (told[0]["check"], told[0]["state"], told[0]["violations"]) == ("law.L7", "violated", 4)
    assert lines[0]["violations"] == "4"


@pytest.mark.parametrize("fault", planting.FAULTS, ids=lambda fault: f"{fault.clause} {fault.kind}")
def test_a_planted_violation_is_shown_with_its_place_and_what_to_do(fault: planting.Fault) -> None:
    scene = Scene()
    alice = browser(scene.world.alice)
    with planted():
        record = fault.plant(scene)
        alice.post(f"/laws/law.{fault.clause}/run?ns=lab")
        text = alice.get(f"/laws/law.{fault.clause}?ns=lab").text
        told = words(text)
        assert 'data-state="violated"' in text
        assert remedy(fault.kind) != OTHERWISE
        assert remedy(fault.kind) in told
        assert f"<code>{fault.kind}</code>" in text
        assert record is None or str(record) in text


def test_what_breaks_no_law_by_itself_is_told_beside_the_one_about_ancestry_with_what_to_do() -> None:
    scene = Scene()
    alice = browser(scene.world.alice)
    alice.post("/laws/run?ns=lab")
    assert "Beside the law" not in alice.get("/laws/law.L2?ns=lab").text
    with planted():
        scene.edge(source=scene.plain, target=scene.merged)
        alice.post("/laws/run?ns=lab")
        text, other = (alice.get(f"/laws/{name}?ns=lab").text for name in ("law.L2", "law.L1"))
    _, beside = text.split("Beside the law</h2>")
    beside, _ = beside.split("</section>", maxsplit=1)
    assert 'data-aside="ancestor_not_earlier"' in beside
    assert "1 ancestor that is not earlier in the log for information" in words(beside)
    assert remedy("ancestor_not_earlier") in words(beside)
    assert f"/records/{scene.merged}" in beside
    assert "Beside the law" not in other


def test_every_kind_that_a_checker_of_ours_can_report_has_its_remedy() -> None:
    kinds = set()
    for path in LAWS_FOLDER.glob("ours*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in ("witness", "edge", "_about", "Witness"):
                    kinds.add(node.args[0].value)
    assert len(kinds) > 10
    assert {kind for kind in kinds - {"no_inverse", "cross_namespace_edge"} if remedy(kind) == OTHERWISE} == set()


def test_a_counterexample_across_namespaces_shows_no_link_into_the_other(world: World, alice: Client) -> None:
    here, there = str(uuid4()), str(uuid4())
    witness = {
        "kind": "cross_namespace_ancestry", "record": here, "relation": "merged_from", "target": there,
        "namespace": "lab", "target_namespace": "annex", "entry": 2,
    }  # fmt: skip
    scope = {
        "clause": "L4ii", "verdict": "violated", "scope": "store", "decided_by": "", "witnesses": [witness],
        "kinds": {"cross_namespace_ancestry": 1}, "severities": {"cross_namespace_ancestry": "violation"},
    }  # fmt: skip
    record_run(
        world.charlie, name="law.L4ii", version=1, verdict="violated", at_seq=1, n_checked=1,
        found=[Found("cross_namespace_ancestry")], report={"scopes": [scope]},
    )  # fmt: skip
    text = alice.get("/laws/law.L4ii").text
    assert f'href="/records/{here}"' in text
    assert f"/records/{there}" not in text
    assert there in text
    assert "in annex" in words(text)
    assert 'href="/ledger/2"' in text


def test_counterexamples_are_paged_and_what_is_not_listed_is_counted(world: World, alice: Client) -> None:
    witnesses = [{"kind": "edge_end_missing", "record": str(uuid4()), "entry": n} for n in range(70)]
    scope = {
        "clause": "L7", "verdict": "violated", "scope": "store", "decided_by": "", "witnesses": witnesses,
        "kinds": {"edge_end_missing": 90}, "severities": {"edge_end_missing": "violation"},
    }  # fmt: skip
    record_run(
        world.charlie, name="law.L7", version=1, verdict="violated", at_seq=1, n_checked=1,
        found=[Found("edge_end_missing")] * 90, report={"scopes": [scope]},
    )  # fmt: skip
    pages = [alice.get("/laws/law.L7").text, alice.get("/laws/law.L7?from=50").text]
    assert [text.count("<tr data-row>") for text in pages] == [50, 20]
    assert "20 more were counted and are not listed" in words(pages[0])
    assert 'href="/laws/law.L7?from=50#counterexamples"' in pages[0]
    assert alice.get("/laws/law.L7?from=x").text.count("<tr data-row>") == 50


def test_first_and_last_seen_reach_beyond_the_runs_that_are_drawn(world: World, alice: Client) -> None:
    broken(world)
    first_at = world.now().known_at
    for _ in range(31):
        broken(world, verdict="holds", n=0)
    told = words(alice.get("/laws/law.L7").text)
    assert first_at is not None
    assert f"first seen broken {first_at:%Y-%m-%d %H:%M:%S} UTC" in told
    assert "No violation in the last 30 runs." in told
    broken(world, "law.L1", verdict="holds", n=0)
    assert "It was never seen broken." in words(alice.get("/laws/law.L1").text)


def test_an_owner_waives_until_a_day_and_the_verdict_stays(world: World, alice: Client) -> None:
    broken(world)
    until = (clock.now() + timedelta(days=5)).date()
    answer = alice.post("/laws/law.L7/waive", {"reason": "the import is repeated in May", "until": until}, follow=True)
    assert answer.redirect_chain == [("/laws/law.L7", 302)]
    told = words(answer.text)
    assert "the import is repeated in May" in told
    assert f"waived until the end of {until}" in told
    assert 'data-state="violated"' in answer.text
    (waiver,) = Waiver.objects.filter(namespace=world.namespace)
    assert waiver.expires_at.date() == until + timedelta(days=1)
    assert rows(alice.get("/laws").text)[0][0] == "not_run"


def test_a_waiver_that_has_ended_is_shown_for_ever(world: World, alice: Client) -> None:
    broken(world)
    now = clock.now()
    waive(world.alice, name="law.L7", reason="for an hour", expires_at=now + timedelta(hours=1))
    with clock.fixed(now + timedelta(days=2)):
        text = alice.get("/laws/law.L7").text
    assert "for an hour" in words(text)
    assert 'data-state="expired"' in text
    assert 'data-state="waived"' not in text


@pytest.mark.parametrize("until", ["9999-12-31", "0001-01-01", "2026-02-30", "soon"])
def test_a_day_that_no_calendar_goes_on_from_is_refused_like_any_other(world: World, alice: Client, until: str) -> None:
    assert alice.post("/laws/law.L7/waive", {"reason": "known", "until": until}).status_code == 422
    assert not Waiver.objects.exists()


@pytest.mark.parametrize(
    "given", [{"reason": "", "days": 3}, {"reason": "x", "days": -2}, {"reason": "x", "days": 400}]
)
def test_a_waiver_without_reason_or_with_an_end_that_is_past_or_far_is_refused(
    world: World, alice: Client, given: dict[str, Any]
) -> None:
    until = (clock.now() + timedelta(days=given["days"])).date()
    answer = alice.post("/laws/law.L7/waive", {"reason": given["reason"], "until": until})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "expires_at" not in answer.text
    assert not Waiver.objects.exists()


def test_the_form_says_what_a_waiver_of_a_law_that_holds_does(world: World, alice: Client) -> None:
    told = "No run finds it broken now"
    assert told in words(alice.get("/laws/law.L7/waive").text)
    broken(world)
    assert told not in words(alice.get("/laws/law.L7/waive").text)


def test_a_form_of_a_waiver_that_is_sent_twice_is_written_once(world: World, alice: Client) -> None:
    key = re.findall(r'name="key" value="(\w+)"', alice.get("/laws/law.L7/waive").text)[0]
    given = {"key": key, "reason": "known", "until": (clock.now() + timedelta(days=3)).date()}
    for _ in range(2):
        assert alice.post("/laws/law.L7/waive", given).status_code == 302
    assert Waiver.objects.filter(namespace=world.namespace).count() == 1


@pytest.mark.parametrize(("who", "status"), [("bob", 403), ("charlie", 403)])
def test_only_an_owner_waives(world: World, who: str, status: int) -> None:
    client = browser(getattr(world, who))
    assert client.get("/laws/law.L7/waive").status_code == status
    given = {"reason": "known", "until": (clock.now() + timedelta(days=3)).date()}
    assert client.post("/laws/law.L7/waive", given).status_code == status
    assert not Waiver.objects.exists()
    assert "Waive until" not in client.get("/laws/law.L7").text


@pytest.mark.parametrize("path", ["run", "law.L7/run", "law.L7/waive", "compare", "stores"])
def test_a_stranger_acts_on_no_board(path: str, world: World, client: Client) -> None:
    assert client.post(f"/laws/{path}").status_code == 401
    eve = World("other").person("eve", role="owner")
    assert browser(eve).post(f"/laws/{path}?ns=lab").status_code == 404
    assert not CheckRun.objects.exists()


@pytest.mark.parametrize("path", ["run", "law.L7/run"])
def test_a_run_is_never_a_get(path: str, alice: Client) -> None:
    assert alice.get(f"/laws/{path}").status_code == 405


def test_what_is_no_law_is_not_run_here(world: World, alice: Client) -> None:
    for name in ("ledger_scan", "astrology"):
        assert alice.post(f"/laws/{name}/run").status_code == 404


def test_a_long_run_is_a_page_that_asks_again_until_it_has_ended(
    world: World, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Queue:
        def enqueue(self, job: str) -> None:
            """A worker will come."""

    monkeypatch.setattr(tasks, "is_long", lambda namespace: True)
    monkeypatch.setattr(tasks, "check_laws", Queue())
    address = alice.post("/laws/law.L7/run").headers["Location"]
    (job,) = jobs.jobs(namespace=world.namespace, kind=tasks.KIND)
    text = alice.get(address).text
    assert 'hx-trigger="every 2s"' in text
    assert "It waits for a worker" in text
    assert "Every edge ends at a record" in text
    part = alice.get(address, headers={"HX-Request": "true"}).text
    assert "<html" not in part
    tasks.run_laws(job.id)
    ended = alice.get(address, headers={"HX-Request": "true"}).text
    assert "See what it found" in ended
    assert 'value="100"' in ended
    assert "pause" not in ended
    assert alice.get(address).headers["Location"] == "/laws/law.L7"
    eve = World("other").person("eve", role="owner")
    assert browser(eve).get(address).status_code == 404


def test_the_page_of_a_law_shows_the_code_that_decides_and_the_fault_it_is_tried_by(alice: Client) -> None:
    for invariant in INVARIANTS:
        told = words(alice.get(f"/laws/{invariant.name}").text)
        assert invariant.planted in told
        assert invariant.matters in told
        assert code_of(invariant.name).splitlines()[0].strip()[:60] in told


def test_what_a_paper_reads_in_a_source_is_not_said_of_data(alice: Client) -> None:
    assert "fails by its source: There is one time axis." in words(alice.get("/laws/law.L6").text)
    assert "holds by its source: The two writes are adjacent" in words(alice.get("/laws/law.L3").text)


def test_what_a_log_cannot_take_down_is_told_on_the_page_of_the_run(world: World, alice: Client) -> None:
    while Entry.objects.filter(namespace=world.namespace).count() % 2 == 0:
        world.save("so that the next leaf completes a node")
    Node.objects.filter(namespace=world.namespace, level=0).delete()
    answer = alice.post("/laws/run", follow=True)
    assert not CheckRun.objects.exists()
    told = words(answer.text)
    assert "could not be written down" in told
    assert "Every edge ends at a record holds in this data" in told
    assert "The same request gives the same result not decidable from this data" in told
    part = alice.get(answer.redirect_chain[-1][0], headers={"HX-Request": "true"}).text
    assert "could not be written down" in part


def test_a_broken_law_stands_on_the_rail_until_it_is_settled(world: World, alice: Client) -> None:
    def rail() -> str:
        """What stands on the rail outside the fold."""
        return alice.get("/records").text.partition('id="rail"')[2].partition("<details")[0]

    assert "/records" in rail()
    assert "/laws" not in rail()
    assert 'href="/laws"' in alice.get("/ledger").text
    broken(world)
    assert 'href="/laws"' in rail()
    waived(world)
    assert "/laws" not in rail()


def test_the_first_page_says_how_many_are_broken_and_where(world: World, alice: Client) -> None:
    world.save("a note")
    broken(world, "law.L2")
    broken(world, "law.L7")
    broken(world, "rebuild", verdict="failed")
    text = alice.get("/").text
    assert "3 wait for a person" in words(text)
    assert '<a href="/inbox?kind=laws">2 broken invariants</a>' in text
    assert '<a href="/inbox?kind=ledger">1 failing check</a>' in text


def test_hostile_words_of_a_run_and_of_a_waiver_are_text(world: World, alice: Client) -> None:
    broken(world)
    waived(world, reason='<script>window.ran = true</script>"')
    text = alice.get("/laws/law.L7").text
    assert "<script>window.ran" not in text
    assert "&lt;script&gt;window.ran" in text
