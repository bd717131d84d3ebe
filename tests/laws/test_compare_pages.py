"""Records and stores beside each other, as a browser gets them."""

from __future__ import annotations

import lzma
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from audit.laws.bisimilarity import tasks
from memory.base import jobs
from memory.interchange.contextfs.operations import Options
from memory.interchange.operations import import_file
from memory.records.models import Record
from tests.browsers import browser
from tests.interchange.foreign import ForeignFile
from tests.ledger.shown import words
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

FIXTURES = Path(__file__).parent.parent / "interchange" / "fixtures"


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


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every namespace counts as large, and what is enqueued is kept here."""
    enqueued: list[str] = []

    class Queue:
        def enqueue(self, job: str) -> None:
            enqueued.append(job)

    monkeypatch.setattr(tasks, "IN_REQUEST_RECORDS", 0)
    monkeypatch.setattr(tasks, "compare_asked", Queue())
    return enqueued


def differing(text: str) -> list[str]:
    return re.findall(r'<tr data-row data-kind="\w+"><th scope="row"><code>([^<]+)</code>', text)


def numbers(text: str) -> list[list[str]]:
    """(records, classes it alone has, records in them) of both stores."""
    lines = re.findall(r'<tr data-row><th scope="row">[^<]+</th>(.*?)</tr>', text)
    return [re.findall(r'<td class="number">([^<]+)</td>', line) for line in lines]


def imported(world: World, path: Path) -> UUID:
    options = Options(world.name, source="elsewhere")
    (applied,) = import_file(world.alice, path, format="contextfs", options=options).applied
    assert applied.run is not None
    return applied.run


def test_a_merge_and_the_same_turned_round_are_one_class(world: World, alice: Client) -> None:
    a, b = (saved.id for saved in world.save_all("one", "two"))
    first, second = world.merge(a, b), world.merge(b, a)
    text = alice.get(f"/laws/compare?first={first}&second={second}").text
    assert "same class" in words(text)
    assert "Nothing but identifiers and instants tells them apart" in words(text)
    assert differing(text) == []


def test_what_two_records_say_differently_stands_on_both_sides(world: World, alice: Client) -> None:
    a = world.save("open at five", type="fact", tags=("x",), metadata={"k": 1}, origin="north").id
    b = world.save("open at six", type="note", tags=("y",), metadata={"k": 2}, origin="south").id
    text = alice.get(f"/laws/compare?first={a}&second={b}").text
    assert differing(text) == ["content", "metadata.k", "origin", "tags", "type"]
    told = words(text)
    assert "They differ in what they say themselves." in told
    for one, other in (("open at five", "open at six"), ("north", "south"), ("fact", "note")):
        assert one in told
        assert other in told


def test_what_came_of_a_record_is_counted_on_both_sides(world: World, alice: Client) -> None:
    a, b = (saved.id for saved in world.save_all("said twice", "said twice"))
    world.evolve(b, content="said better")
    text = alice.get(f"/laws/compare?first={a}&second={b}").text
    assert differing(text) == ["evolved into"]
    assert "seen 1 step away" in words(text)
    assert "none 1 record" in words(text)


def test_a_record_is_compared_with_itself_at_another_point(world: World, alice: Client) -> None:
    a = world.save("said").id
    seq = world.now().seq
    world.withdraw(a)
    text = alice.get(f"/laws/compare?first={a}&second={a}&against={seq}").text
    assert differing(text) == ["withdrawn"]
    assert "yes no" in words(text)
    same = alice.get(f"/laws/compare?first={a}&second={a}").text
    assert "same class" in words(same)


def test_a_record_is_named_by_the_beginning_of_its_id(world: World, alice: Client) -> None:
    a, b = (saved.id for saved in world.save_all("one", "two"))
    text = alice.get(f"/laws/compare?first={str(a)[:13]}&second={b}").text
    assert differing(text) == ["content"]


@pytest.mark.parametrize(
    ("query", "status"),
    [("first=zz&second={id}", 422), ("first={id}0&second={id}", 422),
     ("first=00000000-0000-0000-0000-000000000000&second={id}", 404),
     ("first={id}&second={id}&against=x", 422), ("first={id}&second={id}&against=99999", 422)],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_beside_the_form(
    world: World, alice: Client, query: str, status: int
) -> None:
    answer = alice.get(f"/laws/compare?{query.format(id=world.save('a note').id)}")
    assert answer.status_code == status
    assert 'role="alert"' in answer.text
    assert 'name="first"' in answer.text


def test_a_record_of_another_namespace_is_not_found(world: World, alice: Client) -> None:
    here, there = world.save("a note").id, World("annex").save("a secret note").id
    answer = alice.get(f"/laws/compare?first={here}&second={there}&ns=lab")
    assert answer.status_code == 404
    assert "secret" not in answer.text


def test_secrets_are_covered_and_texts_are_text(world: World, alice: Client) -> None:
    a = world.save("password: hunter2-hunter2-hunter2").id
    b = world.save("<script>window.ran = true</script>").id
    text = alice.get(f"/laws/compare?first={a}&second={b}").text
    assert "hunter2" not in text
    assert "<script>window" not in text


def test_a_namespace_at_two_points_is_told_class_by_class(world: World, alice: Client) -> None:
    a, b = (saved.id for saved in world.save_all("stays", "is said better"))
    seq = world.now().seq
    new = world.evolve(b, content="said better")
    text = alice.get(f"/laws/stores?against={seq}").text
    assert numbers(text) == [["3", "2", "2"], ["2", "1", "1"]]
    assert "3 classes stand in one of them only; 1 stands in both." in words(text)
    assert f'href="/records/{new}"' in text
    assert str(a) not in text
    same = alice.get(f"/laws/stores?against={world.now().seq}").text
    assert "The same store: all 3 classes stand in both" in words(same)


def test_classes_with_more_records_on_one_side_are_told(world: World, alice: Client) -> None:
    world.save("said")
    seq = world.now().seq
    world.save("said")
    told = words(alice.get(f"/laws/stores?against={seq}").text)
    assert "1 of them with more records on one side" in told
    assert "2 here, 1 there" in told


def test_a_clean_import_is_the_store_that_it_came_from(world: World, alice: Client, tmp_path: Path) -> None:
    path = tmp_path / "clean_small.db"
    path.write_bytes(lzma.decompress((FIXTURES / "clean_small.db.xz").read_bytes()))
    run = imported(world, path)
    text = alice.get(f"/laws/stores?import={run}").text
    assert numbers(text) == [["29", "0", "0"], ["29", "0", "0"]]
    assert f'<option value="{run}" selected>' in text
    assert f'href="/laws/stores?import={run}"' in alice.get(f"/imports/{run}").text
    world.save("written here since")
    assert numbers(alice.get(f"/laws/stores?import={run}").text) == [["30", "1", "1"], ["29", "0", "0"]]


def test_a_repaired_edge_tells_an_import_from_its_source(world: World, alice: Client, tmp_path: Path) -> None:
    store = ForeignFile(tmp_path / "store.db").memory("old").derived("new", "evolved_from", "old", edges=False)
    run = imported(world, store.done())
    text = alice.get(f"/laws/stores?import={run}").text
    assert numbers(text) == [["2", "2", "2"], ["2", "2", "2"]]
    assert 'data-copy="old"' in text
    right = text.split("<h3>Only in what the import brought")[1]
    for record in Record.objects.filter(namespace=world.namespace):
        assert f'href="/records/{record.id}"' in right
    told = words(text)
    assert told.index("tells apart every record that it leads to") < told.index("classes it alone has")


@pytest.mark.parametrize("query", ["against=x", "against=99999", "import=x", "against=1&import=x"])
def test_what_is_no_other_store_is_refused_beside_the_form(alice: Client, query: str) -> None:
    answer = alice.get(f"/laws/stores?{query}")
    assert answer.status_code == 422
    assert 'name="against"' in answer.text
    missing = alice.get("/laws/stores?import=00000000-0000-0000-0000-000000000000")
    assert missing.status_code == 404


def test_a_large_namespace_is_compared_by_a_worker_and_the_answer_is_the_same_page(
    world: World, alice: Client, queue: list[str]
) -> None:
    a, b = (saved.id for saved in world.save_all("one", "two"))
    here = f"/laws/compare?first={a}&second={b}"
    asked = alice.get(here).text
    assert "is compared by a worker" in words(asked)
    assert differing(asked) == []
    address = alice.post(here).headers["Location"]
    (job,) = jobs.jobs(namespace=world.namespace, kind=tasks.KIND)
    assert queue == [str(job.id)]
    waiting = alice.get(address).text
    assert "It waits for a worker" in waiting
    assert 'hx-trigger="every 2s"' in waiting
    tasks.run(job.id)
    assert "See what it found" in alice.get(address, headers={"HX-Request": "true"}).text
    assert differing(alice.get(address).text) == ["content"]
    eve = World("other").person("eve", role="owner")
    assert browser(eve).get(address).status_code == 404


def test_large_stores_are_compared_by_a_worker_too(world: World, alice: Client, queue: list[str]) -> None:
    world.save("one")
    seq = world.now().seq
    world.save("two")
    address = alice.post(f"/laws/stores?against={seq}").headers["Location"]
    tasks.run(UUID(queue[0]))
    assert numbers(alice.get(address).text) == [["2", "1", "1"], ["1", "0", "0"]]


@pytest.mark.parametrize("page", ["compare", "stores"])
def test_the_form_stands_where_nothing_is_asked_for(page: str, world: World) -> None:
    text = browser(world.charlie).get(f"/laws/{page}").text
    assert 'name="against"' in text
    assert "Decided by" not in text
