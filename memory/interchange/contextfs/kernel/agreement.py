"""The ancestry edges of a store beside the claims of its records, one record after another.

Invariants
- Nothing is resolved, expanded or repaired: edges and claims are compared as they were written.
- A record's own claim is that of its newest derivation; what older keys say was copied from a parent and is inherited.
- An identifier that has edges and no record is compared too: it claims nothing.

Source: laws of the store 2.1 (L2), 4.3 (newest own claim).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memory.interchange.contextfs.kernel.claims import own_claim
from memory.interchange.contextfs.kernel.findings import Finding
from memory.interchange.contextfs.kernel.rows import Survey
from memory.interchange.contextfs.kernel.vocabulary import ANCESTRY_RELATIONS

# (relation, the text that names the parent)
type Tie = tuple[str, str]

# What can be the matter where edges and own claim differ, and what is done about it.
EXPLAINING = frozenset({
    "edge-write-lost", "target-missing", "edge-without-claim", "abbreviation-ambiguous", "captured", "cycle",
    "cross-namespace", "claim-malformed", "claim-ambiguous", "endpoint-missing", "late-ancestry",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Agreement:
    """One identifier: its ancestry edges, its own claim and all its claims. `namespace` is None where it has no record.

    `is_derived`: it claims any ancestry.
    """

    id: str
    namespace: str | None
    edges: frozenset[Tie]
    own: frozenset[Tie]
    every: frozenset[Tie]
    is_derived: bool

    @property
    def inherited(self) -> frozenset[Tie]:
        return self.every - self.own

    @property
    def disagrees(self) -> bool:
        """Before the rule: its edges are not what all its claims say."""
        return self.edges != self.every

    @property
    def disagrees_own(self) -> bool:
        """After the rule: its edges are not what its own claim says."""
        return self.edges != self.own


def agreements(surveyed: Survey) -> Iterator[Agreement]:
    """Every identifier that is a record or has an ancestry edge, in their order."""
    edges: dict[str, set[Tie]] = defaultdict(set)
    for row in surveyed.edges:
        if row.relation in ANCESTRY_RELATIONS:
            edges[row.from_id].add((row.relation, row.to_id))
    records = {row.id: row for row in surveyed.memories}
    for identifier in sorted(edges.keys() | records.keys()):
        written = frozenset(edges.get(identifier, ()))
        record = records.get(identifier)
        if record is None:
            yield Agreement(identifier, None, written, frozenset(), frozenset(), is_derived=False)
            continue
        claim = own_claim(record.claims, edges=written)
        own = frozenset((claim.relation, text) for claim in (claim,) if claim is not None for text in claim.targets)
        every = frozenset((claim.relation, text) for claim in record.claims.every for text in claim.targets)
        yield Agreement(identifier, record.namespace, written, own, every, is_derived=bool(record.claims.every))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A record whose edges differ from its own claim. Ties are spelled `relation parent`, sorted; codes explain it."""

    id: str
    namespace: str | None
    edges: tuple[str, ...]
    own: tuple[str, ...]
    inherited: tuple[str, ...]
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What the rule of the newest own claim does to a store.

    n_before, n_after : records that disagree without and with the rule.   by_code : code -> records it explains.
    rows : those that still disagree, each once, by namespace and identifier.
    """

    n_records: int
    n_derived: int
    n_before: int
    n_after: int
    n_own_without_edge: int
    n_inherited_without_edge: int
    n_edges_without_claim: int
    by_code: Mapping[str, int]
    rows: tuple[Disagreement, ...]

    @property
    def n_unexplained(self) -> int:
        return sum(not row.codes for row in self.rows)


def codes_by_record(findings: Iterable[Finding]) -> dict[str, tuple[str, ...]]:
    """{identifier: codes that explain it} of an import's findings."""
    return explained((finding.ids[0], finding.code) for finding in findings if finding.ids)


def explained(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """{identifier: codes} of (identifier, code), those that explain a disagreement, each once and sorted."""
    found: dict[str, set[str]] = defaultdict(set)
    for identifier, code in pairs:
        if code in EXPLAINING:
            found[identifier].add(code)
    return {identifier: tuple(sorted(codes)) for identifier, codes in found.items()}


def reconciliation(surveyed: Survey, *, codes: Mapping[str, tuple[str, ...]]) -> Reconciliation:
    """Compare the store with and without the rule. codes : as `codes_by_record` gives them."""
    found: Counter[str] = Counter()
    rows = []
    for one in agreements(surveyed):
        found["records"] += one.namespace is not None
        found["derived"] += one.is_derived
        found["before"] += one.disagrees
        found["own"] += len(one.own - one.edges)
        found["inherited"] += len(one.inherited - one.edges)
        found["unclaimed"] += len(one.edges - one.every)
        if one.disagrees_own:
            ties = (_spelled(one.edges), _spelled(one.own), _spelled(one.inherited))
            rows.append(Disagreement(one.id, one.namespace, *ties, codes.get(one.id, ())))
    rows.sort(key=lambda row: (row.namespace or "", row.id))
    by_code = Counter(code for row in rows for code in row.codes)
    return Reconciliation(
        found["records"], found["derived"], found["before"], len(rows), found["own"], found["inherited"],
        found["unclaimed"], dict(sorted(by_code.items())), tuple(rows),
    )  # fmt: skip


def _spelled(ties: Iterable[Tie]) -> tuple[str, ...]:
    return tuple(sorted(f"{relation} {text}" for relation, text in ties))
