"""The processes of a node: started, watched, stopped."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from audit.serving import Address, CannotServe, require_free
from tests.commands.nodes import PATIENCE_SECONDS, ROOT, free_port, node, occupied, processes


def test_a_free_port_is_free_again_after_it_was_asked_about() -> None:
    address = Address("127.0.0.1", free_port())
    require_free(address)
    require_free(address)


def test_a_port_in_use_is_refused_by_a_sentence_that_names_it() -> None:
    with occupied() as port, pytest.raises(CannotServe, match=rf"127\.0\.0\.1 port {port} .*--port names another\."):
        require_free(Address("127.0.0.1", port))


@pytest.mark.parametrize("address", [Address("203.0.113.9", 8000), Address("no.such.host.invalid", 8000)])
def test_a_host_that_is_not_ours_is_refused(address: Address) -> None:
    with pytest.raises(CannotServe):
        require_free(address)


@pytest.mark.parametrize("port", [-1, 0, 65536, 10**20])
def test_a_number_that_is_no_port_is_refused(port: int) -> None:
    with pytest.raises(CannotServe):
        require_free(Address("127.0.0.1", port))


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::", "http://[::1]:8000"),
        ("box.example", "http://box.example:8000"),
    ],
)
def test_the_url_is_one_that_this_machine_can_open(host: str, url: str) -> None:
    assert Address(host, 8000).url == url


@pytest.mark.slow
@pytest.mark.sqlite_only
def test_up_lets_the_first_owner_in_serves_and_stops_at_ctrl_c(tmp_path: Path) -> None:
    with node(tmp_path / "home") as first:
        first.until(first.is_serving)
        assert first.answers()
        links = re.findall(r"http://\S+/sign-in/\S+/\S+", first.printed)
        tokens = re.findall(r"plm_\S+", first.printed)
        assert len(links) == len(tokens) == 1
        with urllib.request.urlopen(links[0]) as page:
            assert page.status == 200
        address, body = re.findall(r"curl (\S+)|-d '(.*)'", first.printed)
        wanted = urllib.request.Request(address[0], body[1].encode(), {"Content-Type": "application/json"})
        wanted.add_header("Authorization", f"Bearer {tokens[0]}")
        with urllib.request.urlopen(wanted) as answer:
            assert answer.status == 201
        assert len(first.servers()) == 1
        assert first.stop() == 0
        assert not first.answers()
        assert first.servers() == []
        log = first.log.read_text()
    assert tokens[0] not in log
    # A server thread that is cut off while its interpreter is taken apart would say so.
    assert "panicked" not in log
    with node(tmp_path / "home") as second:
        second.until(second.is_serving)
        assert "plm_" not in second.printed
        assert not re.search(r"/sign-in/\S+/\S+", second.printed)


@pytest.mark.slow
@pytest.mark.sqlite_only
def test_a_worker_that_dies_is_started_again_and_what_up_started_ends_with_it_even_when_it_is_killed(
    tmp_path: Path,
) -> None:
    with node(tmp_path / "home") as up:
        up.until(up.is_serving)
        up.until(lambda: len(up.servers()) == len(up.workers()) == 1)
        (first,) = up.workers()
        os.kill(first, signal.SIGKILL)
        up.until(lambda: bool(set(up.workers()) - {first}))
        assert up.answers()
        (second,) = set(up.workers()) - {first}
        up.process.kill()
        up.process.wait(PATIENCE_SECONDS)
        up.until(lambda: not up.servers() and not up.answers())
        up.until(lambda: second not in {process.id for process in processes()})


@pytest.mark.slow
@pytest.mark.sqlite_only
def test_up_on_a_port_in_use_says_so_and_makes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    variables = {"DJANGO_SETTINGS_MODULE": "audit.settings", "PALIMPSEST_HOME": str(home), "DATABASE_URL": ""}
    with occupied() as port:
        command = [sys.executable, "-m", "django", "up", "--port", str(port)]
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert re.fullmatch(rf"Refused: .*port {port} .*\n", done.stderr)
    assert not (home / "palimpsest.sqlite3").exists()


def test_a_process_is_seen_whole_whatever_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    (this,) = [process for process in processes() if process.id == os.getpid()]
    assert len(this.command) > 40
