"""Tombstones: negative knowledge. A route that failed, kept as a stop sign with bounds and an exit.

Invariants
- A tombstone has a route, a scope, evidence, a revival condition or more, a plan of its re-test and a date of review;
  without one of them it is refused. Its rows never change and are never deleted; erasing its text leaves the stub.
- It blocks its own scope only, and a block names it. What is not known to be in its scope is not blocked.
- Its state and the marks of its conditions are functions of evidence and an as-of point; no column holds them.
- An owner revives it, and only while every condition is met; a failed re-test puts it back and clears what was filed.

Terms: route (what was tried), scope (where it failed), check (asking before acting), block (a check that was refused),
turn (an owner's act that moves the state), origin (the root of a piece of evidence: relays of one count once), due date
(the earlier of re-test and review, until a turn sets another).

Decided: a check of a route on which nothing is buried writes nothing, since routes are text of clients and every act
would grow the log; one that met a tombstone is an entry, blocked or not. The route is compared folded (case, spaces),
a scope by its own small language. Reports of false blocks are the word of those who were stopped: at the limit of the
namespace the tombstone stops blocking, and it does so again if the limit is raised. A block may be said to be right as
well, which takes a false report of the same check back. An owner who has reviewed one may keep it until another date,
so that what waits does not wait for ever.
Rejected: a column for the state (expiry would need a job); blocking where the scope is unknown (a sign without bounds).

Source: operating contract, R06 and the machine of tombstones.
"""
