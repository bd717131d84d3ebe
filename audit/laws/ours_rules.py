"""L5 and L6 over the windows of one of our namespaces: rules that were followed, and instants that rise.

- L5: where a merge names the rule by which it chose its type, that rule gives that type. A merge that does not follow
  its rule breaks the clause; merges that do decide nothing.
- L6: records have both ends of a valid interval, none is empty, and recorded instants rise with the log.

Source: laws of the store, 2.1, 3.2 (type) and 5.4.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from audit.laws import ours_digests as digests
from audit.laws import ours_rows as rows
from audit.laws.ours_place import Place
from audit.laws.ours_rows import RecordRow, Window
from audit.laws.tally import Tally
from audit.laws.values import Finding, Witness

# Declared order of types, for ties; written down a second time on purpose.
TYPE_RANK = (
    "fact", "decision", "procedural", "episodic", "user", "code", "error", "commit", "todo", "issue", "api", "schema",
    "test", "review", "release", "config", "dependency", "doc", "workflow", "task", "step", "agent_run",
)  # fmt: skip


@dataclass(slots=True)
class Types:
    """L5: the type of a merge follows from the rule that it names."""

    place: Place
    against: Tally = field(init=False)

    def __post_init__(self) -> None:
        self.against = self.place.tally("L5")

    def feed(self, window: Window) -> None:
        rules = {row.id: row.type_rule for row in window.derivations if row.kind == "merge"}
        created = {row.id: row for row in window.records.values()}
        sources: dict[tuple[str, str], list[str]] = defaultdict(list)
        for edge in window.edges:
            is_told = rules.get(edge.derivation or "") in ("majority", "tie-break")
            if is_told and edge.relation == "merged_from" and edge.target_type is not None and edge.source in created:
                sources[edge.source, rules[edge.derivation or ""]].append(edge.target_type)
        names = rows.type_names(self.place.namespace, _types(sources.values(), created, sources)) if sources else {}
        for (merge, rule), types in sources.items():
            row = created[merge]
            if {*types, row.type} <= names.keys():
                self._judge(row, rule, [names[type] for type in types], names[row.type])

    def _judge(self, row: RecordRow, rule: str, types: Sequence[str], stored: str) -> None:
        counts = Counter(types)
        most = max(counts.values())
        tied = sorted((type for type, count in counts.items() if count == most), key=_rank)
        follows = tied[0], "tie-break" if len(tied) > 1 else "majority"
        if follows != (stored, rule):
            facts = {"rule": rule, "n_sources": len(types), "n_tied": len(tied), "entry": row.seq}
            self.against.add(self.place.witness("rule_not_followed", row.id, **facts))

    def findings(self) -> Iterator[Finding]:
        yield self.against.finding(is_decidable=False, decided_by="running the same operation twice from equal states")


def _types(
    groups: Iterable[Sequence[str]], created: Mapping[str, RecordRow], merges: Iterable[tuple[str, str]]
) -> set[str]:
    return {type for types in groups for type in types} | {created[merge].type for merge, _ in merges}


def _rank(type: str) -> tuple[int, str]:
    return (TYPE_RANK.index(type) if type in TYPE_RANK else len(TYPE_RANK), type)


@dataclass(slots=True)
class Times:
    """L6: two axes, one of which rises with the log."""

    place: Place
    n_entries: int = 0
    last: str = ""
    wrong: Tally = field(init=False)

    def __post_init__(self) -> None:
        self.wrong = self.place.tally("L6")
        lacking = sorted(set(rows.VALID_TIME) - rows.record_columns())
        if lacking:
            self.wrong.add(Witness("no_valid_time", namespace=self.place.name, facts={"lacking": lacking}))

    def feed(self, window: Window) -> None:
        for entry in window.entries:
            self.n_entries += 1
            # One spelling of fixed length, so that texts compare as instants do.
            recorded = digests.instant(entry.recorded_at) or ""
            if recorded <= self.last:
                facts = {"entry": entry.seq, "recorded_at": recorded, "before_it": self.last}
                self.wrong.add(Witness("known_instant_not_rising", namespace=self.place.name, facts=facts))
            self.last = max(self.last, recorded)
        for row in window.records.values():
            begins, ends = digests.instant(row.valid_from), digests.instant(row.valid_to)
            if begins is not None and ends is not None and ends <= begins:
                self.wrong.add(self.place.witness("empty_valid_interval", row.id, entry=row.seq))

    def findings(self) -> Iterator[Finding]:
        yield self.wrong.finding(decided_by="the columns of records, and the instants of the log")
