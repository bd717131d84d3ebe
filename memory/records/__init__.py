"""Records: immutable units of memory with content, a valid interval and a place in the ledger.

Invariants
- A record row is inserted once and never changed; an edit is a derivation (slice lineage).
- Ids are full-length UUIDs, per namespace. The same id and payload is the first answer; another payload is a conflict.
- Valid time is what the caller says; known time is the entry; an imported row keeps the source's own instant apart.

Terms: current (not superseded, withdrawn or erased), hidden (stored and provable, absent from default reads).
Decided: full text stands in one index for each namespace, so that no namespace changes another's ranking.
"""
