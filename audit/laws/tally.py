"""Counting findings: all of them by kind, the first of each kind with its counterexample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from audit.laws.values import ClauseName, Finding, KindCount, Scope, Severity, Witness, verdict_of


class Tally:
    """What is found of one clause in one scope.

    most : how many counterexamples of a kind are kept; None keeps all. Counts are never cut.
    """

    def __init__(self, clause: ClauseName, scope: Scope = "store", *, most: int | None = None) -> None:
        self.clause, self.scope, self.most = clause, scope, most
        self.counts: Counter[str] = Counter()
        self.severities: dict[str, Severity] = {}
        self.witnesses: list[Witness] = []

    def add(self, witness: Witness, severity: Severity = "violation") -> None:
        """One more finding of the witness's kind."""
        kind = witness.kind
        self.counts[kind] += 1
        self.severities[kind] = severity
        if self.most is None or self.counts[kind] <= self.most:
            self.witnesses.append(witness)

    def add_all(self, witnesses: Iterable[Witness], severity: Severity = "violation") -> None:
        for witness in witnesses:
            self.add(witness, severity)

    def finding(self, *, is_decidable: bool = True, decided_by: str = "") -> Finding:
        """The finding so far. `is_decidable`: the evidence read is of the kind that decides the clause."""
        kinds = tuple(KindCount(kind, self.severities[kind], count) for kind, count in sorted(self.counts.items()))
        verdict = verdict_of(kinds, is_decidable=is_decidable)
        return Finding(self.clause, self.scope, verdict, kinds, tuple(self.witnesses), decided_by)
