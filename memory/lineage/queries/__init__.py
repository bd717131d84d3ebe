"""Reads of lineage: sources of a derivation, ancestry and descendants, graphs, versions."""
