"""One entry checked on the spot: what each planted edit changes, and what a reader's own checkpoint shows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.base.errors import Invalid, NotFound
from memory.ledger.kernel import note, signing
from memory.ledger.models import Checkpoint, Entry, Item, Namespace, Node
from memory.ledger.operations import checkpoints
from memory.ledger.queries.verdicts import Checked, Step, checked, overall
from tests.conftest import lifted_triggers
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def seq(world: World) -> int:
    """An entry with a record in the middle of a signed log."""
    world.save("something before")
    saved = world.save("the text that is proven", summary="short", tags=("a",))
    for n in range(5):
        world.save(f"something after {n}")
    checkpoints.checkpoint(world.namespace, make_key=True)
    return saved.seq


def words(steps: tuple[Step, ...]) -> dict[str, str]:
    return {step.name: step.verdict for step in steps}


def three(found: Checked) -> tuple[str, str, str]:
    return overall(found.content), overall(found.inclusion), overall(found.consistency)


@contextmanager
def edited(statement: str, values: list[Any]) -> Iterator[None]:
    """The statement has been run behind the ledger's back."""
    with lifted_triggers(connection), connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount == 1
    yield


def address(world: World, seq: int) -> list[Any]:
    return [world.namespace, seq]


def test_an_honest_entry_holds_and_says_what_nobody_has_checked(world: World, seq: int) -> None:
    found = checked(world.now(), seq=seq)
    assert three(found) == ("ok", "ok", "not_checked")
    assert set(words(found.content)) == {"part content", "part details", "row", "items", "entry"}
    assert words(found.inclusion) == {"path": "ok", "signature": "ok"}
    assert found.checkpoint == Checkpoint.objects.get(namespace=world.namespace).seq
    assert note.parse_key(found.key).name == Namespace.objects.get(pk=world.namespace).origin


def test_before_any_checkpoint_inclusion_is_not_checked(world: World) -> None:
    seq = world.save("new").seq
    found = checked(world.now(), seq=seq)
    assert three(found) == ("ok", "not_checked", "not_checked")
    assert (found.checkpoint, found.key, found.entry_path) == (None, "", ())


def test_erased_content_is_said_and_the_entry_still_is_included(world: World, seq: int) -> None:
    world.erase(Item.objects.get(namespace=world.namespace, seq=seq, kind="record").object)
    found = checked(world.now(), seq=seq)
    assert three(found) == ("erased", "ok", "not_checked")
    assert words(found.content)["part content"] == "erased"
    assert words(found.content)["row"] == "ok"
    assert {part: by for part, _, by in found.items[0].parts} == dict.fromkeys(("content", "details"), world.now().seq)


