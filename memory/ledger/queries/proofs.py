"""Proofs of single rows, for a third party: all that the stand-alone verifier needs, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.base.errors import Invalid, NotFound
from memory.base.models import Evidence
from memory.ledger.drafts import row_of, unpack
from memory.ledger.kernel import note
from memory.ledger.models import Checkpoint, Content, Entry, Erasure, Item, Name, Namespace, PublicKey
from memory.ledger.queries import trees
from memory.ledger.queries.leaves import leaf_fields


@dataclass(frozen=True, slots=True)
class Consistency:
    """That the log of `second` entries begins with that of `first`."""

    first: int
    second: int
    first_root: bytes
    second_root: bytes
    path: tuple[bytes, ...]


def evidence_models() -> dict[str, type[Evidence]]:
    """{item kind: model} of all evidence that stands as items."""
    return {model.item_kind: model for model in Evidence.__subclasses__() if model.item_kind}


def evidence_row(namespace: int, kind: str, seq: int, item: int) -> Evidence | None:
    """The row that an item commits to; None for a name or a row that is gone."""
    model = evidence_models().get(kind)
    if model is None:
        return None
    if model is Namespace:
        return Namespace.objects.filter(pk=namespace).first()
    return model._default_manager.filter(namespace=namespace, seq=seq, item=item).first()


def covering_checkpoint(namespace: int, *, seq: int, size: int | None = None) -> Checkpoint | None:
    """The newest signed checkpoint that covers the entry (or the one of that size)."""
    rows = Checkpoint.objects.filter(namespace=namespace, seq__gte=seq)
    if size is not None:
        rows = rows.filter(seq=size)
    return rows.order_by("-seq").first()


def proof(at: AsOf, *, seq: int, item: int = 0, size: int | None = None, kept: int | None = None) -> dict[str, Any]:
    """The proof file of one item, in the newest checkpoint that covers it or in the tree of `size` entries.

    kept : size of a checkpoint that the reader has; the path between the two logs then goes along.
    Raises NotFound (no such item), Invalid (a size that does not cover it, kept beyond the head).
    """
    store = Namespace.objects.get(pk=at.namespace)
    entry = Entry.objects.filter(namespace=store, seq=seq, seq__lte=at.seq).first()
    row = Item.objects.filter(namespace=store, seq=seq, item=item).first()
    if entry is None or row is None:
        raise NotFound(f"There is no item {item} of entry {seq}.")
    if size is not None and not seq <= size <= at.head:
        raise Invalid.at("size", expected=f"{seq} to {at.head}", got=size)
    signed = covering_checkpoint(at.namespace, seq=seq, size=size)
    covered = size or (signed.seq if signed is not None else at.head)
    evidence = evidence_row(at.namespace, row.kind, seq, item)
    parts = unpack(row.parts)
    beside = {} if kept is None else {"consistency": _path_between(at, kept, covered)}
    return {
        "format": "palimpsest-proof", "version": 1, "namespace": store.name, "origin": store.origin, "seq": seq,
        "item": item, "entry": leaf_fields(entry, namespace=store.name), "leaf": bytes(entry.leaf).hex(),
        "n_items": entry.n_items,
        "item_body": {
            "item": item, "kind": row.kind, "object": str(row.object), "commitment": bytes(row.commitment).hex(),
        },
        "row": row_of(evidence) if evidence is not None else {},
        "parts": {name: digest.hex() for name, digest in parts.items()},
        "contents": _contents(at.namespace, seq, item, list(parts)),
        "item_path": [digest.hex() for digest in trees.item_path(at.namespace, seq=seq, item=item)],
        "entry_path": [digest.hex() for digest in trees.inclusion_path(at.namespace, seq=seq, size=covered)],
        "size": covered, "checkpoint": signed.note if signed is not None else "",
        "public_key": _key_text(store, signed), **beside,
    }  # fmt: skip


def _path_between(at: AsOf, kept: int, size: int) -> dict[str, Any]:
    if not 1 <= kept <= at.head:
        raise Invalid.at("kept", expected=f"the size of a checkpoint of this log, 1 to {at.head}", got=kept)
    first, second = sorted((kept, size))
    path = trees.consistency_path(at.namespace, first=first, second=second)
    return {"first": first, "second": second, "path": [digest.hex() for digest in path]}


def _contents(namespace: int, seq: int, item: int, parts: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in Content.objects.filter(namespace=namespace, seq=seq, item=item):
        found[row.part] = {"payload": strict_loads(row.payload), "salt": bytes(row.salt).hex()}
    for name in Name.objects.filter(namespace=namespace, seq=seq, item=item):
        found["name"] = {"payload": name.text, "salt": bytes(name.salt).hex()}
    for gone in Erasure.objects.filter(namespace=namespace, target_seq=seq, target_item=item):
        found[gone.target_part] = {"erased_by": gone.seq}
    return {part: found[part] for part in parts if part in found}


def trusted_keys(store: Namespace) -> list[note.VerificationKey]:
    """Every key that has been published in the namespace."""
    rows = PublicKey.objects.filter(namespace=store).order_by("seq")
    return [note.VerificationKey(store.origin, bytes(row.key)) for row in rows]


def _key_text(store: Namespace, signed: Checkpoint | None) -> str:
    if signed is None:
        return ""
    lines = note.parse(signed.note).signatures
    for key in trusted_keys(store):
        if any(line.key_id == key.key_id for line in lines):
            return str(key)
    return ""


def consistency(at: AsOf, *, first: int, second: int) -> Consistency:
    """The proof between two sizes of the log. Raises Invalid."""
    if not 1 <= first <= second <= at.head:
        raise Invalid.at("first", expected=f"1 <= first <= second <= {at.head}", got=f"{first}, {second}")
    path = trees.consistency_path(at.namespace, first=first, second=second)
    roots = (trees.root(at.namespace, first), trees.root(at.namespace, second))
    return Consistency(first, second, *roots, tuple(path))
