"""The command line: the recorded session of the peer's, step by step, and what is promised beyond it."""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from posterior_memory_harness.store import SQLiteMemoryStore
from pytest_django import DjangoDbBlocker

from memory.base import clock
from memory.management.posterior.running import run
from tests.beliefs.cases import recorded
from tests.beliefs.test_capsule import close

CHECKOUT = Path(__file__).parents[2]
SESSION = recorded("cli_cases")
FROZEN = datetime.fromtimestamp(1000, UTC)

# Steps that end otherwise than with the peer: (exit under compat, exit under native), and by which rule.
EXCEPTIONS = {
    6: ((4, 0), "B3.5: an identical retry is a success"),
    35: ((4, 4), "B4.7: what is not tracked is a conflict"),
    51: ((4, 0), "B3.5, and B3.6: an observation that fails makes no run"),
    52: ((4, 4), "B3.6: step 51 made no run"),
}
# B1.5: a decision has as many alternatives as it is asked for. And natively no instant is claimed: the entries of one
# frozen instant rise by a microsecond each, past the 1000 that step 43 asks for.
MORE_UNDER_NATIVE = {24, 43}
# What `verify` counts follows from 51: one monitor run, and one law of a run.
COUNTED_OTHERWISE = {58: {"monitor_runs": 1, "monitor_laws": 1}}

Call = Callable[..., tuple[int, Any, Any]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command line in this process: exit code, standard output as JSON, standard error as JSON or text."""

    def called(*arguments: str) -> tuple[int, Any, Any]:
        capsys.readouterr()
        try:
            code = run(list(arguments))
        except SystemExit as ended:
            code = int(str(ended.code))
        told = capsys.readouterr()
        error = json.loads(told.err) if told.err.startswith('{"error"') else told.err
        return code, json.loads(told.out) if told.out else None, error

    return called


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the session, in the working folder."""
    for name, document in SESSION["files"].items():
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker) -> Path:
    """A store that `schema migrate` has made."""
    path = tmp_path_factory.mktemp("store") / "empty.db"
    with django_db_blocker.unblock():
        assert run(["schema", "--db", str(path)]) == 0
    return path


