"""What is known of a source: which of its rows a namespace holds already.

A row is found by a digest keyed with the namespace's secret: the same row of the same source has the same digest here,
and nobody without the secret can test a guess. What the row said is content and may be gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from memory.base.canonical import canonical
from memory.interchange.models import ImportedRow, ImportFinding, ImportRun
from memory.ledger.kernel import commitment
from memory.ledger.models import Item, Namespace
from memory.ledger.queries.contents import contents_of, name_ids

Key = tuple[str, ...]
CHUNK = 400


def row_digest(secret: bytes, source: str, key: Key) -> bytes:
    """What stands for a row: (source, table, primary key)."""
    return commitment.fingerprint(secret, canonical(["row", source, *key]))


def finding_digest(secret: bytes, source: str, value: object) -> bytes:
    """What stands for a finding."""
    return commitment.fingerprint(secret, canonical(["finding", source, value]))


def known_rows(namespaces: Iterable[Namespace], *, source: str, keys: Iterable[Key]) -> dict[Key, str | None]:
    """{(table, *primary key): hash of the raw row} of what the namespaces hold of the source; None where it is erased.

    keys : the keys that the file holds now, by which erased rows are recognised.
    """
    found: dict[Key, str | None] = {}
    present = list(keys)
    for namespace in namespaces:
        erased = _of_namespace(namespace, source, found)
        if erased:
            secret = bytes(namespace.secret)
            found.update({key: None for key in present if row_digest(secret, source, key) in erased})
    return found


def _of_namespace(namespace: Namespace, source: str, found: dict[Key, str | None]) -> set[bytes]:
    name = name_ids(namespace.pk, [source]).get(source)
    runs = ImportRun.objects.filter(namespace=namespace, source=name).values_list("id", flat=True) if name else []
    erased: set[bytes] = set()
    rows = list(ImportedRow.objects.filter(namespace=namespace, run__in=list(runs)).order_by("seq", "item"))
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        parts = contents_of(namespace.pk, [(row.seq, row.item) for row in chunk])
        for row in chunk:
            raw = parts[row.seq, row.item].get("raw")
            if raw is None:
                erased.add(bytes(row.digest))
            else:
                found[tuple(raw["key"])] = raw["hash"]
    return erased


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


def raw_rows_of_records(namespace: int, items: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The items that keep the raw rows of these record items: what an erasure of a record must reach too."""
    found: list[tuple[int, int]] = []
    for seq, item in items:
        about = Item.objects.filter(namespace=namespace, seq=seq, item=item, kind="record")
        record = about.values_list("object", flat=True).first()
        if record is not None:
            rows = ImportedRow.objects.filter(namespace=namespace, object=record)
            found.extend(rows.order_by("seq", "item").values_list("seq", "item"))
    return found
