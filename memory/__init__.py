"""The domain of Palimpsest: one Django app, label `memory`, cut in vertical slices.

Lowest slice first: base, ledger, agents, checks, records, lineage, interchange. A slice imports only from slices
below it. Inside a slice: api, schemas, operations (writes), queries (reads), models (tables), kernel (pure).
"""
