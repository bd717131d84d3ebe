"""An answer for `seq:N` is the same after anything that comes later, but for erasure; also while others write.

Answers are the JSON of the API, compared whole: record, list, text list, recall, ancestry, descendants, slice,
timeline, derivation.

Source: laws of the store, 4.5.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Event
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from memory.base.errors import DomainError
from memory.records.models import Record
from tests import histories
from tests.contract.callers import Caller, caller
from tests.histories import act, history
from tests.world import World

VALID = "2030-01-01T00:00:00Z"
WALKS = ("ancestry", "descendants")
OF_A_RECORD = (*WALKS, "timeline", "derivation")


def answers(agent: Caller, seq: int, records: list[UUID]) -> dict[str, Any]:
    """{question: answer} at the entry; what was withdrawn or erased is asked for too."""
    point = {"known_at": f"seq:{seq}", "valid_at": VALID}
    shown = "withdrawn,erased,superseded,not_valid"
    found = {
        "list": agent.get("/records", limit=200, include=shown, **point).json(),
        "current": agent.get("/records", limit=200, **point).json(),
        "text": agent.get("/records", q="fresh", sort="rank", include=shown, **point).json(),
        "recall": agent.post("/recall", {"query": "fresh evolved left merged 3", "limit": 50}, query=point).json(),
    }
    for record in records:
        found[f"{record}"] = agent.get(f"/records/{record}", include=shown, **point).json()
        for part in OF_A_RECORD:
            found[f"{record} {part}"] = agent.get(f"/records/{record}/{part}", **point).json()
        found[f"{record} lineage"] = agent.get("/lineage", focus=str(record), up=3, down=3, **point).json()
    return found


def some_records(world: World, seq: int, random: Random) -> list[UUID]:
    known = Record.objects.filter(namespace=world.namespace, seq__lte=seq).order_by("seq", "item")
    return random.sample(list(known.values_list("id", flat=True)), 3)


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(3))
def test_what_comes_later_changes_no_answer(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(histories.KINDS, "erase", 0)
    world, random = World(), Random(seed)
    agent = caller(world, world.scout)
    told: dict[int, tuple[list[UUID], dict[str, Any]]] = {}
    for number in history(world, seed=seed, n_acts=36):
        if number % 12 == 5:
            seq = world.now().seq
            records = some_records(world, seq, random)
            told[seq] = (records, answers(agent, seq, records))
            world.withdraw(records[0])
            world.restore(records[0])
    assert len(told) == 3
    for seq, (records, before) in told.items():
        assert answers(agent, seq, records) == before


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(2))
def test_after_an_erasure_shapes_digests_and_membership_are_as_they_were(seed: int) -> None:
    world, random = World(), Random(seed)
    agent = caller(world, world.scout)
    for _ in history(world, seed=seed, n_acts=20):
        pass
    seq = world.now().seq
    records = some_records(world, seq, random)
    before = answers(agent, seq, records)
    for record in records[:2]:
        world.erase(record)
    after = answers(agent, seq, records)
    for record in records:
        for part in WALKS:
            assert after[f"{record} {part}"] == before[f"{record} {part}"]
        digests = ("digest", "ancestry_digest", "line", "entry", "n_parents", "n_children")
        assert [after[f"{record}"][name] for name in digests] == [before[f"{record}"][name] for name in digests]
        edges = [{(link["older"], link["newer"]) for link in told[f"{record} lineage"]["links"]}
                 for told in (before, after)]  # fmt: skip
        assert edges[0] == edges[1]
    assert [row["id"] for row in after["list"]["items"]] == [row["id"] for row in before["list"]["items"]]
    assert after[f"{records[0]}"]["content"] is None


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_while_others_write_an_answer_for_a_pinned_entry_stays() -> None:
    """Each answer is asked for at the head of its moment, and asked for again while and after the writers write."""
    world, random = World(), Random(11)
    agent = caller(world, world.scout)
    ids = [saved.id for saved in world.save_all(*(f"fresh {n}" for n in range(6)))]
    has_enough = Event()

    def write(number: int) -> int:
        own, n_acts = Random(number), 0
        try:
            while not has_enough.is_set() and n_acts < 200:
                try:
                    act(world, own, ids, 1_000 * number + n_acts)
                except DomainError:
                    continue
                finally:
                    n_acts += 1
        finally:
            connections.close_all()
        return n_acts

    told: list[tuple[int, list[UUID], dict[str, Any]]] = []
    histories_kinds = dict(histories.KINDS)
    histories.KINDS["erase"] = 0
    try:
        with ThreadPoolExecutor(3) as pool:
            writers = [pool.submit(write, number) for number in range(3)]
            for _ in range(6):
                seq = world.now().seq
                records = some_records(world, seq, random)
                told.append((seq, records, answers(agent, seq, records)))
                again = random.choice(told)
                assert answers(agent, *again[:2]) == again[2]
            has_enough.set()
            assert sum(writer.result() for writer in writers) > 6
    finally:
        histories.KINDS.update(histories_kinds)
    assert world.now().seq > told[0][0]
    for seq, records, before in told:
        assert answers(agent, seq, records) == before
