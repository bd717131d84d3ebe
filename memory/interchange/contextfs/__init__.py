"""The store of ContextFS 0.2.35: read without a write, reconciled by the laws, planned before anything is stored here.

Invariants
- The source file is never written to, locked for writing or given a journal.
- Each source row becomes exactly one of: record, parent edge, derivation edge, folded inverse, link, quarantined row.
- The ancestry of a plan is acyclic and stays within one namespace.
- The plan is a function of the rows: neither their order in the file nor the hash seed changes it.

Terms
- own claim: the parents that a record's newest derivation wrote into its metadata. Older ones were copied along.
- folded inverse: a source row that says backwards what a stored edge says forwards. Inverses are computed here.
- captured: an abbreviation that dangled until another namespace saved a record under that very text.

Decisions
- The structure (who, when, whose parent) is held in memory, texts are read again from the file when they are applied;
  holding every text would make memory grow with the size of the store instead of its number of rows.
- Reading keeps one read transaction open, so that both passes see the same rows. A private copy of the file was
  rejected: it doubles the disk needed and is torn when a writer is active.
"""
