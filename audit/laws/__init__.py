"""The laws of a store, and checkers that find where a store breaks them, with a counterexample each.

Invariants
- A checker shares no code with what it checks: it reads rows, of our own tables or of a foreign file, and nothing that
  wrote them is asked whether it wrote them well.
- Nothing here writes to what it reads. A run over our own store is written down through `memory.checks`, as ids, kinds
  and counts.
- Three verdicts, never two: what the evidence cannot decide is undecidable, and says what would decide it.
- A counterexample holds identifiers, namespaces, relations and digests; no text of a record.

Terms: a *store* is a map of identifiers to records and a set of edges; a *clause* one of the eight laws; a *derivation*
one of evolve, merge, split, supersede; the *fragment* the part of a store that derivations wrote; a *claim* what a
record says of its own ancestry, beside the edges that say it too.
"""
