"""Reads of records: one, by prefix, lists with facets, recall by text. Every read takes an as-of point."""
