"""A small graph of beliefs for pages and browsers: three nodes, one observation that the rest contradicts."""

from __future__ import annotations

from uuid import UUID

from memory.beliefs.operations.saving import save_query
from tests.world import World

NODES = ("a", "b", "c")
ODD = "odd"


def told(world: World, *, hostile: str = "") -> dict[str, UUID]:
    """{client id: stored id} of what was observed: three alike, one odd with its echo, one revoked, a bridge."""
    world.bind(law="cyclic:2")
    rows = [
        ("ab", "a", "b", 0.9, {}), ("bc", "b", "c", 0.9, {}), ("ac", "a", "c", 0.9, {}),
        (ODD, "a", "c", 0.2, {"provenance": {"tool": "scan", "note": hostile or "a broken probe"}}),
        ("echo", "a", "c", 0.1, {"independent_evidence": False, "derived_from": [ODD]}),
        ("gone", "b", "c", 0.1, {}), ("cd", "c", hostile or "d", 0.8, {}),
    ]  # fmt: skip
    found = {
        id: world.observe(id, source, target, [alike, 1 - alike], **given).id
        for id, source, target, alike, given in rows
    }
    world.revoke("gone", reason=hostile or "a broken probe")
    return found


def asked(world: World, name: str = "is c like a", **given: object) -> UUID:
    """A saved question about the three nodes."""
    query = {
        "schema_version": 2, "namespace": world.name, "relation_type": "rel", "root": "a", "nodes": list(NODES),
        **given,
    }  # fmt: skip
    return save_query(world.scout, name=name, query={key: one for key, one in query.items() if one is not None}).id
