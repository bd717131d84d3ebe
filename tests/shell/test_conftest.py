"""What the suite refuses about itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = """
import pytest

@pytest.mark.{mark}
def test_that_is_left_out():
    pytest.skip("there is none here")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mark", "ci", "status"), [("browser", "true", 1), ("postgres", "true", 1), ("slow", "true", 0), ("browser", "", 0)]
)
def test_a_test_that_must_run_is_not_skipped_in_ci(tmp_path: Path, mark: str, ci: str, status: int) -> None:
    (tmp_path / "test_skipped.py").write_text(SKIPPED.format(mark=mark))
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", ROOT / "pyproject.toml", tmp_path]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout
    assert ("must run here was skipped" in done.stdout) is bool(status)
