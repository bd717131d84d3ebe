"""Many writers at once over HTTP: nothing is lost, nothing crosses over, and each log is one line."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from memory.ledger.models import Entry
from memory.ledger.queries.verification import scan
from memory.records.models import Record
from memory.records.queries import detail
from tests.contract.serving import Client, servers
from tests.states import projected, rebuilt
from tests.world import World

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

WRITERS = 50
WRITES = 4


def written(port: int, world: World, writer: int) -> dict[str, str]:
    """{record: content} as the server acknowledged them; every second request is sent twice."""
    client = Client(port, world)
    acknowledged = {}
    for number in range(WRITES):
        content = f"note {number} of writer {writer} in {world.name}"
        key = f"{writer}/{number}"
        told = client.save(content, key=key)
        if number % 2:
            again = client.save(content, key=key)
            assert (again["id"], again["replayed"]) == (told["id"], True)
        acknowledged[told["id"]] = content
    return acknowledged


def test_fifty_writers_in_each_of_two_namespaces_lose_and_mix_nothing(tmp_path: Path) -> None:
    worlds = [World("here"), World("there")]
    before = [Entry.objects.filter(namespace=world.namespace).count() for world in worlds]
    with (
        servers(tmp_path / "home", n_workers=2) as warm,
        warm.served() as server,
        ThreadPoolExecutor(2 * WRITERS) as pool,
    ):
        asked = [[pool.submit(written, server.port, world, n) for n in range(WRITERS)] for world in worlds]
        told = [{id: text for each in ones for id, text in each.result().items()} for ones in asked]
    for world, acknowledged, n_before in zip(worlds, told, before, strict=True):
        assert len(acknowledged) == WRITERS * WRITES
        rows = Record.objects.filter(namespace=world.namespace)
        assert {str(id) for id in rows.values_list("id", flat=True)} == acknowledged.keys()
        texts = detail.texts(world.now(), list(rows.values_list("id", flat=True)))
        assert {str(id): text for id, text in texts.items()} == acknowledged
        entries = list(
            Entry.objects.filter(namespace=world.namespace).order_by("seq").values_list("seq", "recorded_at")
        )
        assert [seq for seq, _ in entries] == list(range(1, n_before + WRITERS * WRITES + 1))
        assert all(earlier < later for (_, earlier), (_, later) in pairwise(entries))
        assert scan(world.namespace).faults == []
        standing = projected(world.namespace)
        assert rebuilt(world.namespace) == standing
    assert not told[0].keys() & told[1].keys()
    assert Counter(text.rsplit(" ", 1)[-1] for one in told for text in one.values()) == {"here": 200, "there": 200}