@pytest.fixture
def store(folder: Path, empty_store: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[Path]:
    """A copy of it, under the name of the session's."""
    shutil.copy(empty_store, folder / "m.db")
    with django_db_blocker.unblock():
        yield folder / "m.db"


def session(call: Call, *, profile: str = "compat", db: bool = True) -> None:
    """Every step of the recorded session, each held against what the peer answered."""
    native = profile == "native"
    for step in SESSION["steps"]:
        number, arguments = step["step"], step["argv"]
        if not db:
            arguments = arguments[2:]
        if native:
            arguments = ["--profile", "native", *arguments]
        with clock.fixed(FROZEN):
            code, answer, error = call(*arguments)
        (compat_code, native_code), _ = EXCEPTIONS.get(number, ((step["exit"],) * 2, ""))
        assert code == (native_code if native else compat_code), (number, arguments, answer, error)
        if number in EXCEPTIONS or (native and number in MORE_UNDER_NATIVE):
            continue
        if code == 0:
            close(_shared(answer) if native else answer, _expected(step, db=db), f"step {number}")
        elif step.get("stderr_json") is not None:
            assert error["error"]["code"] == step["stderr_json"]["error"]["code"], number
            assert error["error"]["message"].isprintable()
        else:
            assert error.startswith("usage: manage.py posterior")
            assert answer is None


def _expected(step: dict[str, Any], *, db: bool) -> Any:
    """With the namespace of the session where the peer reports on all, and ours of what an exception has changed."""
    told = step["stdout_json"]
    if step["argv"][-1] == "health" or "health" in step["argv"]:
        told = _named(told) if "--namespace" not in step["argv"] else told
    if "verify" in step["argv"]:
        # PostgreSQL has no question about its pages that a client may ask.
        is_asked = db or connections["default"].vendor == "sqlite"
        pages = {} if is_asked else {"quick_check": ["not_checked"]}
        told = told | {"checks": told["checks"] | COUNTED_OTHERWISE.get(step["step"], {}) | pages}
    return told


def _shared(told: dict[str, Any]) -> dict[str, Any]:
    """Without what the native profile adds."""
    kept = {key: _unaudited(value) for key, value in told.items()} if "relations" in told else dict(told)
    added = {"audit"} if "correction" in told else {"audit", "recorded"}
    return {key: value for key, value in kept.items() if key not in added}


def _unaudited(told: Any) -> Any:
    if isinstance(told, dict):
        return {key: _unaudited(value) for key, value in told.items() if key != "audit"}
    return told


def _named(told: Any) -> Any:
    if isinstance(told, dict):
        return {key: "run" if key == "namespace" else _named(value) for key, value in told.items()}
    return told


def test_the_recorded_session_comes_back_from_a_file(store: Path, call: Call) -> None:
    session(call)


@pytest.mark.sqlite_only
def test_under_native_an_identical_retry_is_a_success(store: Path, call: Call) -> None:
    session(call, profile="native")


@pytest.mark.django_db
def test_the_recorded_session_comes_back_from_the_configured_database(folder: Path, call: Call) -> None:
    session(call, db=False)


def test_b3_6_reading_makes_no_store(folder: Path, call: Call) -> None:
    """Steps 0 and 1 of the session, before any store is made."""
    for arguments, expected in (
        (["health"], 4), (["verify"], 2), (["schema", "check"], 2), (["revoke", "t:1"], 4),
        (["--relation-type", "phase", "--law", "cyclic:4", "outcome", "out1.json"], 4),
        (["--law", "cyclic:4", "query", "q.json"], 0),
        (["--law", "cyclic:4", "decision", "q.json", "--focus-node", "built"], 0),
    ):  # fmt: skip
        assert call("--db", "m.db", *arguments)[0] == expected, arguments
    asked = {step["step"]: step for step in SESSION["steps"]}
    for step in (asked[3], asked[4]):
        assert call(*step["argv"])[:2] == (0, step["stdout_json"])
    assert sorted(path.name for path in folder.iterdir()) == sorted(SESSION["files"])


def test_b3_6_a_failed_observation_leaves_nothing_behind(store: Path, folder: Path, call: Call) -> None:
    """No law is bound by it, no run and no namespace is made, and where there was no store there is none."""
    (folder / "bad.json").write_text(json.dumps(SESSION["files"]["obs1.json"] | {"posterior": [1, 2]}))
    before = store.read_bytes()
    seven = ("--relation-type", "phase", "--law", "cyclic:7")
    assert call("--db", "m.db", *seven, "observe", "bad.json")[0] == 2
    assert call("--db", "m.db", "--monitor-run", "default", "health")[0] == 4
    assert call("--db", "m.db", "verify")[1]["checks"]["relation_laws"] == 0
    assert call("--db", "m.db", "--relation-type", "phase", "--law", "cyclic:4", "observe", "obs1.json")[0] == 0
    assert store.read_bytes() != before
    assert call("--db", "absent.db", *seven, "observe", "bad.json")[0] == 2
    assert not [path for path in folder.iterdir() if "absent" in path.name]


def test_b4_7_what_is_no_store_is_told_by_its_own_exit(
    store: Path, folder: Path, call: Call, peer_store: Path
) -> None:  # fmt: skip
    """A text, a database of somebody else's and the peer's own are none, and are left as they are."""
    (folder / "text.db").write_text("not a database, but a text that is long enough to have a header of its own" * 9)
    for path in (folder / "text.db", peer_store):
        before = path.read_bytes()
        for arguments in (["verify"], ["health"], ["--law", "cyclic:4", "query", "q.json"], ["schema", "migrate"]):
            code, _, error = call("--db", str(path), *arguments)
            assert (code, error["error"]["code"]) == (3, "schema"), arguments
        assert path.read_bytes() == before
    assert "import posterior" in call("--db", str(peer_store), "verify")[2]["error"]["message"]


@pytest.fixture(scope="module")
def peer_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("peer") / "peer.db"
    SQLiteMemoryStore(path)
    return path


def test_a_newer_store_and_one_whose_guards_are_lifted_are_refused(store: Path, call: Call) -> None:
    for statement in (
        "INSERT INTO django_migrations (app, name, applied) VALUES ('memory', '9999_later', '2030-01-01')",
        "DROP TRIGGER memory_observation_no_update",
    ):
        copy = store.with_name("altered.db")
        shutil.copy(store, copy)
        with sqlite3.connect(copy) as file:
            file.execute(statement)
        for command in ("verify", "health"):
            code, _, error = call("--db", str(copy), command)
            assert (code, error["error"]["code"]) == (3, "schema")


def test_b3_3_a_forced_change_is_named_by_verify_with_its_entry(store: Path, call: Call) -> None:
    """In place updates fail; with the guards lifted, changed and put back, `verify` finds the entry."""
    for name in ("obs1.json", "obs2.json"):
        assert call("--db", "m.db", "--relation-type", "phase", "--law", "cyclic:4", "observe", name)[0] == 0
    with sqlite3.connect(store) as file:
        for statement in ("UPDATE memory_observation SET trust = 0.5", "DELETE FROM memory_observation"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                file.execute(statement)
        (guard,) = file.execute("SELECT sql FROM sqlite_master WHERE name = 'memory_observation_no_update'").fetchone()
        file.execute("DROP TRIGGER memory_observation_no_update")
        file.execute("UPDATE memory_observation SET trust = 0.5 WHERE seq = (SELECT MAX(seq) FROM memory_observation)")
        (seq,) = file.execute("SELECT MAX(seq) FROM memory_observation").fetchone()
        file.execute(guard)
    code, told, _ = call("--db", "m.db", "verify")
    assert (code, told["ok"]) == (3, False)
    assert f"seq {seq}" in told["errors"][0]


def test_a_derived_row_that_was_changed_is_named_by_verify(store: Path, call: Call) -> None:
    """Retrieval reads derived rows, so that what they say is held against what they are derived from."""
    assert call("--db", "m.db", "--relation-type", "phase", "--law", "cyclic:4", "observe", "obs1.json")[0] == 0
    assert call("--db", "m.db", "verify")[1]["ok"] is True
    with sqlite3.connect(store) as file:
        file.execute("UPDATE memory_observationstate SET trust = 0.25")
    code, told, _ = call("--db", "m.db", "verify")
    assert code == 3
    assert len(told["errors"]) == 1


def test_a_process_of_its_own_makes_the_store_with_its_first_observation(folder: Path) -> None:
    """As a client runs it; the store is not seen before it is whole."""
    home = folder / "home"
    home.mkdir()
    arguments = ["--db", "new.db", "--relation-type", "phase", "--law", "cyclic:4", "observe", "-"]
    environment = {key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "manage.py"), "posterior", *arguments],
        input=json.dumps(SESSION["files"]["obs1.json"]), capture_output=True, text=True, check=False, timeout=120,
        env=environment | {"PALIMPSEST_HOME": str(home)},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, json.dumps({"observation_id": "t:1"}, indent=2) + "\n"), done.stderr
    assert (folder / "new.db").exists()
    assert not list(folder.glob(".new.db*"))


