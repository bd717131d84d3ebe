#!/usr/bin/env python3
"""The one entry point: builds its own environment in `.venv` when needed, then runs a command of Django or the tests.

Invariants
- Until it runs on the interpreter in `.venv`, this file uses only the standard library and syntax of Python 3.6.
- Every package comes from `.lock/` by its hash; uv too, which then installs the rest (pip does when uv cannot).
- There are two groups: runtime, and dev for the commands in DEV_COMMANDS. A group is complete only when its stamp, the
  hash of its lock file, is there; stamps go first and come last, so that an interrupted build is built anew.
- Two first calls at once build once: the second waits for the first.
- When `.venv` is complete nothing is started beside it: the cost is reading and hashing the lock files.
"""

import contextlib
import glob
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from typing import Dict, Iterable, Iterator, List

try:
    import fcntl
except ImportError:  # Windows has none; there, two first calls at once are not guarded
    fcntl = None  # type: ignore[assignment]

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "Scripts", "python.exe") if os.name == "nt" else os.path.join(VENV, "bin", "python")
GUARD = os.path.join(ROOT, ".venv-guard")
LOCKS = {
    "runtime": os.path.join(ROOT, ".lock", "requirements.txt"),
    "dev": os.path.join(ROOT, ".lock", "requirements-dev.txt"),
}
DEV_COMMANDS = ("screenshots", "test")
RESTARTED = "PALIMPSEST_RESTARTED"
DEMO_HOME = os.path.join(ROOT, ".palimpsest-demo")
BAD_INPUT = 2
OLDEST = (3, 12)
PREFERRED_MINORS = (13, 14, 12)
PROBE = "import sys, venv, ensurepip; print(sys.version_info[0], sys.version_info[1])"
# What would lead a child Python or pip away from the environment that is being built.
MISLEADING = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV")
NO_INTERPRETER = (
    "Palimpsest needs Python 3.12 or newer with the modules venv and ensurepip, and found none in PATH, pyenv or uv; "
    "install one (for example `uv python install 3.13`) and run the same command again."
)


class BuildFailed(Exception):
    """The environment cannot be built; the text is one sentence for a person."""


def usable(executable: str) -> bool:
    """True if it runs, is new enough and can make a venv. A pyenv shim may exist and not run."""
    try:
        probe = subprocess.run(
            [executable, "-c", PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=clean_environment(),
            universal_newlines=True,
            timeout=30,
        )
        return probe.returncode == 0 and tuple(map(int, probe.stdout.split())) >= OLDEST
    except (OSError, ValueError, subprocess.SubprocessError):
        return False


def candidates() -> Iterator[str]:
    """Paths of interpreters, the preferred ones first; some do not exist or do not run."""
    home = os.path.expanduser("~")
    pyenv = os.environ.get("PYENV_ROOT") or os.path.join(home, ".pyenv")
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    uv = os.environ.get("UV_PYTHON_INSTALL_DIR") or os.path.join(data, "uv", "python")
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    for minor in PREFERRED_MINORS:
        for folder in folders:
            yield os.path.join(folder, "python3.%d" % minor)
        for path in newest_first(os.path.join(pyenv, "versions", "3.%d.*" % minor, "bin", "python")):
            yield path
        for path in newest_first(os.path.join(uv, "cpython-3.%d.*" % minor, "bin", "python3")):
            yield path
    yield getattr(sys, "_base_executable", sys.executable)
    for folder in folders:
        yield os.path.join(folder, "python3")


def newest_first(pattern: str) -> List[str]:
    return sorted(glob.glob(pattern), key=lambda path: [int(part) for part in re.findall(r"\d+", path)], reverse=True)


def find_interpreter() -> str:
    for path in candidates():
        inside = os.path.abspath(path).startswith(VENV + os.sep)
        if not inside and os.access(path, os.X_OK) and usable(path):
            return path
    raise BuildFailed(NO_INTERPRETER)


def clean_environment() -> Dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in MISLEADING}


def run(*command: str) -> None:
    subprocess.check_call(command, env=clean_environment(), stdin=subprocess.DEVNULL, stdout=sys.stderr)


