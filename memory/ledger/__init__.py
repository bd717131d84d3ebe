"""The ledger: one RFC 6962 Merkle log for each namespace, and the only place that appends to it.

Invariants
- One operation is one entry; an entry has n >= 1 items and commits to them by `items_root`.
- `seq` is gapless from 1; leaf number `seq - 1`; `recorded_at` strictly increases with it.
- Evidence holds no text and no values; text lives in Content under salted commitments and may be erased.

Terms: entry, item, part, commitment, leaf, checkpoint, proof, erasure, refusal.
Decided: no hash chain (it cannot prove one record or two checkpoints) and no hybrid of chain and tree.
Rejected: storing first answers for idempotency; they are rebuilt from the rows.
"""
