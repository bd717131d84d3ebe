"""How an entry is written: the one way in which rows of evidence come to be.

Locks: the namespace's head row (SQLite: the writer lock that IMMEDIATE takes).
Order under the lock: gate, idempotency, the operation's own checks, one clock reading, rows, leaf, nodes, head.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from memory.base import clock, gate, ids, sql
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.canonical import canonical
from memory.base.errors import Conflict, Erased, Forbidden, IdempotencyMismatch, Raced, Unavailable
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.kernel import commitment, merkle
from memory.ledger.models import Content, Entry, Erasure, Head, Item, Name, Namespace, Node
from memory.ledger.queries.closed import closed
from memory.ledger.queries.contents import name_ids
from memory.ledger.queries.leaves import leaf_fields

ATTEMPTS = 5
# What the host still writes where a namespace is closed: what it checked, what left the house, who may read the log,
# and the erasure of what these have said.
AFTER_CLOSING = frozenset({"admit_member", "erase", "export", "publish_key", "record_check"})

Companion = Callable[["OpenEntry"], None]
_companions: list[Companion] = []


def accompany(companion: Companion) -> None:
    """Register what every entry takes along (the run that it belongs to)."""
    if companion not in _companions:
        _companions.append(companion)


def retried[**P, R](operation: Callable[P, R]) -> Callable[P, R]:
    """Start the operation again when what it read before the lock had changed when it got it."""

    @wraps(operation)
    def attempt(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(ATTEMPTS):
            try:
                return operation(*args, **kwargs)
            except Raced:
                continue
        raise Unavailable("The store is busy: what this write rests on kept changing. Try again.")

    return attempt


@dataclass(slots=True)
class OpenEntry:
    """An entry being written, under the lock."""

    by: Actor
    verb: str
    namespace: Namespace
    seq: int
    recorded_at: datetime
    run: UUID | None = None
    replayed_seq: int | None = None
    drafts: list[Draft] = field(default_factory=list)
    names: dict[str, UUID] = field(default_factory=dict)
    after: list[Callable[[], None]] = field(default_factory=list)
    is_void: bool = False

    @property
    def is_replay(self) -> bool:
        return self.replayed_seq is not None

    @property
    def answer(self) -> Appended:
        """This entry, or the one that answered the same request before."""
        return Appended(self.seq if self.replayed_seq is None else self.replayed_seq, self.is_replay)

    def add(self, *drafts: Draft) -> int:
        """Append items; answers the index of the first."""
        first = len(self.drafts)
        self.drafts.extend(drafts)
        return first

    def void(self) -> None:
        """Write nothing after all: everything that was asked stands already."""
        self.is_void = True

    def then(self, project: Callable[[], None]) -> None:
        """Run after the rows stand, in the same transaction: projections."""
        self.after.append(project)


class NameBook:
    """Names of one operation: read before the lock, new ones minted, checked again under it.

    `also` are names that the entry itself will need; they are looked up with the first others. `read_at` is the length
    of the log when the first known name was read: while the log has not grown, no name can have been erased.
    """

    def __init__(self, namespace: int, *, also: Sequence[str] = ()) -> None:
        self.namespace = namespace
        self.also = tuple(also)
        self.needed = frozenset(also)
        self.known: dict[str, UUID] = {}
        self.minted: dict[str, Draft] = {}
        self.read_at: int | None = None

    def learn(self, texts: Sequence[str]) -> None:
        """Look up all texts by one query and mint what is new."""
        wanted = sorted({text for text in (*texts, *self.also) if text} - self.known.keys())
        self.also = ()
        for start in range(0, len(wanted), 500):
            chunk = wanted[start : start + 500]
            marks = ", ".join(["%s"] * len(chunk))
            found = sql.fetch(
                "SELECT n.text, n.id, h.size FROM memory_name n JOIN memory_head h ON h.namespace_id = n.namespace_id"
                f" WHERE n.namespace_id = %s AND n.text IN ({marks})",
                [self.namespace, *chunk],
            )
            self.known.update({text: sql.as_id(name) for text, name, _ in found})
            if found and self.read_at is None:
                self.read_at = found[0][2]
        for text in wanted:
            if text not in self.known:
                self.known[text] = ids.new_id()
                self.minted[text] = Draft("name", self.known[text], parts={"name": text})

    def id(self, text: str) -> UUID | None:
        """The id of the name; None for no name."""
        if not text:
            return None
        if text not in self.known:
            self.learn([text])
        return self.known[text]

    def forgo(self, texts: Iterable[str]) -> None:
        """Mint none of these names after all: nothing in the entry will use them. What every entry needs stays."""
        for text in set(texts) - self.needed:
            if self.minted.pop(text, None) is not None:
                del self.known[text]

    def enter(self, entry: OpenEntry) -> None:
        """Add the minted names to the entry; `Raced` if somebody else minted or erased one meanwhile."""
        if self.read_at is not None and self.read_at < entry.seq - 1:
            self._require_standing()
        fresh = {text: draft for text, draft in self.minted.items() if text not in entry.names}
        if name_ids(self.namespace, fresh):
            raise Raced
        drafting.seal(list(fresh.values()))
        entry.add(*fresh.values())
        entry.names.update({text: self.known[text] for text in fresh})

    def _require_standing(self) -> None:
        known = [name for text, name in self.known.items() if text not in self.minted]
        standing = sum(
            Name.objects.filter(namespace=self.namespace, id__in=known[start : start + 500]).count()
            for start in range(0, len(known), 500)
        )
        if standing < len(known):
            raise Raced


def book_for(by: Actor) -> NameBook:
    """A book that knows what the entry of this actor needs beside the operation's own names."""
    return NameBook(by.namespace, also=(by.host, by.on_behalf_of))


