"""`check_laws`: a store judged from the command line, ours or a foreign one."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory.checks.models import CheckRun
from memory.ledger.models import Entry, Node
from tests.commands.nodes import ROOT
from tests.contextfs_files import contextfs_store
from tests.interchange.foreign import ForeignFile
from tests.laws.planting import Scene, deleted_row, planted

pytestmark = pytest.mark.django_db

__all__ = ["contextfs_store"]


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("check_laws", *arguments, stdout=out)
    return out.getvalue()


def refused(*arguments: str) -> tuple[int, str, str]:
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("check_laws", *arguments, stdout=out)
    return caught.value.returncode, str(caught.value), out.getvalue()


def test_a_sound_namespace_is_told_clause_by_clause_and_written_down() -> None:
    scene = Scene()
    printed = run("--namespace", "lab")
    assert "lab: 6 records, 7 edges" in printed
    for line in (
        "L1   A record never changes and never goes: holds in this data",
        "L5   The same request gives the same result: not decidable from this data",
        "       What would decide it: running the same operation twice from equal states.",
    ):
        assert f"{line}\n" in printed
    assert CheckRun.objects.filter(namespace=scene.world.namespace).count() == 8
    assert not CheckRun.objects.filter(namespace=scene.other.namespace).exists()


def test_a_run_that_the_log_cannot_take_down_says_so_beside_what_it_found() -> None:
    world = Scene().world
    while Entry.objects.filter(namespace=world.namespace).count() % 2 == 0:
        world.save("so that the next leaf completes a node")
    Node.objects.filter(namespace=world.namespace, level=0).delete()
    out, aside = io.StringIO(), io.StringIO()
    call_command("check_laws", "--format", "json", stdout=out, stderr=aside)
    assert [each["store"] for each in json.loads(out.getvalue())["namespaces"]] == ["annex", "lab"]
    assert aside.getvalue() == "lab: the log takes no entry, so this run is written down nowhere; verify the ledger.\n"
    assert not CheckRun.objects.filter(namespace=world.namespace).exists()


def test_without_a_name_every_namespace_is_checked() -> None:
    Scene()
    assert [each["store"] for each in json.loads(run("--format", "json"))["namespaces"]] == ["annex", "lab"]


def test_a_broken_law_is_named_with_its_counterexample_and_ends_with_3() -> None:
    scene = Scene()
    with planted():
        record = deleted_row(scene)
        status, said, printed = refused("--namespace", "lab")
    n_broken = len(set(re.findall(r"^L[0-9]+(?=.*: VIOLATED$)", printed, re.MULTILINE)))
    assert (status, said) == (3, f"{n_broken} laws are broken.")
    assert "L1   A record never changes and never goes: VIOLATED" in printed
    assert "1 record gone\n" in printed
    assert str(record) in printed


def test_a_foreign_store_is_told_in_the_promised_shape_and_not_written_down(contextfs_store: Any) -> None:
    path = contextfs_store("violations")
    status, said, printed = refused("--store", str(path), "--format", "json")
    told = json.loads(printed)
    n_broken = len({each["clause"][:2] for each in told["clauses"] if each["verdict"] == "violated"})
    assert said == f"{n_broken} laws are broken."
    assert (status, told["store"], told["records"]) == (3, "violations.db", 64)
    assert {(each["clause"], each["scope"]) for each in told["clauses"]} >= {("L3", "fragment"), ("L3", "store")}
    assert all(
        each.keys() >= {"clause", "verdict", "scope", "kinds", "witnesses"}
        and each["verdict"] in ("holds", "violated", "undecidable")
        for each in told["clauses"]
    )
    assert told["measures"]["records_disagreeing"] == 8
    assert not CheckRun.objects.exists()


def test_an_earlier_copy_shows_what_went(contextfs_store: Any) -> None:
    paths = [str(contextfs_store(name)) for name in ("violations", "violations_before")]
    _, _, printed = refused("--store", paths[0], "--before", paths[1])
    assert "L1   A record never changes and never goes: VIOLATED" in printed
    assert "1 record gone\n" in printed
    assert "a5574ab6-de4" in printed


def test_on_a_terminal_the_last_line_is_plain_for_nothing_was_refused(tmp_path: Path) -> None:
    path = ForeignFile(tmp_path / "clean.db").memory("a").derived("b", "evolved_from", "a").done()
    variables = {"DJANGO_SETTINGS_MODULE": "audit.settings", "PALIMPSEST_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "django", "check_laws", "--store", str(path), "--format", "json"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (3, "1 law is broken.\n")
    assert json.loads(done.stdout)["store"] == "clean.db"


def test_a_clean_store_is_broken_by_its_one_time_axis_alone(tmp_path: Path) -> None:
    path = ForeignFile(tmp_path / "clean.db").memory("a").derived("b", "evolved_from", "a").done()
    status, _, printed = refused("--store", str(path), "--format", "json")
    broken = {each["clause"] for each in json.loads(printed)["clauses"] if each["verdict"] == "violated"}
    assert (status, broken) == (3, {"L6"})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--namespace", "nowhere"), "There is no namespace 'nowhere'"),
        (("--before", "x.db"), "--before is an earlier copy"),
        (("--namespace", "lab", "--store", "x.db"), "give one of the two"),
        (("--store", "x.db"), "There is no file"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    status, said, printed = refused(*arguments)
    assert (status, printed) == (2, "")
    assert sentence in said


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("no database")
    assert refused("--store", str(text))[0] == 2
    other = ForeignFile(tmp_path / "other.db", memory_columns=("id TEXT", "content TEXT")).done()
    status, said, _ = refused("--store", str(other))
    assert status == 2
    assert "lacks type, namespace_id, created_at" in said


def test_a_file_with_unfinished_writes_is_refused(tmp_path: Path) -> None:
    path = ForeignFile(tmp_path / "busy.db").memory("a").done()
    path.with_name("busy.db-wal").write_bytes(b"unfinished")
    status, said, _ = refused("--store", str(path))
    assert status == 2
    assert "busy.db-wal" in said
