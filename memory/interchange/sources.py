"""What is known of a source: which of its rows a namespace holds already.

A row is found by a digest keyed with the namespace's secret: the same row of the same source has the same digest here,
and nobody without the secret can test a guess. What the row said is content and may be gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import JSONField, Q
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast

from memory.base.canonical import canonical
from memory.interchange.models import ImportedRow, ImportFinding, ImportRun
from memory.ledger.kernel import commitment
from memory.ledger.models import Content, Item, Namespace
from memory.ledger.queries.contents import contents_of, name_ids, names_of

Key = tuple[str, ...]
Remembered = str | frozenset[str] | None
CHUNK = 400
KEYS_COMPARED = 2_000


def row_digest(secret: bytes, source: str, key: Key) -> bytes:
    """What stands for a row: (source, table, primary key)."""
    return commitment.fingerprint(secret, canonical(["row", source, *key]))


def finding_digest(secret: bytes, source: str, value: object) -> bytes:
    """What stands for a finding."""
    return commitment.fingerprint(secret, canonical(["finding", source, value]))


def known_rows(namespaces: Iterable[Namespace], *, source: str, keys: Iterable[Key]) -> dict[Key, Remembered]:
    """{(table, *primary key): hash of the raw row} of what the namespaces hold of the source; None where it is erased.

    A key that the source repeats has the hashes of all its rows.
    keys : the keys that the file holds now, by which erased rows are recognised.
    """
    hashes: dict[Key, set[str]] = {}
    erased: dict[Key, None] = {}
    present = list(keys)
    for namespace in namespaces:
        runs = runs_of(namespace, source=source)
        addresses = dict(_digests(namespace, runs))
        for address, key, row_hash in _kept(namespace, runs):
            if addresses.pop(address, None) is not None:
                hashes.setdefault(key, set()).add(row_hash)
        if addresses:
            gone, secret = set(addresses.values()), bytes(namespace.secret)
            erased.update(dict.fromkeys(key for key in present if row_digest(secret, source, key) in gone))
    remembered: dict[Key, Remembered] = {
        key: next(iter(found)) if len(found) == 1 else frozenset(found) for key, found in hashes.items()
    }
    return {**remembered, **erased}


def runs_of(namespace: Namespace, *, source: str) -> list[tuple[UUID, int]]:
    """(id, seq) of the imports of the source into the namespace, oldest first."""
    name = name_ids(namespace.pk, [source]).get(source)
    if name is None:
        return []
    runs = ImportRun.objects.filter(namespace=namespace, source=name).order_by("seq")
    return list(runs.values_list("id", "seq"))


@dataclass(frozen=True, slots=True)
class RunTold:
    """What an import says of itself: the source namespace it took, "" where that is erased."""

    seq: int
    namespace: str


def told_by_runs(namespace: Namespace, *, source: str) -> list[RunTold]:
    """Each import of the source into the namespace, oldest first."""
    name = name_ids(namespace.pk, [source]).get(source)
    runs = ImportRun.objects.filter(namespace=namespace, source=name).order_by("seq") if name is not None else []
    addresses = [(run.seq, run.item) for run in runs]
    parts = contents_of(namespace.pk, addresses)
    return [RunTold(at[0], parts[at].get("report", {}).get("namespace", "")) for at in addresses]


def last_seq(namespace: Namespace, *, source: str) -> int:
    """The newest entry by which the namespace took rows of the source; 0 for none."""
    return max((seq for _, seq in runs_of(namespace, source=source)), default=0)


def _digests(namespace: Namespace, runs: Sequence[tuple[UUID, int]]) -> Iterator[tuple[tuple[int, int], bytes]]:
    """The address of each imported row of the runs, and what stands for the row."""
    rows = ImportedRow.objects.filter(namespace=namespace, run__in=[run for run, _ in runs])
    for seq, item, digest in rows.values_list("seq", "item", "digest").iterator():
        yield (seq, item), bytes(digest)


def _kept(namespace: Namespace, runs: Sequence[tuple[UUID, int]]) -> Iterator[tuple[tuple[int, int], Key, str]]:
    """(address, key, hash) of the raw rows that are not erased. Only these two are taken from the stored text."""
    rows = Content.objects.filter(namespace=namespace, part="raw", seq__in=[seq for _, seq in runs])
    told = rows.annotate(raw=Cast("payload", JSONField())).annotate(
        key=KeyTransform("key", "raw"), row_hash=KeyTextTransform("hash", "raw")
    )
    for seq, item, key, row_hash in told.values_list("seq", "item", "key", "row_hash").iterator():
        yield (seq, item), tuple(key), row_hash


def resembling(namespaces: Iterable[Namespace], *, source: str, keys: Iterable[Key]) -> dict[str, int]:
    """{another source: how many of the keys it has here too}: perhaps the same source under another name."""
    wanted = sorted(set(keys))[:KEYS_COMPARED]
    shared: Counter[str] = Counter()
    for namespace in namespaces:
        secret = bytes(namespace.secret)
        sources = set(ImportRun.objects.filter(namespace=namespace).values_list("source", flat=True))
        for other in sorted(set(names_of(namespace.pk, sources).values()) - {source}):
            digests = [row_digest(secret, other, key) for key in wanted]
            for start in range(0, len(digests), CHUNK):
                rows = ImportedRow.objects.filter(namespace=namespace, digest__in=digests[start : start + CHUNK])
                shared[other] += rows.values("digest").distinct().count()
    return {other: count for other, count in sorted(shared.items()) if count}


def known_findings(namespace: Namespace, digests: Sequence[bytes]) -> set[bytes]:
    """Those of the digests that stand already."""
    known: set[bytes] = set()
    for start in range(0, len(digests), CHUNK):
        rows = ImportFinding.objects.filter(namespace=namespace, digest__in=digests[start : start + CHUNK])
        known.update(bytes(digest) for digest in rows.values_list("digest", flat=True))
    return known


def records_of(namespace: Namespace, *, source: str, table: str, keys: Iterable[str]) -> dict[str, UUID]:
    """{foreign id: record id} by equality, for the rows of the source that became records here."""
    secret = bytes(namespace.secret)
    by_digest = {row_digest(secret, source, (table, key)): key for key in keys}
    digests = list(by_digest)
    found: dict[str, UUID] = {}
    for start in range(0, len(digests), CHUNK):
        rows = ImportedRow.objects.filter(
            namespace=namespace, became="record", digest__in=digests[start : start + CHUNK]
        )
        found.update({by_digest[bytes(digest)]: about for digest, about in rows.values_list("digest", "object")})
    return found


def raw_rows_of_records(namespace: int, items: Sequence[Item]) -> list[tuple[int, int]]:
    """What imports keep about these records and observations, for an erasure to reach: findings and raw rows."""
    return kept_about(namespace, [item.object for item in items if item.kind in ("record", "observation")])


def kept_about(namespace: int, records: Sequence[UUID]) -> list[tuple[int, int]]:
    """The items that imports keep about the records: findings, then raw rows, each in the order of the ledger."""
    found: list[tuple[int, int]] = []
    for start in range(0, len(records), CHUNK):
        chunk = records[start : start + CHUNK]
        findings = ImportFinding.objects.filter(namespace=namespace, record__in=chunk)
        found.extend(findings.order_by("seq", "item").values_list("seq", "item"))
        rows = ImportedRow.objects.filter(
            Q(object__in=chunk) | Q(object__in=findings.values("id")), namespace=namespace
        )
        found.extend(rows.order_by("seq", "item").values_list("seq", "item"))
    return found
