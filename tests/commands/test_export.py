"""`export` and `restore`: out of the house and back from the command line."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, load_command_class

from memory.agents.people import members
from memory.ledger.models import Entry
from memory.ledger.queries.erased import commitments
from tests.commands.nodes import ROOT
from tests.interchange.archives import archive_of, lose, namespace_named
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def run(*arguments: str) -> str:
    """What the command says."""
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue() + err.getvalue()


def refused(*arguments: str) -> tuple[int, str]:
    with pytest.raises(CommandError) as caught:
        run(*arguments)
    return caught.value.returncode, str(caught.value)


@pytest.fixture
def archive(world: World, tmp_path: Path) -> Path:
    world.save("to be taken along")
    path = tmp_path / "lab.jsonl"
    path.write_bytes(archive_of(world.namespace))
    return path


def test_an_archive_is_written_whole_and_the_ledger_says_so(world: World, tmp_path: Path) -> None:
    expected, path = archive_of(world.namespace), tmp_path / "lab.jsonl"
    said = run("export", "jsonl", "--namespace", "lab", "--output", str(path))
    assert path.read_bytes() == expected
    last = Entry.objects.filter(namespace=world.namespace).latest("seq")
    assert last.verb == "export"
    assert f"entry {last.seq}" in said
    assert list(tmp_path.iterdir()) == [path]


def test_without_a_file_it_goes_to_standard_output(world: World, capfdbinary: Any) -> None:
    expected = archive_of(world.namespace)
    run("export", "jsonl", "--namespace", "lab")
    assert capfdbinary.readouterr().out == expected


def test_provenance_is_narrowed_by_run_agent_instant_and_focus(world: World, tmp_path: Path) -> None:
    first = world.save("the first")
    world.save("said by a person", by=world.alice)
    path = tmp_path / "out.json"

    def entities(*narrowed: str) -> int:
        run("export", "prov", "--namespace", "lab", "--output", str(path), *narrowed)
        return len(json.loads(path.read_bytes()).get("entity", {}))

    assert entities() == 2
    assert entities("--agent", "scout") == entities("--agent", str(world.scout_id)) == 1
    assert entities("--focus", str(first.id)) == 1
    assert entities("--known-at", f"seq:{first.seq}") == 1
    assert entities("--from", "2999-01-01T00:00:00Z") == 0
    assert entities("--to", "2999-01-01T00:00:00Z") == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("export", "jsonl", "--namespace", "nowhere"), 2),
        (("export", "jsonl", "--namespace", "lab", "--agent", "scout"), 2),
        (("export", "prov", "--namespace", "lab", "--agent", "nobody"), 2),
        (("export", "prov", "--namespace", "lab", "--run", "12"), 2),
        (("export", "prov", "--namespace", "lab", "--from", "yesterday"), 2),
        (("export", "prov", "--namespace", "lab", "--from", "2025-01-01T00:00:00Z", "--to", "2024-01-01T00:00:00Z"), 2),
        (("export", "prov", "--namespace", "lab", "--output", "/nonexistent/folder/x"), 2),
        (("restore", "/nonexistent/file"), 2),
    ],
)
def test_a_wrong_argument_is_one_sentence_and_exit_2(world: World, arguments: tuple[str, ...], code: int) -> None:
    before = Entry.objects.count()
    found, said = refused(*arguments)
    assert (found, said.count("\n")) == (code, 0)
    assert Entry.objects.count() == before


@pytest.mark.parametrize("option", ["--run", "--focus"])
def test_an_id_that_is_none_is_refused_after_the_line_is_parsed_where_a_refusal_is_one_sentence(option: str) -> None:
    # What is raised while Django parses a command line reaches the terminal as a traceback.
    given = load_command_class("memory", "export").create_parser("manage.py", "export")
    asked = vars(given.parse_args(["prov", "--namespace", "lab", option, "zzz"]))
    assert asked[option.removeprefix("--")] == "zzz"


@pytest.mark.parametrize("format", ["prov", "openlineage"])
def test_a_run_that_nobody_opened_is_refused_and_the_ledger_says_nothing(world: World, format: str) -> None:
    world.save("the first")
    before = Entry.objects.count()
    code, said = refused("export", format, "--namespace", "lab", "--run", str(world.scout_id))
    assert (code, said.startswith(f"There is no run {world.scout_id}")) == (2, True)
    assert Entry.objects.count() == before


def test_an_archive_comes_back_and_its_owner_is_named(world: World, archive: Path) -> None:
    before = archive.read_bytes()
    lose(world)
    said = run("restore", str(archive), "--owner", "olga@example.org")
    here = namespace_named("lab")
    assert "restored" in said
    assert [(row.address, row.role) for row in members(here)] == [("olga@example.org", "owner")]
    assert archive.read_bytes() == before


def test_without_an_owner_the_command_says_how_to_make_one(world: World, archive: Path) -> None:
    lose(world)
    assert "manage.py invite" in run("restore", str(archive))
    assert archive_of(namespace_named("lab")) == archive.read_bytes()


@pytest.mark.sqlite_only
def test_before_there_are_tables_the_refusal_names_what_makes_them(archive: Path, tmp_path: Path) -> None:
    variables = {
        "DJANGO_SETTINGS_MODULE": "audit.settings", "PALIMPSEST_HOME": str(tmp_path / "home"), "DATABASE_URL": "",
    }  # fmt: skip
    command = [sys.executable, "-m", "django", "restore", str(archive)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Refused: The database lacks ")
    assert "`manage.py up` or `manage.py migrate`" in done.stderr


def test_people_may_come_along(world: World, archive: Path) -> None:
    lose(world)
    assert "manage.py invite" not in run("restore", str(archive), "--keep-people")
    assert len(members(namespace_named("lab"))) == 3


def test_a_namespace_that_stands_is_a_conflict(world: World, archive: Path) -> None:
    code, said = refused("restore", str(archive))
    assert (code, "lab" in said) == (4, True)


def test_a_changed_line_is_named_and_nothing_stands(world: World, archive: Path) -> None:
    lose(world)
    archive.write_bytes(archive.read_bytes().replace(b"to be taken along", b"to be taken over!"))
    code, said = refused("restore", str(archive))
    assert code == 2
    assert said.startswith("line ")
    assert "payload_mismatch" in said
    assert not Entry.objects.exists()


@pytest.mark.parametrize("spelled", ["lines", "receipt"])
def test_a_list_of_erased_commitments_keeps_its_texts_out(
    world: World, archive: Path, tmp_path: Path, spelled: str
) -> None:
    note = world.save("a canary in the archive")
    archive.write_bytes(archive_of(world.namespace))
    gone = world.erase(note.id)
    listed = [one.hex() for one in commitments(world.namespace, seq=gone.seq).values()]
    other = "ab" * 32
    told = {"seq": gone.seq, "digest": other, "commitments": [{"part": "content", "commitment": one} for one in listed]}
    path = tmp_path / "erased"
    path.write_text("\n".join(listed) + "\n" if spelled == "lines" else json.dumps(told))
    lose(world)
    said = run("restore", str(archive), "--erased", str(path))
    assert f"{len(listed)} parts were erased" in said
    assert b"canary" not in archive_of(namespace_named("lab"))


@pytest.mark.parametrize("text", ["", "no commitment", "{}", '{"digest": "' + "ab" * 32 + '"}', "\xff"])
def test_a_list_that_holds_no_commitment_is_refused(world: World, archive: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "erased"
    path.write_text(text)
    lose(world)
    code, said = refused("restore", str(archive), "--erased", str(path))
    assert (code, said.startswith("erased: ")) == (2, True)
    assert not Entry.objects.exists()
