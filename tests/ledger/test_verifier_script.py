"""The stand-alone verifier as a third party runs it: one copied file, no package of ours, old Pythons too."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.ledger import verifier
from tests.ledger.proofs import VKEY, encoded, honest_proof, signed_head
from tests.ledger.test_verifier import ALL_OK, HONEST

SCRIPT = Path(verifier.__file__)


def test_the_script_imports_the_standard_library_alone() -> None:
    imported = set()
    for node in ast.walk(ast.parse(SCRIPT.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported <= set(sys.stdlib_module_names)


def python_38() -> str | None:
    """A Python 3.8 that runs: on the path, or among pyenv's versions."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [*map(str, sorted(versions.glob("3.8.*/bin/python"))), shutil.which("python3.8")]
    for candidate in candidates:
        # A shim stands on the path also where its version is not chosen.
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


@pytest.fixture(params=["this Python", "Python 3.8"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a copy of the script in isolation, from a folder that holds nothing of ours."""
    python = sys.executable if request.param == "this Python" else python_38()
    if python is None:
        pytest.skip("no Python 3.8 on this computer")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = shutil.copy(SCRIPT, elsewhere / "verify.py")

    def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, "-I", script, *map(str, arguments)],
            cwd=elsewhere,
            capture_output=True,
            encoding="ascii",
            check=False,
            env={"LC_ALL": "C"},
        )

    return command


def test_the_script_answers_by_lines_and_exit_status(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    proof, kept, key = tmp_path / "proof.json", tmp_path / "kept.txt", tmp_path / "key.txt"
    proof.write_bytes(encoded(honest_proof(is_summary_erased=True, consistency_from=5)))
    kept.write_text(signed_head(5), encoding="utf-8")
    key.write_text(VKEY + "\n", encoding="utf-8")

    plain = run(proof)
    assert (plain.returncode, plain.stderr) == (0, "")
    names = [(line.split()[0], line.split()[1]) for line in plain.stdout.splitlines()]
    expected = {**ALL_OK, "content:summary": "erased"}
    assert names == [(verdict, name) for name, verdict in expected.items()]

    for own_key in (key, VKEY):
        full = run(proof, "--key", own_key, "--checkpoint", kept)
        assert full.returncode == 0
        assert "not_checked" not in full.stdout

    bad = honest_proof()
    bad["contents"]["content"]["payload"]["text"] = "Invoice 7 was paid."
    proof.write_bytes(encoded(bad))
    refused = run(proof)
    assert refused.returncode == 3
    lines = [line.split() for line in refused.stdout.splitlines() if line.startswith("failed")]
    assert [line[:3] for line in lines] == [["failed", "content:content", "payload_mismatch:"]]
    assert "expected" in refused.stdout
    assert "got" in refused.stdout


def test_a_checkpoint_that_could_not_be_compared_is_no_success_and_its_remedy_is_named(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    proof, kept = tmp_path / "proof.json", tmp_path / "kept.txt"
    kept.write_text(signed_head(5), encoding="utf-8")
    proof.write_bytes(encoded(HONEST))
    answer = run(proof, "--checkpoint", kept)
    assert answer.returncode == 3
    (line,) = [line for line in answer.stdout.splitlines() if line.split()[1] == "consistency"]
    assert line.startswith("not_checked")
    assert "take it again with kept=5: proof.json?kept=5" in line

    proof.write_bytes(encoded(honest_proof(consistency_from=5)))
    assert run(proof, "--checkpoint", kept).returncode == 0


def test_the_script_reports_unreadable_input_with_status_2(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    good, broken = tmp_path / "good.json", tmp_path / "broken.json"
    good.write_bytes(encoded(HONEST))
    broken.write_bytes(encoded(HONEST)[:-2])
    for arguments in (
        [broken],
        [tmp_path / "absent.json"],
        [good, "--key", "no key"],
        [good, "--checkpoint", broken],
        [good, "--checkpoint", tmp_path / "absent.txt"],
        [],
    ):
        answer = run(*arguments)
        assert answer.returncode == 2
        assert answer.stdout == ""
        assert "Traceback" not in answer.stderr
        assert answer.stderr != ""


def test_a_proof_cannot_send_control_characters_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "proof.json"
    path.write_bytes(encoded({**HONEST, "contents": {"\x1b[2Jall is well": None}}))
    assert verifier.main([str(path)]) == 3
    path.write_bytes(encoded({**HONEST, "\x1b[2J": "all is well"}))
    assert verifier.main([str(path)]) == 2
    written = capsys.readouterr()
    assert "\x1b" not in written.out + written.err
    assert "all is well" in written.out
