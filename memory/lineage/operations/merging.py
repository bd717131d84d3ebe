"""The merge of records: canonical, blind to the order of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from memory.base import instants
from memory.base.actor import Actor
from memory.base.errors import Conflict, Invalid, StaleVersion
from memory.base.intervals import DisjointIntervals, EmptyInterval, Interval
from memory.base.text import CONTENT_CHARS
from memory.ledger.operations.appending import retried
from memory.lineage.kernel import Merged, Strategy, ValidRule, merged, merged_interval
from memory.lineage.operations.deriving import Cause, Derived, Rules, answer_before, derive
from memory.lineage.queries.sources import SourceRecord, current_version, load_sources
from memory.records.content import NewRecord

SOURCES = 200


@retried
def merge(
    by: Actor, *, records: Sequence[UUID], cause: Cause, strategy: Strategy = "union", content: str | None = None,
    summary: str = "", type: str | None = None, valid_time: ValidRule = "intersection",
    interval: Interval | None = None, of_current: bool = False,
) -> Derived:  # fmt: skip
    """One record out of two or more, all of this namespace. The sources stay current.

    `interval` is the valid time under the rule `explicit`, and comes with no other rule. `of_current`: a source that
    has been superseded meanwhile is refused, so that nothing is summed up that was read before.
    Locks: the namespace head. Appends: `merge`, items record, derivation, one edge for each source in argument order.
    Raises NotFound, Invalid (fewer than two, one twice), Withdrawn, Erased (no content given), Conflict (disjoint),
    StaleVersion (superseded).
    """
    if not 2 <= len(records) <= SOURCES:
        raise Invalid.at("records", expected=f"2 to {SOURCES} distinct records", got=len(records))
    if (interval is not None) != (valid_time == "explicit"):
        raise Invalid.at("valid_time", expected="an interval with the rule explicit, and with no other", got=valid_time)
    request = {"merge": [str(record) for record in records], "strategy": strategy, "content": content, "type": type,
               "valid_time": valid_time, "cause": cause.request, **_also_asked(summary, interval)}  # fmt: skip
    if (first := answer_before(by, "merge", request)) is not None:
        return first
    sources = load_sources(by.namespace, records)
    for source in sources:
        source.require_usable(needs_content=content is None)
        if of_current and source.state.superseded_seq is not None:
            raise _stale(by.namespace, source)
    together = merged([source.for_merge() for source in sources], strategy=strategy)
    new = _new(together, _valid(sources, valid_time, interval), content=content, summary=summary, type=type)
    rules = Rules(
        content="generated" if content is None else "explicit", type="explicit" if type else together.type_rule,
        valid=valid_time, conflicts=together.conflicts,
    )  # fmt: skip
    return derive(by, "merge", [new], sources, cause=cause, rules=rules, lines=[None], request=request)


def _stale(namespace: int, source: SourceRecord) -> StaleVersion:
    head, current = current_version(namespace, source.id)
    return StaleVersion(
        f"The record {source.id} is superseded; its current version is {head}.", current=current, since=str(source.id)
    )  # fmt: skip


def _also_asked(summary: str, interval: Interval | None) -> dict[str, Any]:
    """What a request names only where it was given, so that the fingerprints of others stand."""
    given: dict[str, Any] = {"summary": summary} if summary else {}
    if interval is not None:
        given["interval"] = [instants.text_or_none(interval.start), instants.text_or_none(interval.end)]
    return given


def _new(together: Merged, interval: Interval, *, content: str | None, summary: str, type: str | None) -> NewRecord:
    text = together.content if content is None else content
    if len(text) > CONTENT_CHARS:
        raise Invalid.at("content", expected=f"at most {CONTENT_CHARS} characters once merged", got=len(text))
    return NewRecord(
        type=type or together.type, content=text, summary=summary, tags=together.tags, metadata=together.metadata,
        origin=together.origin, pointer=together.pointer, source_class="derived",
        valid_from=interval.start, valid_to=interval.end,
    )  # fmt: skip


def _valid(sources: Sequence[SourceRecord], rule: ValidRule, given: Interval | None) -> Interval:
    if rule == "explicit":
        assert given is not None
        return given
    intervals = [Interval(source.state.valid_from, source.state.valid_to) for source in sources]
    try:
        return merged_interval(intervals, rule=rule)
    except DisjointIntervals as error:
        told = [
            {
                "record": str(source.id),
                "valid_from": instants.text_or_none(one.start),
                "valid_to": instants.text_or_none(one.end),
            }
            for source, one in zip(sources, intervals, strict=True)
        ]
        raise Conflict(
            f"The sources hold at no common time ({error}); choose valid_time=hull, or give an explicit interval.",
            intervals=told,
        ) from error


def explicit_interval(start: Any, end: Any) -> Interval:
    """The interval that a client gives.   Raises Invalid (it ends before it begins)."""
    try:
        return Interval(start, end)
    except EmptyInterval as error:
        raise Invalid.at("valid_to", expected="an instant after valid_from", got=instants.text(error.end)) from error
