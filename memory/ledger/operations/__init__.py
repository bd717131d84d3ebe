"""Writes of the ledger: appending an entry, founding a namespace, checkpoints, erasure, refusals."""
