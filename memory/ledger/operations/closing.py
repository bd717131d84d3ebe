"""The end of a namespace: everything that it holds is erased, and it takes no more writes, by one entry.

Locks: the namespace head. Appends: `close_namespace`, the Closing row, then one Erasure row for each part that stood.

- What stays: every row of evidence, so the length and shape of the log, and every digest, proof and checkpoint.
- What goes: every text, value, note and name, those of settings and of earlier erasures too; the Closing row carries
  the wording of the reason and the counts, which alone are left.
- It belongs to no run and names no host: their texts would be new ones.
- Afterwards people and agents are refused; the host still writes what it checked there and what it handed out.

Source: laws of the store, deletion with shape kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memory.base import gate, sql
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.base.models import ContentRef
from memory.ledger.drafts import Draft
from memory.ledger.models import Closing, Erasure, Head, Item, Namespace
from memory.ledger.operations import previews
from memory.ledger.operations.appending import answered_before, opened, retried
from memory.ledger.operations.erasing import Erased, answer_of, delete, forget, named, require_reason
from memory.ledger.operations.scrubbing import empty_log_after_commit
from memory.ledger.queries import asof, radius
from memory.ledger.queries.addressed import TARGET, items_at, parts_of
from memory.ledger.queries.closed import closed_seq
from memory.ledger.queries.radius import Affected, Part

VERB = "close_namespace"


PARTS_TOLD = 1_000


@dataclass(frozen=True, slots=True)
class Closed:
    """What a closing has erased: its first PARTS_TOLD parts, the items of each kind, and how many parts in all."""

    seq: int
    parts: tuple[Part, ...]
    by_kind: Mapping[str, int]
    n_parts: int
    n_gone_before: int
    exports: tuple[Affected, ...]


@dataclass(frozen=True, slots=True)
class ClosingPreview:
    """What closing would erase at `at`: how many items of each kind still hold text, and how many parts they have.

    exports : what left the house and may hold it.   refusal, hold : as of a preview of an erasure.   closed_seq : the
    entry that has closed it already.
    """

    at: AsOf
    by_kind: Mapping[str, int]
    n_parts: int
    n_gone_before: int
    exports: tuple[Affected, ...]
    refusal: str | None
    closed_seq: int | None
    hold: Mapping[str, Any] | None = field(default=None)


def closing_preview(by: Actor) -> ClosingPreview:
    """What closing the namespace would erase. Nothing is written or locked."""
    at = asof.now(by.namespace)
    kinds = sql.fetch(
        "SELECT i.kind, count(*), sum(c.n) FROM (SELECT seq, item, count(*) AS n FROM memory_content"
        " WHERE namespace_id = %s GROUP BY seq, item UNION ALL SELECT seq, item, 1 FROM memory_name"
        " WHERE namespace_id = %s) c JOIN memory_item i ON i.namespace_id = %s AND i.seq = c.seq AND i.item = c.item"
        " GROUP BY i.kind ORDER BY i.kind",
        [by.namespace] * 3,
    )
    n_gone = Erasure.objects.filter(namespace=by.namespace).count()
    refusal, hold = previews.refusal(by)
    return ClosingPreview(
        at, {kind: n_items for kind, n_items, _ in kinds}, int(sum(n_parts for _, _, n_parts in kinds)), n_gone,
        radius.left_the_house(at), refusal, at.closed_seq, hold,
    )  # fmt: skip


@retried
def close_namespace(by: Actor, *, confirm: str, reason: str, note: str = "") -> Erased:
    """Erase everything and close the namespace; closing twice is one entry.

    confirm : the name of the namespace, word for word.
    Raises Forbidden (owners only), OnHold, Invalid (the name, the reason), IdempotencyMismatch.
    """
    gate.passes(by, gate.ERASE)
    require_reason(reason)
    name = Namespace.objects.values_list("name", flat=True).get(pk=by.namespace)
    if confirm != name:
        raise Invalid.at("confirm", expected=f"the name of the namespace, {name}", got=confirm)
    request = {"namespace": name, "reason": reason, "note": note}
    first = answered_before(by, verb=VERB, need=gate.ERASE, request=request) or closed_seq(by.namespace)
    if first is not None:
        return answer_of(by.namespace, first)
    plain = replace(by, run=None, host="", on_behalf_of="")
    with opened(plain, verb=VERB, need=gate.ERASE, request=request) as entry:
        if entry.replayed_seq is not None:
            return answer_of(by.namespace, entry.replayed_seq)
        refs = _standing(by.namespace)
        told = {"report": forget(by.namespace, refs, seq=entry.seq), **({"note": note} if note else {})}
        entry.add(Draft("closing", entry.namespace.uid, Closing, {"reason": reason}, told))
        entry.add(*(named(ref, reason=reason) for ref in refs))
        entry.then(lambda: delete(by.namespace, refs))
        entry.then(lambda: _mark(by.namespace, entry.seq))
        entry.then(empty_log_after_commit)
    return Erased(entry.seq, refs)


def closed(namespace: int, *, seq: int) -> Closed:
    """What the closing entry has erased."""
    rows = Erasure.objects.filter(namespace=namespace, seq=seq).order_by("item")
    first = items_at(namespace, [(at, item) for at, item, _ in rows.values_list(*TARGET)[:PARTS_TOLD]])
    told = [part for part in radius.parts(namespace, items=first) if part.erased_by == seq]
    kinds = sql.fetch(
        "SELECT i.kind, count(*) FROM memory_item i WHERE i.namespace_id = %s AND EXISTS"
        " (SELECT 1 FROM memory_erasure e WHERE e.namespace_id = i.namespace_id AND e.seq = %s"
        " AND e.target_seq = i.seq AND e.target_item = i.item)"
        " GROUP BY i.kind ORDER BY i.kind",
        [namespace, seq],
    )
    return Closed(
        seq, tuple(told[:PARTS_TOLD]), dict(kinds), rows.count(),
        Erasure.objects.filter(namespace=namespace, seq__lt=seq).count(),
        radius.left_the_house(replace(asof.now(namespace), seq=seq)),
    )  # fmt: skip


def _standing(namespace: int) -> tuple[ContentRef, ...]:
    """Every part of every item that is not erased, in the order of the ledger."""
    gone = set(Erasure.objects.filter(namespace=namespace).values_list(*TARGET))
    items = Item.objects.filter(namespace=namespace).order_by("seq", "item").only("seq", "item", "parts")
    return tuple(ref for ref in parts_of(items.iterator()) if ref not in gone)


def _mark(namespace: int, seq: int) -> None:
    Head.objects.filter(namespace=namespace).update(closed_seq=seq)
