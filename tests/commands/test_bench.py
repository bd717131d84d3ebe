"""`bench`: what it times, and that it leaves the store of the user alone. No figure is asserted."""

import io
import math
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from audit import peer
from audit.bench.catalogue import BENCHMARKS
from audit.bench.measuring import Figure, Scale, Timing, side_by_side
from audit.bench.reporting import line, report
from audit.bench.scratch import run_apart
from audit.bench.texts import N_WORDS, records, word
from audit.bench.twin import Statement


def test_both_works_run_in_every_round_and_the_order_changes() -> None:
    order: list[str] = []
    timing = side_by_side(lambda: order.append("a"), lambda: order.append("b"), rounds=4, warm_up=2)
    assert "".join(order) == "abba" * 3
    assert timing.n_rounds == 4


def test_a_work_against_one_that_waits_has_the_smaller_time() -> None:
    import time

    timing = side_by_side(lambda: None, lambda: time.sleep(0.01), rounds=3)
    assert timing.first_seconds < timing.second_seconds
    assert timing.low <= timing.ratio <= timing.high < 1


def test_a_small_run_keeps_three_rounds_and_one_of_everything() -> None:
    assert (Scale(100).size(1_000), Scale(100).size(5, least=2), Scale(100).rounds(40)) == (10, 2, 3)
    assert (Scale().size(1_000), Scale().rounds(40)) == (1_000, 40)


def test_the_texts_are_the_same_in_every_run_and_differ_from_each_other() -> None:
    first, again = records("seed"), records("seed")
    drawn = [next(first).content for _ in range(50)]
    assert drawn == [next(again).content for _ in range(50)]
    assert len(set(drawn)) == 50
    assert len({word(number) for number in range(N_WORDS)}) == N_WORDS


def test_a_statement_knows_its_table_and_no_other() -> None:
    statement = Statement('INSERT INTO "memory_record" ("id") VALUES (%s)', [], is_many=False)
    assert statement.concerns(["memory_record"])
    assert not statement.concerns(["memory_recordstate", "memory_entry"])


def test_a_figure_is_told_with_its_bar_and_its_spread() -> None:
    timing = Timing(0.002, 0.001, 2.0, 1.5, 2.5, 30)
    told = line(Figure("single", "save / bare", timing, "≤ 2", "a note"))
    assert told == "| single | save / bare | 2.00 | 1.50 to 2.50 | ≤ 2 | 30 | 2 / 1 | a note |"


@pytest.mark.django_db
@pytest.mark.sqlite_only
def test_what_could_not_be_measured_is_told_below_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "PACKAGE", "a_package_that_is_not_here")
    with pytest.raises(peer.NoPeer) as caught:
        peer.peer()
    told = report([], divisor=1, missing=[f"beliefs ends here: {caught.value}"])
    assert told.splitlines()[-1].startswith("beliefs ends here: posterior-memory-harness 0.9.0 is not installed")


def test_an_unknown_benchmark_is_refused_with_2() -> None:
    with pytest.raises(CommandError, match="There is no benchmark 'speed'") as caught:
        call_command("bench", "speed")
    assert caught.value.returncode == 2


def cells(report: str, name: str) -> list[list[str]]:
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in report.splitlines() if row.startswith("|")]
    return [row for row in rows if row[0] == name]


@pytest.mark.slow
@pytest.mark.sqlite_only
def test_every_benchmark_tells_ratios_and_leaves_the_store_of_the_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALIMPSEST_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    report = run_apart(list(BENCHMARKS), divisor=2_000)
    ratios = {name: [float(row[2]) for row in cells(report, name)] for name in BENCHMARKS}
    assert [name for name, found in ratios.items() if not found] == []
    assert all(math.isfinite(ratio) and ratio > 0 for found in ratios.values() for ratio in found)
    assert not (tmp_path / "home").exists()


@pytest.mark.slow
@pytest.mark.postgres
def test_on_postgresql_the_run_has_databases_of_its_own_and_drops_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    from tests.postgres import postgresql_server

    with postgresql_server() as url:
        monkeypatch.setenv("DATABASE_URL", url)
        with psycopg.connect(url, autocommit=True) as server:
            before = server.execute("SELECT datname FROM pg_database ORDER BY 1").fetchall()
            report = run_apart(["single"], divisor=500)
            assert server.execute("SELECT datname FROM pg_database ORDER BY 1").fetchall() == before
    assert report.startswith("Measured on PostgreSQL ")
    assert len(cells(report, "single")) == 2


@pytest.mark.slow
@pytest.mark.sqlite_only
def test_the_table_is_printed_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    out = io.StringIO()
    call_command("bench", "durability", "--small", "--write", str(tmp_path / "bench.md"), stdout=out)
    assert (tmp_path / "bench.md").read_text() == out.getvalue()
    assert re.match(r"Measured on SQLite [\d.]+, Python [\d.]+, \d+ CPU cores; sizes divided by 10\.\n", out.getvalue())
