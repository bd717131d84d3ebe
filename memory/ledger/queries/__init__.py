"""Reads of the ledger: as-of points, entries, proofs, verification."""
