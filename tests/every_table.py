"""A world in which every table of evidence and content has a row, and what the tables are.

Rows come from operations. For the tables that no operation fills yet a bare row is put in: their triggers and keys are
the same with or without one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any
from uuid import UUID, uuid4

from django.apps import apps
from django.db import models

from memory.agents import operations as agents
from memory.agents import runs
from memory.base import clock
from memory.base.actor import RunGiven
from memory.base.models import Content, Evidence
from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.beliefs.operations.monitors import open_run
from memory.beliefs.operations.saving import save_query
from memory.calibration.operations.alarms import acknowledge
from memory.checks import operations as checks
from memory.facts.operations.adjudicating import Asked, adjudicate
from memory.facts.operations.ending import supersede as supersede_fact
from memory.facts.queries import conflicts
from memory.interchange.models import ImportedRow, ImportFinding, ImportRun, RestoreRun
from memory.interchange.operations import export_file
from memory.interchange.slices import Selection
from memory.ledger.models import Closing, Restoration
from memory.ledger.operations import checkpoints
from memory.ledger.operations.refusing import refuse
from memory.records import reviewing
from memory.records.reviewing import Target
from tests.calibration.labelling import alarmed, label
from tests.tombstones.burials import whole_life
from tests.world import World

GUARDED: list[type[models.Model]] = sorted(
    (model for model in apps.get_app_config("memory").get_models() if issubclass(model, Evidence | Content)),
    key=lambda model: model.__name__,
)
# A RestoreRun is written where an archive is restored, which makes a namespace of its own; where a namespace is closed,
# no table of content has a row any more.
NO_OPERATION_YET: tuple[type[models.Model], ...] = (
    Closing,
    ImportRun,
    ImportedRow,
    ImportFinding,
    RestoreRun,
)


def populate(world: World) -> None:
    """Do everything once."""
    first, second = world.save_all("first of two", "second of two")
    old = world.save("a note of many words", summary="a summary", tags=("a", "b"), metadata={"k": 1})
    new = world.evolve(old.id, content="a note of fewer words")
    world.merge(first.id, second.id)
    world.compile(first.id, covers="a topic")
    world.save("more on the topic", tags=("a topic",))
    world.link(first.id, "references", second.id)
    _review(world)
    world.withdraw(second.id)
    _state_facts(world)
    world.restore(second.id)
    world.save("said for somebody", by=replace(world.scout, host="build-7", on_behalf_of="the night shift"))
    _act_on_agents(world)
    found = [checks.Found("row_mismatch", object=new, seq=1, item=0)]
    checks.record_run(
        world.alice,
        name="ledger_scan",
        version=1,
        verdict="failed",
        at_seq=1,
        n_checked=1,
        found=found,
        report={"n": 1},
    )
    checks.waive(world.alice, name="ledger_scan", reason="known", expires_at=clock.now() + timedelta(days=1))
    refuse(world.scout, code="stopped", about=uuid4())
    whole_life(world)
    _observe(world)
    world.erase(old.id, note="asked for by its author")
    export_file(world.alice, world.now(), BytesIO(), format="prov", selection=Selection())
    checkpoints.checkpoint(world.namespace, make_key=True)
    # No entry: it says of the first ones that they came from an archive.
    told = {"archive": bytes(32), "restored_at": clock.now(), "keeps_people": True}
    Restoration.objects.create(namespace_id=world.namespace, seq=1, **told)
    given = {"record": new, "run": uuid4()}
    for model in NO_OPERATION_YET:
        ids = {**given, "id": given["run"]} if model is ImportRun else given
        model._default_manager.create(namespace_id=world.namespace, **_bare_row(model, ids))


def _review(world: World) -> None:
    agents.change_setting(world.alice, name="review_policy", value="type=held -> hold 14 d\n-> auto")
    one, other = (Target("record", world.save(text, type="held").id) for text in ("held", "held too"))
    reviewing.review(world.bob, confirm=[one], reject=[other], reason="looked at both")


def _state_facts(world: World) -> None:
    world.declare("city", exclusive=(("Oslo", "Bergen"),))
    oslo, bergen = world.tell("anna", "city", "Oslo", origin="a letter"), world.tell("anna", "city", "Bergen")
    (case,) = conflicts.cases(world.now()).items
    adjudicate(world.bob, case=case.id, asked=Asked("keep_b", "the letter is old", oslo.id, bergen.id))
    supersede_fact(world.scout, fact=bergen.id, at=clock.now(), new=None, reason="moved away")


def _observe(world: World) -> None:
    world.bind()
    open_run(world.scout, config=MonitorConfig())
    world.observe("o1", "a", "b", [0.1, 0.7, 0.1, 0.1], provenance={"tool": "a probe"}, tags=["t"])
    world.observe("o2", "a", "b", [0.1, 0.7, 0.1, 0.1], derived_from=["o1"], independent_evidence=False)
    world.revoke("o1", reason="a wrong reading")
    question = {"namespace": world.name, "relation_type": "rel", "nodes": ["a", "b"], "root": "a"}
    save_query(world.scout, name="hosts", query=question)
    _disturb(world)


def _disturb(world: World) -> None:
    acknowledge(world.bob, alarm=alarmed(world), reason="looking into it")
    label(world, "sure", "0", correction_reason="misread")


def _act_on_agents(world: World) -> None:
    other = agents.create_agent(world.alice, name="other").id
    token = agents.issue_token(world.alice, agent=other)
    agents.revoke_token(world.alice, token=token.id)
    agents.freeze(world.alice, agent=other, reason="on leave")
    agents.hold(world.alice, held=True, reason="an audit")
    agents.hold(world.alice, held=False, reason="the audit is over")
    agents.change_setting(world.alice, name="approval_mode", value="two_person")
    run, _, _ = runs.open_run(replace(world.scout, run=RunGiven(title="night build", refs=(("ticket", "4411"),))))
    runs.end_run(world.scout, run=run, note="done")


def words_of(model: type[models.Model]) -> dict[str, list[str]]:
    """The columns that the database limits to a list of words."""
    checks = [each for each in model._meta.constraints if isinstance(each, models.CheckConstraint)]
    pairs = [child for check in checks for child in check.condition.children if isinstance(child, tuple)]
    return {str(name).removesuffix("__in"): list(words) for name, words in pairs if str(name).endswith("__in")}


def _bare_row(model: type[models.Model], given: dict[str, UUID]) -> dict[str, Any]:
    """A row of the first entry; `given` holds the ids that its columns must mention."""
    row: dict[str, Any] = {"seq": 1, "item": 800}
    for field in model._meta.concrete_fields:
        if field.attname not in ("namespace_id", "seq", "item"):
            row[field.attname] = given.get(field.name) or another_value(field, None)
    return row


def stored_rows(model: type[models.Model], namespace: int) -> Iterator[dict[str, Any]]:
    """The rows of a table in key order, by column attribute; buffers as bytes."""
    names = [field.attname for field in model._meta.concrete_fields]
    where = {"pk": namespace} if model.__name__ == "Namespace" else {"namespace": namespace}
    for row in model._default_manager.filter(**where).order_by("pk").values(*names):
        yield {name: bytes(value) if isinstance(value, memoryview) else value for name, value in row.items()}


def another_value(field: models.Field[Any, Any], value: Any) -> Any:
    """A value that the column takes and that is not `value`; `value` itself where it takes no other."""
    words = words_of(field.model).get(field.name)
    if words is not None:
        return next((word for word in words if word != value), value)
    kind = field.get_internal_type()
    others: dict[str, Callable[[], Any]] = {
        "UUIDField": uuid4,
        "BinaryField": lambda: os.urandom(32),
        "DateTimeField": lambda: (value or datetime(2026, 1, 1, tzinfo=UTC)) + timedelta(seconds=1),
        "BooleanField": lambda: not value,
        "CharField": lambda: (value or "")[:-1] + ("y" if (value or "").endswith("x") else "x"),
    }
    others["TextField"] = others["CharField"]
    return others[kind]() if kind in others else (value or 0) + 1
