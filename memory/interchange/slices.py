"""A slice of a namespace as provenance: versions of records, the entries that made and ended them, and who acted.

Invariants
- Whatever an act names stands in the slice: a version that the filter leaves out, and that one inside rests on, is an
  outsider, without its text.
- What was erased is a version without a text, at every point in time. What the point does not know yet is left out.
- Order and content follow from the point alone; the number of queries grows with chunks of rows, not with rows.

A slice is of one focus with all that it rests on and all that rests on it, or of the records that a filter of entries
meets, or of the whole namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched
from typing import Any
from uuid import UUID

from memory.agents.labels import labels
from memory.agents.models import Agent, Run
from memory.base import instants
from memory.base.asof import AsOf
from memory.base.errors import Invalid, NotFound, TooLarge
from memory.ledger.models import Entry, Namespace, Refusal
from memory.ledger.queries.contents import names_of
from memory.lineage.models import ANCESTRY, Derivation, Edge
from memory.lineage.queries.graph import GROUP_OF, MOST_COUNTED, whole_lineage
from memory.records.models import RecordState, Withdrawal, held_by
from memory.records.queries.detail import state_of

CHUNK = 400
MOST_RECORDS = 200_000
RELATIONS = (*ANCESTRY, "supersedes")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a slice is of. `since` and `until` bound the instants of entries, half-open; `focus` excludes the others.

    `may_be_cut`: a lineage above the cap is cut at it, for a reader who says so; otherwise it is refused.
    """

    since: datetime | None = None
    until: datetime | None = None
    run: UUID | None = None
    agent: UUID | None = None
    focus: UUID | None = None
    groups: tuple[str, ...] = ()
    may_be_cut: bool = False

    @property
    def is_whole(self) -> bool:
        return not any((self.since, self.until, self.run, self.agent, self.focus))

    @property
    def told(self) -> dict[str, Any]:
        """What was asked for, as JSON."""
        texts = {
            "from": instants.text(self.since) if self.since is not None else None,
            "to": instants.text(self.until) if self.until is not None else None,
            "run": str(self.run) if self.run is not None else None,
            "agent": str(self.agent) if self.agent is not None else None,
            "focus": str(self.focus) if self.focus is not None else None,
        }
        given: dict[str, Any] = {name: text for name, text in texts.items() if text is not None}
        return {**given, "relations": list(self.groups)} if self.groups else given


@dataclass(frozen=True, slots=True)
class Version:
    """One record. `label` is its first line, empty where it is erased or an outsider."""

    id: UUID
    seq: int
    type: str
    label: str
    state: str
    valid_from: datetime | None
    valid_to: datetime | None
    source_class: str
    is_erased: bool = False
    is_outsider: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """`newer` came from `older`, or took its place, by the stored relation."""

    newer: UUID
    relation: str
    older: UUID


@dataclass(slots=True)
class Act:
    """One entry: who wrote it, and what it made, used and ended. `refused` is the code of a refusal."""

    seq: int
    recorded_at: datetime
    verb: str
    principal: str
    person: int | None
    agent: UUID | None
    run: UUID | None
    on_behalf_of: UUID | None
    reason: str = ""
    refused: str = ""
    generated: list[UUID] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    ended: list[UUID] = field(default_factory=list)

    @property
    def used(self) -> list[UUID]:
        """What the act rested on, each once; a supersession rests on both its ends."""
        named = (
            end
            for link in self.links
            for end in ((link.newer, link.older) if link.relation == "supersedes" else (link.older,))
        )
        return list(dict.fromkeys(named))


@dataclass(frozen=True, slots=True)
class Worker:
    """An agent of the namespace; `operator` is the person who answers for it."""

    name: str
    operator: int | None


@dataclass(frozen=True, slots=True)
class Slice:
    """Versions and acts in the order of the ledger, and the agents and principals that acts name."""

    namespace: str
    uid: UUID
    seq: int
    valid_at: datetime
    versions: tuple[Version, ...]
    acts: tuple[Act, ...]
    workers: Mapping[UUID, Worker]
    parties: Mapping[UUID, str]


