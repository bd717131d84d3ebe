"""Beliefs: probabilistic observations of how things relate, reconciled exactly, with conflicts that have names.

An observation says with which probability each relation holds between two nodes; relations are the elements of a finite
group, so they compose along paths and cycles can disagree. A question asks what each node is as seen from a root.

Invariants
- A relation type has one law for good; an observation never changes; a revocation is one more entry, and reaches what
  was derived from its observation.
- The same question at the same point of both clocks is the same bytes. An answer is exact wherever the budget allows,
  and says how sure it is otherwise; it never looks more certain than it is.
- What was not used is counted with its reason. Each used observation says how strongly the rest speaks against it.
- Confidence is not authority: no belief grants an act.

Terms: law, relation type, node, root, posterior, prior, trust, evidence family, lineage, capsule, decision, nats,
monitor run, forecast. Claimed instants are the peer's: float64 seconds, intervals closed at both ends.

Decided: the peer's documents are read by tables of fields in the kernel, not by the schemas of the door, since they
are one contract for HTTP, the command line, hooks and imports; rejected: pydantic models, which coerce and name other
places.
Retrieval reads derived rows by the indexes of nodes and lineages; rejected: a graph in memory, which a second worker
would not share. Forecasts are frozen in the observation's own entry, so that no crash can part the two.

Source: posterior-memory-harness 0.9.0 for the contract; junction trees (Lauritzen, Spiegelhalter 1988) for the numbers.
"""
