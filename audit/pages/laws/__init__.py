"""Invariants: their board, one of them with its counterexamples, and records or whole stores beside each other."""
