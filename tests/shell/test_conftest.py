"""What the suite refuses about itself."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = """
import pytest

@pytest.mark.{mark}
def test_left_out():
    pytest.skip("there is none here")
"""
MARKS = ("browser", "postgres", "slow")


@pytest.mark.slow
@pytest.mark.sqlite_only
@pytest.mark.parametrize(("ci", "refused"), [("true", {"browser", "postgres"}), ("", set[str]())])
def test_a_test_that_must_run_is_not_skipped_in_ci(tmp_path: Path, ci: str, refused: set[str]) -> None:
    for mark in MARKS:
        (tmp_path / f"test_{mark}.py").write_text(SKIPPED.format(mark=mark))
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:schemathesis"]
    command += ["-c", ROOT / "pyproject.toml", tmp_path]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False)
    assert done.returncode == bool(refused), done.stdout
    assert set(re.findall(r"FAILED .*test_(\w+)\.py::", done.stdout)) == refused
    assert ("must run here was skipped" in done.stdout) is bool(refused)
    assert f"{len(MARKS) - len(refused)} skipped" in done.stdout
