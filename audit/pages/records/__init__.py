"""The pages of records: the list with its exports, one record with its lineage, versions and entries, and its verbs."""
