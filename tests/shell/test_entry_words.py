"""Entries in words: every verb that an operation writes has them, and a line says who did what to which object."""

import ast
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.core.cache import cache

from audit.entry_words import NOUNS, PAGES, VERBS, entry_line, object_url
from memory.agents import operations as agents
from memory.agents import runs
from memory.agents.activity import Day, days, latest
from memory.agents.overview import CAP, overview
from memory.base import clock
from memory.base.actor import Actor, RunGiven
from memory.checks.ledger_scan import verify
from memory.ledger.operations.refusing import refuse
from tests.architecture.sources import calls, modules
from tests.world import World

pytestmark = pytest.mark.django_db

START = datetime(2030, 1, 14, 12, tzinfo=UTC)
# What `derive` is called with: the kind of the derivation is the verb of its entry.
DERIVATIONS = {"evolve", "merge", "split", "supersede"}


@pytest.fixture
def world() -> World:
    return World("acme")


def written_verbs() -> set[str]:
    """The verbs that stand in the sources as what an entry is opened with."""
    found = set(DERIVATIONS)
    for path in modules("memory"):
        tree = ast.parse(path.read_text())
        for name, call in calls(tree):
            if name.rpartition(".")[2] not in ("opened", "answered_before"):
                continue
            given = next((keyword.value for keyword in call.keywords if keyword.arg == "verb"), None)
            found |= {node.value for node in ast.walk(given) if isinstance(node, ast.Constant)} if given else set()
        found |= {
            constant.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and "verb" in ast.unparse(node.targets[0])
            for constant in ast.walk(node.value)
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str) and constant.value.islower()
        }
    return found


def test_every_verb_that_an_operation_writes_has_words() -> None:
    assert len(written_verbs()) > 20
    assert written_verbs() - VERBS.keys() == set()


def test_an_object_leads_to_its_page_or_nowhere() -> None:
    about = uuid4()
    assert object_url("record", about, carry="?ns=acme") == f"/records/{about}?ns=acme"
    assert object_url("public_key", about, carry="") == ""
    assert object_url("record", None, carry="") == ""
    assert {kind for kind in PAGES if "{}" not in PAGES[kind]} <= {"agent", "freeze", *NOUNS, "hold"}


def said(world: World) -> str:
    """The newest entry as a sentence."""
    line = entry_line(latest(world.now(), limit=1)[0], carry="")
    run = f"in {line.run.label}" if line.run else ""
    return " ".join(word for word in (line.who, line.verb, line.object.label, line.more, run) if word)


def test_a_line_says_who_did_what_to_which_object_in_which_run(world: World) -> None:
    first = world.save("Refunds above 100 EUR need a second look")
    assert said(world) == "scout saved Refunds above 100 EUR need a second look"
    world.save_all("one", "two", "three")
    assert said(world) == "scout saved one and 2 more"
    world.evolve(first.id, content="Refunds above 200 EUR need a second look")
    assert said(world) == "scout evolved Refunds above 200 EUR need a second look"
    world.withdraw(first.id)
    assert said(world) == "scout withdrew Refunds above 100 EUR need a second look"
    in_run = replace(world.scout, run=RunGiven(title="Ticket 4411"))
    runs.open_run(in_run)
    assert said(world) == "scout opened the run Ticket 4411"
    agents.freeze(world.alice, agent=world.scout_id, reason="why")
    assert said(world) == "alice@example.org froze the agent scout"
    agents.admit_member(world.alice, person=world.bob.person or 0, role="owner")
    assert said(world) == "alice@example.org set the role of bob@example.org"
    verify(world.system)
    assert said(world) == "the system ran a check"


def test_a_refusal_names_who_was_refused_and_why(world: World) -> None:
    refuse(world.scout, code="stopped")
    assert said(world) == "scout was refused stopped"


def test_a_line_of_an_erased_record_and_of_an_erased_name_has_their_words(world: World) -> None:
    saved = world.save("a telephone number")
    world.erase(saved.id)
    (told,) = [row for row in latest(world.now()) if row.seq == saved.seq]
    assert entry_line(told, carry="").object.label == "a record"
    assert entry_line(replace(told, agent_name=""), carry="").who == ""


def test_many_objects_are_told_as_more_than_are_counted(world: World) -> None:
    world.save_all(*(f"text {n}" for n in range(120)))
    assert said(world) == "scout saved text 0 and 100+ more"


# Days.


def test_days_count_writes_and_refusals_by_utc_day_and_have_none_before_the_namespace(world: World) -> None:
    with clock.fixed(datetime(2030, 1, 13, 23, 59, 59, tzinfo=UTC)):
        world.save("late")
    with clock.fixed(datetime(2030, 1, 14, tzinfo=UTC)):
        world.save("early")
        refuse(world.scout, code="stopped")
        refuse(world.scout, code="forbidden")
    told = days(world.now(), founded_at=START - timedelta(days=2), until=START, n_days=4)
    assert [(row.day.day, row.n_writes, row.n_refused) for row in told] == [
        (11, None, None), (12, 0, 0), (13, 1, 0), (14, 1, 2),
    ]  # fmt: skip


def test_days_of_the_past_count_what_was_written_by_then(world: World) -> None:
    with clock.fixed(START):
        seq = world.save("one").seq
        world.save("two")
    (today,) = days(world.at(seq), founded_at=START - timedelta(days=9), until=START, n_days=1)
    assert today == Day(START.date(), 1, 0)


def test_a_refusal_that_stands_for_several_counts_for_each(world: World) -> None:
    with clock.fixed(START):
        refuse(world.scout, code="stopped")
        refuse(world.scout, code="stopped")
        cache.delete(f"refusal/{world.namespace}/{world.scout_id}/stopped/None/recent")
        refuse(world.scout, code="stopped")
    (today,) = days(world.now(), founded_at=START - timedelta(days=9), until=START, n_days=1)
    assert (today.n_writes, today.n_refused) == (0, 3)


# Counts.


def test_counts_are_those_of_the_point_and_stop_at_the_cap(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first = world.save("one")
    world.evolve(first.id, content="two")
    world.save("three")
    told = overview(world.now(), now=clock.now())
    assert (told.counts["records"], told.counts["every_record"]) == (2, 3)
    assert overview(world.at(first.seq), now=clock.now()).counts["records"] == 1
    monkeypatch.setattr("memory.agents.overview.CAP", 1)
    assert overview(world.now(), now=clock.now()).counts["every_record"] == 2
    assert CAP == 10_000


def test_people_are_those_who_hold_a_role_now(world: World) -> None:
    now = clock.now()
    assert overview(world.now(), now=now).n_people == 3
    assert overview(world.now(), now=now + timedelta(days=1000)).n_people == 2
    agents.admit_member(world.alice, person=world.bob.person or 0, role="none")
    assert overview(world.now(), now=now).n_people == 2


def test_the_newest_scan_and_checkpoint_are_those_of_the_point(world: World) -> None:
    assert overview(world.now(), now=clock.now()).scan is None
    run, _ = verify(world.system)
    verify(Actor(world.namespace, "system"))
    told = overview(world.at(run.seq), now=clock.now())
    assert told.scan is not None
    assert (told.scan.id, told.scan.verdict, told.scan.at_seq) == (run.id, "ok", run.seq - 1)
    assert told.checkpoint_seq is None
