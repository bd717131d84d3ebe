"""What a record's page weighs on its way to a browser, with a lineage at the cap of the drawing."""

import gzip

import pytest
from django.test import Client

from memory.lineage.queries.graph import MOST_NODES
from tests.browsers import browser
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]
BUDGET_BYTES = 150_000
COMPRESSED = {"Accept-Encoding": "gzip"}


@pytest.fixture
def alice_and_hub() -> tuple[Client, str]:
    """A record from which more came than a drawing holds."""
    world = World()
    hub = world.save("the text that is cut up").id
    for start in range(0, MOST_NODES, 100):
        world.split(hub, *(f"part {start + number} of the text" for number in range(100)))
    return browser(world.alice), f"/records/{hub}"


def test_a_page_with_a_drawing_at_its_cap_is_within_its_budget(alice_and_hub: tuple[Client, str]) -> None:
    alice, address = alice_and_hub
    answer = alice.get(address, headers=COMPRESSED)
    assert answer.headers["Content-Encoding"] == "gzip"
    page = gzip.decompress(answer.content).decode()
    assert page.count('class="node"') == MOST_NODES
    assert len(answer.content) <= BUDGET_BYTES


def test_the_api_is_answered_as_it_is(alice_and_hub: tuple[Client, str]) -> None:
    alice, address = alice_and_hub
    answer = alice.get(f"/api/v1/namespaces/lab{address}/ancestry", headers=COMPRESSED)
    assert answer.status_code == 200
    assert "Content-Encoding" not in answer.headers
    assert not answer.headers["ETag"].startswith("W/")
