"""Every sequence of the arc of lineage gives its expected states; with a rule off, some sequence tells."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, connection, transaction

from memory.ledger.queries import asof
from memory.lineage.operations import compiling
from memory.lineage.queries import freshness
from memory.records.queries.detail import record
from tests.conftest import lifted_triggers
from tests.contract.callers import caller
from tests.interchange.archives import archive_of, lose, namespace_named, restored
from tests.lineage.arcs import SEQUENCES, Played, shown
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("times", [1, 2], ids=["single", "doubled"])
def test_a_sequence_gives_what_it_expects_here_and_restored(world: World, sequence: str, times: int) -> None:
    played = Played(caller(world, world.scout), sequence, times).play()
    expected = SEQUENCES[sequence]["expected"]
    assert shown(world.now(), played) == expected
    archive = archive_of(world.namespace)
    lose(world)
    restored(archive)
    assert shown(asof.now(namespace_named("lab")), played) == expected


def nothing_refused(*_: object, **__: object) -> None:
    """A check that is switched off."""


def no_taint(real: Callable[..., Any]) -> Callable[..., Any]:
    def judged(record: Any, way: Any, *rest: Any) -> Any:
        way.erased.clear()
        return real(record, way, *rest)

    return judged


def compiled_from_nothing(world: World) -> object:
    answer = caller(world, world.scout).post(
        "/derivations",
        {"kind": "compile", "sources": [], "function": {"name": "f", "version": "1"}, "content": "out of thin air"},
    )
    return answer.status_code, [error["code"] for error in answer.json()["errors"]]


def public_from_raw(world: World) -> object:
    played = Played(caller(world, world.scout), "L05").play()
    return shown(world.now(), played)


def public_not_redacted(world: World) -> object:
    played = Played(caller(world, world.scout), "L06").play()
    return shown(world.now(), played)


def states_after_an_erasure(world: World) -> object:
    oldest = world.save("one").id
    raw = world.evolve(oldest, content="one, better")
    chain = [world.compile(raw)]
    chain.append(world.compile(chain[0], content="redacted", is_public=True))
    world.erase(oldest)
    found = freshness.freshness_of(world.now(), chain)
    return [found[one].word for one in chain]


def rebuilt_by_the_store(world: World) -> object:
    sources = [str(saved.id) for saved in world.save_all("one", "two")]
    agent = caller(world, world.scout)
    body = {"kind": "compile", "sources": sources, "function": {"name": "concatenate", "version": "1"}}
    world.withdraw(UUID(agent.post("/derivations", body).json()["records"][0]))
    return agent.post("/derivations", body).json()["rebuild"]["equal"]


def ever_another() -> Callable[[Sequence[str]], str]:
    numbers = itertools.count()
    return lambda texts: f"{next(numbers)} {texts}"


RULES: Mapping[str, tuple[Callable[[World], object], object, Any, str, Any]] = {
    "L-R1 derive needs sources": (
        compiled_from_nothing, (422, ["no_sources"]), compiling, "_require_distinct", nothing_refused,
    ),
    "L-R3 public needs a compiled source": (
        public_from_raw, SEQUENCES["L05"]["expected"], compiling, "_require_lawful", nothing_refused,
    ),
    "L-R3 public needs a redacted text": (
        public_not_redacted, SEQUENCES["L06"]["expected"], compiling, "_require_lawful", nothing_refused,
    ),
    "L-R4 erasure taints descendants": (
        states_after_an_erasure, ["stale:source_erased"] * 2, freshness, "_judged", no_taint(freshness._judged),
    ),
    "L-R5 rebuild is deterministic": (
        rebuilt_by_the_store, True, compiling, "BUILT_IN", {("concatenate", "1"): ever_another()},
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_holds_and_its_absence_shows(world: World, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, expected, module, name, without = RULES[rule]
    assert scene(world) == expected
    monkeypatch.setattr(module, name, without)
    try:
        with transaction.atomic():
            other = scene(World("elsewhere"))
    except (DatabaseError, KeyError):
        # The database refuses what the operation let through: a second wall behind the first.
        return
    assert other != expected


def test_raw_is_append_only_at_every_door_and_in_the_database(world: World) -> None:
    """L-R2. No method changes a record; SQL is refused by a trigger, and only without it would the text change."""
    raw, agent = world.save("text-r1"), caller(world, world.scout)
    for method in ("PUT", "PATCH", "DELETE"):
        refused = agent.call(method, f"/records/{raw.id}", {"content": "nicer"})
        assert (refused.status_code, refused.json()["code"]) == (405, "method_not_allowed")
        assert [error["code"] for error in refused.json()["errors"]] == ["raw_is_append_only"]
    statements = [
        f"UPDATE memory_content SET payload = '\"nicer\"' WHERE seq = {raw.seq} AND part = 'content'",
        f"DELETE FROM memory_content WHERE seq = {raw.seq}",
        f"UPDATE memory_record SET source_class = 'relayed' WHERE seq = {raw.seq}",
        "DELETE FROM memory_compilation",
    ]
    world.compile(raw.id)
    for statement in statements:
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    assert record(world.now(), id=raw.id).content == "text-r1"
    with lifted_triggers(connection), connection.cursor() as cursor:
        cursor.execute(statements[0])
    assert record(world.now(), id=raw.id).content == "nicer"
