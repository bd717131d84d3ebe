"""What to do about a counterexample, by its kind: a page that warns also offers the next step.

Invariants
- Nothing offered rewrites a row: a remedy is a new entry, a restored backup, or a person's word that it may stand.
"""

RESTORE = (
    "Somebody wrote past the triggers. Find out who may, keep the file as it stands, and compare it with a checkpoint "
    "that was kept outside; then restore the last backup that verifies."
)
RESTORE_EDGE = (
    "No operation writes this. Keep the file as it stands, restore the last backup that verifies, and derive again "
    "what was written since."
)

REMEDIES = {
    "record_gone": RESTORE,
    "record_altered": RESTORE,
    "content_altered": RESTORE,
    "content_gone": RESTORE,
    "record_of_no_entry": RESTORE,
    "edge_of_no_entry": RESTORE_EDGE,
    "edge_altered": RESTORE_EDGE,
    "edge_without_claim": RESTORE_EDGE,
    "claim_without_edge_own": RESTORE_EDGE,
    "digest_disagrees": RESTORE_EDGE,
    "interrupted_derivation": RESTORE_EDGE,
    "unpaired": RESTORE_EDGE,
    "cross_namespace_ancestry": (
        "Text of one namespace may stand in another. Withdraw the record built from both, erase it where that "
        "namespace must not hold it, and find out who wrote past the keys of the edge."
    ),
    "edge_end_missing": RESTORE_EDGE,
    "rule_not_followed": (
        "Evolve the merged record with the type given, so that the choice is somebody's; then report the merge: the "
        "program that wrote it does not follow its own rule."
    ),
    "no_valid_time": "Run manage.py migrate: the columns of valid time are missing from the table of records.",
    "known_instant_not_rising": RESTORE,
    "empty_valid_interval": "Evolve the record with the interval that was meant; the one it has covers no moment.",
    "ancestor_not_earlier": RESTORE_EDGE,
}
OTHERWISE = "Open the entry, see who wrote it and why, and settle it by a new entry; nothing is changed in place."


def remedy(kind: str) -> str:
    """The next step for counterexamples of the kind."""
    return REMEDIES.get(kind, OTHERWISE)
