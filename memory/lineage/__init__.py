"""Lineage: how records came from records, and links between them.

Invariants
- Ancestry (evolved_from, merged_from, split_from) is written only by the transaction that creates the record.
- One stored row for each edge; inverses are a query. Both ends are records of the same namespace.
- Ancestry of a record never changes; its digest is written once. Descendants may grow.
- An answer for an entry is the same for ever, but for erasure; by a source's own instants a link stands once both
  its ends do, and what has no such instant is left out and counted.

Terms: line (versions of which each evolved from the one before), branch (a line that left another one), open conflict
(a key on which the sources of a merge differ, until a version says what holds), suggestion (offered, never done).

Decided: evolve, split and supersede end the currency of the old record; a merge leaves its sources current, because it
summarises and does not replace. Rejected: storing inverse edges (a second write can be lost).
"""
