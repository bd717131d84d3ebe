"""README names what a person can set and call, and the codes they can meet."""

import ast
import re

import pytest

from memory.base import errors
from tests.architecture.sources import PACKAGES, ROOT, calls, modules

VARIABLE = re.compile(r"(?:PALIMPSEST_[A-Z_]+|DATABASE_URL)")


def variables() -> list[str]:
    """Every variable of the environment that a reader is asked for, or that is read from os.environ directly."""
    found = set()
    for path in modules(*PACKAGES):
        for called, node in calls(ast.parse(path.read_text())):
            is_reader = called.split(".")[-1].startswith("read_") or called in {"os.environ.get", "os.getenv"}
            first = node.args[0] if node.args else None
            if is_reader and isinstance(first, ast.Constant) and VARIABLE.fullmatch(str(first.value)):
                found.add(str(first.value))
    return sorted(found)


def commands() -> list[str]:
    folders = [ROOT / package / "management" / "commands" for package in PACKAGES]
    return sorted(path.stem for folder in folders for path in folder.glob("[a-z]*.py"))


@pytest.fixture(scope="module")
def readme() -> str:
    return (ROOT / "README.md").read_text()


def test_the_variables_are_found() -> None:
    assert {"PALIMPSEST_HOME", "DATABASE_URL"} <= set(variables())


@pytest.mark.parametrize("name", variables())
def test_every_variable_is_in_the_readme(readme: str, name: str) -> None:
    assert f"`{name}`" in readme


@pytest.mark.parametrize("name", [*commands(), "test"])
def test_every_command_is_in_the_readme(readme: str, name: str) -> None:
    assert re.search(rf"`[^`]*\b{name}\b[^`]*`|manage\.py {name}\b", readme)


def refusals() -> list[type[errors.DomainError]]:
    return [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.DomainError)]


def test_every_refusal_has_a_code_of_its_own_in_the_table() -> None:
    codes = [each.code for each in refusals() if each is not errors.DomainError]
    assert len(codes) == len(set(codes))
    assert set(codes) <= errors.CODES.keys()


@pytest.mark.parametrize("code", errors.CODES)
def test_every_code_is_met_in_a_test(code: str) -> None:
    words = {code, *(each.__name__ for each in refusals() if each.code == code)}
    pattern = re.compile("|".join(rf"\b{word}\b" for word in sorted(words)))
    sources = [path for path in (ROOT / "tests").rglob("test_*.py") if "architecture" not in path.parts]
    assert any(pattern.search(path.read_text()) for path in sources)


def test_the_codes_of_the_readme_are_those_of_the_table(readme: str) -> None:
    listed = readme.split("<!-- codes -->")[1].split("<!-- /codes -->", maxsplit=1)[0].strip().splitlines()[2:]
    assert listed == [f"| `{code.code}` | {code.status} | {code.meaning} |" for code in errors.CODES.values()]


def test_the_readme_begins_with_the_two_commands(readme: str) -> None:
    first = readme.split("```sh\n")[1].split("\n```", maxsplit=1)[0]
    assert first.splitlines() == ["python3 manage.py up --demo", "python3 manage.py test"]
