"""Records: immutable units of memory with content, a valid interval and a place in the ledger.

Invariants
- A record row is inserted once and never changed; an edit is a derivation (slice lineage).
- Ids are full-length UUIDs, per namespace. The same id and payload is the first answer; another payload is a conflict.
- What a review policy holds is stored and provable, in no default answer, and nothing rests on it: a derivation or a
  link that names it is refused, and so is one whose outcome the policy would hold. A person, or two independent
  origins, confirm it; unreviewed past its date it is withdrawn. Other agents than its author never see it before.
- Valid time is what the caller says; known time is the entry; an imported row keeps the source's own instant apart.

Terms: current (not superseded, withdrawn or erased), hidden (stored and provable, absent from default reads),
held (hidden until it is confirmed).
Decided: full text stands in one index for each namespace, so that no namespace changes another's ranking.
"""
