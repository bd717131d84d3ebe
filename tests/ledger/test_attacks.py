"""Every attack on a stored log is found by the scan, under its own code; and each is missed without its check.

The attacker writes to the tables directly, with the triggers lifted. One edit gives one code.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
from django.db import connection, models, transaction
from django.db.models import F

from memory.base import ids
from memory.base.canonical import canonical
from memory.ledger import drafts
from memory.ledger.kernel import commitment, merkle, note, signing
from memory.ledger.models import Checkpoint, Content, Entry, Erasure, Head, Item, Name, Namespace, Node, PublicKey
from memory.ledger.operations.checkpoints import checkpoint, signing_key
from memory.ledger.queries import scanning, verification
from memory.ledger.queries.leaves import leaf_fields
from memory.ledger.queries.proofs import evidence_row
from memory.ledger.queries.verification import Scan, scan
from memory.lineage.models import Edge
from memory.records.models import Record
from tests.conftest import lifted_triggers
from tests.every_table import GUARDED, NO_OPERATION_YET, another_value, populate
from tests.world import World

pytestmark = pytest.mark.django_db

Attack = Callable[[World], object]
Rows = models.QuerySet


class Store(World):
    """A log with a batch, a name, text in every kind of place, two checkpoints, and an entry after the second."""

    def __init__(self, name: str = "lab") -> None:
        super().__init__(name)
        self.single = self.save("a single note", summary="a summary", tags=("a",))
        self.batch = self.save_all("first", "second", "third")
        self.newer = self.evolve(self.batch[0].id, content="first, corrected")
        self.early = checkpoint(self.namespace, make_key=True)
        self.withdraw(self.batch[1].id)
        self.merge(self.batch[2].id, self.newer)
        self.late = checkpoint(self.namespace)
        self.last = self.save("after the last checkpoint")

    def of(self, model: type[models.Model], **where: object) -> Rows:
        return model._default_manager.filter(namespace=self.namespace, **where)

    @property
    def size(self) -> int:
        return Head.objects.get(namespace=self.namespace).size


def attacked(store: World, attack: Attack, *, kept: str = "") -> Scan:
    """What a scan finds after the attack, which is then undone."""
    with transaction.atomic():
        with lifted_triggers(connection):
            attack(store)
        found = scan(store.namespace, kept=kept)
        transaction.set_rollback(True)
    return found


def codes(found: Scan) -> set[str]:
    return {fault.code for fault in found.faults}


def run(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount > 0, "the attack changed nothing"


# One edit of a row.


def change_payload(store: Store) -> None:
    content = store.of(Content, seq=store.single.seq, part="content").get()
    store.of(Content, seq=content.seq, part="content").update(payload=content.payload.replace("single", "Single"))


def change_summary(store: Store) -> None:
    store.of(Content, seq=store.single.seq, part="details").update(payload='{"summary":"another","tags":["a"]}')


def respell_payload(store: Store) -> None:
    """The same JSON value in another spelling: not what was committed to, byte for byte."""
    content = store.of(Content, seq=store.single.seq, part="details").get()
    store.of(Content, seq=content.seq, part="details").update(payload=content.payload.replace(":", ": "))


def change_name(store: Store) -> None:
    store.of(Name, text="note").update(text="notes")


def swap_the_ids_of_two_names(store: Store) -> None:
    first, second = store.of(Name).order_by("seq", "item")[:2]
    for old, new in ((first.id, uuid4()), (second.id, first.id)):
        run("UPDATE memory_name SET id = %s WHERE id = %s", *(stored_id(each) for each in (new, old)))


def stored_id(id: UUID) -> object:
    return id if connection.vendor == "postgresql" else id.hex


def change_note_of_withdrawal(store: Store) -> None:
    store.of(Content, part="note").update(payload='"for another reason"')


def change_salt(store: Store) -> None:
    store.of(Content, seq=store.single.seq, part="content").update(salt=os.urandom(32))


def swap_payloads_of_two_items(store: Store) -> None:
    rows = store.of(Content, seq=store.batch[0].seq, part="content")
    first, second = rows.get(item=0), rows.get(item=1)
    rows.filter(item=0).update(payload=second.payload, salt=second.salt)
    rows.filter(item=1).update(payload=first.payload, salt=first.salt)


def shorten_salt(store: Store) -> None:
    store.of(Content, seq=store.single.seq, part="content").update(salt=os.urandom(31))


def empty_salt(store: Store) -> None:
    store.of(Content, seq=store.single.seq, part="content").update(salt=b"")


def drop_content(store: Store) -> None:
    store.of(Content, seq=store.single.seq, part="content").delete()


def drop_name(store: Store) -> None:
    store.of(Name, text="note").delete()


def add_content_of_a_part_that_was_not_written(store: Store) -> None:
    row = store.of(Content, seq=store.single.seq, part="content").get()
    Content.objects.create(namespace=row.namespace, seq=row.seq, item=row.item, part="raw", payload="1", salt=row.salt)


def add_content_of_no_item(store: Store) -> None:
    Content.objects.create(namespace_id=store.namespace, seq=2, item=77, part="raw", payload="1", salt=bytes(32))


def give_another_valid_time(store: Store) -> None:
    store.of(Record, id=store.single.id).update(valid_from="2020-01-01T00:00:00Z")


def give_another_class_of_source(store: Store) -> None:
    store.of(Record, id=store.single.id).update(source_class="first_hand")


def give_another_ancestry_digest(store: Store) -> None:
    store.of(Record, id=store.newer).update(ancestry_digest=os.urandom(32))


def swap_rows_of_two_items(store: Store) -> None:
    rows = store.of(Record, seq=store.batch[0].seq)
    for old, new in ((0, 90), (1, 0), (90, 1)):
        rows.filter(item=old).update(item=new)


def turn_an_edge_to_another_parent(store: Store) -> None:
    store.of(Edge, source=store.newer).update(target=store.batch[1].id)


def lose_a_part_of_an_item(store: Store) -> None:
    store.of(Item, seq=store.single.seq, item=0).update(parts=b"")


def drop_a_record(store: Store) -> None:
    store.of(Record, id=store.last.id).delete()


def drop_the_key_that_signed(store: Store) -> None:
    store.of(PublicKey).delete()


def drop_an_edge(store: Store) -> None:
    store.of(Edge, source=store.newer).delete()


def add_an_edge(store: Store) -> None:
    Edge.objects.create(
        namespace_id=store.namespace, seq=store.single.seq, item=50, source=store.last.id, relation="evolved_from",
        target=store.single.id, ordinal=0,
    )  # fmt: skip


def add_an_erasure(store: Store) -> None:
    Erasure.objects.create(
        namespace_id=store.namespace, seq=store.single.seq, item=50, target_seq=store.last.seq, target_item=0,
        target_part="raw", reason="request",
    )  # fmt: skip


def change_item_hash(store: Store) -> None:
    store.of(Item, seq=store.batch[0].seq, item=1).update(hash=os.urandom(32))


def change_item_commitment(store: Store) -> None:
    store.of(Item, seq=store.batch[0].seq, item=1).update(commitment=os.urandom(32))


def change_item_object(store: Store) -> None:
    store.of(Item, seq=store.batch[0].seq, item=1).update(object=uuid4())


def swap_items(store: Store) -> None:
    for old, new in ((0, 90), (1, 0), (90, 1)):
        run(
            "UPDATE memory_item SET item = %s WHERE namespace_id = %s AND seq = %s AND item = %s",
            new, store.namespace, store.batch[0].seq, old,
        )  # fmt: skip


def move_item_to_another_entry(store: Store) -> None:
    run(
        "UPDATE memory_item SET seq = %s, item = 1 WHERE namespace_id = %s AND seq = %s AND item = 2",
        store.last.seq, store.namespace, store.batch[0].seq,
    )  # fmt: skip


def drop_an_item(store: Store) -> None:
    store.of(Item, seq=store.batch[0].seq, item=2).delete()


def add_an_item(store: Store) -> None:
    row = store.of(Item, seq=store.batch[0].seq, item=2).get()
    Item.objects.create(
        namespace=row.namespace, seq=row.seq, item=3, kind=row.kind, object=row.object, parts=row.parts,
        commitment=row.commitment, hash=row.hash,
    )  # fmt: skip


def change_who_wrote(store: Store) -> None:
    store.of(Entry, seq=store.single.seq).update(agent=uuid4())


def change_when(store: Store) -> None:
    store.of(Entry, seq=store.single.seq).update(recorded_at="2020-01-01T00:00:00Z")


def change_what_was_done(store: Store) -> None:
    store.of(Entry, seq=store.single.seq).update(verb="evolve")


def change_leaf(store: Store) -> None:
    store.of(Entry, seq=store.single.seq).update(leaf=os.urandom(32))


def change_the_root_of_the_items(store: Store) -> None:
    store.of(Entry, seq=store.single.seq).update(items_root=os.urandom(32))


def change_a_leaf_node(store: Store) -> None:
    store.of(Node, level=0, index=4).update(hash=os.urandom(32))


def change_an_inner_node(store: Store) -> None:
    store.of(Node, level=2, index=1).update(hash=os.urandom(32))


def drop_a_node(store: Store) -> None:
    store.of(Node, level=1, index=0).delete()


# Edits of the log as a whole.


def swap_two_entries(store: Store) -> None:
    first, second = store.single.seq, store.batch[0].seq
    for old, new in ((first, 9000), (second, first), (9000, second)):
        run(
            "UPDATE memory_entry SET seq = %s WHERE namespace_id = %s AND seq = %s", new, store.namespace, old
        )  # fmt: skip


def remove(store: World, *, first: int, last: int) -> None:
    """Entries with all that belongs to them, from every table."""
    for model in GUARDED:
        if model is not Namespace:
            model._default_manager.filter(namespace=store.namespace, seq__gte=first, seq__lte=last).delete()


def remove_an_entry_from_the_middle(store: Store) -> None:
    remove(store, first=store.batch[0].seq, last=store.batch[0].seq)


def remove_the_row_of_an_entry(store: Store) -> None:
    store.of(Entry, seq=store.batch[0].seq).delete()


def remove_entries_after_a_gap_in_the_first_chunk(store: Store) -> None:
    remove(store, first=2, last=3)


def drop_the_tail_below_the_checkpoint(store: Store) -> None:
    """The checkpoint itself stays, as do nodes and head."""
    kept = [model for model in GUARDED if model not in (Namespace, Checkpoint)]
    for model in kept:
        store.of(model, seq__gt=store.early.seq).delete()


def drop_the_tail_and_hide_it(store: Store) -> None:
    drop_the_tail_below_the_checkpoint(store)
    shorten(store, size=store.early.seq)


def drop_the_last_entry(store: Store) -> None:
    """No checkpoint covers it yet; the stored tree still does."""
    remove(store, first=store.last.seq, last=store.last.seq)


def shorten(store: World, *, size: int) -> None:
    """Head and nodes as they were at that size."""
    last = Entry.objects.get(namespace=store.namespace, seq=size)
    Head.objects.filter(namespace=store.namespace).update(size=size, last_at=last.recorded_at)
    regrow(store.namespace)


def lengthen_the_head(store: Store) -> None:
    Head.objects.filter(namespace=store.namespace).update(size=F("size") + 3)


def regrow(namespace: int) -> None:
    """Make the stored tree anew from the leaves that stand."""
    Node.objects.filter(namespace=namespace).delete()
    leaves = [
        bytes(leaf) for leaf in Entry.objects.filter(namespace=namespace).order_by("seq").values_list("leaf", flat=True)
    ]
    nodes: dict[tuple[int, int], bytes] = {}
    for position, leaf in enumerate(leaves):
        for level, index, digest in merkle.completed_nodes(position, leaf, lambda *at: nodes[at]):
            nodes[level, index] = digest
    Node.objects.bulk_create(
        Node(namespace_id=namespace, level=level, index=index, hash=digest) for (level, index), digest in nodes.items()
    )


def rewrite(store: Store) -> None:
    """Another text in place of the first one, and everything above it computed anew, as an honest writer would."""
    item = store.of(Item, seq=store.single.seq, item=0).get()
    salt, payload = ids.new_salts(1)[0], canonical("what I would rather have said")
    store.of(Content, seq=item.seq, item=0, part="content").update(payload=payload.decode(), salt=salt)
    parts = drafts.unpack(item.parts) | {"content": commitment.part_commitment("content", salt, payload)}
    row = evidence_row(store.namespace, "record", item.seq, 0)
    assert row is not None
    digest = commitment.item_commitment(drafts.row_of(row), parts)
    ancestry = commitment.ancestry_digest(str(store.single.id), digest, [], 0)
    store.of(Record, id=store.single.id).update(ancestry_digest=ancestry)
    hashed = commitment.item_hash(0, item.kind, str(item.object), digest)
    store.of(Item, seq=item.seq, item=0).update(parts=drafts.pack(parts), commitment=digest, hash=hashed)
    hashes = store.of(Item, seq=item.seq).order_by("item").values_list("hash", flat=True)
    entry = store.of(Entry, seq=item.seq).get()
    entry.items_root = merkle.root([bytes(each) for each in hashes])
    leaf = commitment.entry_leaf(leaf_fields(entry, namespace=store.name))
    store.of(Entry, seq=item.seq).update(items_root=entry.items_root, leaf=leaf)
    regrow(store.namespace)


def put_note(store: Store, text: str) -> None:
    store.of(Checkpoint, seq=store.late.seq).update(note=text)


def edit_body_of_a_checkpoint(store: Store) -> None:
    put_note(store, store.late.note.replace(f"\n{store.late.seq}\n", f"\n{store.late.seq - 1}\n"))


def edit_signature_of_a_checkpoint(store: Store) -> None:
    signed = note.parse(store.late.note)
    line = signed.signatures[0]
    forged = note.Signature(line.name, line.key_id, line.signature[:-1] + bytes([line.signature[-1] ^ 1]))
    put_note(store, note.format_note(note.SignedNote(signed.checkpoint, (forged,))))


def edit_root_beside_a_checkpoint(store: Store) -> None:
    store.of(Checkpoint, seq=store.late.seq).update(root=os.urandom(32))


def replay_an_older_checkpoint(store: Store) -> None:
    put_note(store, store.early.note)


def put_no_checkpoint_in_its_place(store: Store) -> None:
    put_note(store, "nothing that was ever signed\n")


def put_the_checkpoint_of_another_namespace(store: Store) -> None:
    other = Store("elsewhere")
    put_note(store, other.late.note)


def foreign_note(store: Store) -> str:
    """Right in every word, signed by a key that this log has never published."""
    return note.format_note(signing.sign(note.parse(store.late.note).checkpoint, signing.generate()))


def sign_a_checkpoint_with_an_unknown_key(store: Store) -> None:
    put_note(store, foreign_note(store))


@dataclass(frozen=True, slots=True)
class Expected:
    """The code of an attack, and the function that finds it."""

    code: str
    check: tuple[object, str]


PART = (scanning, "_fault_of_part")
ITEM = (scanning, "_faults_of_item")
ITEMS = (verification, "faults_of_entry")
UNLISTED = (verification, "unlisted")
LEAF = (verification._Walk, "_leaf_fault")
GAP = (verification._Walk, "_gap_fault")
NODES = (verification, "_compare_nodes")
LENGTH = (verification, "_scan_length")
NOTES = (verification, "_checkpoint_fault")
DIGESTS = (verification, "_further")

ATTACKS: dict[Attack, Expected] = {
    change_payload: Expected("payload_mismatch", PART),
    change_summary: Expected("payload_mismatch", PART),
    respell_payload: Expected("payload_mismatch", PART),
    change_name: Expected("payload_mismatch", PART),
    swap_the_ids_of_two_names: Expected("row_mismatch", ITEM),
    change_note_of_withdrawal: Expected("payload_mismatch", PART),
    change_salt: Expected("payload_mismatch", PART),
    swap_payloads_of_two_items: Expected("payload_mismatch", PART),
    shorten_salt: Expected("salt_invalid", PART),
    empty_salt: Expected("salt_invalid", PART),
    drop_content: Expected("content_missing", PART),
    drop_name: Expected("content_missing", PART),
    add_content_of_a_part_that_was_not_written: Expected("content_unlisted", ITEM),
    add_content_of_no_item: Expected("content_unlisted", UNLISTED),
    give_another_valid_time: Expected("row_mismatch", ITEM),
    give_another_class_of_source: Expected("row_mismatch", ITEM),
    give_another_ancestry_digest: Expected("row_mismatch", DIGESTS),
    swap_rows_of_two_items: Expected("row_mismatch", ITEM),
    turn_an_edge_to_another_parent: Expected("row_mismatch", ITEM),
    lose_a_part_of_an_item: Expected("row_mismatch", ITEM),
    drop_a_record: Expected("row_missing", ITEM),
    drop_the_key_that_signed: Expected("row_missing", ITEM),
    drop_an_edge: Expected("row_missing", ITEM),
    add_an_edge: Expected("row_unlisted", UNLISTED),
    add_an_erasure: Expected("row_unlisted", UNLISTED),
    change_item_hash: Expected("items_mismatch", ITEMS),
    change_item_commitment: Expected("items_mismatch", ITEMS),
    change_item_object: Expected("items_mismatch", ITEMS),
    swap_items: Expected("items_mismatch", ITEMS),
    move_item_to_another_entry: Expected("items_mismatch", ITEMS),
    drop_an_item: Expected("items_mismatch", ITEMS),
    add_an_item: Expected("items_mismatch", ITEMS),
    change_who_wrote: Expected("leaf_mismatch", LEAF),
    change_when: Expected("leaf_mismatch", LEAF),
    change_what_was_done: Expected("leaf_mismatch", LEAF),
    change_leaf: Expected("leaf_mismatch", LEAF),
    change_the_root_of_the_items: Expected("leaf_mismatch", LEAF),
    change_a_leaf_node: Expected("node_mismatch", NODES),
    change_an_inner_node: Expected("node_mismatch", NODES),
    drop_a_node: Expected("node_mismatch", NODES),
    swap_two_entries: Expected("order_mismatch", LEAF),
    remove_an_entry_from_the_middle: Expected("sequence_gap", GAP),
    remove_the_row_of_an_entry: Expected("sequence_gap", GAP),
    remove_entries_after_a_gap_in_the_first_chunk: Expected("sequence_gap", GAP),
    drop_the_tail_below_the_checkpoint: Expected("log_truncated", LENGTH),
    drop_the_tail_and_hide_it: Expected("log_truncated", LENGTH),
    drop_the_last_entry: Expected("log_truncated", LENGTH),
    lengthen_the_head: Expected("log_truncated", LENGTH),
    rewrite: Expected("checkpoint_inconsistent", NOTES),
    edit_body_of_a_checkpoint: Expected("signature_invalid", NOTES),
    edit_signature_of_a_checkpoint: Expected("signature_invalid", NOTES),
    edit_root_beside_a_checkpoint: Expected("signature_invalid", NOTES),
    replay_an_older_checkpoint: Expected("signature_invalid", NOTES),
    put_no_checkpoint_in_its_place: Expected("signature_invalid", NOTES),
    put_the_checkpoint_of_another_namespace: Expected("origin_mismatch", NOTES),
    sign_a_checkpoint_with_an_unknown_key: Expected("key_unknown", NOTES),
}


def name_of(attack: Attack) -> str:
    return attack.__name__


@pytest.fixture
def store() -> Store:
    return Store()


def test_a_store_that_nobody_touched_has_no_fault(store: Store) -> None:
    found = scan(store.namespace, kept=store.early.note)
    assert found.faults == []
    assert (found.content, found.inclusion, found.consistency) == ("ok", "ok", "ok")
    assert (found.n_entries, found.n_checkpoints) == (store.size, 2)
    assert found.n_items == store.of(Item).count()


@pytest.mark.parametrize("attack", ATTACKS, ids=name_of)
def test_an_attack_is_found_under_its_own_code_alone_and_not_without_its_check(
    attack: Attack, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert codes(attacked(store, attack)) == {ATTACKS[attack].code}
    assert scan(store.namespace).is_clean
    # What slices above add may know a second way to notice; it is silent too.
    for holder, name in (ATTACKS[attack].check, DIGESTS):
        monkeypatch.setattr(holder, name, silent(name))
    assert ATTACKS[attack].code not in codes(attacked(store, attack))


def silent(name: str) -> Callable[..., object]:
    """A check that finds nothing: None for one fault, no fault for many."""
    finds_many = name in ("_faults_of_item", "faults_of_entry", "unlisted", "_further")
    return lambda *_args, **_options: iter(()) if finds_many else None


def test_every_code_of_the_scan_but_those_about_a_kept_checkpoint_has_an_attack() -> None:
    documented = (verification.__doc__ or "").split("Codes:")[1].replace("\n", " ").strip(" .")
    named = {code.strip() for code in documented.split(",")}
    assert {expected.code for expected in ATTACKS.values()} == named - {"checkpoint_rolled_back"}


# Every column of every table.

# What no commitment covers, and why.
UNCOVERED = {
    ("Namespace", "id"): "the database's own number",
    ("Namespace", "secret"): "a key; whoever knows it needs no access to rows",
    ("Namespace", "created_at"): "the instant of the first entry, which its leaf covers",
    ("Entry", "key"): "serves look-ups; the fingerprint beside it is covered",
    ("Checkpoint", "signed_at"): "a remark; the note says nothing of time",
}
# An edit of these says something false about other rows too.
TELLING = {
    "Erasure": {"row_mismatch", "content_missing"},
    "Namespace.name": {"leaf_mismatch", "origin_mismatch"},
    "Namespace.uid": {"row_mismatch", "origin_mismatch"},
    "Checkpoint": {"signature_invalid"},
    "Entry": {"leaf_mismatch"},
    "Item": {"items_mismatch", "row_mismatch"},
    "Content": {"payload_mismatch"},
    "Name.id": {"row_mismatch"},
    "Name": {"payload_mismatch", "content_missing"},
}
ADDRESS = {"namespace_id", "seq", "item", "part"}


FILLED = [model for model in GUARDED if model not in NO_OPERATION_YET]


@pytest.mark.parametrize("model", FILLED, ids=lambda model: model.__name__)
def test_no_column_of_a_table_can_be_changed_unnoticed(model: type[models.Model]) -> None:
    world = World()
    populate(world)
    remove_bare_rows(world)
    where = {"pk": world.namespace} if model is Namespace else {"namespace": world.namespace}
    row = model._default_manager.filter(**where).order_by("pk").last()
    assert row is not None
    for field in model._meta.concrete_fields:
        if field.attname in ADDRESS or (model.__name__, field.attname) in UNCOVERED:
            continue
        value = another_value(field, getattr(row, field.attname))
        if value == getattr(row, field.attname):
            continue

        def attack(_: World, field: models.Field = field, value: object = value) -> None:
            model._default_manager.filter(pk=row.pk).update(**{field.attname: value})

        allowed = TELLING.get(f"{model.__name__}.{field.attname}") or TELLING.get(model.__name__) or {"row_mismatch"}
        found = codes(attacked(world, attack))
        assert found, f"{field.attname} was changed unnoticed"
        assert found <= allowed, field.attname


def remove_bare_rows(world: World) -> None:
    """Rows that no operation wrote would be found as such."""
    with lifted_triggers(connection):
        for model in GUARDED:
            if model in NO_OPERATION_YET:
                model._default_manager.filter(namespace=world.namespace, item=800).delete()
    assert scan(world.namespace).is_clean


# The verdicts are kept apart.


def test_changed_text_leaves_the_verdict_on_the_log_as_it_was(store: Store) -> None:
    found = attacked(store, change_payload, kept=store.early.note)
    assert (found.content, found.inclusion, found.consistency) == ("failed", "ok", "ok")


def test_a_changed_entry_leaves_the_verdict_on_text_as_it_was(store: Store) -> None:
    found = attacked(store, change_who_wrote)
    assert (found.content, found.inclusion, found.consistency) == ("ok", "failed", "not_checked")


def test_an_erased_text_is_neither_ok_nor_failed(store: Store) -> None:
    store.erase(store.single.id)
    found = scan(store.namespace)
    assert (found.content, found.n_erased, found.faults) == ("erased", 2, [])


def test_a_log_without_a_checkpoint_is_not_said_to_be_included_in_one() -> None:
    world = World()
    world.save("a note")
    assert scan(world.namespace).inclusion == "not_checked"


def test_a_fault_says_where_and_shows_both_sides(store: Store) -> None:
    (fault,) = attacked(store, change_payload).faults
    assert (fault.seq, fault.item, fault.part) == (*store.address(store.single.id), "content")
    assert len(fault.expected) == len(fault.got) == 64
    assert fault.expected != fault.got


# What only a reader's own checkpoint shows.


def roll_back(store: Store) -> None:
    """The whole store as it was at the early checkpoint, later checkpoints too."""
    size = store.early.seq
    remove(store, first=size + 1, last=store.size)
    shorten(store, size=size)


def rewrite_and_sign_again(store: Store) -> None:
    """By somebody with the node's own key, who replaces every checkpoint."""
    rewrite(store)
    store.of(Checkpoint).delete()
    checkpoint(store.namespace)


