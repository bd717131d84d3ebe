"""Import of a store that posterior-memory-harness 0.9.0 has written, schemas 1 to 3.

Decisions
- The store keeps of a law only its labels and fingerprint: whoever imports names the law, and it must have that
  fingerprint. Where the store had registered none, the binding is marked as attested by the importer.
- Every hash is computed again and each forecast is held against its observation, whose table the peer leaves open to
  change. What does not verify is quarantined with its row; nothing is repaired.
- The rows go through the operations that clients call, so that what stands is what would stand had they been sent.
  Rejected: writing tables by a path of its own, which would have to repeat every rule.

Source: posterior-memory-harness 0.9.0, its SQLite schema.
"""
