"""`check_laws --source`: code read for the shapes behind a law, alone and beside a store."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memory.checks.models import CheckRun
from tests.interchange.foreign import ForeignFile
from tests.world import World

CODE = """class Store:
    def add_edge(self, source, target, validate=False):
        self.rows.append((source, target))
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "store.py").write_text(CODE)
    return folder


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("check_laws", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_a_pattern_is_told_by_file_and_line_and_nothing_is_proven(source: Path) -> None:
    World()
    printed = run("--source", str(source))
    assert "L7   Every edge ends at a record: pattern found\n" in printed
    assert "         store.py:2 add_edge: validate is off unless asked for\n" in printed
    assert "L1   A record never changes and never goes: not found\n" in printed
    assert "one that is not found proves nothing" in printed
    assert not CheckRun.objects.exists()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [("nowhere", "no such folder"), ("source/store.py", "no such folder"), ("", "no Python file")],
)
def test_a_source_that_cannot_be_read_is_refused_not_skipped_over(source: Path, given: str, sentence: str) -> None:
    folder = source.parent / given
    if not given:
        folder = source.parent / "empty"
        folder.mkdir()
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("check_laws", "--source", str(folder), stdout=out)
    assert (caught.value.returncode, out.getvalue()) == (2, "")
    assert sentence in str(caught.value)


def test_beside_a_store_both_answers_stand(source: Path, tmp_path: Path) -> None:
    store = ForeignFile(tmp_path / "store.db").memory("a").memory("b").pair("a", "evolved_from", "b").done()
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("check_laws", "--store", str(store), "--source", str(source), stdout=out)
    printed = out.getvalue()
    assert printed.count("L7   Every edge ends at a record: ") == 2
    assert "both answers stand" in printed


def test_as_json_the_reading_stands_under_its_own_name(source: Path, tmp_path: Path) -> None:
    told = json.loads(run("--source", str(source), "--format", "json"))
    assert list(told) == ["source"]
    (place,) = told["source"]["clauses"]["L7"]["patterns"]["ends-not-looked-up"]
    assert (place["file"], place["line"]) == ("store.py", 2)
    store = ForeignFile(tmp_path / "store.db").memory("a").done()
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("check_laws", "--store", str(store), "--source", str(source), "--format", "json", stdout=out)
    assert json.loads(out.getvalue()).keys() >= {"clauses", "store", "source"}
