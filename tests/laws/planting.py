"""Faults planted in our own tables, with triggers, keys and checks lifted: one for each kind that the checkers know.

Each is taken back when it has been looked at, so that nothing of it reaches the end of a test.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction

from audit.laws.values import ClauseName
from memory.ledger.models import Content, Entry
from memory.lineage.models import Derivation, Edge
from memory.records.models import Record
from tests.conftest import lifted_triggers
from tests.world import World


@contextmanager
def planted() -> Iterator[None]:
    """Nothing guards the tables within; what is done to them is undone at the end."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("ALTER TABLE memory_edge DROP CONSTRAINT edge_relation")
                cursor.execute("ALTER TABLE memory_record DROP CONSTRAINT record_interval")
        with lifted_triggers(connection), unchecked():
            yield
        transaction.set_rollback(True)


@contextmanager
def unchecked() -> Iterator[None]:
    if connection.vendor == "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        try:
            yield
        finally:
            cursor.execute("PRAGMA ignore_check_constraints = OFF")


class Scene:
    """A small store of every kind of derivation, and a second namespace beside it."""

    def __init__(self) -> None:
        self.world, self.other = World("lab"), World("annex")
        self.plain = self.world.save("the limit is 40", summary="a limit").id
        self.newer = self.world.evolve(self.plain, content="the limit is 41")
        self.fact = self.world.save("the limit was 30", type="fact").id
        self.merged = self.world.merge(self.newer, self.fact)
        self.parts = self.world.split(self.merged, "one half", "the other half")
        self.world.supersede(self.fact, self.parts[0])
        self.linked = self.world.link(self.parts[0], "references", self.plain)
        self.foreign = self.other.save("what another team knows").id

    def rows(self, model: Any, **which: Any) -> Any:
        return model.objects.filter(namespace=self.world.namespace, **which)

    def edge(self, **values: Any) -> None:
        """An edge that no operation wrote."""
        given = {
            "namespace_id": self.world.namespace, "seq": self.linked, "item": 40, "relation": "evolved_from",
            "ordinal": 0, "derivation": None,
        }  # fmt: skip
        Edge.objects.create(**{**given, **values})

    def record(self, **values: Any) -> UUID:
        """A record that no operation wrote."""
        like = self.rows(Record, id=self.plain).values().get()
        id = uuid4()
        Record.objects.create(**{**like, "id": id, "line": id, "seq": self.linked, "item": 41, **values})
        return id


@dataclass(frozen=True, slots=True)
class Fault:
    """What is done, and the clause and kind by which it must be told. `plant` answers the record that is named."""

    clause: ClauseName
    kind: str
    plant: Callable[[Scene], UUID | None]


def overwritten_row(scene: Scene) -> UUID:
    assert scene.rows(Record, id=scene.plain).update(source_class="first_hand") == 1
    return scene.plain


def deleted_row(scene: Scene) -> UUID:
    assert scene.rows(Record, id=scene.fact).delete()[0] == 1
    return scene.fact


def overwritten_text(scene: Scene) -> UUID:
    row = scene.rows(Record, id=scene.plain).get()
    text = scene.rows(Content, seq=row.seq, item=row.item, part="content")
    assert text.update(payload='"the limit is 400"') == 1
    return scene.plain


def added_text(scene: Scene) -> UUID:
    """A part to which the record's entry never committed; whoever reads the record would be shown it."""
    row = scene.rows(Record, id=scene.plain).get()
    like = scene.rows(Content, seq=row.seq, item=row.item, part="content").values().get()
    Content.objects.create(**{**like, "part": "note"})
    return scene.plain


def deleted_text(scene: Scene) -> UUID:
    row = scene.rows(Record, id=scene.plain).get()
    assert scene.rows(Content, seq=row.seq, item=row.item, part="details").delete()[0] == 1
    return scene.plain


def deleted_edge(scene: Scene) -> UUID:
    assert scene.rows(Edge, source=scene.merged, target=scene.fact).delete()[0] == 1
    return scene.merged


def parent_of_no_derivation(scene: Scene) -> UUID:
    scene.edge(source=scene.fact, target=scene.plain)
    return scene.fact


