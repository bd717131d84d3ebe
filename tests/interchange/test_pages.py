"""The pages of imports as a browser gets them."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from audit.frame import in_url
from memory.base import jobs
from memory.interchange import tasks
from memory.interchange.models import ImportFinding, ImportRun
from memory.ledger.models import Entry, Namespace
from memory.ledger.operations.erasing import erase
from memory.ledger.queries import asof
from memory.records.models import Record
from tests.browsers import browser
from tests.interchange.foreign import ForeignFile, foreign_bytes
from tests.interchange.importing import imported, n_rows
from tests.ledger.shown import words
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

Store = Callable[[str], Path]


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.PALIMPSEST_HOME = tmp_path
    return tmp_path


@pytest.fixture
def world() -> World:
    return World("acme")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def upload(client: Client, body: bytes, *, base: str = "acme", **given: str) -> HttpResponse:
    """What the form is answered with."""
    file = SimpleUploadedFile("team.db", body)
    return client.post("/imports/uploads?ns=acme", {"file": file, "base": base, **given})


def looked_at(client: Client, body: bytes, **given: str) -> str:
    """The address of the page of an upload."""
    answer = upload(client, body, **given)
    assert answer.status_code == 302, answer.text
    return answer.headers["Location"]


def act(address: str, name: str) -> str:
    path, _, query = address.partition("?")
    return f"{path}/{name}?{query}"


def one_import(world: World, path: Path, **options: Any) -> ImportRun:
    """The import of the store into the namespace of the world."""
    imported(path, "acme", by=world.alice, **options)
    return ImportRun.objects.get(namespace=world.namespace)


# Bringing a store in.


def test_a_store_is_looked_at_first_and_nothing_is_written(world: World, alice: Client, contextfs_store: Store) -> None:
    before = n_rows()
    text = alice.get(looked_at(alice, contextfs_store("violations").read_bytes())).text
    shown = words(text)
    assert "What importing team.db would do" in shown
    assert "nothing has been written" in shown
    assert "→ acme.app-core" in shown
    assert "Import 64 records into 6 namespaces" in shown
    assert "an edge that joins two namespaces" in shown
    assert "The first 50 as they would stand" in shown
    assert n_rows() == before


def test_then_it_is_imported_and_leads_to_what_it_became(world: World, alice: Client, contextfs_store: Store) -> None:
    address = looked_at(alice, contextfs_store("violations").read_bytes())
    answer = alice.post(act(address, "import"), follow=True)
    shown = words(answer.text)
    assert "Import of team.db" in shown
    assert Record.objects.count() == 64
    for run in ImportRun.objects.select_related("namespace"):
        assert f'href="/imports/{run.id}?ns={run.namespace.name}"' in answer.text
    assert {entry.person for entry in Entry.objects.filter(verb="import")} == {world.alice.person}
    assert browser(world.alice).get("/imports?ns=acme.infra").status_code == 200


def test_the_same_store_again_would_add_nothing_and_says_so(world: World, alice: Client) -> None:
    first = looked_at(alice, foreign_bytes())
    alice.post(act(first, "import"))
    before = n_rows()
    again = looked_at(alice, foreign_bytes())
    assert "Nothing in it is new" in words(alice.get(again).text)
    assert "Nothing in it was new" in words(alice.post(act(again, "import"), follow=True).text)
    assert n_rows() == before


def test_an_upload_is_imported_once(world: World, alice: Client) -> None:
    address = looked_at(alice, foreign_bytes())
    alice.post(act(address, "import"))
    before = n_rows()
    assert alice.post(act(address, "import")).status_code == 409
    assert n_rows() == before


def test_a_discarded_upload_is_gone_with_its_file(world: World, alice: Client, home: Path) -> None:
    address = looked_at(alice, foreign_bytes("a word of the source"))
    (folder,) = (home / "jobs").iterdir()
    assert (folder / "store").exists()
    assert alice.post(act(address, "discard")).status_code == 302
    assert not folder.exists()
    assert alice.get(address).status_code == 404


def test_what_the_form_says_more_of_is_heeded(world: World, alice: Client, contextfs_store: Store) -> None:
    more = {"source": "team", "mapping": "infra = metal\n\ndocs-site=papers", "erase_deleted": "on"}
    text = alice.get(looked_at(alice, contextfs_store("violations").read_bytes(), base="kept", **more)).text
    shown = words(text)
    assert "→ metal" in shown
    assert "→ papers" in shown
    assert "→ kept.app-core" in shown
    assert "Source team" in shown


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"base": "Not A Name"}, "Small letters"),
        ({"mapping": "infra"}, "SOURCE=TARGET"),
        ({"mapping": "a=b\na=c"}, "SOURCE=TARGET"),
        ({"base": ""}, "required"),
    ],
)
def test_a_form_that_means_nothing_is_shown_again_with_what_was_typed(
    given: dict[str, str], word: str, world: World, alice: Client
) -> None:
    answer = upload(alice, foreign_bytes(), **given)
    assert answer.status_code == 422
    assert word in words(answer.text)
    assert jobs.jobs(namespace=world.namespace, kind=tasks.KIND) == []


def test_a_form_without_a_file_or_with_an_empty_one_says_so(world: World, alice: Client) -> None:
    assert alice.post("/imports/uploads", {"base": "acme"}).status_code == 422
    assert upload(alice, b"").status_code == 422


def test_a_file_that_is_no_store_is_refused_on_its_own_page(world: World, alice: Client) -> None:
    text = alice.get(looked_at(alice, b"not a database")).text
    shown = words(text)
    assert "an SQLite 3 database" in shown
    assert "14 bytes of other data" in shown
    assert "not_sqlite" in shown
    assert "hx-trigger" not in text.partition("</head>")[2]


def test_a_name_from_outside_is_shown_as_text(world: World, alice: Client) -> None:
    file = SimpleUploadedFile("<b>team</b>.db", foreign_bytes("<script>alert(1)</script>"))
    address = alice.post("/imports/uploads", {"file": file, "base": "acme"}).headers["Location"]
    text = alice.get(address).text
    assert "<script>alert" not in text
    assert "<b>team" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_a_source_that_resembles_another_is_pointed_out(world: World, alice: Client) -> None:
    alice.post(act(looked_at(alice, foreign_bytes(), source="first"), "import"))
    text = alice.get(looked_at(alice, foreign_bytes(), source="second")).text
    assert "1 rows coincide with first" in words(text)


def test_a_large_upload_is_a_page_that_asks_again_until_it_has_ended(
    world: World, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Queue:
        def enqueue(self, job: str) -> None:
            """A worker will come."""

    monkeypatch.setattr(tasks, "IN_REQUEST_BYTES", 100)
    monkeypatch.setattr(tasks, "import_upload", Queue())
    address = looked_at(alice, foreign_bytes())
    (job,) = jobs.jobs(namespace=world.namespace, kind=tasks.KIND)
    text = alice.get(address).text
    assert 'hx-trigger="every 2s"' in text
    assert "It waits for a worker" in text
    assert "hx-trigger" not in alice.get(f"{address}&paused=yes").text.partition("</head>")[2]
    tasks.run_import(job.id)
    part = alice.get(address, headers={"HX-Request": "true"}).text
    assert part.lstrip().startswith('<div id="import-task"')
    assert "hx-trigger" not in part
    assert "Import 1 record into 1 namespace" in words(part)


# Who may.


@pytest.mark.parametrize("who", ["bob", "charlie"])
def test_only_an_owner_brings_anything_in(who: str, world: World, alice: Client, home: Path) -> None:
    address = looked_at(alice, foreign_bytes())
    client = browser(getattr(world, who))
    before = n_rows()
    assert upload(client, foreign_bytes()).status_code == 403
    assert client.post(act(address, "import")).status_code == 403
    assert client.post(act(address, "discard")).status_code == 403
    assert "Bring a store in" not in client.get("/imports").text
    shown = words(client.get(address).text)
    assert "would do" in shown
    assert "Import 1 record" not in shown
    assert n_rows() == before
    assert len(list((home / "jobs").iterdir())) == 1


def test_a_stranger_brings_nothing_in(world: World, alice: Client, client: Client) -> None:
    address = looked_at(alice, foreign_bytes())
    eve = browser(World("other").person("eve", role="owner"))
    for path in (act(address, "import"), act(address, "discard")):
        assert client.post(path).status_code == 401
        assert eve.post(path).status_code == 404
    assert eve.get(address).status_code == 404
    assert upload(eve, foreign_bytes()).status_code == 404
    assert client.post("/imports/uploads").status_code == 401


def test_nobody_imports_into_what_another_owns(world: World, alice: Client, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.db"
    theirs.write_bytes(foreign_bytes())
    imported(theirs, "theirs")
    before = n_rows()
    shown = words(alice.get(looked_at(alice, foreign_bytes(), base="theirs")).text)
    assert "Not allowed" in shown
    assert "an act for an owner of it" in shown
    assert n_rows() == before


@pytest.mark.parametrize("path", ["tasks/{}/import", "tasks/{}/discard"])
def test_an_act_is_never_a_get(path: str, world: World, alice: Client) -> None:
    assert alice.get(f"/imports/{path.format(uuid4())}").status_code == 405


# What came in.


def test_the_list_shows_what_came_from_where(world: World, alice: Client, contextfs_store: Store) -> None:
    assert "Nothing was imported yet" in alice.get("/imports").text
    run = one_import(world, contextfs_store("clean_small"), source="team-store")
    text = alice.get("/imports").text
    shown = words(text)
    assert "team-store contextfs 29" in shown
    assert "relayed , never first-hand" in shown
    assert f'href="/imports/{run.id}"' in text


def test_at_a_point_before_it_nothing_had_been_imported(world: World, alice: Client, contextfs_store: Store) -> None:
    at = world.now()
    run = one_import(world, contextfs_store("clean_small"))
    point = f"valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}"
    assert "Nothing had been imported by then" in words(alice.get(f"/imports?{point}").text)
    assert alice.get(f"/imports/{run.id}?{point}").status_code == 404


def test_an_import_shows_its_findings_by_what_was_done_and_by_code(
    world: World, alice: Client, contextfs_store: Store
) -> None:
    run = one_import(world, contextfs_store("violations"), only="app-core")
    text = alice.get(f"/imports/{run.id}").text
    assert "26 findings" in words(text)
    assert "target-missing" in text
    narrowed = alice.get(f"/imports/{run.id}?severity=quarantined").text
    assert "5 findings" in words(narrowed)
    assert "abbreviation-expanded" not in narrowed
    one = alice.get(f"/imports/{run.id}?code=cycle").text
    assert "1 finding where" in words(one)
    record = ImportFinding.objects.get(namespace=world.namespace, code="cycle").record
    assert f'href="/records/{record}"' in one
    assert alice.get(f"/imports/{run.id}?severity=none").status_code == 422
    assert "Nothing matches" in words(alice.get(f"/imports/{run.id}?code=none").text)


def test_many_findings_are_paged(world: World, alice: Client, foreign_file: ForeignFile) -> None:
    for n in range(60):
        foreign_file.memory(f"record-{n:03d}", content_hash="0" * 16)
    run = one_import(world, foreign_file.done())
    first = alice.get(f"/imports/{run.id}").text
    (link,) = re.findall(r'rel="next" href="([^"]+)"', first)
    second = alice.get(unescape(link)).text
    ids = re.compile(r"record-\d{3}")
    assert len(set(ids.findall(first))) == 50
    assert len(set(ids.findall(second))) == 10
    assert not set(ids.findall(first)) & set(ids.findall(second))


def test_a_finding_shows_the_rows_that_it_keeps_as_they_were_read(
    world: World, alice: Client, foreign_file: ForeignFile
) -> None:
    foreign_file.memory("one").edge("one", "references", "ghost", metadata={"reason": "<i>because</i>"})
    one_import(world, foreign_file.done())
    finding = ImportFinding.objects.get(namespace=world.namespace, code="endpoint-missing")
    text = alice.get(f"/imports/findings/{finding.id}").text
    shown = words(text)
    assert "An end of the edge is no record" in shown
    assert "quarantined, not repaired" in shown
    assert "ghost" in shown
    assert "<i>because" not in text
    assert "&lt;i&gt;because" in text
    assert alice.get(f"/imports/findings/{uuid4()}").status_code == 404


def test_an_erased_record_is_no_longer_read_from_the_rows_of_its_import(
    world: World, alice: Client, foreign_file: ForeignFile
) -> None:
    foreign_file.memory("one", content="a private matter", content_hash="0" * 16)
    one_import(world, foreign_file.done())
    finding = ImportFinding.objects.get(namespace=world.namespace, code="stale-content-hash")
    assert "a private matter" in alice.get(f"/imports/findings/{finding.id}").text
    row = Record.objects.get(namespace=world.namespace)
    erase(world.alice, items=[(row.seq, row.item)], reason="request")
    text = alice.get(f"/imports/findings/{finding.id}").text
    assert "a private matter" not in text
    assert "its text was erased or left out" in words(text)


def test_a_raw_row_is_called_erased_only_where_an_erasure_names_it(
    world: World, alice: Client, foreign_file: ForeignFile
) -> None:
    foreign_file.memory("one", content="a private matter", content_hash="0" * 16)
    one_import(world, foreign_file.done())
    row = Record.objects.get(namespace=world.namespace)
    before = alice.get(f"/records/{row.id}/source").text
    assert "a private matter" in unescape(before)
    assert "is erased" not in before
    assert ImportFinding.objects.filter(namespace=world.namespace, record=row.id).exists()
    erased = erase(world.alice, items=[(row.seq, row.item)], reason="request")
    after = words(alice.get(f"/records/{row.id}/source").text)
    assert f"The raw row is erased, by seq {erased.seq} ." in after
    assert after.count("The raw row is erased") == 1


def test_namespaces_that_imports_founded_are_one_link_away(world: World, alice: Client, contextfs_store: Store) -> None:
    imported(contextfs_store("violations"), "acme", by=world.alice)
    text = alice.get("/imports?ns=acme").text
    assert 'href="/imports?ns=acme.infra"' in text
    assert Namespace.objects.filter(name="acme.infra").exists()


def test_an_import_is_part_of_the_log_and_leads_back(world: World, alice: Client, contextfs_store: Store) -> None:
    run = one_import(world, contextfs_store("clean_small"))
    text = alice.get(f"/ledger/{run.seq}").text
    assert f'href="/imports/{run.id}"' in text
    assert asof.now(world.namespace).seq == run.seq


def test_the_pages_cost_the_same_whatever_was_imported(world: World, alice: Client, tmp_path: Path) -> None:
    counts: dict[str, dict[str, int]] = {"imports:index": {}, "imports:run": {}, "imports:finding": {}}
    counts["imports:index"]["now 0"] = count_queries(alice, "/imports")
    for n in (1, 50):
        foreign = ForeignFile(tmp_path / f"{n}.db")
        for k in range(n):
            foreign.memory(f"record-{n}-{k}", content_hash="0" * 16)
        imported(foreign.done(), "acme", by=world.alice, source=f"source {n}")
        run = ImportRun.objects.filter(namespace=world.namespace).order_by("-seq")[0]
        finding = ImportFinding.objects.filter(run=run.id)[0]
        counts["imports:index"][f"now {n}"] = count_queries(alice, "/imports")
        counts["imports:run"][f"now {n}"] = count_queries(alice, f"/imports/{run.id}")
        counts["imports:finding"][f"now {n}"] = count_queries(alice, f"/imports/findings/{finding.id}")
    for page, found in counts.items():
        assert_baseline(page, found)
