"""What comes in from other systems and what goes out: one module for each format.

Invariants
- An import reads its source and never writes to it; a second import of the same source adds nothing.
- One target namespace for each source namespace; what would join two is quarantined.
- Everything read is kept: as a record, an edge or a finding, with its raw row.
"""
