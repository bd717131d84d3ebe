"""Facts of a small world: one call each, and a set that shows every state that a page of facts can draw."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memory.base.actor import Actor
from memory.facts.content import NewFact
from memory.facts.kernel.values import Value
from memory.facts.models import Fact
from memory.facts.operations import asserting, declaring, ending
from memory.facts.operations.declaring import Declaration
from memory.facts.queries.queue import queue
from memory.ledger.operations.erasing import erase
from tests.world import World

SHOP = "Shop of Acme GmbH"
SPRING, SUMMER, AUTUMN = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 6, 9))


@dataclass(frozen=True, slots=True)
class Stated:
    """Ids of what the set holds. Some rest on the record `source`; `cases` are open, the longest waiting first."""

    facts: dict[str, UUID]
    source: UUID
    cases: tuple[UUID, ...]


def state(world: World, attribute: str, value: Value, *, by: Actor | None = None, **given: Any) -> UUID:
    """The id of one fact, of SHOP unless another subject is given."""
    fact = NewFact(given.pop("subject", SHOP), attribute, value, **given)
    (done,) = asserting.assert_facts(by or world.scout, facts=[fact])
    return done.id


def declare(world: World, attribute: str, cardinality: str = "one", **given: Any) -> None:
    declaring.declare(world.alice, attribute=attribute, declaration=Declaration(cardinality, **given))


def contradict(world: World, attribute: str, *values: Value, **given: Any) -> tuple[UUID, ...]:
    """One fact for each value, from agent and owner in turn; the attribute is declared to have one value."""
    declare(world, attribute)
    writers = (world.scout, world.alice)
    return tuple(state(world, attribute, value, by=writers[n % 2], **given) for n, value in enumerate(values))


def every_state(world: World, *, hostile: str) -> Stated:
    """Known, unknown for each reason, conflicts of both kinds, and facts in every state."""
    source = world.save("The refund desk wrote: the limit is 250 EUR from June on").id
    declare(world, "limit_checked", freshness_seconds=86_400)
    facts = {
        "known": state(world, "city", "Berlin", references=(source,), origin="register", confidence=0.9,
                       scale="likelihood"),
        "stale": state(world, "limit_checked", True, valid_from=SPRING, valid_to=SUMMER),
        "old": state(world, "refund_limit", 200, valid_from=SPRING),
        "wrong": state(world, "opened", "2019", origin="rumour"),
        "erased": state(world, "owner_name", "a name that must go"),
        "candidate": state(world, "colour", "red", candidate=True),
        "hostile": state(world, "motto", hostile, subject=hostile[:200], origin=hostile[:100], note=hostile),
    }  # fmt: skip
    for origin in ("register", "register", "letter"):
        state(world, "city", "Berlin", origin=origin)
    facts["new"] = state(world, "refund_limit", 250, valid_from=SUMMER, references=(source, facts["known"]))
    ending.supersede(
        world.bob, fact=facts["old"], at=SUMMER, new=facts["new"], reason=f"the desk wrote {hostile}"[:200]
    )
    ending.retract(world.bob, fact=facts["wrong"], retracted_as="wrong", reason="it was another shop")
    row = Fact.objects.get(namespace=world.namespace, id=facts["erased"])
    erase(world.alice, items=[(row.seq, row.item)], reason="request", note="")
    contradict(world, "vat_id", "DE 811 907 980", "DE 811 907 981", valid_from=SPRING)
    contradict(world, "tax_rate", 19, 7, valid_from=SPRING, valid_to=AUTUMN)
    state(world, "sells", "bicycles", valid_from=SPRING)
    state(world, "sells", "bicycles", by=world.alice, stance="denies", valid_from=SUMMER, references=(source,))
    contradict(world, "motto", hostile, f"{hostile} too", subject=hostile[:200])
    return Stated(facts, source, tuple(one.id for one in queue(world.now())))