def test_the_commands_of_the_readme_do_what_they_say(
    store: Path, folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = (CHECKOUT / "README.md").read_text().split("### Switch from posterior-memory-harness")[1]
    script = section.split("```sh\n")[1].split("```")[0].replace("\\\n", "")
    shutil.copy(store, folder / "beliefs.db")
    answers = []
    for line in script.splitlines():
        sent, _, command = line.rpartition("|")
        document = shlex.split(sent)[1] if sent else ""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(document.encode())))
        code, answer, error = call(*shlex.split(command)[3:])
        assert code == 0, (line, error)
        answers.append(answer)
    assert answers[0] == {"observation_id": "t:1"}
    assert answers[1]["beliefs"][1]["candidates"][0] == {"state": "1", "probability": pytest.approx(0.92)}
    assert answers[2:] == [{"revoked": "t:1"}, answers[3]]
    assert answers[3]["ok"] is True


OBSERVED = ("--db", "m.db", "--profile", "native", "--relation-type", "phase", "--law", "cyclic:4", "observe")
KILLED_AT_ITS_ANSWER = """
import os, signal, sys
import django
django.setup()
from memory.management.posterior.running import run
class Cut:
    def write(self, text):
        os.kill(os.getpid(), signal.SIGKILL)
sys.stdout = Cut()
run(sys.argv[1:])
"""


def test_b3_5_a_client_killed_between_commit_and_reply_asks_again_and_it_stands_once(
    store: Path, folder: Path, call: Call
) -> None:
    home = folder / "home"
    home.mkdir()
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "audit.settings", "PALIMPSEST_HOME": str(home)}
    died = subprocess.run(
        [sys.executable, "-c", KILLED_AT_ITS_ANSWER, *OBSERVED, "obs1.json"], capture_output=True, check=False,
        timeout=120, env=environment | {"PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    assert (died.returncode, died.stdout) == (-9, b""), died.stderr
    code, answer, _ = call(*OBSERVED, "obs1.json")
    assert (code, answer["observation_id"], answer["recorded"]) == (0, "t:1", False)
    checks = call("--db", "m.db", "verify")[1]["checks"]
    assert (checks["observations"], checks["monitor_predictions"]) == (1, 1)


def test_writers_at_once_lose_nothing_and_double_nothing(store: Path, folder: Path, call: Call) -> None:
    """Four clients send overlapping observations into one file; each id is sent by two of them."""
    for index in range(8):
        document = SESSION["files"]["obs1.json"] | {"observation_id": f"o{index}", "evidence_family": f"f{index}"}
        (folder / f"o{index}.json").write_text(json.dumps(document))

    def client(first: int) -> list[int]:
        return [run([*OBSERVED, f"o{(first + step) % 8}.json"]) for step in range(4)]

    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(client, (0, 2, 4, 6)))
    assert codes == [[0] * 4] * 4
    told = call("--db", "m.db", "verify")[1]
    assert (told["ok"], told["checks"]["observations"], told["checks"]["monitor_runs"]) == (True, 8, 1)
