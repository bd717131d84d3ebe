"""Erasure: content and salt go, every digest and proof stays.

Locks: the namespace head. Appends: `erase`, one Erasure row for each part that goes. No row of evidence is touched.

Order under the lock: what is named and what must go with it, names that nothing else uses, projections and every other
place that holds copies, the entry, then the content. The first Erasure row carries the wording of the reason (`note`)
and what was touched where (`report`): counts and names of places, never a text.

Source: laws of the store, deletion with shape kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memory.base import gate, ids, projections, sql
from memory.base.actor import Actor
from memory.base.errors import Conflict, IdempotencyMismatch, Invalid
from memory.base.models import ContentRef
from memory.ledger.drafts import Draft
from memory.ledger.models import REASONS, Entry, Erasure, Item, Namespace
from memory.ledger.operations.appending import answered_before, key_digest, opened, retried
from memory.ledger.operations.scrubbing import empty_log_after_commit
from memory.ledger.queries import asof
from memory.ledger.queries.addressed import TARGET, Address, erased_parts, parts_of
from memory.ledger.queries.reaching import going, with_unused_names
from memory.ledger.queries.subjects import Naming, naming_items, subject_of

Sweep = Callable[[int, Sequence[ContentRef]], int]
_sweeps: dict[str, Sweep] = {}


@dataclass(frozen=True, slots=True)
class Erased:
    """`seq` of the erasing entry; `refs` what it erased now (empty when all of it was gone before)."""

    seq: int
    refs: tuple[ContentRef, ...]
    replayed: bool = False


def sweep_by(place: str, function: Sweep) -> None:
    """Register a place beside content and projections that may hold copies: staged rows, uploads, failed tasks.

    The function drops what may hold a copy, before the entry is written, and answers how many things that were.
    """
    _sweeps[place] = function


@retried
def erase(by: Actor, *, items: Sequence[Address], reason: str, note: str = "", quoting: bool = False) -> Erased:
    """Erase all content of the items (seq, item) and of what must go with them; erasing twice is one entry.

    quoting : also erase what repeats a line of them word for word.

    Raises Forbidden (owners only), OnHold, NotFound (no such item), Invalid (reason, no item), Conflict (no text).
    """
    # Before anything is read: whoever may not erase learns nothing of what stands or is gone.
    gate.passes(by, gate.ERASE)
    require_reason(reason)
    if not items:
        raise Invalid.at("items", expected="at least one item to erase")
    request = _request(items, reason=reason, note=note, quoting=quoting)
    if (first := answered_before(by, verb="erase", need=gate.ERASE, request=request)) is not None:
        return answer_of(by.namespace, first)
    return _erase(by, items, reason=reason, note=note, quoting=quoting, request=request)


@retried
def erase_subject(by: Actor, *, subject: str, reason: str, note: str = "", quoting: bool = False) -> Erased:
    """Erase everything whose text names the subject as a word or phrase, and the names that do.

    The subject is no part of the stored fingerprint, which would let its holder test a guess of it: a request repeated
    under its key is the first one where nothing names the subject any more, and another one where something does.
    Raises as `erase`, and Conflict (nothing names it), IdempotencyMismatch.
    """
    gate.passes(by, gate.ERASE)
    require_reason(reason)
    wanted, head = subject_of(subject), asof.now(by.namespace).seq
    items = _whole(naming_items(by.namespace, wanted))
    earlier = _under_key(by)
    if earlier is not None and (items or earlier.verb != "erase"):
        raise IdempotencyMismatch(f"This Idempotency-Key was used by entry {earlier.seq}.", seq=earlier.seq)
    if earlier is not None:
        return answer_of(by.namespace, earlier.seq)
    if not items:
        raise Conflict("Nothing here names this subject.")
    request = _request(items, reason=reason, note=note, quoting=quoting)

    def written_since() -> list[Address]:
        return _whole(naming_items(by.namespace, wanted, after=head))

    return _erase(by, items, reason=reason, note=note, quoting=quoting, request=request, also=written_since)


def _whole(found: Sequence[Naming]) -> list[Address]:
    return [(naming.seq, naming.item) for naming in found if naming.is_whole]


def answer_of(namespace: int, seq: int) -> Erased:
    """The answer that the erasing entry gave."""
    refs = Erasure.objects.filter(namespace=namespace, seq=seq).order_by("item").values_list(*TARGET)
    return Erased(seq, tuple(refs), replayed=True)


def require_reason(reason: str) -> None:
    """Raises Invalid."""
    if reason not in REASONS:
        raise Invalid.at("reason", expected=" or ".join(REASONS), got=reason)


def _under_key(by: Actor) -> Entry | None:
    if not by.idempotency_key:
        return None
    namespace = Namespace.objects.get(pk=by.namespace)
    return Entry.objects.filter(namespace=namespace, key=key_digest(namespace, by)).first()


def _request(items: Sequence[Address], *, reason: str, note: str, quoting: bool) -> dict[str, Any]:
    request = {"items": [list(item) for item in items], "reason": reason, "note": note}
    return {**request, "quoting": True} if quoting else request


def _erase(
    by: Actor, items: Sequence[Address], *, reason: str, note: str, quoting: bool, request: Any,
    also: Callable[[], Sequence[Address]] = tuple,
) -> Erased:  # fmt: skip
    """also : under the lock, what has been written since the items were found."""
    if (before := _all_gone(by.namespace, going(by.namespace, items, quoting=quoting))) is not None:
        return Erased(before, ())
    with opened(by, verb="erase", need=gate.ERASE, request=request) as entry:
        if entry.replayed_seq is not None:
            return answer_of(by.namespace, entry.replayed_seq)
        # Asked again: what else must go may have been written, or erased, before the lock was taken.
        found = going(by.namespace, [*items, *also()], quoting=quoting)
        if (before := _all_gone(by.namespace, found)) is not None:
            entry.void()
            return Erased(before, ())
        found = with_unused_names(by.namespace, found)
        gone = erased_parts(by.namespace, [(item.seq, item.item) for item in found])
        refs = tuple(ref for ref in parts_of(found) if ref not in gone)
        report = forget(by.namespace, refs, seq=entry.seq)
        entry.add(*_drafts(refs, reason=reason, note=note, report=report))
        entry.then(lambda: delete(by.namespace, refs))
        entry.then(empty_log_after_commit)
    return Erased(entry.seq, refs)


def _all_gone(namespace: int, items: Sequence[Item]) -> int | None:
    """The newest entry that erased any of the items, where nothing of them is left.   Raises Conflict (no text)."""
    wanted = set(parts_of(items))
    if not wanted:
        raise Conflict("These items hold no text: there is nothing to erase.")
    gone = erased_parts(namespace, [(item.seq, item.item) for item in items])
    return max(gone.values()) if gone.keys() >= wanted else None


def forget(namespace: int, refs: Sequence[ContentRef], *, seq: int) -> dict[str, Any]:
    """Let every derived table and every other place forget; answers what was touched, for the receipt."""
    derived = {each.name: each.forget(namespace, refs, seq=seq) for each in projections.registered()}
    swept = {place: function(namespace, refs) for place, function in _sweeps.items()}
    n_names = sum(part == "name" for _, _, part in refs)
    return {
        "content": len(refs) - n_names, "names": n_names, "salts": len(refs), "projections": derived, "swept": swept,
    }  # fmt: skip


def _drafts(refs: Sequence[ContentRef], *, reason: str, note: str, report: dict[str, Any]) -> list[Draft]:
    drafts = [named(ref, reason=reason) for ref in refs]
    drafts[0].parts |= {"report": report, **({"note": note} if note else {})}
    return drafts


def named(ref: ContentRef, *, reason: str) -> Draft:
    """The row that names one part as erased."""
    row = {**dict(zip(TARGET, ref, strict=True)), "reason": reason}
    return Draft("erasure", ids.new_id(), Erasure, row)


def delete(namespace: int, refs: Sequence[ContentRef]) -> None:
    """Delete the content and the names, which Erasure rows of this transaction name."""
    contents = [(namespace, *ref) for ref in refs if ref[2] != "name"]
    names = [(namespace, seq, item) for seq, item, part in refs if part == "name"]
    where = "namespace_id = %s AND seq = %s AND item = %s"
    sql.run_many(f"DELETE FROM memory_content WHERE {where} AND part = %s", contents)
    sql.run_many(f"DELETE FROM memory_name WHERE {where}", names)
