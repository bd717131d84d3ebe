"""The JSON command line of posterior-memory-harness 0.9.0, answered by this store.

Decisions
- What the peer's client sends is taken, and what it reads is answered, unedited; what we add stands in `audit`, which
  the profile `compat` leaves out. A namespace that this command line makes is bound to `compat`.
- One file is one store of ours. A command that reads makes no file, and one that fails leaves none behind.
- Every failure is one JSON object on standard error with an exit code of its kind. Rejected: the sentences of the other
  commands, which no client of the peer's can read.

Source: posterior-memory-harness 0.9.0, its command line.
"""
