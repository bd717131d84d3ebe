"""Imports that are killed at random statements and run again, each in processes of its own, beside a clean run.

    python -m tests.interchange.killing STORE.db N_POINTS SEED

Prints JSON: how many statements a clean import takes, and for each point the statement at which the import died, how
it died, and whether the store that stands after the second run equals that of the clean run: normalised as it is, and
to the byte where ids, salts and clock are given. The database is a file of its own, made once and copied.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django
from django.core.management import call_command
from django.db import connection

START = datetime(2026, 11, 2, 14, 0, tzinfo=UTC)


def import_once(store: Path, *, is_seeded: bool, die_at: int | None = None) -> int:
    """Import the store; at statement `die_at` the process is killed. Answers how many statements it took."""
    from memory.base import clock, ids
    from memory.base.actor import Actor
    from memory.interchange.contextfs.operations import Options, import_store
    from memory.interchange.targets import founder

    n_statements = 0

    def counted(execute: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal n_statements
        n_statements += 1
        if n_statements == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(*arguments)

    by = Actor(0, "system")
    with ExitStack() as stack:
        if is_seeded:
            stack.enter_context(ids.seeded("the same in every run"))
            stack.enter_context(clock.fixed(START))
        stack.enter_context(connection.execute_wrapper(counted))
        import_store(by, store, options=Options(base="kept"), ensure=founder(by))
    return n_statements


def in_child(work: Callable[[], None]) -> int:
    """Do the work in a process of its own; answers its exit status as `os.waitpid` tells it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            connection.close()
            status = 0
        finally:
            if status:
                traceback.print_exc()
            os._exit(status)
    return os.waitpid(child, 0)[1]


def dumped(into: Path, *, is_seeded: bool) -> Callable[[], None]:
    def dump() -> None:
        from tests.dumps import logical, normalised

        into.write_text("\n".join(logical() if is_seeded else normalised()))

    return dump


def main() -> None:
    store, n_points, chance = Path(sys.argv[1]), int(sys.argv[2]), random.Random(sys.argv[3])
    django.setup()
    database = Path(connection.settings_dict["NAME"])
    assert not database.exists(), "the home must be fresh: what stands there already would not be imported again"
    call_command("migrate", verbosity=0, skip_checks=True)
    connection.close()
    empty, clean, again = (database.with_suffix(suffix) for suffix in (".empty", ".clean", ".again"))
    shutil.copy(database, empty)
    points: list[dict[str, Any]] = []
    total = 0
    for is_seeded in (False, True):
        begin(database, empty)
        counted = database.with_suffix(".count")

        def whole(seeded: bool = is_seeded, into: Path = counted) -> None:
            into.write_text(str(import_once(store, is_seeded=seeded)))

        assert in_child(whole) == 0
        assert in_child(dumped(clean, is_seeded=is_seeded)) == 0
        total = int(counted.read_text())
        for die_at in sorted(chance.sample(range(1, total + 1), n_points // 2)):
            begin(database, empty)
            status = in_child(lambda at=die_at, s=is_seeded: import_once(store, is_seeded=s, die_at=at))  # type: ignore[misc]
            assert in_child(whole) == 0
            assert in_child(dumped(again, is_seeded=is_seeded)) == 0
            points.append(
                {
                    "statement": die_at,
                    "was_killed": os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL,
                    "is_seeded": is_seeded,
                    "is_equal": clean.read_text() == again.read_text(),
                    "n_rows": len(again.read_text().splitlines()),
                }
            )
    print(json.dumps({"n_statements": total, "points": points}))


def begin(database: Path, empty: Path) -> None:
    for left in (database.with_name(f"{database.name}-wal"), database.with_name(f"{database.name}-shm")):
        left.unlink(missing_ok=True)
    shutil.copy(empty, database)


if __name__ == "__main__":
    main()