@contextmanager
def opened(
    by: Actor, *, verb: str, need: gate.Requirement, request: object = None, names: NameBook | None = None
) -> Iterator[OpenEntry]:
    """One operation = one transaction = one entry.

    The body adds sealed drafts and may raise; on leaving it the entry is written. If the actor's idempotency key was
    used before with the same `request`, `entry.is_replay` is true and nothing may be added.

    Raises Forbidden (the namespace is closed, or replays), Forbidden, Stopped (gate); IdempotencyMismatch, Erased (key
    used before); Conflict (nothing to write).
    """
    book = names or book_for(by)
    book.learn([by.host, by.on_behalf_of])
    asked = canonical(request) if by.idempotency_key else b""
    with transaction.atomic():
        namespace, head = lock_head(by.namespace)
        _admits(namespace, head, by, verb)
        gate.passes(by, need)
        entry = OpenEntry(by, verb, namespace, head.size + 1, _reading(by, head))
        entry.replayed_seq = _answered(by, namespace, verb, asked)
        if entry.is_replay:
            yield entry
            return
        for companion in _companions:
            companion(entry)
        yield entry
        if entry.is_void:
            return
        book.enter(entry)
        if not entry.drafts:
            raise Conflict("Nothing to write.")
        _write(entry, book, asked)
        for project in entry.after:
            project()


def answered_before(by: Actor, *, verb: str, need: gate.Requirement, request: object) -> int | None:
    """The entry that this request has written before, asked without the lock.

    For operations that would refuse a repeated request for what the first one changed; `opened` asks again.
    Raises as `opened` does.
    """
    if not by.idempotency_key:
        return None
    gate.passes(by, need)
    return _answered(by, Namespace.objects.get(pk=by.namespace), verb, canonical(request))


def lock_head(namespace: int) -> tuple[Namespace, Head]:
    """The namespace and its head, locked until the transaction ends. Must be called inside one."""
    lock = " FOR UPDATE OF h" if connection.vendor == "postgresql" else ""
    rows = sql.fetch(
        f"SELECT {sql.selected(Head, 'h')}, {sql.selected(Namespace, 'n')} FROM memory_head h"
        f" JOIN memory_namespace n ON n.id = h.namespace_id WHERE h.namespace_id = %s{lock}",
        [namespace],
    )
    if not rows:
        raise Head.DoesNotExist(f"There is no namespace {namespace}.")
    width = len(Head._meta.concrete_fields)
    return sql.loaded(Namespace, rows[0][width:]), sql.loaded(Head, rows[0][:width])


def _admits(namespace: Namespace, head: Head, by: Actor, verb: str) -> None:
    """A closed namespace takes nothing but AFTER_CLOSING from the host.

    A replay namespace takes writes from its loader alone, and only with the event's own instant.
    """
    if head.closed_seq is not None and not (by.kind == "system" and verb in AFTER_CLOSING):
        raise closed(head.closed_seq)
    if namespace.clock == "replay" and by.event_at is None and by.kind != "system":
        raise Forbidden("This namespace replays events; it is closed to all but its loader.")


def _reading(by: Actor, head: Head) -> datetime:
    """The one clock reading; a replay namespace takes the event's own instant. Both strictly rise."""
    reading = by.event_at if by.event_at is not None else clock.read()
    return max(reading, head.last_at + clock.TICK)


def key_digest(namespace: Namespace, by: Actor) -> bytes:
    """What stands for an idempotency key: keyed by the namespace's secret and bound to the principal."""
    who = f"{by.kind}/{by.person}/{by.agent}/{by.idempotency_key}"
    return commitment.fingerprint(bytes(namespace.secret), who.encode())


def _answered(by: Actor, namespace: Namespace, verb: str, asked: bytes) -> int | None:
    if not by.idempotency_key:
        return None
    earlier = Entry.objects.filter(namespace=namespace, key=key_digest(namespace, by)).first()
    if earlier is None:
        return None
    key = _stored_fingerprint_key(namespace, earlier.seq)
    same = hmac.compare_digest(commitment.fingerprint(key, asked), bytes(earlier.fingerprint or b""))
    if not same or earlier.verb != verb:
        raise IdempotencyMismatch(
            f"This Idempotency-Key was used for another payload, by entry {earlier.seq}.", seq=earlier.seq
        )
    return earlier.seq


