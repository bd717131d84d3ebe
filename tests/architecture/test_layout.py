"""Where things stand and how long they are."""

import ast
from pathlib import Path

import pytest

from tests.architecture.sources import NO_SLICES, PACKAGES, ROOT, calls, modules, short, slices

TOP_LEVEL = {"manage.py", "pyproject.toml", "README.md", "LICENSE", "memory", "audit", "templates", "static", "tests"}
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 40
INSIDE_A_SLICE = {"api", "schemas", "operations", "queries", "models", "kernel"}

SOURCES = modules(*PACKAGES)


def test_nothing_unknown_stands_at_top_level() -> None:
    visible = {path.name for path in ROOT.iterdir() if not path.name.startswith((".", "__pycache__"))}
    assert visible == TOP_LEVEL


@pytest.mark.parametrize("path", [ROOT / "manage.py", *SOURCES], ids=short)
def test_a_source_has_at_most_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", [ROOT / "manage.py", *SOURCES], ids=short)
def test_a_function_has_at_most_40_lines(path: Path) -> None:
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lengths = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FUNCTION} == {}


@pytest.mark.parametrize("path", [path for path in SOURCES if path.name == "__init__.py"], ids=short)
def test_an_init_holds_a_docstring_and_nothing_else(path: Path) -> None:
    tree = ast.parse(path.read_text())
    is_bare = "management" in path.parts
    assert len(tree.body) == (0 if is_bare and not tree.body else 1)
    assert is_bare or ast.get_docstring(tree)


@pytest.mark.parametrize("path", [path for path in SOURCES if path.name != "__init__.py"], ids=short)
def test_a_module_begins_with_a_docstring(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("name", [*slices(), "base"])
def test_every_slice_has_its_folder_of_tests(name: str) -> None:
    # The API as a whole is no slice; what it promises is held by the contract tests.
    folder = {"api": "contract"}.get(name, name)
    assert list((ROOT / "tests" / folder).glob("test_*.py"))


@pytest.mark.parametrize("path", [path for path in modules("memory") if path.name != "clock.py"], ids=short)
def test_only_the_clock_of_the_domain_reads_a_clock(path: Path) -> None:
    clocks = {
        "datetime.now",
        "datetime.utcnow",
        "datetime.today",
        "date.today",
        "time.time",
        "time.time_ns",
        "timezone.now",
    }
    called = {name.removeprefix("datetime.datetime.") for name, _ in calls(ast.parse(path.read_text()))}
    assert {name for name in called if ".".join(name.split(".")[-2:]) in clocks} == set()


@pytest.mark.parametrize("path", modules("memory"), ids=short)
def test_no_signal_is_received_in_the_domain(path: Path) -> None:
    imported = {alias for node in ast.walk(ast.parse(path.read_text())) for alias in _imported(node)}
    signals = {name for name in imported if name.startswith(("django.dispatch", "django.db.models.signals"))}
    # The end of a migration is no act of the domain.
    allowed = {"django.db.models.signals.post_migrate"} if path == ROOT / "memory" / "apps.py" else set()
    assert signals - allowed == set()


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return {f"{node.module}.{alias.name}" for alias in node.names}
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    return set()


def test_the_folders_that_are_no_slices_exist() -> None:
    # A renamed folder would otherwise be taken for a slice, or a slice for one of these.
    assert {name for name in NO_SLICES if not (ROOT / "memory" / name).is_dir()} == set()
