"""The story as it is played: through the API, once, with one root; and what the folder of the demo holds then."""

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from audit.demo import loading, seeding
from audit.demo.acts import placeholder_contact
from audit.demo.cast import AGENTS, BY_NAME, LOADER, PEOPLE
from audit.demo.door import Unexpected
from audit.demo.lines import id_of
from audit.demo.steps import Step
from audit.demo.story import story
from memory.agents.accounts import person_of_link
from memory.agents.queries import agent_by_name, role_of
from memory.agents.setup import FIRST_NAMESPACE, ensure_namespace, first_run, new_token
from memory.base import clock
from memory.base.actor import ROLE_POWERS, Actor
from memory.base.errors import Forbidden
from memory.checks.models import CheckRun
from memory.ledger.models import Content, Entry, Namespace
from memory.ledger.queries import asof, receipts
from memory.ledger.queries.contents import contents_of
from memory.ledger.queries.verification import scan
from memory.lineage.queries.ancestry import ancestry
from memory.records.content import NewRecord
from memory.records.operations import save
from memory.records.queries import detail, lists

# The root over all entries of the story. It changes with the story, and with what an entry commits to.
ROOT = "369d20a3ed188ef80ce5dabf72fdabde35e3145381edada3deaa6ec7ab17aeb1"

pytestmark = pytest.mark.django_db


@pytest.fixture
def loaded() -> loading.Loaded:
    return loading.load()


def store() -> Namespace:
    return Namespace.objects.get(name=loading.NAMESPACE)


def test_the_story_has_the_root_that_it_has_everywhere(loaded: loading.Loaded) -> None:
    assert loaded.root.hex() == ROOT


def test_loading_twice_replays_every_step_and_writes_nothing(loaded: loading.Loaded) -> None:
    size = Entry.objects.count()
    again = loading.load()
    assert again.n_replayed == again.n_steps == loaded.n_steps
    assert (again.size, again.root) == (loaded.size, loaded.root)
    assert Entry.objects.count() == size
    assert loaded.n_replayed == 0


def test_a_loading_that_was_cut_short_goes_on_to_the_same_root() -> None:
    steps = story()
    loading.load(steps[:7])
    cut = loading.load(steps[:40])
    assert cut.n_replayed == 7 + len(PEOPLE) + len(AGENTS)
    assert loading.load().root.hex() == ROOT


def test_an_answer_that_the_story_does_not_expect_ends_the_loading() -> None:
    first, *rest = story()
    wrong = replace(first, body={**first.body, "type": "Not A Type"})
    with pytest.raises(Unexpected, match="Step L01 was answered 422"):
        loading.load([wrong, *rest])


def test_the_first_entry_says_what_this_namespace_is(loaded: loading.Loaded) -> None:
    namespace = store()
    assert namespace.clock == "replay"
    notes = [part["note"] for part in contents_of(namespace.pk, [(1, 0), (1, 1)]).values() if "note" in part]
    assert notes == [loading.NOTICE]
    assert loading.NOTICE.startswith("Replayed. Times are those of the events.")


def test_the_clock_is_the_event_s_and_rises(loaded: loading.Loaded) -> None:
    instants = list(Entry.objects.order_by("seq").values_list("recorded_at", flat=True))
    assert instants == sorted(set(instants))
    assert instants[0] == loading.CURTAIN - 3 * loading.SECOND
    assert instants[-1] < datetime(2024, 6, 1, tzinfo=UTC)
    planned = {str(id_of(f"request/{step.key}")): step.at for step in story()}
    for request, recorded_at in Entry.objects.exclude(verb="issue_token").values_list("request", "recorded_at"):
        if str(request) in planned:
            assert timedelta(0) <= recorded_at - planned[str(request)] < timedelta(milliseconds=1)


