"""Who may write and on whose behalf: agents, their tokens, people's memberships, freeze, hold, settings and runs.

Invariants
- A token belongs to one agent of one namespace; only the hash of its secret is stored, and it always expires.
- Roles, freezes and holds are rows of the ledger; the newest one counts, none is changed in place.
- Every entry may name one run; a run is opened once, by the first entry that names it.

Decided: a person is an account of the site (django.contrib.auth) and a member of a namespace by a Membership row.
"""