EDIT_TEXT = "UPDATE memory_content SET payload = '\"x\"' WHERE namespace_id = %s AND seq = %s AND part = 'content'"
EDITS: dict[str, tuple[str, Callable[[World, int], list[Any]], set[str], set[str]]] = {
    "a text": (
        EDIT_TEXT,
        address,
        {"part content"},
        set(),
    ),
    "a salt": (
        "UPDATE memory_content SET salt = %s WHERE namespace_id = %s AND seq = %s AND part = 'content'",
        lambda world, seq: [bytes(32), world.namespace, seq],
        {"part content"},
        set(),
    ),
    "a short salt": (
        "UPDATE memory_content SET salt = %s WHERE namespace_id = %s AND seq = %s AND part = 'content'",
        lambda world, seq: [bytes(3), world.namespace, seq],
        {"part content"},
        set(),
    ),
    "a missing text": (
        "DELETE FROM memory_content WHERE namespace_id = %s AND seq = %s AND part = 'details'",
        address,
        {"part details"},
        set(),
    ),
    "a column": (
        "UPDATE memory_record SET valid_from = '2020-01-01 00:00:00' WHERE namespace_id = %s AND seq = %s",
        address,
        {"row"},
        set(),
    ),
    "a commitment": (
        "UPDATE memory_item SET commitment = %s WHERE namespace_id = %s AND seq = %s AND item = 0",
        lambda world, seq: [bytes(32), world.namespace, seq],
        {"row", "items"},
        set(),
    ),
    "the actor": (
        "UPDATE memory_entry SET principal = 'system' WHERE namespace_id = %s AND seq = %s",
        address,
        {"entry"},
        {"path"},
    ),
    "a leaf": (
        "UPDATE memory_entry SET leaf = %s WHERE namespace_id = %s AND seq = %s",
        lambda world, seq: [bytes(32), world.namespace, seq],
        {"entry"},
        set(),
    ),
    "a root that was signed": (
        "UPDATE memory_checkpoint SET root = %s WHERE namespace_id = %s",
        lambda world, seq: [bytes(32), world.namespace],
        set(),
        {"path", "signature"},
    ),
    "a note": (
        "UPDATE memory_checkpoint SET note = 'nothing signed' WHERE namespace_id = %s",
        lambda world, seq: [world.namespace],
        set(),
        {"signature"},
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_told_by_the_step_that_it_breaks_with_both_sides(edit: str, world: World, seq: int) -> None:
    statement, values, content, inclusion = EDITS[edit]
    with edited(statement, values(world, seq)):
        found = checked(world.now(), seq=seq)
    failed = [step for step in (*found.content, *found.inclusion) if step.verdict == "failed"]
    assert {step.name for step in found.content if step.verdict == "failed"} == content
    assert {step.name for step in found.inclusion if step.verdict == "failed"} == inclusion
    assert all(step.expected and step.got and step.expected != step.got for step in failed)


def test_content_that_the_item_never_committed_to_is_told(world: World, seq: int) -> None:
    values = [world.namespace, seq, bytes(32)]
    with edited(
        "INSERT INTO memory_content (namespace_id, seq, item, salt, part, payload) VALUES (%s, %s, 0, %s, 'note', '1')",
        values,
    ):
        found = checked(world.now(), seq=seq)
    assert words(found.content)["part note"] == "failed"


def test_a_tree_without_a_node_of_the_way_is_told(world: World, seq: int) -> None:
    Node.objects.filter(namespace=world.namespace, level=0, index=seq).delete()
    Node.objects.filter(namespace=world.namespace, level=0, index=seq - 2).delete()
    found = checked(world.now(), seq=seq)
    assert words(found.inclusion)["path"] == "failed"
    assert three(found)[0] == "ok"


def test_the_checkpoint_that_the_reader_kept_is_where_the_log_begins(world: World, seq: int) -> None:
    kept = Checkpoint.objects.get(namespace=world.namespace).note
    world.save("written later")
    checkpoints.checkpoint(world.namespace)
    found = checked(world.now(), seq=seq, kept=kept)
    assert three(found) == ("ok", "ok", "ok")
    assert words(found.consistency) == {"signature": "ok", "log": "ok"}
    newest = Checkpoint.objects.order_by("-seq")[0].note
    assert words(checked(world.now(), seq=seq, kept=newest).consistency)["log"] == "ok"


def test_a_log_that_was_begun_anew_is_told_apart_from_the_one_that_was_kept(world: World, seq: int) -> None:
    key = checkpoints.signing_key()
    assert key is not None
    origin = Namespace.objects.get(pk=world.namespace).origin
    forked = note.format_note(signing.sign(note.Checkpoint(origin, seq, bytes(32)), key))
    found = checked(world.now(), seq=seq, kept=forked)
    assert words(found.consistency) == {"signature": "ok", "log": "failed"}
    assert found.consistency[1].expected == bytes(32).hex()
    ahead = note.format_note(signing.sign(note.Checkpoint(origin, 10_000, bytes(32)), key))
    cut = checked(world.now(), seq=seq, kept=ahead).consistency[1]
    assert (cut.verdict, cut.expected) == ("failed", "at least 10000 entries")
    empty = note.format_note(signing.sign(note.Checkpoint(origin, 0, bytes(32)), key))
    assert checked(world.now(), seq=seq, kept=empty).consistency[1].verdict == "not_checked"


def test_a_checkpoint_of_another_log_or_key_is_none_of_this_one(world: World, seq: int) -> None:
    other = World("other")
    checkpoints.checkpoint(other.namespace)
    foreign = Checkpoint.objects.get(namespace=other.namespace).note
    assert checked(world.now(), seq=seq, kept=foreign).consistency[0].got == "origin_mismatch"
    origin = Namespace.objects.get(pk=world.namespace).origin
    stranger = note.format_note(signing.sign(note.Checkpoint(origin, seq, bytes(32)), signing.generate()))
    assert checked(world.now(), seq=seq, kept=stranger).consistency[0].got == "key_unknown"


def test_text_that_is_no_checkpoint_is_refused(world: World, seq: int) -> None:
    with pytest.raises(Invalid) as refused:
        checked(world.now(), seq=seq, kept="three lines\n")
    assert refused.value.errors[0].loc == ("kept",)


def test_what_is_not_there_or_not_yet_is_not_found(world: World, seq: int) -> None:
    for wrong in ({"seq": seq + 100}, {"seq": 0}, {"seq": seq, "item": 50}, {"seq": seq, "item": -1}):
        with pytest.raises(NotFound):
            checked(world.now(), **wrong)
    with pytest.raises(NotFound):
        checked(world.at(seq - 1), seq=seq)


def test_every_item_of_a_large_entry_is_checked_by_itself(world: World) -> None:
    saved = world.save_all(*(f"note {n}" for n in range(250)))
    checkpoints.checkpoint(world.namespace, make_key=True)
    total = Entry.objects.get(namespace=world.namespace, seq=saved[0].seq).n_items
    for item in (0, 199, 200, 249):
        found = checked(world.now(), seq=saved[0].seq, item=item)
        assert three(found)[:2] == ("ok", "ok")
        assert item in [row.item for row in found.items]
        assert found.row.n_items == total
    with edited(
        "UPDATE memory_content SET payload = '\"x\"' WHERE namespace_id = %s AND seq = %s AND item = 240",
        address(world, saved[0].seq),
    ):
        assert three(checked(world.now(), seq=saved[0].seq, item=240))[0] == "failed"
    assert three(checked(world.now(), seq=saved[0].seq, item=239))[0] == "ok"


def test_four_queries_beside_the_entry_and_its_items_whatever_the_length_of_the_log(world: World, seq: int) -> None:
    counts = set()
    for _ in range(3):
        with CaptureQueriesContext(connection) as captured:
            checked(world.now(), seq=seq)
        others = [q["sql"] for q in captured.captured_queries if " FROM memory_head" not in q["sql"].replace('"', "")]
        counts.add(len(others))
        world.save_all(*(f"more {n}" for n in range(20)))
        for n in range(20):
            world.save(f"longer {n}")
        checkpoints.checkpoint(world.namespace)
    assert counts == {2 + 4}