def slice_of(at: AsOf, selection: Selection) -> Slice:
    """The slice at the point.

    Raises NotFound (no such focus or run), Invalid (a focus with a filter), TooLarge (more than a document holds).
    """
    if selection.focus is not None and _is_filtered(selection):
        raise Invalid.at("focus", expected="a focus alone, or a filter of entries", got="both")
    if selection.run is not None and not _stands(at, selection.run):
        raise NotFound(f"There is no run {selection.run} as of entry {at.seq}.", id=str(selection.run))
    states = _chosen(at, selection)
    if len(states) > MOST_RECORDS:
        raise TooLarge(f"A document holds at most {MOST_RECORDS} records; narrow it by from, to, run or agent.")
    links = _links(at, selection, states)
    outsiders = _states(at, {end for _, link in links for end in (link.newer, link.older)} - states.keys())
    known = states.keys() | outsiders.keys()
    acts = _acts(at, states, [(seq, link) for seq, link in links if {link.newer, link.older} <= known])
    acts += _refusals(at, selection, states)
    acts.sort(key=lambda act: act.seq)
    store = Namespace.objects.get(pk=at.namespace)
    return Slice(
        store.name, store.uid, at.seq, at.valid_at, tuple(_versions(at, states, outsiders)), tuple(acts),
        _workers(at, acts), _parties(at, acts),
    )  # fmt: skip


def _stands(at: AsOf, run: UUID) -> bool:
    return Run.objects.filter(namespace=at.namespace, id=run, seq__lte=at.seq).exists()


def _is_filtered(selection: Selection) -> bool:
    return any((selection.since, selection.until, selection.run, selection.agent))


def _chosen(at: AsOf, selection: Selection) -> dict[UUID, RecordState]:
    if selection.focus is None:
        # What nobody confirmed is no part of memory; an archive holds it, as it holds everything.
        rows = RecordState.objects.known(at).exclude(held_by(at))
        if not selection.is_whole:
            rows = rows.filter(seq__in=_entries(at, selection).values("seq"))
        return {row.id: row for row in rows.order_by("doc")[: MOST_RECORDS + 1]}
    links = whole_lineage(at, focus=selection.focus, groups=selection.groups)
    if len(links) > MOST_COUNTED and not selection.may_be_cut:
        raise TooLarge(f"This lineage has more than {MOST_COUNTED} links; export the namespace instead.")
    found = _states(at, {selection.focus, *(end for link in links[:MOST_COUNTED] for end in (link.older, link.newer))})
    if selection.focus not in found:
        raise NotFound(f"There is no record {selection.focus} {at.words}.", id=str(selection.focus))
    return found


def _entries(at: AsOf, selection: Selection) -> Any:
    rows = Entry.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    if selection.since is not None:
        rows = rows.filter(recorded_at__gte=selection.since)
    if selection.until is not None:
        rows = rows.filter(recorded_at__lt=selection.until)
    if selection.run is not None:
        rows = rows.filter(run=selection.run)
    return rows.filter(agent=selection.agent) if selection.agent is not None else rows


def _states(at: AsOf, ids: Iterable[UUID]) -> dict[UUID, RecordState]:
    found: list[RecordState] = []
    for chunk in batched(sorted(ids), CHUNK):
        found.extend(RecordState.objects.known(at).filter(id__in=chunk))
    return {row.id: row for row in sorted(found, key=lambda row: row.doc)}


def _links(at: AsOf, selection: Selection, states: Mapping[UUID, RecordState]) -> list[tuple[int, Link]]:
    """(seq, link) of what the chosen records came from, and of supersessions of which both ends are chosen."""
    wanted = [name for name in RELATIONS if not selection.groups or GROUP_OF[name] in selection.groups]
    rows = Edge.objects.filter(namespace=at.namespace, seq__lte=at.seq, relation__in=wanted)
    found: list[Any] = []
    columns = ("seq", "item", "source", "relation", "target")
    if selection.is_whole:
        found.extend(rows.order_by("seq", "item").values_list(*columns).iterator())
    else:
        for chunk in batched(sorted(states), CHUNK):
            found.extend(rows.filter(source__in=chunk).values_list(*columns))
    found.sort(key=lambda row: row[:2])
    return [
        (seq, Link(source, relation, target))
        for seq, _, source, relation, target in found
        if relation != "supersedes" or target in states
    ]


