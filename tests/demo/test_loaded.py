"""The story as it stands once it was played: one root everywhere, who acted, what it answers, what waits."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.test import Client

from audit.demo import loading
from audit.demo.acts import placeholder_contact
from audit.demo.beliefs import QUESTION, SAFE
from audit.demo.cast import AGENTS, BY_NAME, LOADER, PEOPLE
from audit.demo.facts import fact_id
from audit.demo.lines import id_of, story_lines
from audit.demo.story import story
from memory.agents.queries import agent_by_name, role_of
from memory.agents.setup import new_token
from memory.base import clock
from memory.base.actor import ROLE_POWERS, Actor
from memory.base.errors import Forbidden
from memory.beliefs.kernel.questions import query_document
from memory.beliefs.queries.asking import ask
from memory.beliefs.queries.saved import saved_query
from memory.calibration.queries.reports import report
from memory.facts.queries import conflicts
from memory.facts.queries.detail import fact
from memory.facts.queries.lists import page_of
from memory.ledger.models import Content, Entry, Namespace
from memory.ledger.queries import asof, receipts
from memory.ledger.queries.contents import contents_of
from memory.ledger.queries.verification import scan
from memory.lineage.queries.ancestry import ancestry
from memory.records.content import NewRecord
from memory.records.operations import save
from memory.records.queries import detail, lists
from memory.tombstones.queries import tombstones

# The root over all entries of the story. It changes with the story, and with what an entry commits to.
ROOT = "91d232f30729373a15f5bc20a042406eb7e273fbea2ce027698e21b0bcd78e4c"

pytestmark = pytest.mark.django_db


def post_record(secret: str) -> int:
    body = json.dumps({"type": "note", "content": "me too"})
    answer = Client(headers={"authorization": f"Bearer {secret}"}).post(
        f"/api/v1/namespaces/{loading.NAMESPACE}/records", body, content_type="application/json"
    )
    return int(answer.status_code)


@pytest.fixture(scope="module")
def loaded(around_all: None) -> loading.Loaded:
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
    by_request = {str(id_of(f"request/{step.key}")): step.actor for step in story() if step.writes}
    rows = Entry.objects.filter(namespace=namespace, request__in=by_request)
    assert rows.count() == len(by_request)
    assert set(rows.exclude(principal="system").values_list("loader", flat=True)) == {loader.id}
    named = {agent.name: agent_by_name(namespace, agent.name) for agent in AGENTS}
    for request, agent, person in rows.values_list("request", "agent", "person"):
        actor = by_request[str(request)]
        acting, somebody = named.get(actor), BY_NAME.get(actor)
        assert (agent, person) == (acting.id if acting else None, somebody.id if somebody else None)


def test_every_line_stands_with_its_source_and_every_invention_with_its_mark(loaded: loading.Loaded) -> None:
    at = asof.now(store().pk)
    page = lists.records(at, where=lists.Filter(include=frozenset({"not_valid", "superseded", "withdrawn"})), limit=200)
    assert (page.total, page.hidden) == (84, {"erased": 2})
    told = {item.id: detail.record(at, id=item.id) for item in page.items}
    marked = {id for id, record in told.items() if record.metadata.get("re_enacted") is True}
    sourced = {id for id, record in told.items() if record.pointer.startswith("http")}
    assert sourced == {id_of(line.key) for line in story_lines()}
    assert len(marked) == 4
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


QUESTIONS: dict[str, tuple[str, str, str, str, str, list[str]]] = {
    "was 5.6.1 safe, as was known then": ("xz-5.6.1", "safe_to_deploy", "03-20", "03-20", "known", ["true"]),
    "was 5.6.1 safe, as is known since": ("xz-5.6.1", "safe_to_deploy", "03-20", "06-01", "known", ["false"]),
    "had Debian reverted, as was known then": (
        "debian-sid/xz-utils", "shipped_version", "03-28T12", "03-28T23:59", "unknown", [],
    ),
    "had Debian reverted, as is known since": (
        "debian-sid/xz-utils", "shipped_version", "03-28T12", "03-29T16", "known", ["5.6.1+really5.4.5-1"],
    ),
    "what does build-7 hold": ("build-7/xz", "upstream_code", "03-30T12", "03-30T12", "conflict", ["5.6.1", "5.4.5"]),
    "what build-7 holds": ("build-7/xz", "upstream_code", "03-31T12", "03-31T12", "known", ["5.4.5"]),
    "which release is the latest": ("xz", "latest_release", "05-31", "05-31", "known", ["5.6.2"]),
    "where does it begin": ("xz", "first_affected_version", "05-31", "05-31", "known", ["5.6.0", "5.5.1alpha-0.1"]),
    "what of Fedora 40": ("fedora-40/xz", "ships_affected_code", "03-29T23:59", "03-29T23:59", "known", ["not_shown"]),
    "and since": ("fedora-40/xz", "ships_affected_code", "03-30", "04-01", "known", ["true"]),
}  # fmt: skip


def _instant(text: str) -> str:
    day, _, hour = text.partition("T")
    return f"2024-{day}T{hour or '00'}{'' if ':' in hour else ':00'}:00Z"


def test_the_story_answers_its_questions(loaded: loading.Loaded) -> None:
    for question, (subject, attribute, valid_at, known_at, status, values) in QUESTIONS.items():
        at = asof.resolve(store().pk, valid_at=_instant(valid_at), known_at=_instant(known_at))
        (answer,) = page_of(at, subject=subject, attribute=attribute).items
        assert (answer.status, [value.value for value in answer.values]) == (status, values), question


def test_one_conflict_waits_and_two_procedures_went_their_ways(loaded: loading.Loaded) -> None:
    at = asof.now(store().pk)
    (open_one,) = conflicts.cases(at).items
    assert (open_one.subject, open_one.attribute) == ("CVE-2024-3094", "reported_to_vendor_on")
    assert open_one.needs_more_since is not None
    states = {key: detail.record(at, id=id_of(key)).row.state for key in ("E10", "E12")}
    assert states == {"E10": "current", "E12": "withdrawn"}
    taken = [fact(at, id=id).line.retracted_as for id in (id_of("E00"), UUID(fact_id(74)))]
    assert taken == ["outdated", "wrong"]


def test_the_dead_end_blocked_falsely_three_times_and_was_revived(loaded: loading.Loaded) -> None:
    found = {row.sign.route: row for row in tombstones(asof.now(store().pk), retired=True).items}
    old, new = found["deploy xz from the 5.6 series"], found["deploy xz 5.6.0 or 5.6.1"]
    assert (old.state, old.standing.n_false, new.state) == ("retired", 3, "active")


def test_the_whole_ledger_of_the_story_holds(loaded: loading.Loaded) -> None:
    assert scan(store().pk).faults == []


def test_after_loading_nobody_else_writes(loaded: loading.Loaded) -> None:
    namespace = store().pk
    secret = new_token(namespace=loading.NAMESPACE, agent="triage-bot", scopes=("read", "write", "control")).secret
    assert post_record(secret) == 403
    owner = PEOPLE[0]
    by = Actor(namespace, "person", person=owner.id, role=owner.role, powers=ROLE_POWERS[owner.role])
    with pytest.raises(Forbidden):
        save(by, records=[NewRecord("note", "me too")])


def test_the_loader_s_token_opens_nothing_on_a_real_clock(loaded: loading.Loaded) -> None:
    stage = loading.founded(loading.INCIDENT)
    assert post_record(stage.secret) == 401
    with clock.fixed(loading.CURTAIN):
        assert post_record(stage.secret) == 403 or post_record(stage.secret) == 422


def test_the_cast_reads_the_story_in_its_roles(loaded: loading.Loaded) -> None:
    now = datetime.now(UTC)
    roles = {person.name: role_of(store().pk, person.id, now) for person in PEOPLE}
    assert roles == {person.name: person.role for person in PEOPLE}


def test_no_text_of_the_story_names_a_person_by_address(loaded: loading.Loaded) -> None:
    payloads = Content.objects.filter(namespace=store()).values_list("payload", flat=True)
    addresses = [text for text in payloads if "@" in text]
    assert all("@example.org" in text for text in addresses)


@pytest.mark.parametrize(
    ("known_at", "same", "blamed"),
    [
        ("2024-03-30T12:45:00Z", (0.968, 0.925, 0.895, 0.854, 0.982, 0.011), ["e5"]),
        ("2024-03-30T13:00:01Z", (0.987, 0.973, 0.968, 0.971, 0.995, 0.006), []),
    ],
)
def test_of_nine_comparisons_of_seven_hosts_one_is_blamed_and_without_it_all_is_sharper(
    loaded: loading.Loaded, known_at: str, same: tuple[float, ...], blamed: list[str]
) -> None:
    at = asof.resolve(store().pk, valid_at="2024-03-30T14:00:00Z", known_at=known_at)
    saved = saved_query(at, name=QUESTION)
    assert saved.query is not None
    found = ask(at, query=query_document(saved.query), profile="native")
    told = found.capsule(profile="native")
    shown = [
        candidate["probability"] for one in told["beliefs"][1:] for candidate in one["candidates"]
        if candidate["state"] == "0"
    ]  # fmt: skip
    assert shown == pytest.approx(same, abs=1e-3)
    assert [one["observation_id"] for one in told["conflicts"]] == blamed
    assert told["audit"]["certainty"] == "exact"
    assert told["audit"]["hidden"] == ({} if blamed else {"revoked": 1})


def test_the_confident_reading_has_one_label_and_it_was_a_miss(loaded: loading.Loaded) -> None:
    at = asof.now(store().pk)
    told = report(at, run_id="default", profile="native", relation_type=SAFE)
    assert (told["counts"]["labeled"], told["counts"]["pending"]) == (1, 0)
    assert told["status"] == "insufficient_data"
