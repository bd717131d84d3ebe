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


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    """Every source, parsed once for all rules."""
    return {path: ast.parse(path.read_text()) for path in (ROOT / "manage.py", *SOURCES)}


def test_a_source_has_at_most_400_lines() -> None:
    lengths = {short(path): len(path.read_text().splitlines()) for path in (ROOT / "manage.py", *SOURCES)}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_a_function_has_at_most_40_lines(trees: dict[Path, ast.Module]) -> None:
    lengths = {
        f"{short(path)}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FUNCTION} == {}
    assert len(lengths) > len(trees)


def test_an_init_holds_a_docstring_and_nothing_else(trees: dict[Path, ast.Module]) -> None:
    inits = {path: tree for path, tree in trees.items() if path.name == "__init__.py"}
    others = [
        short(path)
        for path, tree in inits.items()
        if not ("management" in path.parts and not tree.body)
        if len(tree.body) != 1 or not ast.get_docstring(tree)
    ]
    assert others == []
    assert inits


def test_a_module_begins_with_a_docstring(trees: dict[Path, ast.Module]) -> None:
    bare = [short(path) for path, tree in trees.items() if path.name != "__init__.py" and not ast.get_docstring(tree)]
    assert bare == []


@pytest.mark.parametrize("name", [*slices(), "base"])
def test_every_slice_has_its_folder_of_tests(name: str) -> None:
    # The API as a whole is no slice; what it promises is held by the contract tests.
    folder = {"api": "contract"}.get(name, name)
    assert list((ROOT / "tests" / folder).glob("test_*.py"))


def in_memory(trees: dict[Path, ast.Module]) -> dict[Path, ast.Module]:
    found = {path: tree for path, tree in trees.items() if ROOT / "memory" in path.parents}
    assert found
    return found


def test_only_the_clock_of_the_domain_reads_a_clock(trees: dict[Path, ast.Module]) -> None:
    clocks = {
        "datetime.now",
        "datetime.utcnow",
        "datetime.today",
        "date.today",
        "time.time",
        "time.time_ns",
        "timezone.now",
    }
    readers = {
        f"{short(path)}: {name}"
        for path, tree in in_memory(trees).items()
        for name, _ in calls(tree)
        if ".".join(name.split(".")[-2:]) in clocks
    }
    assert {reader for reader in readers if not reader.startswith("memory/base/clock.py: ")} == set()
    assert readers


def test_no_signal_is_received_in_the_domain(trees: dict[Path, ast.Module]) -> None:
    signals = {
        f"{short(path)}: {name}"
        for path, tree in in_memory(trees).items()
        for node in ast.walk(tree)
        for name in _imported(node)
        if name.startswith(("django.dispatch", "django.db.models.signals"))
    }
    # The end of a migration is no act of the domain.
    assert signals == {"memory/apps.py: django.db.models.signals.post_migrate"}


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return {f"{node.module}.{alias.name}" for alias in node.names}
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    return set()


def test_the_folders_that_are_no_slices_exist() -> None:
    # A renamed folder would otherwise be taken for a slice, or a slice for one of these.
    assert {name for name in NO_SLICES if not (ROOT / "memory" / name).is_dir()} == set()
