"""Lineage: how records came from records, and links between them.

Invariants
- Ancestry (evolved_from, merged_from, split_from) is written only by the transaction that creates the record.
- One stored row for each edge; inverses are a query. Both ends are records of the same namespace.
- Ancestry of a record never changes; its digest is written once. Descendants may grow.
- An answer for an entry is the same for ever, but for erasure; by a source's own instants a link stands once both
  its ends do, and what has no such instant is left out and counted.
- A compiled record names the function, its version and every source, in the entry that makes it; a public one is
  redacted and rests on compiled records alone. Its state is a question to the evidence and is stored nowhere.

Terms: compiled (made by a named function of others; every other record is raw, also a version or merge of a compiled
one), topic (a tag of raw records that a compiled one covers), behind (raw records moved on since), stale (an ancestor
is erased), line (versions of which each evolved from the one before), branch (a line that left another one), open
conflict (a key on which the sources of a merge differ, until a version says what holds), suggestion (offered, never
done).

Decided: evolve, split and supersede end the currency of the old record; a merge leaves its sources current, because it
summarises and does not replace. A compilation is a merge by a named function and has its relation, for the relations
are a closed list. Rejected: storing inverse edges (a second write can be lost); a compiled record by `POST /records`
and links afterwards (half of it could stand).
"""
