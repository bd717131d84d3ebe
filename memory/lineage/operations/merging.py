"""The merge of records: canonical, blind to the order of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from memory.base.actor import Actor
from memory.base.errors import Conflict, Invalid
from memory.base.intervals import DisjointIntervals, Interval
from memory.base.text import CONTENT_CHARS
from memory.ledger.operations.appending import retried
from memory.lineage.kernel import Strategy, merged, merged_interval
from memory.lineage.operations.deriving import Cause, Derived, Rules, answer_before, derive
from memory.lineage.queries.sources import SourceRecord, load_sources
from memory.records.content import NewRecord

SOURCES = 200


@retried
def merge(
    by: Actor,
    *,
    records: Sequence[UUID],
    cause: Cause,
    strategy: Strategy = "union",
    content: str | None = None,
    type: str | None = None,
    valid_time: Literal["intersection", "hull"] = "intersection",
) -> Derived:
    """One record out of two or more, all of this namespace. The sources stay current.

    Locks: the namespace head. Appends: `merge`, items record, derivation, one edge for each source in argument order.
    Raises NotFound, Invalid (fewer than two, one twice), Withdrawn, Erased (no content given), Conflict (disjoint).
    """
    if not 2 <= len(records) <= SOURCES:
        raise Invalid.at("records", expected=f"2 to {SOURCES} distinct records", got=len(records))
    request = {"merge": [str(record) for record in records], "strategy": strategy, "content": content, "type": type,
               "valid_time": valid_time, "cause": cause.request}  # fmt: skip
    if (first := answer_before(by, "merge", request)) is not None:
        return first
    sources = load_sources(by.namespace, records)
    for source in sources:
        source.require_usable(needs_content=content is None)
    together = merged([source.for_merge() for source in sources], strategy=strategy)
    text = together.content if content is None else content
    if len(text) > CONTENT_CHARS:
        raise Invalid.at("content", expected=f"at most {CONTENT_CHARS} characters once merged", got=len(text))
    interval = _valid(sources, valid_time)
    new = NewRecord(
        type=type or together.type, content=text, tags=together.tags, metadata=together.metadata,
        origin=together.origin, pointer=together.pointer, source_class="derived",
        valid_from=interval.start, valid_to=interval.end,
    )  # fmt: skip
    rules = Rules(
        content="generated" if content is None else "explicit", type="explicit" if type else together.type_rule,
        valid=valid_time, conflicts=together.conflicts,
    )  # fmt: skip
    return derive(by, "merge", [new], sources, cause=cause, rules=rules, lines=[None], request=request)


def _valid(sources: Sequence[SourceRecord], rule: Literal["intersection", "hull"]) -> Interval:
    intervals = [Interval(source.state.valid_from, source.state.valid_to) for source in sources]
    try:
        return merged_interval(intervals, rule=rule)
    except DisjointIntervals as error:
        raise Conflict(f"The sources hold at no common time ({error}); choose valid_time=hull.") from error
