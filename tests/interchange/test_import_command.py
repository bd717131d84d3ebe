"""`manage.py import`: what it says, what it does, and how it ends."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory.agents.models import Membership
from memory.interchange.contextfs.kernel.findings import CODES
from memory.ledger.models import Entry, Namespace
from memory.records.models import Record
from tests.interchange.foreign import ForeignFile
from tests.interchange.importing import n_rows
from tests.world import World

pytestmark = pytest.mark.django_db

Store = Callable[[str], Path]


def run(path: Path, *arguments: str, **options: Any) -> tuple[str, str]:
    """What the command prints on standard output and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command("import", "contextfs", str(path), *arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def refusal(path: Path, *arguments: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        run(path, *arguments)
    return caught.value


def test_a_store_comes_in_and_the_report_says_where_and_what_was_not_repaired(contextfs_store: Store) -> None:
    told, _ = run(contextfs_store("violations"), "--namespace", "acme")
    assert "64 records (63 live), 64 edges, 6 of 6 namespaces" in told
    assert "app-core -> acme.app-core took 48 records" in told
    assert "4 x cross-namespace (L4): an edge that joins two namespaces" in told
    assert told.index("quarantined, not repaired: 10") < told.index("repaired: 12") < told.index("noticed: 9")
    assert "stands here on the word of the source" in told
    assert Record.objects.count() == 64


def test_a_dry_run_writes_nothing_and_says_so(contextfs_store: Store) -> None:
    told, _ = run(contextfs_store("clean_small"), "--namespace", "acme", "--dry-run")
    assert "app-core -> acme would take 29 records" in told
    assert sum(n_rows().values()) == 0


def test_progress_goes_to_standard_error_and_is_left_out_if_asked(contextfs_store: Store) -> None:
    _, told = run(contextfs_store("clean_small"), "--namespace", "acme")
    assert "reading: 0 of 69 rows" in told
    assert "applying acme: 69 of 69 rows" in told
    _, silent = run(contextfs_store("clean_small"), "--namespace", "acme", verbosity=0)
    assert silent == ""


def test_every_code_is_told_with_its_meaning(contextfs_store: Store) -> None:
    told, _ = run(contextfs_store("violations"), "--namespace", "acme", "--dry-run")
    lines = [line.partition(" x ")[2] for line in told.splitlines() if " x " in line]
    assert len(lines) > 10
    for line in lines:
        code = line.split(" ")[0].rstrip(":")
        assert line.endswith(CODES[code].meaning)


def test_namespaces_are_mapped_and_one_alone_may_be_taken(contextfs_store: Store) -> None:
    path = contextfs_store("violations")
    run(path, "--namespace", "acme", "--map", "infra=metal", "--source-namespace", "infra", "--source", "team")
    assert list(Namespace.objects.values_list("name", flat=True)) == ["metal"]
    told, _ = run(path, "--namespace", "acme", "--map", "infra=metal", "--source", "team", "--dry-run")
    assert "infra -> metal would take 0 records" in told
    assert told.startswith("source team\n")


def test_the_owners_of_the_base_own_what_is_founded_below_it(contextfs_store: Store) -> None:
    world = World("acme")
    told, _ = run(contextfs_store("violations"), "--namespace", "acme")
    for name in ("acme.infra", "acme.app-core"):
        members = Membership.objects.filter(namespace__name=name).values_list("person", "role")
        assert list(members) == [(world.alice.person, "owner")]
    assert "has no owner yet" not in told


def test_a_target_that_nobody_owns_is_told_with_the_command_that_helps(contextfs_store: Store) -> None:
    told, _ = run(contextfs_store("clean_small"), "--namespace", "acme")
    assert "acme has no owner yet; `manage.py invite EMAIL --role owner --namespace acme` makes one." in told


def test_the_text_of_deleted_rows_is_left_out_if_asked(foreign_file: ForeignFile) -> None:
    foreign_file.memory("gone", content="a word to the wise", deleted_at="2026-03-05T10:00:00+00:00")
    run(foreign_file.done(), "--namespace", "acme", "--erase-deleted")
    from memory.ledger.models import Content

    assert not Content.objects.filter(payload__contains="to the wise").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--namespace", "Not A Name"),
        ("--namespace", "acme", "--map", "app-core"),
        ("--namespace", "acme", "--map", "app-core=a", "--map", "app-core=b"),
        ("--namespace", "acme", "--map", "nobody=a"),
        ("--namespace", "acme", "--source-namespace", "nobody"),
    ],
)
def test_wrong_input_ends_with_2_and_writes_nothing(arguments: tuple[str, ...], contextfs_store: Store) -> None:
    assert refusal(contextfs_store("clean_small"), *arguments).returncode == 2
    assert sum(n_rows().values()) == 0


def test_a_file_that_is_no_such_store_ends_with_2_and_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database")
    refused = refusal(path, "--namespace", "acme")
    assert refused.returncode == 2
    assert "expected an SQLite 3 database, got 14 bytes of other data" in str(refused)
    assert refusal(tmp_path / "none", "--namespace", "acme").returncode == 2


def test_an_import_that_another_overtakes_ends_with_4(
    foreign_file: ForeignFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.interchange import staging

    path = foreign_file.memory("one").done()
    honest, overtaken = staging.staged, []

    def overtaking(namespace: int, batch: bytes) -> Any:
        if not overtaken:
            overtaken.append(True)
            run(path, "--namespace", "acme")
        return honest(namespace, batch)

    monkeypatch.setattr(staging, "staged", overtaking)
    assert refusal(path, "--namespace", "acme").returncode == 4
    assert Entry.objects.filter(verb="import").count() == 1
