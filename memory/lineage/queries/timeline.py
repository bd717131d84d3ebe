"""Lines of versions: who changed what when, and why; where a line began, and where it stands.

Invariants
- A line is opened by a save, a merge, a part of a split, or an evolve of a record that is not its line's head (a
  branch, which names the point it left). An evolve of the head extends it.
- Versions stand in the order of the ledger. A line that breaks an invariant is told with its faults; nothing is sorted.
- `at` holds its instant, `since` does not. Under a source's own instants both ask for those.

Source: laws of the store, 4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.base.errors import Invalid, NotFound
from memory.lineage.kernel import LineFault, Version, line_faults
from memory.lineage.models import ANCESTRY, REASONS
from memory.records.models import Record, RecordState
from memory.records.queries.detail import RecordRow, rows_of
from memory.records.queries.recall import hidden_reason

MOST = 1_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One version: its row, and the derivation that made it. `kind` is `save` where none did; `reason` is then None.

    `parents` = ((relation, record), …) in the order in which they were named. `person` is set where a person wrote.
    """

    row: RecordRow
    kind: str
    reason: str | None
    reason_given: bool
    note: str
    parents: tuple[tuple[str, UUID], ...]
    principal: str
    person: int | None


@dataclass(frozen=True, slots=True)
class Branch:
    """The record that a branch left, and the line which that record belongs to."""

    record: UUID
    line: UUID


@dataclass(frozen=True, slots=True)
class Timeline:
    """A line by the point. `answer` is the newest version that is current at the point, None where none is."""

    line: UUID
    entries: tuple[Entry, ...]
    n_versions: int
    branched_from: Branch | None
    answer: UUID | None
    faults: tuple[LineFault, ...]

    @property
    def opened_by(self) -> str:
        """How the line began."""
        return self.entries[0].kind if self.entries else ""

    @property
    def head(self) -> UUID | None:
        return self.entries[-1].row.id if self.entries else None

    @property
    def is_consistent(self) -> bool:
        return not self.faults


def line_of(at: AsOf, *, record: UUID) -> UUID:
    """The line that a record belongs to. Raises NotFound (no such record at the point)."""
    states = RecordState.objects.known(at).filter(id=record).values("id")
    found = Record.objects.filter(namespace=at.namespace, id__in=states).values_list("line", flat=True).first()
    if found is None:
        raise NotFound(f"There is no record {record} {at.words}.", id=str(record))
    return found


def timeline(at: AsOf, *, line: UUID) -> Timeline:
    """The line by the point, its oldest 1,000 versions first to last. Three queries, however long it is."""
    members = Record.objects.filter(namespace=at.namespace, line=line).values("id")
    states = list(RecordState.objects.known(at).filter(id__in=members).order_by("doc"))
    made = _made(at, line)
    rows = rows_of(at, states[:MOST])
    entries = tuple(_entry(row, made.get(row.id, [])) for row in rows)
    versions = [
        Version(one.row.id, one.row.recorded_at, one.row.source_recorded_at, _evolved_from(one)) for one in entries
    ]
    answer = next((state.id for state in reversed(states) if hidden_reason(at, state) is None), None)
    return Timeline(line, entries, len(states), _branch(entries, made), answer, tuple(line_faults(versions)))


def narrowed(
    entries: Sequence[Entry], *, by_source: bool, at: datetime | None = None, since: datetime | None = None,
    reason: str = "",
) -> tuple[Entry, ...]:  # fmt: skip
    """The entries asked for: the last one at an instant, those after one, those of one reason.

    Raises Invalid (a word that is no reason).
    """
    if reason and reason not in REASONS:
        raise Invalid.at("by_reason", expected=" or ".join(REASONS), got=reason)
    found = list(entries)
    if at is not None:
        found = [one for one in found if (told := _instant(one, by_source)) is not None and told <= at][-1:]
    if since is not None:
        found = [one for one in found if (told := _instant(one, by_source)) is not None and told > since]
    return tuple(one for one in found if not reason or one.reason == reason)


def _instant(entry: Entry, by_source: bool) -> datetime | None:
    return entry.row.source_recorded_at if by_source else entry.row.recorded_at


_MADE = (
    "SELECT r.id, n.principal, n.person, e.relation, e.target, p.line, d.kind, d.reason, d.reason_given, c.payload"
    " FROM memory_record r"
    " JOIN memory_entry n ON n.namespace_id = r.namespace_id AND n.seq = r.seq"
    " LEFT JOIN memory_edge e ON e.namespace_id = r.namespace_id AND e.source = r.id AND e.relation IN {ancestry}"
    " LEFT JOIN memory_record p ON p.namespace_id = e.namespace_id AND p.id = e.target"
    " LEFT JOIN memory_derivation d ON d.namespace_id = e.namespace_id AND d.id = e.derivation"
    " LEFT JOIN memory_content c ON c.namespace_id = d.namespace_id AND c.seq = d.seq AND c.item = d.item"
    " AND c.part = 'note'"
    " WHERE r.namespace_id = %s AND r.line = %s AND r.seq <= %s ORDER BY r.seq, r.item, e.ordinal, e.target"
)


def _made(at: AsOf, line: UUID) -> dict[UUID, list[tuple[Any, ...]]]:
    """{version: [its row with one parent each]}."""
    labels = ", ".join(f"'{relation}'" for relation in ANCESTRY)
    found: dict[UUID, list[tuple[Any, ...]]] = {}
    for row in sql.fetch(_MADE.format(ancestry=f"({labels})"), [at.namespace, line, at.seq]):
        found.setdefault(sql.as_id(row[0]), []).append(row[1:])
    return found


def _entry(row: RecordRow, made: Sequence[tuple[Any, ...]]) -> Entry:
    principal, person, *_ = made[0]
    kind, reason, given, note = made[0][5:]
    parents = tuple((relation, sql.as_id(target)) for _, _, relation, target, *_ in made if target is not None)
    # An edge of an import may stand without a derivation of its own.
    told = kind or (parents[0][0].split("_")[0] if parents else "save")
    words = str(strict_loads(note)) if note is not None else ""
    return Entry(row, told, reason, bool(given), words, parents, principal, person)


def _evolved_from(entry: Entry) -> UUID | None:
    return next((parent for relation, parent in entry.parents if relation == "evolved_from"), None)


def _branch(entries: Sequence[Entry], made: dict[UUID, list[tuple[Any, ...]]]) -> Branch | None:
    if not entries or (left := _evolved_from(entries[0])) is None:
        return None
    return Branch(left, sql.as_id(made[entries[0].row.id][0][4]))
