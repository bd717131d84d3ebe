"""`up --demo`, as a newcomer starts it."""

import re
import urllib.request
from pathlib import Path

import pytest

from tests.commands.nodes import node

pytestmark = [pytest.mark.slow, pytest.mark.sqlite_only]


def links(printed: str) -> list[str]:
    return re.findall(r"http://\S+/sign-in/\S+/\S+", printed)


def test_the_demo_fills_a_folder_of_its_own_and_is_found_again(tmp_path: Path) -> None:
    with node(tmp_path / "home", "--demo") as first:
        first.until(first.is_serving)
        assert len(set(links(first.printed))) == 4
        assert len(re.findall("plm_", first.printed)) == 1
        for namespace in ("xz-2024", "digits"):
            assert re.search(rf"{namespace}: \d+ calls, \d+ entries", first.printed)
        assert len(re.findall(r"demo\.[a-z-]+: \d+ records", first.printed)) == 6
        for link in links(first.printed):
            with urllib.request.urlopen(link) as page:
                assert page.status == 200
        assert first.stop() == 0
        assert "plm_" not in first.log.read_text()
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"home", "home-demo"}
    assert not (tmp_path / "home" / "palimpsest.sqlite3").exists()
    with node(tmp_path / "home", "--demo") as second:
        second.until(second.is_serving)
        assert len(links(second.printed)) == 1
        assert "plm_" not in second.printed
        assert "Replaying" not in second.printed
