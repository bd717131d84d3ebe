"""The lossless archive of a namespace: one JSON object on each line, written, verified and restored verbatim.

Invariants
- Header; then, in the order of seq, each entry with its items, its contents and its names; then the checkpoints, the
  public keys and a trailer with the SHA-256 of every line before it.
- Every line is canonical JSON (RFC 8785), so one state of one namespace has one archive, byte for byte.
- What was erased is there as a commitment and in no other way. Projections are not in it: they are derived again.
- An archive is verified whole before a row of it is written; one that is not sound leaves nothing behind.

Terms: a fault names the line of the archive that is wrong, by the word that the scan of a ledger has for it.
"""
