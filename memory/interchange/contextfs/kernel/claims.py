"""Which parents a record claims in its metadata, and which of these claims are its own.

Invariants
- At most one claim is a record's own: the one whose clock key is newest. Every derivation copies the ancestry keys of
  its source, so the older ones speak of an ancestor and are inherited.
- An own claim is never guessed: where clocks do not single one out, only edges of the record can.

Source: laws of the store 4.3 ("newest own claim") and 5.5.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from memory.interchange.contextfs.kernel.cells import JsonObject, JsonValue
from memory.interchange.contextfs.kernel.clocks import aware_instant
from memory.interchange.contextfs.kernel.vocabulary import (
    ANCESTRY_RELATIONS,
    CHANGE_REASONS,
    CLOCK_BY_RELATION,
    DEFAULT_REASON,
    MERGE_STRATEGIES,
)


@dataclass(frozen=True, slots=True)
class LineageClaim:
    """One ancestry key of the metadata. `targets` is in the order of the source, repetitions included.

    `at` is the instant of the derivation; None if its clock key is absent or unreadable. A malformed claim has the
    wrong JSON shape and therefore no targets.
    """

    relation: str
    targets: tuple[str, ...]
    at: datetime | None
    is_malformed: bool = False

    @property
    def distinct_targets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.targets))


@dataclass(frozen=True, slots=True)
class Claims:
    """The ancestry claims of one record. Its own is among `candidates`: none, one, or several of one instant."""

    candidates: tuple[LineageClaim, ...] = ()
    inherited: tuple[LineageClaim, ...] = ()
    newest_at: datetime | None = None
    unreadable_clocks: tuple[str, ...] = ()
    change_reason: str | None = None
    merge_strategy: str | None = None
    split_part: int | None = None
    split_total: int | None = None

    @property
    def every(self) -> tuple[LineageClaim, ...]:
        return (*self.candidates, *self.inherited)


NO_CLAIMS = Claims()


def claims_of(metadata: JsonObject) -> Claims:
    """Read the reserved keys of a record's metadata."""
    clocks = {key: aware_instant(_text(metadata.get(key))) for key in CLOCK_BY_RELATION.values() if key in metadata}
    claims = [
        _claim(relation, metadata[relation], at=clocks.get(CLOCK_BY_RELATION[relation]))
        for relation in ANCESTRY_RELATIONS
        if relation in metadata
    ]
    if not claims and not clocks:
        return NO_CLAIMS
    newest_claim_at = max((claim.at for claim in claims if claim.at is not None), default=None)
    candidates = tuple(claim for claim in claims if claim.at == newest_claim_at)
    return Claims(
        candidates=candidates,
        inherited=tuple(claim for claim in claims if claim not in candidates),
        newest_at=max((at for at in clocks.values() if at is not None), default=None),
        unreadable_clocks=tuple(key for key, at in clocks.items() if at is None),
        change_reason=_text(metadata.get("change_reason")),
        merge_strategy=_text(metadata.get("merge_strategy")),
        split_part=_count(metadata.get("split_part")),
        split_total=_count(metadata.get("split_total")),
    )


def own_claim(claims: Claims, *, edges: Collection[tuple[str, str]]) -> LineageClaim | None:
    """The own claim of a record, or None if it has none or several that nothing tells apart.

    edges : the (relation, target) pairs of the ancestry edges that leave the record. They decide only between
    candidates that clocks do not separate: for the single one whose targets all have their edge.
    """
    if len(claims.candidates) <= 1:
        return claims.candidates[0] if claims.candidates else None
    written = [
        claim
        for claim in claims.candidates
        if claim.targets and all((claim.relation, target) in edges for target in claim.targets)
    ]
    return written[0] if len(written) == 1 else None


def known_reason(text: str | None) -> tuple[str, bool]:
    """The reason of a change, and whether it is what the source writes when nobody gave one."""
    if text in CHANGE_REASONS and text != DEFAULT_REASON:
        return str(text), False
    return DEFAULT_REASON, True


def known_strategy(text: str | None) -> str | None:
    return text if text in MERGE_STRATEGIES else None


def _claim(relation: str, value: JsonValue, *, at: datetime | None) -> LineageClaim:
    targets = value if relation == "merged_from" else [value]
    texts = [target for target in targets if isinstance(target, str) and target] if isinstance(targets, list) else []
    if not isinstance(targets, list) or not targets or len(texts) != len(targets):
        return LineageClaim(relation, (), at, is_malformed=True)
    return LineageClaim(relation, tuple(texts), at)


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 1_000_000 else None
