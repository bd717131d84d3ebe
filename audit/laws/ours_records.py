"""L1 and L4(i) over the windows of one of our namespaces: the log and the rows of records agree.

The log is evidence that a snapshot lacks: every item says what its entry wrote, by kind, object and commitment. So the
two clauses that speak of operations are decided here.

- L1: every record that an entry wrote has its row and its text, and both still fit what the entry committed to, which
  is all the text it has. Text may be gone where an erasure names it.
- L4(i): every row was written by an entry of the row's own namespace.

Source: laws of the store, 2.1 and 2.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from audit.laws import ours_digests as digests
from audit.laws import ours_rows as rows
from audit.laws.ours_place import Place
from audit.laws.ours_rows import Address, ItemRow, RecordRow, Window
from audit.laws.tally import Tally
from audit.laws.values import Finding, Witness


@dataclass(slots=True)
class Records:
    """L1 and L4(i): the log and the rows of records agree."""

    place: Place
    n_records: int = 0
    changed: Tally = field(init=False)
    strange: Tally = field(init=False)

    def __post_init__(self) -> None:
        self.changed, self.strange = self.place.tally("L1"), self.place.tally("L4i")

    def feed(self, window: Window) -> None:
        missing: dict[Address, tuple[ItemRow, list[str]]] = {}
        for at, item in window.items.items():
            if item.kind != "record":
                continue
            self.n_records += 1
            row = window.records.get(at)
            if row is None or row.id != item.object:
                self.changed.add(self._about("record_gone", item, after=None))
                continue
            parts = digests.unpacked(item.parts)
            now = digests.item(committed_record(row), parts)
            if now != item.commitment:
                self.changed.add(self._about("record_altered", item, after=now.hex()))
            if gone := self._compare_parts(item, parts, window.contents.get(at, {})):
                missing[at] = (item, gone)
        self._judge_missing(missing)
        for at, row in window.records.items():
            entered = window.items.get(at)
            if entered is None or entered.kind != "record" or entered.object != row.id:
                self.strange.add(self.place.witness("record_of_no_entry", row.id, entry=row.seq))
        for edge in window.edges:
            entered = window.items.get((edge.seq, edge.item))
            if entered is None or entered.kind != "edge" or entered.object != edge.source:
                self.strange.add(self.place.edge("edge_of_no_entry", edge))

    def _about(self, kind: str, item: ItemRow, *, after: str | None) -> Witness:
        return self.place.witness(kind, item.object, entry=item.seq, before=item.commitment.hex(), after=after)

    def _compare_parts(
        self, item: ItemRow, parts: Mapping[str, bytes], contents: Mapping[str, tuple[bytes, str]]
    ) -> list[str]:
        """The parts that have no content; content that is another one, or of no part, is told at once."""
        gone = []
        for name in sorted(contents.keys() - parts.keys()):
            after = digests.part(name, *contents[name]).hex()
            facts = {"entry": item.seq, "part": name, "before": None, "after": after}
            self.changed.add(self.place.witness("content_altered", item.object, **facts))
        for name, before in parts.items():
            if name not in contents:
                gone.append(name)
            elif (now := digests.part(name, *contents[name])) != before:
                facts = {"entry": item.seq, "part": name, "before": before.hex(), "after": now.hex()}
                self.changed.add(self.place.witness("content_altered", item.object, **facts))
        return gone

    def _judge_missing(self, missing: Mapping[Address, tuple[ItemRow, list[str]]]) -> None:
        """Content may be gone where an erasure names it."""
        erased = rows.erased(self.place.namespace, missing) if missing else set()
        for (seq, number), (item, parts) in missing.items():
            for part in parts:
                if (seq, number, part) not in erased:
                    facts = {"entry": seq, "part": part, "after": None}
                    self.changed.add(self.place.witness("content_gone", item.object, **facts))

    def findings(self) -> Iterator[Finding]:
        yield self.changed.finding(decided_by="the log: every record against what its entry committed to")
        yield self.strange.finding(decided_by="the log: every row against the entries of its namespace")


def committed_record(row: RecordRow) -> dict[str, object]:
    """The columns of a record that its item commits to."""
    return {
        "id": digests.dashed(row.id), "type": digests.dashed(row.type), "line": digests.dashed(row.line),
        "source_class": row.source_class, "valid_from": digests.instant(row.valid_from),
        "valid_to": digests.instant(row.valid_to), "source_recorded_at": digests.instant(row.source_recorded_at),
        "n_quarantined": row.n_quarantined,
    }  # fmt: skip
