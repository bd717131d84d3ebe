"""The recorded sequences through the API: their states, doubled, and restored from an archive; what kills mutants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory.base.errors import Invalid
from memory.ledger.queries.verification import scan
from memory.tombstones import checking, queries
from memory.tombstones.kernel import life
from memory.tombstones.kernel.life import Standing
from memory.tombstones.operations import burying
from memory.tombstones.story import story
from tests.interchange.archives import archive_of, lose, namespace_named, restored
from tests.tombstones.burials import a_burial
from tests.tombstones.playing import Play, agrees, sequences
from tests.world import World

pytestmark = pytest.mark.django_db

every_sequence = pytest.mark.parametrize("name", sorted(sequences()))
Patch = Callable[[pytest.MonkeyPatch], None]


@every_sequence
def test_a_sequence_ends_as_it_should_once_doubled_and_restored(name: str) -> None:
    sequence = sequences()[name]
    once = Play(sequence)
    assert agrees(once.run(), sequence["expected"]), once.told
    counted, at = once.n_rows(), once.at(once.world.namespace)
    listed = queries.tombstones(at, retired=True)
    told = [story(at, id=row.id) for row in listed.items]
    archive = archive_of(once.world.namespace)
    lose(once.world)
    doubled = Play(sequence, is_doubled=True)
    assert agrees(doubled.run(), sequence["expected"])
    assert doubled.n_rows() == counted
    lose(doubled.world)
    restored(archive)
    namespace = namespace_named(once.world.name)
    then = once.at(namespace)
    assert queries.tombstones(then, retired=True) == listed
    assert [story(then, id=row.id) for row in listed.items] == told
    assert scan(namespace).is_clean


def _any_condition_will_do(patch: pytest.MonkeyPatch) -> None:
    unmet = Standing.unmet.fget  # type: ignore[attr-defined]
    patch.setattr(
        Standing, "unmet", property(lambda now: () if any(c.mark == "met" for c in now.conditions) else unmet(now))
    )  # fmt: skip


MUTANTS: dict[str, tuple[str, Patch]] = {
    "D-R10 every condition": ("D18", _any_condition_will_do),
    "D-R10s its scope only": ("D17", lambda patch: patch.setattr(checking, "covers", lambda scope, asked: True)),
    "D-R10t unexpired evidence": ("D21", lambda patch: patch.setattr(life, "is_valid", lambda filed, valid_at: True)),
    "D-R11 the limit of false blocks": ("D22", lambda patch: patch.setattr(life, "is_demoted", lambda n, limit: False)),
}


@pytest.mark.parametrize("rule", MUTANTS)
def test_without_a_rule_its_sequence_ends_otherwise(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, switch_off = MUTANTS[rule]
    switch_off(monkeypatch)
    assert not agrees(Play(sequences()[name]).run(), sequences()[name]["expected"])


# D-R4: each part is missing alone, and then all of them at once.
MISSING: dict[str, dict[str, Any]] = {
    "route": {"route": "  "},
    "scope": {"scope": {}},
    "evidence": {"evidence": " "},
    "revival": {"revival": ()},
    "retest": {"retest": ""},
}


@pytest.mark.parametrize("parts", [*([part] for part in MISSING), sorted(MISSING)], ids="-".join)
def test_a_burial_without_bounds_or_exit_names_what_is_missing(
    parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World()
    given = {name: value for part in parts for name, value in MISSING[part].items()}
    with pytest.raises(Invalid) as refused:
        burying.bury(world.scout, new=a_burial(**given))
    assert sorted(str(place.loc[0]) for place in refused.value.errors) == parts
    assert {place.code for place in refused.value.errors} == {"missing"}
    if "route" not in parts:
        # With the rule off nothing else keeps it out.
        monkeypatch.setattr(burying, "require_whole", lambda new: None)
        assert burying.bury(world.scout, new=a_burial(**given)).id
