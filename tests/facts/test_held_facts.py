"""A held fact: provable, in no status and no list, and let in by a person or by two independent origins alone."""

from __future__ import annotations

from uuid import UUID

import pytest

from memory.agents import operations as agents
from memory.base.errors import Conflict
from memory.checks.rebuilding import rebuild
from memory.facts.operations import ending
from memory.ledger.queries.verification import scan
from memory.records.models import NOT_REVIEWED, Held
from memory.records.queries.held import held_rows, turned_down
from memory.records.reviewing import Target, lapse, preview, review
from tests.contract.callers import Caller, caller
from tests.facts.stating import SPRING, state
from tests.world import World

pytestmark = pytest.mark.django_db

POLICY = """kind=fact attribute=safe_to_deploy -> auto after 2 independent origins
kind=fact attribute=owner -> hold 7 d"""


@pytest.fixture
def world() -> World:
    made = World()
    agents.change_setting(made.alice, name="review_policy", value=POLICY)
    return made


def status(world: World, attribute: str, **query: str) -> tuple[str, list[object], dict[str, int]]:
    """(status, values, hidden) of the entity, as another agent is told."""
    by = Caller(world.name, token=world.secrets[world.scout_id])
    answer = by.get("/facts", subject="xz", attribute=attribute, **query).json()
    items = answer["items"]
    values = [value["value"] for value in items[0]["values"]] if items else []
    return items[0]["status"] if items else "none", values, answer["hidden"]


def fact(world: World, attribute: str, value: object, **given: object) -> UUID:
    return state(world, attribute, value, subject="xz", valid_from=SPRING, **given)  # type: ignore[arg-type]


def test_a_held_fact_is_no_answer_until_a_person_confirms_it_and_a_rejected_one_never(world: World) -> None:
    one, other = fact(world, "owner", "acme"), fact(world, "owner", "mallory")
    before = world.now().seq
    assert status(world, "owner")[:2] in (("unknown", []), ("none", []))
    assert not scan(world.namespace).faults
    shown = held_rows(world.now(), [("fact", one), ("fact", other)])
    assert {row.rule for row in shown.values()} == {"kind=fact attribute=owner -> hold 7 d"}
    told = preview(world.bob, confirm=[Target("fact", one)], reject=[Target("fact", other)])
    assert told.words == "confirms 1, rejects 1, appends 1 entry of 2 items"

    review(world.bob, confirm=[Target("fact", one)], reject=[Target("fact", other)], reason="asked the desk")

    assert status(world, "owner")[:2] == ("known", ["acme"])
    assert status(world, "owner", known_at=f"seq:{before}")[:2] in (("unknown", []), ("none", []))
    assert [(row.id, row.reason) for row in turned_down(world.now())] == [(other, "asked the desk")]
    assert [one.projector for one in rebuild(world.system, check=True).comparisons if one.n_differences] == []


def test_records_and_facts_are_reviewed_together_by_one_entry_of_the_api(world: World) -> None:
    agents.change_setting(world.alice, name="review_policy", value=f"type=procedure -> hold\n{POLICY}")
    record, held = world.save("a step", type="procedure").id, fact(world, "owner", "acme")
    body = {"confirm": [{"kind": "fact", "id": str(held)}, {"id": str(record)}], "reason": "read both"}
    head = world.now().seq
    assert caller(world, world.scout).post("/records/reviews", body).status_code == 403
    answer = caller(world, world.bob).post("/records/reviews", body)
    assert (answer.status_code, answer.json()["seq"]) == (200, head + 1)
    assert status(world, "owner")[:2] == ("known", ["acme"])


def test_two_independent_origins_confirm_a_fact_and_two_relays_of_one_do_not(world: World) -> None:
    second, third = world.agent("second"), world.agent("third")
    fact(world, "safe_to_deploy", False, origin="the vendor")
    fact(world, "safe_to_deploy", False, origin="The Vendor", by=second, source_class="relayed")
    fact(world, "safe_to_deploy", True, origin="a mirror", by=third)
    assert status(world, "safe_to_deploy")[1] == []
    fact(world, "safe_to_deploy", False, origin="a list", by=third)
    assert status(world, "safe_to_deploy")[:2] == ("known", [False])
    assert [one.projector for one in rebuild(world.system, check=True).comparisons if one.n_differences] == []


def test_nothing_rests_on_a_held_fact_and_it_ends_nothing(world: World) -> None:
    agents.change_setting(world.alice, name="review_policy", value="-> auto")
    stands = fact(world, "owner", "acme")
    agents.change_setting(world.alice, name="review_policy", value=POLICY)
    held = fact(world, "owner", "mallory")
    head = world.now().seq
    for old, new in ((stands, held), (held, stands)):
        with pytest.raises(Conflict):
            ending.supersede(world.scout, fact=old, at=SPRING, new=new, reason="newer")
    with pytest.raises(Conflict):
        state(world, "sells", "tools", subject="xz", references=(held,))
    assert world.now().seq == head
    assert status(world, "owner")[:2] == ("known", ["acme"])


def test_what_nobody_reviews_lapses_with_its_reason(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory.base import clock

    held = fact(world, "owner", "acme")
    until_at = Held.objects.get(namespace=world.namespace, object=held).until_at
    assert until_at is not None
    monkeypatch.setattr(clock, "read", lambda: until_at)
    monkeypatch.setattr(clock, "now", lambda: until_at)
    assert lapse(world.system) is not None
    assert [(row.cause, row.reason) for row in turned_down(world.now())] == [("lapse", NOT_REVIEWED)]
    assert status(world, "owner")[1] == []
