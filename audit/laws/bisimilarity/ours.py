"""One of our namespaces at a point, as one side of a comparison. Texts are read through and kept as digests.

Seen of a record: its type, its valid interval, its class of source, what it says, whether it is withdrawn at the point,
whether its text is erased (which holds at every point), and how many of its parents are in quarantine. Left out: ids,
instants of recording, salts, digests, who wrote it in which run, and what an import noted of identifiers and clocks.
Edges are seen from both ends: an inverse is a query over the one stored row. The order in which a derivation named its
sources stands on its edges and is left out too.

Source: laws of the store, 3.1 and 3.3.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from audit.laws.bisimilarity.values import Observation, Side, digest
from audit.laws.relations import INVERSE
from memory.ledger.models import Content, Erasure, Name
from memory.lineage.models import Edge
from memory.records.models import Record, Withdrawal

PARTS = ("content", "details")
# What an import notes of a row and the source's caller supplied; the rest names the row and its clock.
IMPORTED = ("fields", "structured", "authoritative", "text")


def side(name: str, *, namespace: int, seq: int) -> Side:
    """The namespace as of entry `seq`. Five queries, whatever it holds; no text is kept."""
    records = _records(namespace, seq)
    edges = Edge.objects.filter(namespace=namespace, seq__lte=seq).values_list("source", "relation", "target")
    return Side(name, {id: Observation(*seen) for id, seen in records.items()}, frozenset(_both_ways(edges.iterator())))


def _both_ways(edges: Iterator[tuple[UUID, str, UUID]]) -> Iterator[tuple[str, str, str]]:
    for source, relation, target in edges:
        yield str(source), relation, str(target)
        if inverse := INVERSE.get(relation):
            yield str(target), inverse, str(source)


type _Seen = tuple[dict[str, bytes], dict[str, tuple[str, ...]]]


def _records(namespace: int, seq: int) -> dict[str, _Seen]:
    named = Name.objects.filter(namespace=namespace, id=OuterRef("type")).values("text")[:1]
    rows = Record.objects.filter(namespace=namespace, seq__lte=seq).annotate(type_text=Subquery(named))
    found: dict[str, _Seen] = {}
    addresses: dict[tuple[int, int], str] = {}
    for row in rows.iterator():
        addresses[row.seq, row.item] = str(row.id)
        found[str(row.id)] = {name: digest(value) for name, value in _columns(row)}, {}
    for record in _withdrawn(namespace, seq):
        found[record][0]["withdrawn"] = digest(value=True)
    for at in Erasure.objects.filter(namespace=namespace).values_list("target_seq", "target_item", "target_part"):
        if at[:2] in addresses:
            found[addresses[at[:2]]][0][at[2]] = digest("erased")
    contents = Content.objects.filter(namespace=namespace, part__in=PARTS, seq__lte=seq)
    for at_seq, at_item, part, payload in contents.values_list("seq", "item", "part", "payload").iterator():
        if identifier := addresses.get((at_seq, at_item)):
            _read(found[identifier], part, payload, known=found)
    return found


def _columns(row: Any) -> Iterator[tuple[str, Any]]:
    yield "type", row.type_text or "erased"
    yield "source class", row.source_class
    if row.n_quarantined:
        yield "parents in quarantine", row.n_quarantined
    for name in ("valid_from", "valid_to"):
        instant: datetime | None = getattr(row, name)
        if instant is not None:
            yield name.replace("_", " "), instant.isoformat()


def _withdrawn(namespace: int, seq: int) -> list[str]:
    """Records whose newest word on it by the point is that they are withdrawn."""
    words = Withdrawal.objects.filter(namespace=namespace, seq__lte=seq).order_by("seq", "item")
    newest: dict[UUID, bool] = dict(words.values_list("record", "withdrawn").iterator())
    return [str(record) for record, withdrawn in newest.items() if withdrawn]


def _read(seen: _Seen, part: str, payload: str, *, known: Mapping[str, Any]) -> None:
    fields = seen[0]
    value = json.loads(payload)
    if part == "content":
        fields["content"] = digest(value)
        return
    imported = value.pop("imported", {})
    for name, one in (*value.items(), *((name, imported[name]) for name in IMPORTED if name in imported)):
        if name == "metadata":
            fields.update({f"metadata.{key}": digest(inner) for key, inner in one.items()})
        elif name == "source":
            _source(seen, one, known=known, foreign_id=imported.get("id"))
        else:
            fields[name] = digest(one)


def _source(seen: _Seen, given: Mapping[str, str], *, known: Mapping[str, Any], foreign_id: str | None) -> None:
    """Where a record says that it came from. The id of a record here is a mention; that of an imported row is none."""
    fields, mentions = seen
    for name, value in given.items():
        if value in known:
            mentions[name] = (value,)
        elif value != foreign_id:
            fields[name] = digest(value)
