"""`manage.py` builds its environment by itself.

The builds run in a copy of the entry point whose locks are cut from the real ones, so that a build takes seconds.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sqlite_only

ROOT = Path(__file__).resolve().parents[2]
BASE_PYTHON = Path(sys.base_prefix) / "bin" / "python3"
# Started in place of manage.py where the interpreter itself must not count as one that was found.
WITHOUT_OWN_INTERPRETER = (
    "import runpy, sys; sys._base_executable = '/nowhere/python'; sys.argv[:] = ['manage.py', 'version'];"
    " runpy.run_path('manage.py', run_name='__main__')"
)


def environment(**variables: str) -> dict[str, str]:
    """The caller's environment, as if no virtual environment and no test run were active."""
    hidden = ("VIRTUAL_ENV", "DJANGO_SETTINGS_MODULE", "PYTHONPATH", "PALIMPSEST_RESTARTED")
    return {**{name: value for name, value in os.environ.items() if name not in hidden}, **variables}


def start(folder: Path, *arguments: str, python: Path = BASE_PYTHON, **variables: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [python, *arguments],
        cwd=folder,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, *arguments: str, python: Path = BASE_PYTHON, **variables: str) -> tuple[int, str, str]:
    process = start(folder, *arguments, python=python, **variables)
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def locked(name: str, *packages: str) -> str:
    """The entries of these packages in a real lock file, hashes included."""
    text = (ROOT / ".lock" / name).read_text()
    entries = [re.search(rf"(?m)^{package}==.*(?:\n[ \t]+.*)*\n", text) for package in packages]
    return "".join(entry.group(0) for entry in entries if entry)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A checkout with the entry point and the locks of Django and uv."""
    folder = tmp_path / "checkout"
    (folder / ".lock").mkdir(parents=True)
    shutil.copy(ROOT / "manage.py", folder)
    (folder / ".lock" / "requirements.txt").write_text(
        locked("requirements.txt", "asgiref", "django", "sqlparse", "uv")
    )
    (folder / ".lock" / "requirements-dev.txt").write_text(locked("requirements-dev.txt", "iniconfig"))
    return folder


def shim(folder: Path, name: str, *, target: Path | None = None) -> Path:
    """A program in a folder of its own: a link to a real interpreter, or one that exists and does not run."""
    folder.mkdir()
    if target is not None:
        (folder / name).symlink_to(target)
    else:
        (folder / name).write_text("#!/bin/sh\necho 'no such version' >&2\nexit 127\n")
        (folder / name).chmod(0o755)
    return folder


def test_the_first_lines_are_read_by_old_interpreters() -> None:
    source = (ROOT / "manage.py").read_text()
    ast.parse(source, feature_version=(3, 7))
    for old in sorted((Path.home() / ".pyenv" / "versions").glob("3.[678].*/bin/python")):
        assert run(ROOT, "-c", f"compile({source!r}, 'manage.py', 'exec')", python=old)[0] == 0, old


def test_without_an_interpreter_it_ends_with_one_sentence(copy: Path, tmp_path: Path) -> None:
    broken = shim(tmp_path / "broken", "python3.13")
    status, out, err = run(copy, "-c", WITHOUT_OWN_INTERPRETER, PATH=str(broken), HOME=str(tmp_path), PYENV_ROOT="")
    assert (status, out) == (1, "")
    assert err.count("\n") == 1
    assert "Python 3.12 or newer" in err
    assert not (copy / ".venv").exists()


def test_a_shim_that_does_not_run_is_passed_over(copy: Path, tmp_path: Path) -> None:
    broken = shim(tmp_path / "broken", "python3.13")
    real = shim(tmp_path / "real", "python3.12", target=BASE_PYTHON)
    status, out, err = run(
        copy,
        "-c",
        "import manage; print(manage.find_interpreter())",
        PATH=f"{broken}{os.pathsep}{real}",
        HOME=str(tmp_path),
        PYENV_ROOT="",
    )
    assert (status, out.strip()) == (0, str(real / "python3.12")), err


@pytest.mark.parametrize(
    "place", [".pyenv/versions/3.13.{}/bin/python", ".local/share/uv/python/cpython-3.13.{}-linux/bin/python3"]
)
def test_the_newest_interpreter_of_pyenv_and_uv_is_found_by_number(copy: Path, tmp_path: Path, place: str) -> None:
    for patch in ("9", "10"):
        path = tmp_path / place.format(patch)
        path.parent.mkdir(parents=True)
        path.symlink_to(BASE_PYTHON)
    code = "import manage; print(manage.find_interpreter())"
    out = run(copy, "-c", code, PATH="", HOME=str(tmp_path), PYENV_ROOT="", XDG_DATA_HOME="")[1]
    assert out.strip() == str(tmp_path / place.format("10"))


def test_inside_a_complete_environment_nothing_is_started() -> None:
    code = (
        "import sys; started = []; sys.argv[0] = 'manage.py'\n"
        "sys.addaudithook(lambda event, _: started.append(event)"
        " if event.startswith(('subprocess.', 'os.exec', 'os.posix_spawn', 'os.fork')) else None)\n"
        "import manage; manage.ensure_environment(('runtime', 'dev')); print(started)"
    )
    assert run(ROOT, "-c", code, python=Path(sys.executable))[1].strip() == "[]"


@pytest.mark.slow
def test_two_first_calls_at_once_build_once(copy: Path) -> None:
    calls = [start(copy, "manage.py", "version") for _ in range(2)]
    answers = [call.communicate(timeout=240) for call in calls]
    assert [call.returncode for call in calls] == [0, 0], answers
    assert len({out for out, _ in answers}) == 1
    assert sum(err.count("Building .venv") for _, err in answers) == 1


@pytest.mark.slow
def test_what_was_interrupted_is_built_anew_and_what_is_old_is_updated(copy: Path) -> None:
    assert "Building" in run(copy, "manage.py", "version")[2]
    assert run(copy, "manage.py", "version")[2] == ""

    (copy / ".venv" / ".installed-runtime").unlink()
    debris = copy / ".venv" / "debris"
    debris.touch()
    assert "Building" in run(copy, "manage.py", "version")[2]
    assert not debris.exists()

    debris.touch()
    with (copy / ".lock" / "requirements.txt").open("a") as lock:
        lock.write(locked("requirements-dev.txt", "iniconfig"))
    assert "Updating" in run(copy, "manage.py", "version")[2]
    assert debris.exists()
    inner = copy / ".venv" / "bin" / "python"
    assert run(copy, "-c", "import iniconfig", python=inner)[0] == 0


@pytest.mark.slow
def test_dev_packages_come_with_the_first_command_that_needs_them(copy: Path) -> None:
    inner = copy / ".venv" / "bin" / "python"
    (copy / "tests").mkdir()
    (copy / "tests" / "run.py").write_text("import iniconfig\ndef run_tests(arguments): return 40 + len(arguments)\n")
    assert run(copy, "manage.py", "version")[0] == 0
    assert run(copy, "-c", "import iniconfig", python=inner)[0] == 1
    assert run(copy, "manage.py", "test", "-k", "x")[0] == 42
    assert run(copy, "-c", "import iniconfig", python=inner)[0] == 0


@pytest.mark.slow
def test_a_package_with_another_hash_is_refused(copy: Path) -> None:
    lock = copy / ".lock" / "requirements.txt"
    entry = locked("requirements.txt", "sqlparse")
    lock.write_text(lock.read_text().replace(entry, re.sub("sha256:[0-9a-f]{8}", "sha256:00000000", entry)))
    status, out, err = run(copy, "manage.py", "version")
    assert (status, out) == (1, "")
    assert "could not be built" in err.splitlines()[-1]
    assert not (copy / ".venv" / ".installed-runtime").exists()