KEPT: dict[Attack, str] = {roll_back: "checkpoint_rolled_back", rewrite_and_sign_again: "checkpoint_inconsistent"}


@pytest.mark.parametrize("attack", KEPT, ids=name_of)
def test_history_replaced_as_a_whole_shows_against_a_kept_checkpoint(attack: Attack, store: Store) -> None:
    found = attacked(store, attack, kept=store.late.note)
    assert codes(found) == {KEPT[attack]}
    assert found.consistency == "failed"


@pytest.mark.parametrize("attack", KEPT, ids=name_of)
def test_history_replaced_as_a_whole_shows_to_nobody_else(attack: Attack, store: Store) -> None:
    """The limit that the product states: without a witness the host's master can rewrite everything."""
    assert attacked(store, attack).is_clean


@pytest.mark.parametrize("attack", KEPT, ids=name_of)
def test_without_the_check_of_the_kept_checkpoint_nobody_would_notice(
    attack: Attack, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "_scan_kept", lambda *_: None)
    assert attacked(store, attack, kept=store.late.note).is_clean


def of_another_namespace(store: Store) -> str:
    return Store("elsewhere").late.note


def with_another_root(store: Store) -> str:
    signed = note.parse(store.late.note)
    forged = note.Checkpoint(signed.checkpoint.origin, signed.checkpoint.size, os.urandom(32))
    return note.format_note(note.SignedNote(forged, signed.signatures))


PRESENTED: dict[Callable[[Store], str], str] = {
    of_another_namespace: "origin_mismatch",
    with_another_root: "signature_invalid",
    foreign_note: "key_unknown",
}


@pytest.mark.parametrize("made", PRESENTED, ids=name_of)
def test_a_kept_checkpoint_that_is_none_of_this_log_is_refused_and_taints_nothing_else(
    made: Callable[[Store], str], store: Store
) -> None:
    found = scan(store.namespace, kept=made(store))
    assert codes(found) == {PRESENTED[made]}
    assert (found.content, found.inclusion, found.consistency) == ("ok", "ok", "failed")


def test_a_kept_text_that_is_no_checkpoint_is_said_to_be_none(store: Store) -> None:
    with pytest.raises(note.NoteError):
        scan(store.namespace, kept="what I remember")


def test_a_signer_without_the_key_signs_nothing(store: Store, settings: object) -> None:
    assert signing_key() is not None
    assert bytes(store.of(PublicKey).get().key) == signing_key().public_bytes
