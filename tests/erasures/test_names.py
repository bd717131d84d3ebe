"""Names of the dictionary: those that nothing else uses go with what used them, and none is used that is gone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.apps import apps
from django.db import models

from memory.agents import operations as agents
from memory.base.models import Evidence
from memory.ledger.models import Entry, Name
from memory.ledger.operations.erasing import erase_subject
from memory.ledger.queries.naming import holders
from memory.records.models import Record
from memory.records.queries import detail
from tests.browsers import browser
from tests.erasures.canary import new_canary, tables_with
from tests.statements import after_first, in_thread
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def names(world: World) -> set[str]:
    return set(Name.objects.filter(namespace=world.namespace).values_list("text", flat=True))


def test_a_type_that_no_other_record_has_goes_with_its_last_record(world: World) -> None:
    one, two = world.save("one", type="diagnosis").id, world.save("two", type="diagnosis").id
    world.erase(one)
    assert "diagnosis" in names(world)
    world.erase(two)
    assert "diagnosis" not in names(world)
    assert detail.record(world.now(), id=two).row.state == "erased"


def test_pages_of_a_record_whose_type_is_gone_say_so(world: World) -> None:
    record = world.save("one", type="diagnosis").id
    child = world.evolve(record, content="two", type="note")
    world.erase(record)
    alice = browser(world.alice)
    for path in (f"/records/{record}", f"/records/{child}", "/records?include=erased", "/ledger", "/search?q=two"):
        answer = alice.get(path)
        assert answer.status_code == 200
        assert "diagnosis" not in answer.text


def test_a_type_goes_when_all_its_records_go_at_once(world: World) -> None:
    records = [saved.id for saved in world.save_all("one", "two", "three")]
    world.erase(*records)
    assert "note" not in names(world)
    assert world.save("again").id
    assert "note" in names(world)


def test_a_name_that_also_names_something_else_stays(world: World) -> None:
    record = world.save("one", type="courier").id
    agents.create_agent(world.alice, name="courier")
    world.erase(record)
    assert "courier" in names(world)


def test_the_host_that_wrote_what_is_erased_stays(world: World) -> None:
    record = world.save("one", by=replace(world.scout, host="build-7")).id
    world.erase(record)
    assert "build-7" in names(world)


def test_every_column_that_holds_the_id_of_a_name_is_known() -> None:
    """A column is one if any of its stored values is the id of a name, in a store in which everything was done once."""
    from tests.every_table import populate

    world = World()
    populate(world)
    ids = set(Name.objects.filter(namespace=world.namespace).values_list("id", flat=True))
    holding = set()
    for model in apps.get_app_config("memory").get_models():
        if not issubclass(model, Evidence):
            continue
        columns = [field for field in model._meta.concrete_fields if isinstance(field, models.UUIDField)]
        for column in columns:
            values = set(model._default_manager.values_list(column.attname, flat=True))
            if values & ids and column.name != "object":
                holding.add((model.__name__, column.name))
    assert holding <= {(model.__name__, column) for model, column in holders()}
    assert ("Record", "type") in holding


@pytest.mark.django_db(transaction=True)
def test_a_name_erased_between_its_look_up_and_the_lock_is_minted_anew(world: World) -> None:
    canary = new_canary()
    world.save("one", type=f"file-{canary}")

    def erased_meanwhile() -> None:
        in_thread(lambda: erase_subject(world.alice, subject=canary, reason="request"))

    with after_first("FROM memory_name", erased_meanwhile):
        saved = world.save("two", type=f"file-{canary}")
    name = Record.objects.get(namespace=world.namespace, id=saved.id).type
    assert Name.objects.get(namespace=world.namespace, id=name).text == f"file-{canary}"
    assert detail.record(world.now(), id=saved.id).row.type == f"file-{canary}"


@pytest.mark.django_db(transaction=True)
def test_a_host_erased_between_its_look_up_and_the_lock_is_minted_anew(world: World) -> None:
    by = replace(world.scout, host=f"laptop of {new_canary()}")
    world.save("one", by=by)

    def erased_meanwhile() -> None:
        in_thread(lambda: erase_subject(world.alice, subject=by.host, reason="request"))

    with after_first("FROM memory_name", erased_meanwhile):
        saved = world.save("two", by=by)
    host = Entry.objects.get(namespace=world.namespace, seq=saved.seq).host
    assert Name.objects.filter(namespace=world.namespace, id=host, text=by.host).exists()


def test_an_agent_whose_name_is_erased_is_still_the_author_of_what_it_wrote(world: World) -> None:
    canary = new_canary()
    by = world.agent(f"bot of {canary}")
    saved = world.save("a note", by=by)
    erase_subject(world.alice, subject=canary, reason="request")
    assert tables_with(canary) == []
    assert detail.record(world.now(), id=saved.id).row.agent == by.agent