def _stored_fingerprint_key(namespace: Namespace, seq: int) -> bytes:
    """The key of an entry's fingerprint. Raises Erased: with one salt gone, nobody can test a guess of the request."""
    gone = Erasure.objects.filter(namespace=namespace, target_seq=seq).order_by("seq").first()
    if gone is not None:
        raise Erased(f"What this Idempotency-Key wrote was erased by entry {gone.seq}.", seq=gone.seq)
    salts = Content.objects.filter(namespace=namespace, seq=seq).order_by("item", "part").values_list("salt", flat=True)
    return _fingerprint_key(namespace, [bytes(salt) for salt in salts])


def _fingerprint_key(namespace: Namespace, salts: Sequence[bytes]) -> bytes:
    """All salts of the entry's content together; the namespace's secret where the entry holds no text."""
    return hashlib.sha256(b"".join(salts)).digest() if salts else bytes(namespace.secret)


def _fingerprint(entry: OpenEntry, asked: bytes) -> bytes | None:
    if not asked:
        return None
    texts = [draft for draft in entry.drafts if draft.model is not None]
    salts = [salt for draft in texts for _, _, salt in sorted(draft.contents)]
    return commitment.fingerprint(_fingerprint_key(entry.namespace, salts), asked)


def _write(entry: OpenEntry, book: NameBook, asked: bytes) -> None:
    by, namespace, seq = entry.by, entry.namespace, entry.seq
    drafting.seal(entry.drafts)
    hashes = [
        commitment.item_hash(index, draft.kind, str(draft.object), draft.commitment)
        for index, draft in enumerate(entry.drafts)
    ]
    row = Entry(
        namespace=namespace, seq=seq, recorded_at=entry.recorded_at, principal=by.kind, person=by.person,
        agent=by.agent, loader=by.loader, host=book.id(by.host), on_behalf_of=book.id(by.on_behalf_of), run=entry.run,
        verb=entry.verb, request=by.request_id, key=key_digest(namespace, by) if asked else None,
        fingerprint=_fingerprint(entry, asked), n_items=len(hashes), items_root=merkle.root(hashes), leaf=b"",
    )  # fmt: skip
    row.leaf = commitment.entry_leaf(leaf_fields(row, namespace=namespace.name))
    sql.insert(Entry, [tuple(getattr(row, name) for name in sql.columns(Entry))])
    _write_items(namespace.pk, seq, entry.drafts, hashes)
    _grow(namespace.pk, seq, row.leaf)
    sql.run(
        "UPDATE memory_head SET size = %s, last_at = %s WHERE namespace_id = %s",
        [seq, entry.recorded_at, namespace.pk],
    )


def _write_items(namespace: int, seq: int, drafts: Sequence[Draft], hashes: Sequence[bytes]) -> None:
    items: list[tuple[Any, ...]] = []
    contents: list[tuple[Any, ...]] = []
    names: list[tuple[Any, ...]] = []
    rows: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for index, (draft, digest) in enumerate(zip(drafts, hashes, strict=True)):
        items.append((namespace, seq, index, draft.kind, draft.object, draft.packed, draft.commitment, digest))
        if draft.model is None:
            ((_, _, salt),) = draft.contents
            names.append((namespace, seq, index, salt, draft.object, draft.parts["name"]))
            continue
        if not draft.is_stored:
            values = {**draft.values, "namespace_id": namespace, "seq": seq, "item": index}
            rows[draft.model].append(tuple(values[name] for name in sql.columns(draft.model)))
        contents.extend((namespace, seq, index, salt, part, payload) for part, payload, salt in draft.contents)
    sql.insert(Item, items)
    for model, tuples in rows.items():
        sql.insert(model, tuples)
    sql.insert(Content, contents)
    sql.insert(Name, names)


def _grow(namespace: int, seq: int, leaf: bytes) -> None:
    """Store every subtree root that this leaf completes."""
    position = seq - 1
    siblings = _siblings(namespace, position)
    nodes = merkle.completed_nodes(position, leaf, lambda level, index: siblings[level, index])
    sql.insert(Node, [(namespace, level, index, digest) for level, index, digest in nodes])


def _siblings(namespace: int, position: int) -> dict[tuple[int, int], bytes]:
    """The left siblings on the way up from a leaf, as far as it completes subtrees: one for each trailing one bit."""
    wanted = []
    level = 0
    while position >> level & 1:
        wanted.append((level, (position >> level) - 1))
        level += 1
    if not wanted:
        return {}
    which = " OR ".join(["(level = %s AND index = %s)"] * len(wanted)).replace("index", '"index"')
    rows = sql.fetch(
        f'SELECT level, "index", hash FROM memory_node WHERE namespace_id = %s AND ({which})',
        [namespace, *(value for at in wanted for value in at)],
    )
    return {(at_level, index): bytes(digest) for at_level, index, digest in rows}
