"""Lineage: how records came from records, and links between them.

Invariants
- Ancestry (evolved_from, merged_from, split_from) is written only by the transaction that creates the record.
- One stored row for each edge; inverses are a query. Both ends are records of the same namespace.
- Ancestry of a record never changes; its digest is written once. Descendants may grow.

Decided: evolve, split and supersede end the currency of the old record; a merge leaves its sources current, because it
summarises and does not replace. Rejected: storing inverse edges (a second write can be lost).
"""