def parent_gained_in_another_entry(scene: Scene) -> UUID:
    """By a derivation of the edge's own entry, and yet not of the one that created the record."""
    derivation = scene.rows(Derivation, kind="evolve").get()
    scene.edge(source=scene.fact, target=scene.plain, seq=derivation.seq, derivation=derivation.id)
    return scene.fact


def other_order_of_sources(scene: Scene) -> UUID:
    assert scene.rows(Edge, source=scene.merged, target=scene.fact).update(ordinal=7) == 1
    return scene.merged


def overwritten_digest(scene: Scene) -> UUID:
    assert scene.rows(Record, id=scene.newer).update(ancestry_digest=b"\x00" * 32) == 1
    return scene.newer


def stored_inverse(scene: Scene) -> UUID:
    assert scene.rows(Edge, source=scene.newer).update(relation="evolved_into") == 1
    return scene.newer


def lone_inverse(scene: Scene) -> UUID:
    scene.edge(source=scene.plain, relation="referenced_by", target=scene.fact)
    return scene.plain


def derivation_without_edges(scene: Scene) -> None:
    like = scene.rows(Derivation, kind="evolve").values().get()
    Derivation.objects.create(**{**like, "id": uuid4(), "item": 42})


def record_of_no_entry(scene: Scene) -> UUID:
    return scene.record()


def edge_of_no_entry(scene: Scene) -> UUID:
    scene.edge(source=scene.fact, relation="references", target=scene.plain)
    return scene.fact


def foreign_parent(scene: Scene) -> UUID:
    scene.edge(source=scene.fact, target=scene.foreign)
    return scene.fact


def another_type(scene: Scene) -> UUID:
    note = scene.rows(Record, id=scene.plain).get().type
    assert scene.rows(Record, id=scene.merged).update(type=note) == 1
    return scene.merged


def another_rule(scene: Scene) -> UUID:
    assert scene.rows(Derivation, kind="merge").update(type_rule="majority") == 1
    return scene.merged


def instant_set_back(scene: Scene) -> None:
    first = scene.rows(Entry).order_by("seq").first()
    assert scene.rows(Entry, seq=scene.linked).update(recorded_at=first.recorded_at.replace(year=2001)) == 1


def empty_interval(scene: Scene) -> UUID:
    row = scene.rows(Record, id=scene.plain)
    at = scene.rows(Entry).order_by("seq").first().recorded_at
    assert row.update(valid_from=at, valid_to=at) == 1
    return scene.plain


def lost_axis(scene: Scene) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memory_record RENAME COLUMN valid_to TO ends")


def parent_that_never_was(scene: Scene) -> UUID:
    scene.edge(source=scene.fact, target=uuid4())
    return scene.fact


def link_from_nowhere(scene: Scene) -> UUID:
    nowhere = uuid4()
    scene.edge(source=nowhere, relation="references", target=scene.fact)
    return nowhere


FAULTS = (
    Fault("L1", "record_altered", overwritten_row),
    Fault("L1", "record_gone", deleted_row),
    Fault("L1", "content_altered", overwritten_text),
    Fault("L1", "content_altered", added_text),
    Fault("L1", "content_gone", deleted_text),
    Fault("L2", "claim_without_edge_own", deleted_edge),
    Fault("L2", "edge_without_claim", parent_of_no_derivation),
    Fault("L2", "edge_without_claim", parent_gained_in_another_entry),
    Fault("L2", "edge_altered", other_order_of_sources),
    Fault("L2", "digest_disagrees", overwritten_digest),
    Fault("L3", "interrupted_derivation", stored_inverse),
    Fault("L3", "interrupted_derivation", derivation_without_edges),
    Fault("L3", "unpaired", lone_inverse),
    Fault("L4i", "record_of_no_entry", record_of_no_entry),
    Fault("L4i", "edge_of_no_entry", edge_of_no_entry),
    Fault("L4ii", "cross_namespace_ancestry", foreign_parent),
    Fault("L5", "rule_not_followed", another_type),
    Fault("L5", "rule_not_followed", another_rule),
    Fault("L6", "known_instant_not_rising", instant_set_back),
    Fault("L6", "empty_valid_interval", empty_interval),
    Fault("L6", "no_valid_time", lost_axis),
    Fault("L7", "edge_end_missing", parent_that_never_was),
    Fault("L7", "edge_end_missing", link_from_nowhere),
)
