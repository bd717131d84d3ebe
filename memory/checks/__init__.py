"""What laws, ledger scans, rebuilds and probes found: the place where results land.

Invariants
- A finding holds ids, kinds and counts, never text of the store that was checked.
- A waiver changes what is shown as open, never a verdict.
"""
