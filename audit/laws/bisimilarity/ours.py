"""One of our namespaces at a point, as one side of a comparison. Texts are read through and kept as digests.

Seen of a record: its type, its valid interval, its class of source, what it says, whether it is withdrawn at the point,
whether its text is erased (which holds at every point), and how many of its parents are in quarantine. Left out: ids,
instants of recording, salts, digests, who wrote it in which run, and what an import noted of identifiers and clocks.
Edges are seen from both ends: an inverse is a query over the one stored row. The order in which a derivation named its
sources stands on its edges and is left out too.

Tables are read by statements of this module: what wrote them is not asked.

Source: laws of the store, 3.1 and 3.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audit.laws.bisimilarity.values import Observation, Side, digest
from audit.laws.ours_digests import dashed, instant
from audit.laws.relations import INVERSE
from audit.laws.statements import as_hex, rows

TEXTS_AT_ONCE = 5_000
# What an import notes of a row and the source's caller supplied; the rest names the row and its clock.
IMPORTED = ("fields", "structured", "authoritative", "text")
# No text: a record may well say "erased".
GONE = {"erased": True}

_RECORDS = (
    "SELECT r.seq, r.item, r.id, r.source_class, r.valid_from, r.valid_to, r.n_quarantined, n.text FROM memory_record r"
    " LEFT JOIN memory_name n ON n.namespace_id = r.namespace_id AND n.id = r.type"
    " WHERE r.namespace_id = %s AND r.seq <= %s"
)
_WITHDRAWN = (
    "SELECT w.record FROM memory_withdrawal w WHERE w.namespace_id = %s AND w.seq <= %s AND w.withdrawn AND NOT EXISTS"
    " (SELECT 1 FROM memory_withdrawal v WHERE v.namespace_id = w.namespace_id AND v.record = w.record"
    " AND v.seq <= %s AND (v.seq, v.item) > (w.seq, w.item))"
)
_ERASED = "SELECT target_seq, target_item, target_part FROM memory_erasure WHERE namespace_id = %s"
_EDGES = "SELECT source, relation, target FROM memory_edge WHERE namespace_id = %s AND seq <= %s"
_TEXTS = (
    "SELECT c.seq, c.item, c.part, c.payload FROM memory_content c WHERE c.namespace_id = %s AND c.seq <= %s"
    " AND c.part IN ('content', 'details') AND (c.seq, c.item, c.part) > (%s, %s, %s)"
    " ORDER BY c.seq, c.item, c.part LIMIT %s"
)


def side(name: str, *, namespace: int, seq: int) -> Side:
    """The namespace as of entry `seq`. Five statements, and one more for every 5 000 texts; no text is kept."""
    records = _records(namespace, seq)
    edges = frozenset(_both_ways(rows(_EDGES, [namespace, seq])))
    return Side(name, {identifier: Observation(*seen) for identifier, seen in records.items()}, edges)


def _both_ways(edges: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, str, str]]:
    for source, relation, target in edges:
        first, second = _id(source), _id(target)
        yield first, relation, second
        if inverse := INVERSE.get(relation):
            yield second, inverse, first


type _Seen = tuple[dict[str, bytes], dict[str, tuple[str, ...]]]


def _records(namespace: int, seq: int) -> dict[str, _Seen]:
    found: dict[str, _Seen] = {}
    addresses: dict[tuple[int, int], str] = {}
    for at_seq, at_item, record, *columns in rows(_RECORDS, [namespace, seq]):
        addresses[at_seq, at_item] = _id(record)
        found[_id(record)] = {name: digest(value) for name, value in _columns(*columns)}, {}
    for (record,) in rows(_WITHDRAWN, [namespace, seq, seq]):
        found[_id(record)][0]["withdrawn"] = digest(value=True)
    for at_seq, at_item, part in rows(_ERASED, [namespace]):
        if identifier := addresses.get((at_seq, at_item)):
            found[identifier][0][part] = digest(GONE)
    for at_seq, at_item, part, payload in _texts(namespace, seq):
        if identifier := addresses.get((at_seq, at_item)):
            _read(found[identifier], part, payload, known=found)
    return found


def _columns(
    source_class: str, valid_from: Any, valid_to: Any, n_quarantined: int, type: str | None
) -> Iterator[tuple[str, Any]]:
    yield "type", type if type is not None else GONE
    yield "source class", source_class
    if n_quarantined:
        yield "parents in quarantine", n_quarantined
    for name, value in (("valid from", valid_from), ("valid to", valid_to)):
        if value is not None:
            yield name, instant(value)


def _texts(namespace: int, seq: int) -> Iterator[tuple[int, int, str, str]]:
    after: tuple[int, int, str] = (-1, -1, "")
    while found := rows(_TEXTS, [namespace, seq, *after, TEXTS_AT_ONCE]):
        for at_seq, at_item, part, payload in found:
            yield at_seq, at_item, part, payload
            after = at_seq, at_item, part
        if len(found) < TEXTS_AT_ONCE:
            return


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


def _id(value: Any) -> str:
    return dashed(as_hex(value))
