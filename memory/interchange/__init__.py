"""What comes in from other systems and what goes out: one module for each format.

Invariants
- An import reads its source and never writes to it; a second import of the same source adds nothing.
- One target namespace for each source namespace; what would join two is quarantined.
- Everything read is kept: as a record, an edge or a finding, with its raw row.
- Who imports into a namespace owns it; one that is founded for an import has an owner from its first moment.

Decisions
- An uploaded file lies in the folder of a job, outside the ledger, until it is imported or a day has passed. Keeping it
  in the store was rejected: it would hold text that no erasure reaches.
- An import is one entry for each target and not one for all: namespaces share no transaction, so a kill leaves whole
  targets, and the next run takes up where it was cut.
"""