def test_each_entry_shows_who_acted_and_who_loaded(loaded: loading.Loaded) -> None:
    namespace = store().pk
    loader = agent_by_name(namespace, LOADER)
    assert loader is not None
    rows = Entry.objects.filter(namespace=namespace, verb__in=("save", "merge", "open_run", "end_run", "erase"))
    assert rows.count() == sum(step.writes for step in story())
    assert set(rows.values_list("loader", flat=True)) == {loader.id}
    named = {agent.name: agent_by_name(namespace, agent.name) for agent in AGENTS}
    by_request = {str(id_of(f"request/{step.key}")): step.actor for step in story()}
    for request, agent, person in rows.values_list("request", "agent", "person"):
        actor = by_request[str(request)]
        acting = named.get(actor)
        assert (agent, person) == ((acting.id, None) if acting else (None, BY_NAME[actor].id))


def test_every_line_stands_with_its_source_and_every_invention_with_its_mark(loaded: loading.Loaded) -> None:
    at = asof.now(store().pk)
    page = lists.records(at, where=lists.Filter(include=frozenset({"not_valid", "superseded"})), limit=200)
    assert (page.total, page.hidden) == (82, {"erased": 2})
    told = {item.id: detail.record(at, id=item.id) for item in page.items}
    marked = {id for id, record in told.items() if record.metadata.get("re_enacted") is True}
    sourced = {id for id, record in told.items() if record.pointer.startswith("http")}
    assert sourced == {id_of(step.key) for step in story() if not step.re_enacted}
    assert len(marked) == 2
    assert sourced | marked == set(told)


def test_the_number_to_call_is_gone_with_the_summary_that_quoted_it_and_its_lineage_stands(
    loaded: loading.Loaded,
) -> None:
    contact = placeholder_contact()
    assert not any(contact in payload for payload in Content.objects.values_list("payload", flat=True))
    at = asof.now(store().pk)
    (erasing,) = receipts.erasures(at)
    receipt = receipts.receipt(at, seq=erasing.seq)
    gone = {part.object for part in receipt.parts if part.kind == "record"}
    (summary,) = gone - {id_of("D10")}
    assert {one.id for one in ancestry(at, record=summary).items} == {id_of("D10"), id_of("L18")}
    assert scan(at.namespace).content == "erased"


def test_the_summary_rests_on_three_records(loaded: loading.Loaded) -> None:
    at = asof.now(store().pk)
    (summary,) = [
        item for item in lists.records(at, where=lists.Filter(types=("summary",))).items if item.n_parents == 3
    ]
    walk = ancestry(at, record=summary.id)
    assert {reached.id for reached in walk.items} == {id_of(key) for key in ("B02", "L02", "L07")}


def test_the_whole_ledger_of_the_story_holds(loaded: loading.Loaded) -> None:
    assert scan(store().pk).faults == []


def post_record(secret: str) -> int:
    body = json.dumps({"type": "note", "content": "me too"})
    answer = Client(headers={"authorization": f"Bearer {secret}"}).post(
        f"/api/v1/namespaces/{loading.NAMESPACE}/records", body, content_type="application/json"
    )
    return int(answer.status_code)


def test_after_loading_nobody_else_writes(loaded: loading.Loaded) -> None:
    namespace = store().pk
    secret = new_token(namespace=loading.NAMESPACE, agent="triage-bot", scopes=("read", "write", "control")).secret
    assert post_record(secret) == 403
    owner = PEOPLE[0]
    by = Actor(namespace, "person", person=owner.id, role=owner.role, powers=ROLE_POWERS[owner.role])
    with pytest.raises(Forbidden):
        save(by, records=[NewRecord("note", "me too")])


def test_the_loader_s_token_opens_nothing_on_a_real_clock(loaded: loading.Loaded) -> None:
    stage = loading._founded()
    assert post_record(stage.secret) == 401
    with clock.fixed(loading.CURTAIN):
        assert post_record(stage.secret) == 403 or post_record(stage.secret) == 422


def test_the_cast_reads_the_story_in_its_roles(loaded: loading.Loaded) -> None:
    now = datetime.now(UTC)
    roles = {person.name: role_of(store().pk, person.id, now) for person in PEOPLE}
    assert roles == {person.name: person.role for person in PEOPLE}


