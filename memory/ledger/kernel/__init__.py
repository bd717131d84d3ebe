"""The arithmetic of the ledger: trees, commitments, signed notes. No Django, clock, chance or database.

Invariants
- A digest or proof is a function of its arguments alone, so whoever holds the arguments computes the same bytes.
- Every hash is SHA-256 over an input that begins with a prefix or tag of fixed length: no input of one kind is one of
  another.

Terms: a *leaf* is one entry, an *item hash* one row of an entry, a *part* one erasable payload of a row, a *note* a
signed text.

Decisions
- One RFC 6962 tree per namespace, no hash chain: a chain proves one record in O(n) and proves no consistency.
- Commitments are salted hashes, not encryption: erasing payload and salt leaves every digest and proof valid.
"""
