"""Raw records that bear a covered topic, as a projection: what has come in since somebody summed a topic up.

- A row stands where a record that is not compiled bears a tag that a compilation of an earlier entry covers.
- A topic is matched by its text, letter for letter. Where the name of the topic or the tags of the record are erased,
  no row is left, and nothing can be told of that topic any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from django.db.models import Min

from memory.base import projections, sql
from memory.base.models import ContentRef
from memory.ledger.models import Name
from memory.ledger.queries.contents import contents_of_kind, names_of
from memory.lineage.models import Compilation, CoveredRecord
from memory.records.models import doc_of

CHUNK = 400

# The record, its item in the entry, and its tags.
Tagged = tuple[UUID, int, Sequence[str]]


def cover(namespace: int, seq: int, tagged: Sequence[Tagged]) -> None:
    """Enter the raw records of an entry that bear a topic which is covered by then; a query for each CHUNK of tags."""
    topics = _topics(namespace, {tag for _, _, tags in tagged for tag in tags}, before=seq)
    if topics:
        sql.insert(CoveredRecord, list(_rows(namespace, seq, tagged, topics)))


def _rows(
    namespace: int, seq: int, tagged: Iterable[Tagged], topics: Mapping[str, UUID]
) -> Iterator[tuple[int, UUID, int, UUID]]:
    for record, item, tags in tagged:
        for tag in dict.fromkeys(tags):
            if tag in topics:
                yield namespace, topics[tag], doc_of(seq, item), record


def _topics(namespace: int, tags: Iterable[str], *, before: int) -> dict[str, UUID]:
    """{text: name} of the tags that a compilation before the entry covers."""
    wanted, found = sorted(tags), {}
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        rows = sql.fetch(
            "SELECT n.text, n.id FROM memory_name n WHERE n.namespace_id = %s"
            f" AND n.text IN ({', '.join(['%s'] * len(chunk))})"
            " AND EXISTS (SELECT 1 FROM memory_compilation c"
            " WHERE c.namespace_id = n.namespace_id AND c.covers = n.id AND c.seq < %s)",
            [namespace, *chunk, before],
        )
        found.update({text: sql.as_id(name) for text, name in rows})
    return found


class CoveredRecords:
    """The projection of the table."""

    name = "covered_records"

    def rebuild(self, namespace: int) -> None:
        CoveredRecord.objects.filter(namespace=namespace).delete()
        compiled = Compilation.objects.filter(namespace=namespace)
        firsts = dict(compiled.filter(covers__isnull=False).values_list("covers").annotate(first=Min("seq")).order_by())
        texts = {text: topic for topic, text in names_of(namespace, firsts).items()}
        if not texts:
            return
        made = set(compiled.values_list("record", flat=True))
        rows: list[tuple[int, UUID, int, UUID]] = []
        for seq, item, record, details in contents_of_kind(namespace, kind="record", part="details"):
            known = {text: topic for text, topic in texts.items() if firsts[topic] < seq} if record not in made else {}
            rows.extend(_rows(namespace, seq, [(record, item, details.get("tags", ()))], known))
        sql.insert(CoveredRecord, rows)

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        docs = [doc_of(at, item) for at, item, part in refs if part == "details"]
        names = [(at, item) for at, item, part in refs if part == "name"]
        hit = 0
        for start in range(0, len(docs), CHUNK):
            rows = CoveredRecord.objects.filter(namespace=namespace, doc__in=docs[start : start + CHUNK])
            hit += rows.delete()[0]
        for start in range(0, len(names), CHUNK):
            chunk = set(names[start : start + CHUNK])
            rows_of = Name.objects.filter(namespace=namespace, seq__in={at for at, _ in chunk})
            topics = [name for name, at, item in rows_of.values_list("id", "seq", "item") if (at, item) in chunk]
            hit += CoveredRecord.objects.filter(namespace=namespace, topic__in=topics).delete()[0]
        return hit

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(CoveredRecord, namespace)
