"""Relations between records and their inverses, as the laws speak of them.

The list is written down a second time on purpose: a checker that took it from the code it checks would agree with it
whatever it said.

Source: laws of the store, 5.3.
"""

from __future__ import annotations

PAIRS = (
    ("evolved_from", "evolved_into"), ("merged_from", "merged_into"), ("split_from", "split_into"),
    ("supersedes", "superseded_by"), ("references", "referenced_by"), ("parent_of", "child_of"),
    ("part_of", "contains"), ("caused_by", "causes"), ("resolves", "resolved_by"),
)  # fmt: skip
SYMMETRIC = ("related_to", "contradicts")
ONE_WAY = ("depends_on", "implements")

# Labels under which an edge is stored in our own tables; the other one of a pair is read off it.
FORWARD = frozenset({*(forth for forth, _ in PAIRS), *SYMMETRIC, *ONE_WAY})

INVERSE: dict[str, str] = {
    **dict(PAIRS),
    **{back: forth for forth, back in PAIRS},
    **{relation: relation for relation in SYMMETRIC},
}

# They point from the newer record to the older one.
ANCESTRY = ("evolved_from", "merged_from", "split_from")
# Each with the key of a record's metadata that says when the derivation took place.
CLOCK_KEY = {
    "evolved_from": "evolution_timestamp", "merged_from": "merge_timestamp", "split_from": "split_timestamp",
}  # fmt: skip
DESCENT = tuple(INVERSE[relation] for relation in ANCESTRY)
DERIVED = frozenset({*ANCESTRY, *DESCENT, "supersedes", "superseded_by"})

# What each derivation writes.
RELATION_OF = {
    "evolve": "evolved_from", "merge": "merged_from", "split": "split_from", "supersede": "supersedes",
    "compile": "merged_from",
}  # fmt: skip
