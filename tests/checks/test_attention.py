"""What checks leave for a person: scans wait on the ledger, laws on Invariants, unless what they found is waived."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory.agents.attention import attention
from memory.base import clock
from memory.checks.operations import record_run, waive
from tests.world import World

pytestmark = pytest.mark.django_db


def ran(world: World, name: str, verdict: str) -> None:
    record_run(world.charlie, name=name, version=1, verdict=verdict, at_seq=1, n_checked=1, found=[], report={})


def waiting(world: World) -> dict[str, int]:
    return {key: one.count for key, one in attention(world.namespace, now=clock.now()).waiting.items()}


def test_a_broken_law_waits_on_invariants_and_a_failed_scan_on_the_ledger() -> None:
    world = World()
    assert waiting(world) == {}
    for name, verdict in (("law.L2", "violated"), ("law.L7", "violated"), ("rebuild", "failed"), ("law.L5", "holds")):
        ran(world, name, verdict)
    assert waiting(world) == {"ledger": 1, "laws": 2}


def test_what_is_settled_or_waived_waits_no_longer() -> None:
    world = World()
    for name in ("law.L2", "law.L7"):
        ran(world, name, "violated")
    ran(world, "law.L2", "holds")
    assert waiting(world) == {"laws": 1}
    waive(world.alice, name="law.L7", reason="known", expires_at=clock.now() + timedelta(days=1))
    assert waiting(world) == {}
    later = attention(world.namespace, now=clock.now() + timedelta(days=2))
    assert {key: one.count for key, one in later.waiting.items()} == {"laws": 1}