def digest_of(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        raise BuildFailed("The lock file %s cannot be read." % path) from None


def stamp_of(group: str) -> str:
    return os.path.join(VENV, ".installed-" + group)


def installed(group: str) -> str:
    """The hash of the lock that this group was last completely installed from, or an empty text."""
    try:
        with open(stamp_of(group)) as stream:
            return stream.read()
    except OSError:
        return ""


def is_complete(groups: Iterable[str]) -> bool:
    return os.path.exists(VENV_PYTHON) and all(installed(group) == digest_of(LOCKS[group]) for group in groups)


def uv_requirement() -> str:
    """The entry of the lock for uv itself, with its hashes."""
    with open(LOCKS["runtime"]) as stream:
        found = re.search(r"(?m)^uv==.*(?:\n[ \t]+.*)*", stream.read())
    if found is None:
        raise BuildFailed("The lock file %s does not pin uv." % LOCKS["runtime"])
    return found.group(0) + "\n"


def make_venv() -> None:
    interpreter = find_interpreter()
    print("Building .venv with %s." % interpreter, file=sys.stderr)
    run(interpreter, "-m", "venv", "--clear", VENV)
    with tempfile.TemporaryDirectory() as folder:
        requirement = os.path.join(folder, "uv.txt")
        with open(requirement, "w") as stream:
            stream.write(uv_requirement())
        try:
            install_by_pip(["-r", requirement])
        except subprocess.CalledProcessError:
            print("uv cannot be installed here; pip does its work.", file=sys.stderr)


def install_by_pip(arguments: Iterable[str]) -> None:
    run(VENV_PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", *arguments)


def install(groups: Iterable[str]) -> None:
    files = [argument for group in groups for argument in ("-r", LOCKS[group])]
    uv = (VENV_PYTHON, "-m", "uv", "pip", "install", "--quiet", "--python", VENV_PYTHON, "--require-hashes", "--exact")
    try:
        run(*uv, *files)
    except subprocess.CalledProcessError:
        print("uv could not install the packages; trying pip.", file=sys.stderr)
        install_by_pip(files)


def build(wanted: Iterable[str]) -> None:
    """Bring `.venv` to the state of the locks: a complete one of older locks is updated, anything else is made anew."""
    groups = [group for group in LOCKS if group in wanted or installed(group)]
    digests = {group: digest_of(LOCKS[group]) for group in groups}
    reusable = os.path.exists(VENV_PYTHON) and installed("runtime")
    for group in LOCKS:
        with contextlib.suppress(OSError):
            os.remove(stamp_of(group))
    try:
        if reusable:
            print("Updating .venv to the changed lock files.", file=sys.stderr)
        else:
            make_venv()
        install(groups)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildFailed("The environment in .venv could not be built: %s." % error) from error
    for group in groups:
        with open(stamp_of(group), "w") as stream:
            stream.write(digests[group])


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Hold the build lock; the operating system releases it when the process ends, however it ends."""
    with open(GUARD, "a") as stream:
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def ensure_environment(groups: Iterable[str]) -> None:
    """Return only on the interpreter of a complete `.venv`; otherwise build it and start over there."""
    inside = os.path.realpath(sys.prefix) == os.path.realpath(VENV)
    restarted = os.environ.pop(RESTARTED, "") == "1"
    if inside and is_complete(groups):
        return
    if restarted and not inside:
        raise BuildFailed("%s does not run in its own environment; remove .venv and try again." % VENV_PYTHON)
    if not is_complete(groups):
        with guarded():
            if not is_complete(groups):
                build(groups)
    os.environ[RESTARTED] = "1"
    command = [VENV_PYTHON, os.path.abspath(__file__), *sys.argv[1:]]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # exec would give the prompt back before the command ends
        sys.exit(subprocess.call(command))
    os.execv(VENV_PYTHON, command)


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        ensure_environment(("runtime", "dev") if command in DEV_COMMANDS else ("runtime",))
    except BuildFailed as failure:
        sys.exit(str(failure))
    if command == "test":
        from tests.run import run_tests

        sys.exit(run_tests(sys.argv[2:]))
    if command == "up" and "--demo" in sys.argv:
        # Settings make the folder that they find named here; the real store's is not to be made by a demo.
        os.environ.setdefault("PALIMPSEST_HOME", DEMO_HOME)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "audit.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as fault:
        print(fault, file=sys.stderr)
        sys.exit(BAD_INPUT)


if __name__ == "__main__":
    main()
