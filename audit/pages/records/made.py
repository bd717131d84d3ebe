"""How a record came to be, as its page tells it: the derivation, the rules that chose, what its merge left open."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from audit.access import Visit
from audit.components import Definition
from audit.navigation import Link
from audit.pages.records.joining import shown_value
from audit.secrets import covered
from audit.templatetags.console import count
from audit.templatetags.records import spaced
from memory.lineage.queries.making import MadeBy, Making, MergeConflict, making
from memory.records.queries.detail import RecordDetail

SOURCES_SHOWN = 20
CONTENT_RULES = {"generated": "the distinct texts of the sources, joined whole", "explicit": "given by the author"}
TYPE_RULES = {
    "majority": "the most frequent type of the sources", "tie-break": "of equally frequent types the first declared",
    "explicit": "given by the author",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SaidRow:
    """One value of a conflict and who says it."""

    value: str
    sources: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """A key that a merge left open; `settled` leads to the version that said what holds."""

    key: str
    said: tuple[SaidRow, ...]
    settled: Link | None
    settled_as: str


@dataclass(frozen=True, slots=True)
class Panel:
    """What the panel draws. `title` says by what the record was made; `conflicts` begin with the open ones.

    `is_compiled`: a panel of its own tells how.
    """

    title: str
    is_compiled: bool
    rows: tuple[Definition, ...]
    sources: tuple[Link, ...]
    n_more_sources: int
    note: str
    ended: tuple[tuple[str, Link], ...]
    conflicts: tuple[ConflictRow, ...]
    n_open: int
    n_erased: int
    settle_url: str


def panel(visit: Visit, found: RecordDetail) -> Panel:
    """The panel of one record; one query."""
    told = making(visit.at, record=found.row.id)
    by = told.made_by
    sources = by.sources if by else ()
    may_settle = visit.actor.may("write") and found.row.state == "current" and told.n_open
    return Panel(
        title=_title(by), is_compiled=by is not None and by.kind == "compile", rows=_rows(by),
        note=covered(by.note) if by else "",
        sources=tuple(_link(visit, source) for _, source in sources[:SOURCES_SHOWN]),
        n_more_sources=max(0, len(sources) - SOURCES_SHOWN),
        ended=tuple(_ended(visit, one) for one in told.ended_by),
        conflicts=tuple(_conflict(visit, one) for one in _open_first(told)), n_open=told.n_open,
        n_erased=told.n_erased_conflicts,
        settle_url=f"/records/{found.row.id}/settle{visit.carry}" if may_settle else "",
    )  # fmt: skip


def _title(by: MadeBy | None) -> str:
    if by is None:
        return "Saved, derived from no other record"
    n = len(by.sources)
    if by.kind == "compile":
        return f"Compiled of {count(n)} record{'' if n == 1 else 's'}"
    return f"Made by {'an' if by.kind == 'evolve' else 'a'} {by.kind} of {count(n)} record{'' if n == 1 else 's'}"


def _rows(by: MadeBy | None) -> tuple[Definition, ...]:
    if by is None:
        return ()
    reason = by.reason if by.reason_given else f"{by.reason} (by default, nobody gave one)"
    rows = [Definition("reason", reason)]
    if by.kind == "merge":
        # Of an imported merge nobody knows how its type was chosen.
        chosen = (("text", CONTENT_RULES, by.content_rule), ("type", TYPE_RULES, by.type_rule))
        rows += [Definition(name, words.get(rule, rule)) for name, words, rule in chosen if rule]
    if by.valid_rule:
        rows.append(
            Definition("true when", by.valid_rule if by.kind in ("merge", "compile") else "as its source", title=by.law)
        )
    if by.law:
        rows.append(Definition("law kept", by.law))
    return tuple(rows)


def _link(visit: Visit, record: UUID) -> Link:
    return Link(str(record)[:8], f"/records/{record}{visit.carry}")


def _ended(visit: Visit, one: MadeBy) -> tuple[str, Link]:
    note = f", {covered(one.note)}" if one.note else ""
    return f"Superseded for {one.reason}{note}:", _link(visit, one.sources[0][1])


def _open_first(told: Making) -> Iterable[MergeConflict]:
    return sorted(told.conflicts, key=lambda one: (one.settled_by is not None, one.key))


def _conflict(visit: Visit, one: MergeConflict) -> ConflictRow:
    said = tuple(
        SaidRow(shown_value(each.value), tuple(_link(visit, source) for source in each.sources)) for each in one.said
    )
    settled = _link(visit, one.settled_by) if one.settled_by else None
    return ConflictRow(spaced(covered(one.key)), said, settled, shown_value(one.settled_as) if settled else "")
