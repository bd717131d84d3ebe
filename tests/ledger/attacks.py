"""Attacks on a stored log, each by whoever can write to the tables: one edit of a row, or of the log as a whole.

The triggers must be lifted.
"""

from __future__ import annotations

import os
from uuid import UUID, uuid4

from django.db import connection
from django.db.models import F

from memory.ledger.kernel import note, signing
from memory.ledger.models import Checkpoint, Content, Entry, Erasure, Head, Item, Name, Namespace, Node, PublicKey
from memory.lineage.models import Edge
from memory.records.models import Record
from tests.every_table import GUARDED
from tests.ledger.store import Store, remove, shorten


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


def put_erased_content_back(store: Store) -> None:
    row = store.of(Content, seq=store.single.seq, part="content").get()
    store.erase(store.single.id)
    Content.objects.create(
        namespace=row.namespace, seq=row.seq, item=row.item, part=row.part, payload=row.payload, salt=row.salt
    )


def add_a_name_of_no_item(store: Store) -> None:
    Name.objects.create(namespace_id=store.namespace, seq=2, item=77, id=uuid4(), text="nobody", salt=bytes(32))


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


def lengthen_the_head(store: Store) -> None:
    Head.objects.filter(namespace=store.namespace).update(size=F("size") + 3)


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
    other = Checkpoint.objects.exclude(namespace=store.namespace).order_by("seq").last()
    assert other is not None
    put_note(store, other.note)


def foreign_note(store: Store) -> str:
    """Right in every word, signed by a key that this log has never published."""
    return note.format_note(signing.sign(note.parse(store.late.note).checkpoint, signing.generate()))


def sign_a_checkpoint_with_an_unknown_key(store: Store) -> None:
    put_note(store, foreign_note(store))
