"""`manage.py test`: the suite on SQLite, then on PostgreSQL, each with pytest and one worker per core.

Invariants
- `--quick` runs on SQLite alone and leaves out the marks slow, browser and postgres; nothing else is ever left out
  there. PostgreSQL runs what asks a database.
- With DATABASE_URL set the suite runs once, on that database's engine.
- The exit status is that of the first engine that failed. Finding no test fails unless the other engine found some.
- All other arguments go to pytest as they are; a `-m` among them takes the place of ours.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.postgres import postgresql_server

ROOT = Path(__file__).resolve().parent.parent
NO_TESTS_FOUND = 5
INTERRUPTED = 2
QUICK = "not slow and not browser and not postgres"
ON_POSTGRESQL = "asks_database and not browser and not sqlite_only"
ROOM_BYTES = 2 * 1024**3
# They say the same on every engine: no table is asked there.
WITHOUT_DATABASE = ("architecture", "browser", "charts", "console")


def run_tests(arguments: Sequence[str]) -> int:
    passed_on = [argument for argument in arguments if argument != "--quick"]
    if "--quick" in arguments:
        return _pytest(passed_on, marks=QUICK, environment={"HYPOTHESIS_PROFILE": "quick"})
    if os.environ.get("DATABASE_URL"):
        return _pytest(passed_on)
    on_sqlite = _pytest(passed_on)
    if on_sqlite == INTERRUPTED:
        return on_sqlite
    print("The same suite on PostgreSQL:", flush=True)
    with postgresql_server() as url:
        left_out = [f"--ignore=tests/{folder}" for folder in WITHOUT_DATABASE]
        environment = {"HYPOTHESIS_PROFILE": "second_engine", **os.environ, "DATABASE_URL": url}
        on_postgresql = _pytest([*left_out, *passed_on], marks=ON_POSTGRESQL, environment=environment)
    return overall(on_sqlite, on_postgresql)


def overall(*statuses: int) -> int:
    """The exit status of the whole, from that of each engine."""
    found = [status for status in statuses if status != NO_TESTS_FOUND]
    return next((status for status in found if status), 0) if found else NO_TESTS_FOUND


def _pytest(arguments: Sequence[str], *, marks: str = "", environment: dict[str, str] | None = None) -> int:
    """Run pytest once, with a home of its own. Ctrl-C reaches pytest itself, which then ends and is waited for."""
    command = [sys.executable, "-m", "pytest", "--numprocesses=auto", "--maxprocesses=8", "--dist=worksteal"]
    if marks:
        command += ["-m", marks]
    home = tempfile.mkdtemp(prefix="palimpsest-test-", dir=_memory())
    variables = {**os.environ, "PALIMPSEST_TEST_HOME": home, **(environment or {})}
    with subprocess.Popen([*command, *arguments], cwd=ROOT, env=variables) as process:
        try:
            return _wait(process)
        finally:
            shutil.rmtree(home, ignore_errors=True)


def _memory() -> Path | None:
    """Where files never wait for a disk, if there is such a place with room; None: where others are.

    The home of a run holds the SQLite files of its tests, which are as much files there: who is killed loses nothing.
    """
    memory = Path("/dev/shm")
    has_room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= ROOM_BYTES
    return memory if has_room else None


def _wait(process: "subprocess.Popen[bytes]") -> int:
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
