"""This snapshot of a source beside the rows that were imported from it before.

Invariants
- A row is compared by table, primary key and hash of the whole row; nothing is matched by content.
- An erased row has no hash any more: it counts as known whatever it now holds, so that it stays erased.
- A record that was imported before gains no parent: its ancestry was written once.

Source: laws of the store 1.5 (S4), 2.1 (L1), 5.10 (I7, I9, I10).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from memory.interchange.contextfs.kernel.findings import Finding
from memory.interchange.contextfs.kernel.reconcile import Ancestry
from memory.interchange.contextfs.kernel.rows import MemoryRow, Survey
from memory.interchange.contextfs.kernel.source import RowRef

type RowKey = tuple[str, ...]
# The hash of a row; several where the file repeats a key; None where the row was erased.
type Remembered = str | frozenset[str] | None
type Novelty = Literal["new", "known", "altered"]

# What speaks of the comparison itself is said every time.
_ALWAYS_SAID = ("row-gone", "row-altered", "late-ancestry", "revision-missing", "offsets-disagree")


@dataclass(frozen=True, slots=True)
class Comparison:
    """`gone` are keys (table, *primary key) that the earlier snapshot had; the others are rows of this one."""

    gone: tuple[RowKey, ...]
    altered: tuple[RowRef, ...]
    known: tuple[RowRef, ...]
    new: tuple[RowRef, ...]


def row_key(ref: RowRef) -> RowKey:
    """The key under which an imported row is remembered."""
    return (ref.table, *ref.key)


def compare(surveyed: Survey, *, known_rows: Mapping[RowKey, Remembered]) -> Comparison:
    """Sort the rows of a snapshot by what was known of them. known_rows : key -> what is remembered of its row."""
    hashes: dict[RowRef, str | None] = {}
    hashes.update((row.ref, row.row_hash) for row in surveyed.memories)
    hashes.update((row.ref, row.row_hash) for row in surveyed.edges)
    hashes.update((row.ref, row.row_hash) for row in surveyed.unusable)
    for kept in surveyed.kept:
        hashes.update(dict.fromkeys(kept.refs))
    sorted_out: dict[Novelty, list[RowRef]] = {"new": [], "known": [], "altered": []}
    for ref, row_hash in sorted(hashes.items(), key=lambda item: (row_key(item[0]), item[1] or "")):
        sorted_out[_novelty(row_key(ref), row_hash=row_hash, known_rows=known_rows)].append(ref)
    present = {row_key(ref) for ref in hashes}
    return Comparison(
        gone=tuple(sorted(key for key in known_rows if key not in present)),
        altered=tuple(sorted_out["altered"]),
        known=tuple(sorted_out["known"]),
        new=tuple(sorted_out["new"]),
    )


def novelties(comparison: Comparison) -> dict[RowRef, Novelty]:
    """The comparison by row."""
    by_row: dict[RowRef, Novelty] = dict.fromkeys(comparison.new, "new")
    by_row.update(dict.fromkeys(comparison.known, "known"))
    by_row.update(dict.fromkeys(comparison.altered, "altered"))
    return by_row


def changes(comparison: Comparison, *, records: Mapping[str, MemoryRow]) -> list[Finding]:
    """What the second snapshot says about the first: rows gone and rows changed in place.

    A gone row is filed nowhere in particular: only its key is left.
    """
    owners = {row.ref: row for row in records.values()}
    findings = [Finding("row-gone", None, key[1:], before={"table": key[0]}) for key in comparison.gone]
    for ref in comparison.altered:
        owner = owners.get(ref) or next((records[end] for end in ref.key if end in records), None)
        is_withdrawn = ref in owners and owners[ref].deleted_text is not None
        findings.append(
            Finding(
                "row-altered",
                None if owner is None else owner.namespace,
                ref.key,
                before={"table": ref.table},
                after={"withdrawn": is_withdrawn} if ref in owners else None,
                rows=(ref,),
            )
        )
    return findings


def without_late_parents(
    ancestry: Mapping[str, Ancestry], *, records: Mapping[str, MemoryRow], novelty: Mapping[RowRef, Novelty]
) -> tuple[dict[str, Ancestry], list[Finding]]:
    """Take new ancestry rows away from records that were imported before."""
    settled: dict[str, Ancestry] = {}
    findings = []
    for identifier, one in ancestry.items():
        row = records[identifier]
        parents = list(one.parents)
        for place, parent in enumerate(parents):
            late = tuple(ref for ref in parent.rows if novelty[ref] == "new")
            if novelty[row.ref] != "new" and late:
                ids = (identifier, parent.parent_id)
                findings.append(Finding("late-ancestry", row.namespace, ids, parent.relation, rows=late))
                parents[place] = replace(parent, rows=tuple(ref for ref in parent.rows if ref not in late))
        settled[identifier] = replace(one, parents=tuple(parents))
    return settled, findings


def is_news(finding: Finding, *, records: Mapping[str, MemoryRow], novelty: Mapping[RowRef, Novelty]) -> bool:
    """Whether a finding says something that the import of the known rows has not said already."""
    if finding.code in _ALWAYS_SAID:
        return True
    if finding.rows:
        return any(novelty[ref] == "new" for ref in finding.rows)
    subject = records.get(finding.ids[0]) if finding.ids else None
    return subject is None or novelty[subject.ref] == "new"


def _novelty(key: RowKey, *, row_hash: str | None, known_rows: Mapping[RowKey, Remembered]) -> Novelty:
    if key not in known_rows:
        return "new"
    remembered = known_rows[key]
    if remembered is None or row_hash is None:
        return "known"
    hashes = {remembered} if isinstance(remembered, str) else remembered
    return "known" if row_hash in hashes else "altered"
