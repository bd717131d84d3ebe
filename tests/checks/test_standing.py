"""What stands about a ledger, and what the strip of blocks may claim of each block."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.checks.ledger_scan import verify
from memory.checks.operations import Found, record_run
from memory.checks.standing import BLOCKS_SHOWN, Scanned, block_size, blocks, standing
from memory.ledger.kernel import note
from memory.ledger.operations import checkpoints
from tests.world import World

SCAN = Scanned(uuid4(), "failed", 900, 800, datetime(2026, 1, 1, tzinfo=UTC), 800, 1, {}, (205,))


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.django_db
def test_a_new_log_stands_unsigned_and_unscanned(world: World) -> None:
    stands = standing(world.now())
    assert (stands.checkpoint, stands.key, stands.scan) == (None, "", None)
    assert stands.origin.startswith("palimpsest/lab/")


@pytest.mark.django_db
def test_the_newest_checkpoint_key_and_scan_stand(world: World) -> None:
    signed = checkpoints.checkpoint(world.namespace, make_key=True)
    done, report = verify(world.charlie)
    stands = standing(world.now())
    assert stands.checkpoint is not None
    assert (stands.checkpoint.seq, stands.checkpoint.root) == (signed.seq, bytes(signed.root))
    assert note.parse_key(stands.key).key_id.hex() == stands.key_id
    assert stands.scan is not None
    assert (stands.scan.id, stands.scan.seq, stands.scan.at_seq) == (done.id, done.seq, done.seq - 1)
    assert stands.scan.verdicts == report["verdicts"]
    assert (stands.scan.n_findings, stands.scan.faults) == (0, ())


@pytest.mark.django_db
def test_at_an_earlier_point_stands_what_stood_then(world: World) -> None:
    before = world.now().seq
    checkpoints.checkpoint(world.namespace, make_key=True)
    verify(world.alice)
    then = standing(world.at(before))
    assert (then.checkpoint, then.key, then.scan) == (None, "", None)


@pytest.mark.django_db
def test_faults_of_the_newest_scan_are_told_by_their_sequences(world: World) -> None:
    record(world, n_found=3, report={"verdicts": {}, "faults": [{"seq": 2}, {"seq": 4}, {"seq": 4}]})
    scan = standing(world.now()).scan
    assert scan is not None
    assert (scan.faults, scan.is_cut, scan.n_findings) == ((2, 4), False, 3)
    assert [block.state for block in blocks(scan, size=world.now().seq)] == ["failed"]


@pytest.mark.django_db
@pytest.mark.parametrize("report", [{"verdicts": {}, "faults": [{"seq": 2}]}, {"verdicts": {}, "faults": []}])
def test_a_scan_that_found_more_than_it_lists_says_so(report: dict[str, Any], world: World) -> None:
    record(world, n_found=3, report=report)
    scan = standing(world.now()).scan
    assert scan is not None
    assert scan.is_cut
    assert "verified" not in [block.state for block in blocks(scan, size=world.now().seq)]


def record(world: World, *, n_found: int, report: dict[str, Any]) -> None:
    """A scan of the whole log that found so many faults."""
    found = [Found("row_mismatch", seq=seq) for seq in range(1, n_found + 1)]
    seq = world.now().seq
    told = {"name": "ledger_scan", "version": 1, "verdict": "failed", "at_seq": seq, "n_checked": seq}
    record_run(world.alice, found=found, report=report, **told)


@pytest.mark.django_db
def test_a_run_of_another_check_is_no_scan(world: World) -> None:
    record_run(world.alice, name="laws", version=1, verdict="holds", at_seq=6, n_checked=6, found=[], report={"n": 3})
    assert standing(world.now()).scan is None


def test_blocks_are_failed_where_a_fault_is_and_verified_where_the_scan_has_been() -> None:
    found = blocks(SCAN, size=1_000)
    by_first = {block.first: block.state for block in found}
    assert by_first[201] == "failed"
    assert by_first[191] == by_first[791] == "verified"
    assert by_first[801] == by_first[991] == "not_checked"


def test_a_block_that_the_scan_has_passed_only_in_part_is_not_checked() -> None:
    found = {block.first: block.state for block in blocks(replace(SCAN, at_seq=795, faults=()), size=1_000)}
    assert (found[781], found[791]) == ("verified", "not_checked")


def test_beyond_what_a_scan_could_list_nothing_is_known() -> None:
    cut = replace(SCAN, n_findings=101, is_cut=True)
    found = {block.first: block.state for block in blocks(cut, size=1_000)}
    assert found[191] == "verified"
    assert found[201] == "failed"
    assert {state for first, state in found.items() if first > 201} == {"not_checked"}


@given(st.integers(0, 10**9))
def test_a_strip_is_short_and_covers_every_entry_once(size: int) -> None:
    step = block_size(size)
    assert -(-size // step) <= max(BLOCKS_SHOWN, size // 10**6 + 1)
    if size <= 10**6:
        found = blocks(None, size=size)
        assert [seq for block in found for seq in (block.first, block.last)] == sorted(
            seq for block in found for seq in (block.first, block.last)
        )
        assert sum(block.last - block.first + 1 for block in found) == size
        assert {block.state for block in found} <= {"not_checked"}
