"""`erase`: text goes by record, item or subject, or is only looked for; the files are written anew on demand."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memory.agents import operations as agents
from memory.checks import scrubbing
from memory.checks.models import CheckRun
from memory.ledger.models import Entry, Erasure
from memory.records.queries import detail
from tests.erasures.canary import new_canary, tables_with
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("erase", *arguments, stdout=out)
    return out.getvalue()


def refusal(*arguments: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        run(*arguments)
    return caught.value


def test_by_record_what_went_is_told_place_by_place(world: World) -> None:
    saved = world.save("a note", summary="in short")
    text = run("--namespace", "lab", "--record", str(saved.id), "--reason", "secret", "--note", "it leaked")
    seq = Entry.objects.get(namespace=world.namespace, verb="erase").seq
    assert f"Erased by entry {seq}: 3 parts." in text
    assert "record texts: 1" in text
    assert "names: 1" in text
    assert "not yet scrubbed" in text
    assert "Out of reach: backups" in text
    assert detail.record(world.now(), id=saved.id).content is None


def test_by_item_and_a_second_time(world: World) -> None:
    seq, item = world.address(world.save("a note").id)
    run("--namespace", "lab", "--item", f"{seq}.{item}", "--reason", "mistake")
    erased = Entry.objects.get(namespace=world.namespace, verb="erase").seq
    again = run("--namespace", "lab", "--item", f"{seq}.{item}", "--reason", "mistake")
    assert f"erased before, by entry {erased}" in again


def test_by_subject_from_an_argument_or_from_standard_input(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for given in ("argument", "-"):
        canary = new_canary()
        world.save(f"about {canary}")
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{canary}\n"))
        run("--namespace", "lab", "--subject", canary if given == "argument" else "-", "--reason", "request")
        assert tables_with(canary) == []


def test_a_dry_run_tells_what_goes_what_quotes_it_and_what_rests_on_it(world: World) -> None:
    record = world.save("a line of some length").id
    merge = world.merge(record, world.save("another").id)
    text = run("--namespace", "lab", "--record", str(record), "--dry-run")
    assert f"record {record}: content" in text
    assert (
        f"1 records repeat a line word for word and stay, but for --quoting:\n  {merge} (merged_from), 1 lines" in text
    )
    assert f"record {merge} (merged_from)" in text
    assert not Erasure.objects.exists()
    run("--namespace", "lab", "--record", str(record), "--reason", "secret", "--quoting")
    assert detail.record(world.now(), id=merge).content is None


def test_a_dry_run_that_would_take_nothing_says_why(world: World) -> None:
    record = str(world.save("about Annabel").id)
    assert run("--namespace", "lab", "--subject", "nobody at all", "--dry-run") == (
        "Nothing would go: nothing here names it.\n"
    )
    inside = run("--namespace", "lab", "--subject", "Anna", "--dry-run")
    assert inside.endswith("\n1 items hold it only inside longer words and would stay.\n")
    run("--namespace", "lab", "--record", record, "--reason", "secret")
    assert run("--namespace", "lab", "--record", record, "--dry-run").startswith(
        "Nothing would go: all of it was erased before.\n"
    )


def test_a_hold_forbids_it_and_a_dry_run_says_whose(world: World) -> None:
    record = str(world.save("a note").id)
    agents.hold(world.alice, held=True, reason="the lawsuit of May")
    caught = refusal("--namespace", "lab", "--record", record, "--reason", "request")
    assert (caught.returncode, "on hold" in str(caught)) == (4, True)
    assert "by alice@example.org" in (text := run("--namespace", "lab", "--record", record, "--dry-run"))
    assert "the lawsuit of May" in text


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--namespace", "lab", "--reason", "secret"),
        ("--record", "00000000-0000-4000-8000-000000000000", "--reason", "secret"),
        ("--namespace", "lab", "--record", "00000000-0000-4000-8000-000000000000"),
        ("--namespace", "lab", "--record", "abcd", "--reason", "secret"),
        ("--namespace", "lab", "--item", "0.1", "--reason", "secret"),
        ("--namespace", "lab", "--item", "1", "--reason", "secret"),
        ("--namespace", "lab", "--item", "1.99", "--reason", "secret"),
        ("--namespace", "nowhere", "--subject", "somebody", "--reason", "secret"),
        ("--namespace", "lab", "--subject", "a", "--reason", "secret"),
    ],
)
def test_what_is_not_said_or_does_not_exist_is_wrong_input(world: World, arguments: tuple[str, ...]) -> None:
    assert refusal(*arguments).returncode == 2
    assert not Erasure.objects.exists()


def test_a_subject_that_nothing_names_is_a_conflict(world: World) -> None:
    assert refusal("--namespace", "lab", "--subject", "nobody at all", "--reason", "secret").returncode == 4


def test_a_scrub_inside_a_transaction_is_refused(world: World) -> None:
    assert connection.in_atomic_block
    assert refusal("--scrub").returncode == 4
    assert not CheckRun.objects.exists()


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_a_scrub_is_recorded_where_something_waited_for_it_and_once() -> None:
    world, other = World(), World("mill")
    done = world.erase(world.save("a note").id)
    text = run("--scrub")
    assert "Recorded in 1 namespaces" in text
    (check,) = CheckRun.objects.filter(check_name="scrub")
    assert (check.namespace_id, check.verdict, check.at_seq) == (world.namespace, "ok", done.seq)
    assert not CheckRun.objects.filter(namespace=other.namespace).exists()
    assert "Recorded in 0 namespaces" in run("--scrub")
    assert scrubbing.unscrubbed() == []


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_what_is_erased_during_a_scrub_waits_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.erase(world.save("one").id)
    second = world.save("two").id
    real = scrubbing.scrub

    def scrub_and_erase() -> object:
        found = real()
        world.erase(second)
        return found

    monkeypatch.setattr(scrubbing, "scrub", scrub_and_erase)
    run("--scrub")
    assert scrubbing.unscrubbed() == [world.namespace]


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_a_scrub_that_wants_for_rights_says_so_and_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.erase(world.save("one").id)
    monkeypatch.setattr(
        scrubbing, "scrub", lambda: scrubbing.Scrubbed("postgresql", ("memory_content",), ("checkpoint",))
    )
    assert "Not done, for want of rights: checkpoint." in run("--scrub")
    assert CheckRun.objects.get(check_name="scrub").verdict == "failed"
    assert scrubbing.unscrubbed() == [world.namespace]
