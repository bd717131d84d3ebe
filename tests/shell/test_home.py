"""The folder of the node's state."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from audit.environment import EnvironmentFault
from audit.home import make_home, read_or_make_secret


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_home_and_secret_are_for_their_owner_alone(tmp_path: Path) -> None:
    home = make_home(tmp_path / "deep" / "home")
    read_or_make_secret(home / "secret.key")
    assert mode(home) == 0o700
    assert mode(home / "secret.key") == 0o600


def test_a_secret_is_made_once(tmp_path: Path) -> None:
    first = read_or_make_secret(tmp_path / "secret.key")
    assert len(first) >= 50
    assert read_or_make_secret(tmp_path / "secret.key") == first
    assert read_or_make_secret(tmp_path / "other.key") != first


def test_makers_at_the_same_moment_get_the_same_secret_and_leave_no_draft(tmp_path: Path) -> None:
    barrier = Barrier(8)

    def make(_: int) -> str:
        barrier.wait()
        return read_or_make_secret(tmp_path / "secret.key")

    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(make, range(8)))
    assert len(secrets) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]


def test_an_empty_secret_stops_the_program(tmp_path: Path) -> None:
    (tmp_path / "secret.key").touch()
    with pytest.raises(EnvironmentFault, match="empty"):
        read_or_make_secret(tmp_path / "secret.key")


def test_a_home_that_cannot_be_made_stops_the_program(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentFault, match="PALIMPSEST_HOME"):
        make_home(tmp_path / "file" / "home")
