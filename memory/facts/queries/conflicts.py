"""Conflict cases: which are open at a point, and one of them whole, with both sides and what was decided of it before.

- A case is one subject and attribute. Two of its facts are shown beside each other: the oldest that clash, or those
  that are asked for.
- `version` covers what a verdict would rest on; it moves with any fact, declaration or verdict of the case.
- A settled case tells of its last span; one whose values were erased is in no span, and tells of its verdicts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.agents.labels import Labels, labels
from memory.base import instants
from memory.base.asof import AsOf
from memory.base.canonical import canonical
from memory.base.errors import Invalid, NotFound
from memory.facts.kernel.conflict import Clash, clashes
from memory.facts.kernel.status import Statement
from memory.facts.kernel.values import Side, Spec, Value, side_of
from memory.facts.models import Adjudication, ConflictCase, FactState
from memory.facts.queries.counting import counting_rows
from memory.facts.queries.status import FactLine, line_of, origins_of
from memory.facts.queries.verdicts import Ended, Verdict, ended_by, entity_of, has_erased, verdicts_of
from memory.facts.specs import specs_at
from memory.facts.states import Entity, counting
from memory.ledger.models import Entry
from memory.ledger.queries.addressed import Address
from memory.ledger.queries.mentions import Mention, mentions
from memory.records.models import DOC_ITEM_BITS, address_of, doc_of

COUNTED = 10_000
SIDES = 20
EVIDENCE = "evidence"
_BELOW_PLACE = 128 - DOC_ITEM_BITS


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A case in the queue. `kind`: values that exclude each other (`overlap`), or a denial (`contradiction`)."""

    id: UUID
    subject: str
    attribute: str
    opened_seq: int
    opened_at: datetime
    kind: str
    values: tuple[Value, ...]
    agents: tuple[str, ...]
    needs_more_since: datetime | None


@dataclass(frozen=True, slots=True)
class CasePage:
    """A page of open cases, the one that waits longest first. `next_place` goes on."""

    items: tuple[CaseLine, ...]
    total: int
    next_place: int | None


