"""Every write as one act on a world, the same at each call: what it needs is arranged by the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from memory.agents import operations as agents
from memory.agents import runs
from memory.base.actor import Actor, RunGiven
from memory.checks import operations as checks
from memory.ledger.models import Content, Item
from memory.ledger.operations.erasing import erase
from memory.ledger.operations.founding import found
from memory.lineage.operations import derivations, links, merging
from memory.records import operations as records
from memory.records.content import NewRecord
from tests.world import CORRECTION, World

SYSTEM = Actor(0, "system")

Act = Callable[[World, Actor], object]


def save_once(world: World, by: Actor) -> list[UUID]:
    return [one.id for one in records.save(by, records=[NewRecord("note", "one"), NewRecord("note", "two")])]


def standing(world: World, content: str) -> UUID:
    """A record with this content, saved at the first call."""
    payload = f'"{content}"'
    found = Content.objects.filter(namespace=world.namespace, part="content", payload=payload).first()
    if found is None:
        return world.save(content).id
    return Item.objects.get(namespace=world.namespace, seq=found.seq, item=found.item).object


def evolve_once(world: World, by: Actor) -> object:
    made = derivations.evolve(by, record=standing(world, "old"), base="", changes={"content": "new"}, cause=CORRECTION)
    return made.derivation, made.records


def merge_once(world: World, by: Actor) -> object:
    made = merging.merge(by, records=[standing(world, "a"), standing(world, "b")], cause=CORRECTION)
    return made.derivation, made.records


def split_once(world: World, by: Actor) -> object:
    parts = [{"content": "left"}, {"content": "right"}]
    made = derivations.split(by, record=standing(world, "whole"), parts=parts, cause=CORRECTION)
    return made.derivation, made.records


def supersede_once(world: World, by: Actor) -> object:
    return derivations.supersede(
        by, old=standing(world, "stale"), new=standing(world, "fresh"), cause=CORRECTION
    ).derivation


def link_once(world: World, by: Actor) -> object:
    return links.link(by, source=standing(world, "a"), relation="references", target=standing(world, "b")).seq


def withdraw_once(world: World, by: Actor) -> object:
    return records.withdraw(by, record=standing(world, "wrong"), reason="it is wrong").seq


def open_run_once(world: World, by: Actor) -> object:
    return runs.open_run(replace(by, run=RunGiven(title="a run", refs=(("ticket", "1"),))))[0]


REPEATABLE = [save_once, evolve_once, merge_once, split_once, supersede_once, link_once, withdraw_once, open_run_once]


def name_of(act: Act) -> str:
    return act.__name__.removesuffix("_once")


def erase_once(world: World, by: Actor) -> object:
    return erase(world.alice, items=[world.address(standing(world, "to go"))], reason="request", note="asked for")


def restore_once(world: World, by: Actor) -> object:
    return records.restore(world.bob, record=standing(world, "hidden"), reason="wanted")


def found_once(world: World, by: Actor) -> object:
    return found(SYSTEM, name="another")


def create_agent_once(world: World, by: Actor) -> object:
    return agents.create_agent(world.alice, name="another")


def record_check_once(world: World, by: Actor) -> object:
    found_ = [checks.Found("row_mismatch", seq=1, item=0)]
    return checks.record_run(
        world.alice, name="ledger_scan", version=1, verdict="failed", at_seq=1, n_checked=1, found=found_, report={}
    )


WRITES = [*REPEATABLE, erase_once, restore_once, found_once, create_agent_once, record_check_once]