def _acts(at: AsOf, states: Mapping[UUID, RecordState], links: Iterable[tuple[int, Link]]) -> list[Act]:
    generated: dict[int, list[UUID]] = {}
    ended: dict[int, dict[UUID, None]] = {}
    linked: dict[int, list[Link]] = {}
    for row in states.values():
        generated.setdefault(row.seq, []).append(row.id)
        for seq in (row.superseded_seq, row.erased_seq):
            if seq is not None and seq <= at.seq:
                ended.setdefault(seq, {})[row.id] = None
    for seq, record in _withdrawn(at, states):
        ended.setdefault(seq, {})[record] = None
    for seq, link in links:
        linked.setdefault(seq, []).append(link)
    acts = {act.seq: act for act in _read(at, generated.keys() | ended.keys() | linked.keys())}
    for act in acts.values():
        act.generated, act.links = generated.get(act.seq, []), linked.get(act.seq, [])
        act.ended = list(ended.get(act.seq, ()))
    for seq, reason in _reasons(at, linked):
        acts[seq].reason = reason
    return list(acts.values())


def _withdrawn(at: AsOf, states: Mapping[UUID, RecordState]) -> Iterator[tuple[int, UUID]]:
    """The entry that hides each record which is hidden at the point."""
    hidden = [row.id for row in states.values() if row.is_withdrawn]
    newest: dict[UUID, int] = {}
    for chunk in batched(sorted(hidden), CHUNK):
        rows = Withdrawal.objects.filter(namespace=at.namespace, record__in=chunk, withdrawn=True, seq__lte=at.seq)
        newest.update(rows.order_by("seq", "item").values_list("record", "seq"))
    yield from ((seq, record) for record, seq in newest.items())


def _reasons(at: AsOf, seqs: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The reason of each derivation that somebody gave one for."""
    for chunk in batched(sorted(seqs), CHUNK):
        rows = Derivation.objects.filter(namespace=at.namespace, seq__in=chunk, reason_given=True)
        yield from rows.order_by("seq", "item").values_list("seq", "reason")


def _read(at: AsOf, seqs: Iterable[int]) -> Iterator[Act]:
    for chunk in batched(sorted(seqs), CHUNK):
        for row in Entry.objects.filter(namespace=at.namespace, seq__in=chunk).order_by("seq"):
            yield Act(
                row.seq, row.recorded_at, row.verb, row.principal, row.person, row.agent, row.run, row.on_behalf_of
            )


def _refusals(at: AsOf, selection: Selection, states: Mapping[UUID, RecordState]) -> list[Act]:
    """Refused acts: of the filter, or about a record of the focus. Each is its own act, by the agent refused."""
    rows = Refusal.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    if not selection.is_whole and selection.focus is None:
        plain = Selection(selection.since, selection.until, selection.run)
        rows = rows.filter(seq__in=_entries(at, plain).values("seq"))
        rows = rows.filter(agent=selection.agent) if selection.agent is not None else rows
    found = [row for row in rows.order_by("seq", "item") if selection.focus is None or row.object in states]
    acts = {act.seq: act for act in _read(at, {row.seq for row in found})}
    for row in found:
        acts[row.seq].refused = row.code
        if row.agent is not None:
            acts[row.seq].principal, acts[row.seq].agent = "agent", row.agent
    return list(acts.values())


def _versions(at: AsOf, states: Mapping[UUID, RecordState], outsiders: Mapping[UUID, RecordState]) -> Iterator[Version]:
    names = names_of(at.namespace, {row.type for row in states.values()})
    for row in sorted([*states.values(), *outsiders.values()], key=lambda one: one.doc):
        is_outsider, is_erased = row.id in outsiders, row.erased_seq is not None
        yield Version(
            row.id, row.seq, names.get(row.type, ""), "" if is_outsider else row.first_line, state_of(row),
            row.valid_from, row.valid_to, row.source_class, is_erased, is_outsider,
        )  # fmt: skip


def _workers(at: AsOf, acts: Iterable[Act]) -> dict[UUID, Worker]:
    ids = {act.agent for act in acts if act.agent is not None}
    called = labels(at.namespace, agents=ids).agents if ids else {}
    rows = Agent.objects.filter(namespace=at.namespace, id__in=ids).order_by("seq", "item")
    known = {row.id: Worker(called.get(row.id, ""), row.operator) for row in rows}
    return {**{one: Worker("", None) for one in sorted(ids)}, **known}


def _parties(at: AsOf, acts: Iterable[Act]) -> dict[UUID, str]:
    """Whom agents said that they acted for; an empty name where it was erased."""
    ids = {act.on_behalf_of for act in acts if act.on_behalf_of is not None}
    names = names_of(at.namespace, ids)
    return {one: names.get(one, "") for one in sorted(ids)}