@dataclass(frozen=True, slots=True)
class CaseSide:
    """One of the two sides shown: its leading fact with its item, all that say the same, their origins and evidence."""

    fact: FactLine
    item: int
    facts: tuple[FactLine, ...]
    origins: tuple[str, ...]
    rests_on: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One case at a point. `a` and `b` are None where nothing clashes any more; `n_clashes` counts the pairs.

    It was open from `opened_seq` until `closed_seq`, both of its last span; `ended` is the act that closed it without
    a verdict. `has_erased`: it is in no span any more, because the value of one side is erased.
    """

    id: UUID
    subject: str
    attribute: str
    entity: Entity
    is_open: bool
    opened_seq: int | None
    opened_at: datetime | None
    closed_seq: int | None
    closed_at: datetime | None
    ended: Ended | None
    has_erased: bool
    kind: str
    a: CaseSide | None
    b: CaseSide | None
    shared_from: datetime | None
    shared_to: datetime | None
    values: tuple[Value, ...]
    n_clashes: int
    spec: Spec
    verdicts: tuple[Verdict, ...]
    version: str


@dataclass(frozen=True, slots=True)
class Clashing:
    """What a verdict rests on: the facts that count and the pairs of them that clash."""

    entity: Entity
    rows: tuple[FactState, ...]
    spec: Spec
    pairs: tuple[Clash, ...]
    version: str

    def shown(self, a: UUID | None, b: UUID | None) -> Clash | None:
        """The pair that is asked for, in the order of asking, else the oldest. Raises Invalid (no such pair)."""
        if a is None and b is None:
            return min(self.pairs, key=lambda pair: (pair.a.order, pair.b.order), default=None)
        for pair in self.pairs:
            if {pair.a.id, pair.b.id} >= {one for one in (a, b) if one is not None}:
                turned = a == pair.b.id or b == pair.a.id
                return Clash(pair.b, pair.a, pair.start, pair.end) if turned else pair
        raise Invalid.at("a", expected="two facts of the case that clash", got=a or b)

    def members(self, of: Statement, against: Statement) -> list[UUID]:
        """The facts on the side of the one that clash with the side of the other."""
        own, other = self._side(of), self._side(against)
        found: dict[UUID, None] = {}
        for pair in self.pairs:
            for one, rival in ((pair.a, pair.b), (pair.b, pair.a)):
                if self._side(one) == own and self._side(rival) == other:
                    found[one.id] = None
        return list(found)

    def _side(self, one: Statement) -> Side:
        assert one.value is not None
        return side_of(one.stance, one.value, self.spec)


def clashing(namespace: int, case: UUID, *, seq: int) -> Clashing:
    """What clashes in the case as known by entry `seq`. Raises NotFound."""
    entity = entity_of(namespace, case)
    if entity is None:
        raise NotFound(f"There is no conflict {case}.")
    rows = counting_rows(namespace, [entity], seq=seq)[entity]
    spec = specs_at(namespace, [entity[1]], seq)[entity[1]]
    told = [one for row in rows if (one := counting(row, seq)) is not None]
    n_verdicts = Adjudication.objects.filter(namespace=namespace, case=case, seq__lte=seq).count()
    return Clashing(
        entity, tuple(rows), spec, tuple(clashes(told, spec)),
        _version(case, told, spec, n_verdicts),
    )  # fmt: skip


def _version(case: UUID, told: Sequence[Statement], spec: Spec, n_verdicts: int) -> str:
    ends = [[str(one.id), None if one.until is None else instants.text(one.until)] for one in told]
    return hashlib.sha256(canonical([str(case), ends, spec.seq, n_verdicts])).hexdigest()


def cases(at: AsOf, *, after: int | None = None, limit: int = 50) -> CasePage:
    """The cases open at the point, oldest first. `after` is the place that a page named as its next."""
    rows = _open(at)
    total = min(COUNTED, rows[: COUNTED + 1].count())
    if after is not None:
        seq, start = address_of(after)
        first = UUID(int=start << _BELOW_PLACE)
        rows = rows.filter(Q(opened_seq__gt=seq) | Q(opened_seq=seq, id__gte=first))
    found = list(rows.order_by("opened_seq", "id")[: limit + 1])
    more = found[limit] if len(found) > limit else None
    # One entry may open more cases than a page has, so that a place names the entry and how the case's id begins.
    place = None if more is None else doc_of(more.opened_seq, more.id.int >> _BELOW_PLACE)
    return CasePage(tuple(_lines(at, found[:limit])), total, place)


def _open(at: AsOf) -> QuerySet[ConflictCase]:
    return ConflictCase.objects.filter(
        Q(closed_seq__isnull=True) | Q(closed_seq__gt=at.seq), namespace=at.namespace, opened_seq__lte=at.seq
    )


def _lines(at: AsOf, rows: Sequence[ConflictCase]) -> Iterable[CaseLine]:
    entities = [(row.subject, row.attribute) for row in rows]
    facts = counting_rows(at.namespace, entities, seq=at.seq)
    specs = specs_at(at.namespace, {attribute for _, attribute in entities}, at.seq)
    opened = dict(_instants(at, [row.opened_seq for row in rows]))
    waiting = _needing_more(at, [row.id for row in rows])
    texts = labels(
        at.namespace, names={name for entity in entities for name in entity},
        agents={fact.agent for members in facts.values() for fact in members},
    )  # fmt: skip
    for row in rows:
        members, spec = facts.get((row.subject, row.attribute), []), specs[row.attribute]
        told = [one for fact in members if (one := counting(fact, at.seq)) is not None]
        pairs = list(clashes(told, spec))
        ids = {one.id for pair in pairs for one in (pair.a, pair.b)}
        yield CaseLine(
            row.id, texts.names.get(row.subject, "erased"), texts.names.get(row.attribute, "erased"), row.opened_seq,
            opened[row.opened_seq], _kind(pairs), _values(pairs),
            tuple(sorted({texts.agents.get(f.agent, "erased") for f in members if f.id in ids and f.agent})),
            waiting.get(row.id),
        )  # fmt: skip


def _kind(pairs: Sequence[Clash]) -> str:
    return "contradiction" if any(pair.a.stance != pair.b.stance for pair in pairs) else "overlap"


def _values(pairs: Sequence[Clash]) -> tuple[Value, ...]:
    told = sorted((one for pair in pairs for one in (pair.a, pair.b)), key=lambda one: one.order)
    return tuple(dict.fromkeys(one.value for one in told if one.value is not None))[:SIDES]


def _instants(at: AsOf, seqs: Sequence[int]) -> list[tuple[int, datetime]]:
    rows = Entry.objects.filter(namespace=at.namespace, seq__in=sorted(set(seqs)))
    return list(rows.values_list("seq", "recorded_at"))


def _needing_more(at: AsOf, ids: Sequence[UUID]) -> dict[UUID, datetime]:
    """{case: since when a verdict that asks for more is the newest one}."""
    rows = Adjudication.objects.filter(namespace=at.namespace, case__in=list(ids), seq__lte=at.seq).order_by("seq")
    newest = {row.case: row for row in rows}
    asked = {case: row.seq for case, row in newest.items() if row.verdict == "needs_more"}
    told = dict(_instants(at, list(asked.values())))
    return {case: told[seq] for case, seq in asked.items()}


def case(at: AsOf, *, id: UUID, a: UUID | None = None, b: UUID | None = None) -> Case:
    """One case at the point. Raises NotFound, Invalid (facts that do not clash there)."""
    found = clashing(at.namespace, id, seq=at.seq)
    verdicts = verdicts_of(at, id)
    span = _span(at, id)
    is_erased = span is None and has_erased(at, found.entity)
    if span is None and not is_erased and not verdicts:
        raise NotFound(f"There is no conflict {id} as of entry {at.seq}.")
    texts = labels(
        at.namespace, names={*found.entity, *(name for row in found.rows for name in (row.origin, row.scale))},
        agents={row.agent for row in found.rows},
    )  # fmt: skip
    shown = found.shown(a, b) if found.pairs else None
    rests = _rests(at, found, shown)
    opened, closed = (span.opened_seq, span.closed_seq) if span is not None else (None, None)
    told = dict(_instants(at, [seq for seq in (opened, closed) if seq is not None]))
    is_settled = any(one.seq == closed for one in verdicts)
    return Case(
        id, texts.names.get(found.entity[0], "erased"), texts.names.get(found.entity[1], "erased"), found.entity,
        span is not None and closed is None, opened, None if opened is None else told[opened], closed,
        None if closed is None else told[closed],
        None if closed is None or is_settled else ended_by(at, found.entity, seq=closed), is_erased,
        _kind(found.pairs), None if shown is None else _side(at, found, (shown.a, shown.b), texts, rests),
        None if shown is None else _side(at, found, (shown.b, shown.a), texts, rests),
        None if shown is None else shown.start, None if shown is None else shown.end, _values(found.pairs),
        len(found.pairs), found.spec, verdicts, found.version,
    )  # fmt: skip


def _span(at: AsOf, id: UUID) -> ConflictCase | None:
    """The last span of the case by the point, without an end that came later."""
    spans = ConflictCase.objects.filter(namespace=at.namespace, id=id, opened_seq__lte=at.seq)
    last = spans.order_by("-opened_seq").first()
    if last is not None and last.closed_seq is not None and last.closed_seq > at.seq:
        last.closed_seq = None
    return last


def _rests(at: AsOf, found: Clashing, shown: Clash | None) -> dict[Address, tuple[Mention, ...]]:
    """What the two shown facts rest on."""
    if shown is None:
        return {}
    ids = (shown.a.id, shown.b.id)
    return mentions(at.namespace, [(row.seq, row.item) for row in found.rows if row.id in ids], kind=EVIDENCE)


def _side(
    at: AsOf, found: Clashing, pair: tuple[Statement, Statement], texts: Labels,
    rests: Mapping[Address, tuple[Mention, ...]],
) -> CaseSide:  # fmt: skip
    own, against = pair
    ids = set(found.members(own, against)) | {own.id}
    rows = {row.id: row for row in found.rows if row.id in ids}
    lines = tuple(line_of(row, at, texts) for row in rows.values())
    lead = rows[own.id]
    return CaseSide(
        line_of(lead, at, texts), lead.item, lines,
        origins_of(lines),
        rests[lead.seq, lead.item],
    )  # fmt: skip