def seeded(home: Path) -> tuple[seeding.Seeded, list[str]]:
    told: list[str] = []
    return seeding.seed(home, say=told.append), told


@pytest.mark.slow
def test_the_folder_is_filled_once_and_tells_of_what(tmp_path: Path) -> None:
    seeding.make_people()
    first_run(owner_email=PEOPLE[0].email)
    done, told = seeded(tmp_path)
    assert (done.is_first, done.is_current) == (True, True)
    names = sorted(Namespace.objects.values_list("name", flat=True))
    assert loading.NAMESPACE in names
    assert FIRST_NAMESPACE in names
    foreign = [name for name in names if name.startswith("demo.")]
    assert len(foreign) == 6
    for name in names:
        assert any(name in line for line in told) or name == FIRST_NAMESPACE
        for person in PEOPLE:
            assert role_of(ensure_namespace(name), person.id, datetime.now(UTC)) == person.role
    _require_every_check_has_run_and_holds()
    size = Entry.objects.count()
    again, silent = seeded(tmp_path)
    assert (again.is_first, again.is_current, silent) == (False, True, [])
    assert Entry.objects.count() == size


def _require_every_check_has_run_and_holds() -> None:
    runs = Counter(CheckRun.objects.values_list("namespace__name", "verdict"))
    names = {namespace for namespace, _ in runs}
    assert names == set(Namespace.objects.exclude(name=FIRST_NAMESPACE).values_list("name", flat=True))
    for name in names:
        assert runs[name, "ok"] == 2
        assert runs[name, "violated"] == runs[name, "failed"] == 0
        assert (runs[name, "holds"], runs[name, "undecidable"]) == (7, 1)


@pytest.mark.slow
def test_a_filling_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    seeding.make_people()
    seeded(tmp_path)
    # Checks look again at whatever they find; what was filled in stands once.
    filled = Entry.objects.exclude(verb="record_check")
    size = filled.count()
    (tmp_path / seeding.MARK).unlink()
    done, _ = seeded(tmp_path)
    assert done.is_first
    assert filled.count() == size


def test_a_folder_of_other_data_is_used_and_told(tmp_path: Path) -> None:
    (tmp_path / seeding.MARK).write_text(json.dumps({"data": "of another version"}))
    done, told = seeded(tmp_path)
    assert (done.is_first, done.is_current, told) == (False, False, [])


def test_links_are_made_for_all_at_first_and_for_the_owner_later() -> None:
    seeding.make_people()
    assert [person.name for person, _ in seeding.fresh_links(with_owner=False, is_first=True)] == [
        "owner-b", "reviewer-a", "auditor-a",
    ]  # fmt: skip
    ((owner, path),) = seeding.fresh_links(with_owner=True, is_first=False)
    signed_in = person_of_link(*path.split("/")[-2:])
    assert signed_in is not None
    assert (owner.name, signed_in.pk) == ("owner-a", PEOPLE[0].id)


def test_the_cast_has_the_same_ids_whoever_was_there_before() -> None:
    User.objects.create_user("somebody@example.org")
    seeding.make_people()
    seeding.make_people()
    assert {user.pk for user in User.objects.filter(username__endswith="@localhost")} == {p.id for p in PEOPLE}


def test_data_of_another_story_has_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    before = seeding.data_digest()
    assert seeding.data_digest() == before
    longer = [*story(), Step("Z", datetime(2024, 6, 1, tzinfo=UTC), "triage-bot", "records", {})]
    monkeypatch.setattr(seeding, "story", lambda: longer)
    assert seeding.data_digest() != before


def test_no_text_of_the_story_names_a_person_by_address(loaded: loading.Loaded) -> None:
    payloads = Content.objects.filter(namespace=store()).values_list("payload", flat=True)
    addresses = [text for text in payloads if "@" in text]
    assert all("@example.org" in text for text in addresses)
