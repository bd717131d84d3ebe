"""What comes in from other systems and what goes out: one module for each format.

Invariants
- An import reads its source and never writes to it; a second import of the same source adds nothing.
- One target namespace for each source namespace; what would join two is quarantined.
- Everything read is kept: as a record, an edge or a finding, with its raw row.
- Who imports into a namespace owns it; one that is founded for an import has an owner from its first moment.
- An archive holds everything and comes back verbatim under its own name, all of it or nothing; what was erased is in it
  as a commitment alone. Provenance in the forms of others is of any slice at any point.

Decisions
- An uploaded file lies in the folder of a job, outside the ledger, until it is imported or a day has passed. Keeping it
  in the store was rejected: it would hold text that no erasure reaches.
- Reading an export leaves no trace; taking one out as an act does, so that an erasure can name what it cannot reach.
- People of a restored archive are accounts of its former host: their roles and names mean nobody here but who restored.
- An import is one entry for each target and not one for all: namespaces share no transaction, so a kill leaves whole
  targets, and the next run takes up where it was cut.
"""
