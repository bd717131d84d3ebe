"""Writes of lineage: evolve, merge, split, supersede, link. Ancestry is written by the transaction that creates the record."""
