"""The typed readers of the environment."""

import os
import string
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import environment
from audit.environment import EnvironmentFault

ROOT = Path(__file__).resolve().parents[2]
NAME = "PALIMPSEST_TEST_VALUE"
DEFAULT = Path("/somewhere/default.sqlite3")

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=20)
hosts = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=20)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    monkeypatch.delenv(f"{NAME}_FILE", raising=False)


@pytest.mark.parametrize(("text", "flag"), [("1", True), ("Yes", True), ("on", True), ("0", False), ("FALSE", False)])
def test_a_flag_is_read_in_any_case(monkeypatch: pytest.MonkeyPatch, text: str, flag: bool) -> None:
    monkeypatch.setenv(NAME, text)
    assert environment.read_flag(NAME, default=not flag) is flag


@pytest.mark.parametrize("text", ["maybe", "2", "y es"])
def test_a_flag_that_is_neither_true_nor_false_stops_the_program(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(NAME, text)
    with pytest.raises(EnvironmentFault, match=NAME):
        environment.read_flag(NAME)


def test_an_empty_value_counts_as_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "  ")
    assert environment.read_flag(NAME, default=True) is True
    assert environment.read_text(NAME, default="fallback") == "fallback"
    assert environment.read_words(NAME, default=("a",)) == ("a",)


@pytest.mark.parametrize("text", ["0", "11", "1.5", "ten"])
def test_a_number_outside_its_range_stops_the_program(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(NAME, text)
    with pytest.raises(EnvironmentFault, match=NAME):
        environment.read_integer(NAME, default=5, least=1, most=10)


def test_a_choice_outside_the_list_names_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "LOUD")
    with pytest.raises(EnvironmentFault, match="INFO, ERROR"):
        environment.read_choice(NAME, default="INFO", choices=("INFO", "ERROR"))


def test_a_list_drops_empty_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, " a.example , ,b.example,")
    assert environment.read_words(NAME) == ("a.example", "b.example")


def test_a_secret_is_read_from_the_file_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from the file\n")
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "secret"))
    assert environment.read_secret(NAME) == "from the file"


def test_a_secret_given_twice_stops_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from the file")
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "secret"))
    monkeypatch.setenv(NAME, "from the variable")
    with pytest.raises(EnvironmentFault, match="both set"):
        environment.read_secret(NAME)


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_secret_file_that_holds_no_text_stops_the_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "secret").write_bytes(content)
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "secret"))
    with pytest.raises(EnvironmentFault, match=f"{NAME}_FILE"):
        environment.read_secret(NAME, default="never used")


def test_without_an_address_the_store_is_the_default_file() -> None:
    assert environment.read_database(NAME, default=DEFAULT) == environment.DatabaseAddress("sqlite", str(DEFAULT))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:////var/lib/a%20b.sqlite3", "/var/lib/a b.sqlite3"),
        ("sqlite:///a.sqlite3", str(Path("a.sqlite3").absolute())),
    ],
)
def test_an_sqlite_address_names_a_file(monkeypatch: pytest.MonkeyPatch, url: str, path: str) -> None:
    monkeypatch.setenv(NAME, url)
    assert environment.read_database(NAME, default=DEFAULT).name == path


@given(user=words, password=words, host=hosts, port=st.integers(1, 65535), database=words)
def test_every_part_of_a_postgresql_address_comes_back_as_it_was_quoted(
    user: str, password: str, host: str, port: int, database: str
) -> None:
    quoted = [quote(part, safe="") for part in (user, password, database)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NAME, f"postgres://{quoted[0]}:{quoted[1]}@{host}:{port}/{quoted[2]}?sslmode=require")
        address = environment.read_database(NAME, default=DEFAULT)
    assert (address.engine, address.user, address.password) == ("postgresql", user, password)
    assert (address.host, address.port, address.name) == (host, port, database)
    assert address.parameters == {"sslmode": "require"}


def test_a_socket_folder_is_given_as_the_parameter_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "postgresql://palimpsest@/store?host=%2Frun%2Fpostgresql")
    address = environment.read_database(NAME, default=DEFAULT)
    assert (address.host, address.name, address.parameters) == ("/run/postgresql", "store", {})


def test_the_password_does_not_appear_when_an_address_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "postgres://user:hunter2@host/store")
    assert "hunter2" not in repr(environment.read_database(NAME, default=DEFAULT))


@pytest.mark.parametrize(
    "url", ["mysql://host/store", "postgres://host", "postgres://host:port/store", "sqlite://host/file", "store"]
)
def test_an_address_that_cannot_be_used_stops_the_program(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv(NAME, url)
    with pytest.raises(EnvironmentFault, match=NAME):
        environment.read_database(NAME, default=DEFAULT)


def test_a_wrong_variable_ends_a_command_with_its_one_sentence(tmp_path: Path) -> None:
    variables = {**os.environ, "PALIMPSEST_HOME": str(tmp_path), "PALIMPSEST_DEBUG": "perhaps"}
    variables.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "manage.py", "rebuild", "--check"]
    ended = subprocess.run(command, check=False, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("PALIMPSEST_DEBUG must be one of")
    assert ended.stderr.count("\n") == 1
