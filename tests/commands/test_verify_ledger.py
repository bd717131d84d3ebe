"""`verify_ledger`: every ledger hashed again from the command line."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memory.agents.setup import ensure_namespace, system
from memory.ledger.models import Checkpoint, Content
from memory.ledger.operations.checkpoints import checkpoint
from memory.records.content import NewRecord
from memory.records.operations import save
from tests.conftest import lifted_triggers

pytestmark = pytest.mark.django_db


@pytest.fixture
def store(settings: object, tmp_path: Path) -> int:
    settings.PALIMPSEST_SIGNING_KEY_FILE = tmp_path / "signing.key"  # type: ignore[attr-defined]
    namespace = ensure_namespace("lab")
    save(system(namespace), records=[NewRecord("note", "what was said")])
    checkpoint(namespace, make_key=True)
    return namespace


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("verify_ledger", *arguments, stdout=out)
    return out.getvalue()


def refused(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("verify_ledger", *arguments, stdout=out)
    return caught.value.returncode, out.getvalue()


def tamper(store: int) -> None:
    with lifted_triggers(connection):
        rows = Content.objects.filter(namespace=store, part="content")
        assert rows.update(payload='"what was never said"') == 1


def test_an_honest_ledger_shows_its_three_verdicts_apart(store: int) -> None:
    printed = run()
    assert "lab: 3 entries" in printed
    for line in ("content: ok", "inclusion: ok", "consistency: not_checked"):
        assert f"  {line}\n" in printed + "\n"


def test_a_changed_text_is_named_and_ends_with_3(store: int) -> None:
    tamper(store)
    status, printed = refused()
    assert status == 3
    assert "content: failed" in printed
    assert "payload_mismatch at seq 2, item 0, part content: expected" in printed
    assert "never said" not in printed


def test_json_says_the_same(store: int) -> None:
    ensure_namespace("mill")
    tamper(store)
    status, printed = refused("--format", "json")
    assert status == 3
    lab, mill = json.loads(printed)["namespaces"]
    assert (lab["namespace"], lab["codes"]) == ("lab", {"payload_mismatch": 1})
    assert (mill["namespace"], mill["n_faults"], mill["verdicts"]["inclusion"]) == ("mill", 0, "not_checked")


def test_one_namespace_is_scanned_alone(store: int) -> None:
    ensure_namespace("mill")
    tamper(store)
    assert "mill:" in run("--namespace", "mill")
    assert refused("--namespace", "nowhere")[0] == 2


def test_a_checkpoint_that_the_reader_kept_is_compared(store: int, tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text(Checkpoint.objects.get(namespace=store).note)
    assert "consistency: ok" in run("--namespace", "lab", "--kept", str(kept))
    ensure_namespace("mill")
    status, printed = refused("--namespace", "mill", "--kept", str(kept))
    assert status == 3
    assert "consistency: failed" in printed


def test_what_is_no_checkpoint_is_refused_with_2(store: int, tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("not a checkpoint")
    assert refused("--namespace", "lab", "--kept", str(kept))[0] == 2
    assert refused("--namespace", "lab", "--kept", str(tmp_path / "missing"))[0] == 2
    kept.write_text(Checkpoint.objects.get(namespace=store).note)
    assert refused("--kept", str(kept))[0] == 2
