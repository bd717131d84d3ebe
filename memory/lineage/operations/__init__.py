"""Writes of lineage: evolve, merge, split, supersede, link."""
