"""Recall: the current records that answer a query best, within a budget of tokens, with the reason for each rank.

Invariants
- An agent is not told that something held by others answers the query: counted by its words, it would tell them.
- A compiled record that stands is answered whatever became of its sources, with a word for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memory.base.asof import AsOf
from memory.ledger.queries.contents import contents_of, name_ids
from memory.records import fulltext
from memory.records.fulltext import Hit
from memory.records.models import WAITING, RecordState, address_of, doc_of
from memory.records.queries.detail import NO_SOURCE_TIME, state_of

PAGE = 200
DEEPEST = 4_000
CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Recalled:
    """One answer. `why` = {word: what it adds to the score}; `age_seconds` is measured at the point's valid instant.

    `made` is what became of the sources of a compiled one, such as `behind:2`; None of others, and where nothing did.
    """

    id: UUID
    type: UUID
    text: str
    score: float
    why: tuple[tuple[str, float], ...]
    recorded_at: datetime
    age_seconds: int
    state: str
    origin: str
    source_class: str
    n_tokens: int
    made: str | None = None


@dataclass(frozen=True, slots=True)
class Recall:
    """The answers, best first; `hidden` counts better-ranked matches left out, by why."""

    items: tuple[Recalled, ...]
    hidden: dict[str, int]
    n_tokens: int
    seq: int


@dataclass(frozen=True, slots=True)
class Beside:
    """An answer that is no record: what a slice above knows of a subject. `score` is the sum of `why`."""

    kind: str
    id: UUID
    type: str
    text: str
    why: tuple[tuple[str, float], ...]
    recorded_at: datetime
    state: str
    origin: str
    source_class: str

    @property
    def score(self) -> float:
        return sum(part for _, part in self.why)


@dataclass(frozen=True, slots=True)
class Besides:
    """What is known beside records, in the order of telling; `hidden` counts what is not told, by why."""

    items: tuple[Beside, ...]
    hidden: Mapping[str, int]

    @property
    def n_tokens(self) -> int:
        return sum(n_tokens(one.text) for one in self.items)


# at, the subjects that are asked about, the words of the question -> what is known of them.
Teller = Callable[[AsOf, Sequence[str], Sequence[str]], Besides]
_tellers: list[Teller] = []


def recall_also(teller: Teller) -> None:
    """Register what is told of subjects beside records: facts."""
    if teller not in _tellers:
        _tellers.append(teller)


# at, records that stand -> a word of those whose sources are not what they were.
Judge = Callable[[AsOf, Sequence[UUID]], Mapping[UUID, str]]
_judges: list[Judge] = []


def judge_answers_by(judge: Judge) -> None:
    """Register what says how the sources of compiled answers fare. It is asked once for all the answers."""
    if judge not in _judges:
        _judges.append(judge)


def beside(at: AsOf, *, subjects: Sequence[str], query: str, budget_tokens: int, limit: int) -> Besides:
    """What is known of the subjects: the answers that fit. The others are counted as `limit` or as `budget`."""
    if not subjects:
        return Besides((), {})
    terms = fulltext.words(query)
    told = [teller(at, subjects, terms) for teller in _tellers]
    hidden = Counter[str]()
    for each in told:
        hidden.update(each.hidden)
    kept: list[Beside] = []
    left = budget_tokens
    for one in (one for each in told for one in each.items):
        size = n_tokens(one.text)
        if len(kept) == limit:
            hidden["limit"] += 1
        elif size > left:
            hidden["budget"] += 1
        else:
            kept.append(one)
            left -= size
    return Besides(tuple(kept), hidden)


def n_tokens(text: str) -> int:
    """An estimate that needs no model: four characters to a token, at least one."""
    return max(1, -(-len(text) // CHARS_PER_TOKEN))


def recall(
    at: AsOf, *, query: str, budget_tokens: int = 4_000, limit: int = 10, types: Sequence[str] = (),
    reader: UUID | None = None,
) -> Recall:  # fmt: skip
    """What an agent would be told for the query: current records only, best first.

    reader : the agent that asks, None where a person does.
    An answer that alone exceeds what is left of the budget is left out and counted as `budget`.
    """
    terms = fulltext.words(query)
    wanted_types = set(name_ids(at.namespace, types).values()) if types else None
    hidden: Counter[str] = Counter()
    chosen: list[tuple[Hit, RecordState]] = []
    offset = 0
    while len(chosen) < limit and offset < DEEPEST:
        hits = fulltext.search(at.namespace, terms, join="any", limit=PAGE, offset=offset, **_held_by(at))
        chosen.extend(_admitted(at, hits, wanted_types, hidden, limit - len(chosen), reader))
        offset += PAGE
        if len(hits) < PAGE:
            break
    return _told(at, terms, chosen, budget_tokens, hidden)


def _held_by(at: AsOf) -> dict[str, Any]:
    """What the point holds of the index, as the index is asked for it."""
    return {"below": doc_of(at.seq + 1, 0), "is_past": at.seq < at.head}


def _admitted(
    at: AsOf, hits: Sequence[Hit], types: set[UUID] | None, hidden: Counter[str], room: int, reader: UUID | None
) -> list[tuple[Hit, RecordState]]:
    known = RecordState.objects.known(at)
    states = {state.doc: state for state in known.filter(doc__in=[hit.doc for hit in hits])}
    if at.source_at is not None:
        _count_unclaimed(at, hits, types, hidden, reader)
    admitted: list[tuple[Hit, RecordState]] = []
    for hit in hits:
        state = states.get(hit.doc)
        if state is None or (types is not None and state.type not in types) or _is_withheld(state, reader):
            continue
        if len(admitted) == room:
            break
        reason = hidden_reason(at, state)
        if reason is None:
            admitted.append((hit, state))
        else:
            hidden[reason] += 1
    return admitted


def _count_unclaimed(
    at: AsOf, hits: Sequence[Hit], types: set[UUID] | None, hidden: Counter[str], reader: UUID | None
) -> None:
    rows = RecordState.objects.filter(
        namespace=at.namespace, doc__in=[hit.doc for hit in hits], source_recorded_at__isnull=True
    )
    if reader is not None:
        rows = rows.exclude(Q(agent__isnull=True) | ~Q(agent=reader), WAITING)
    if n_left_out := (rows if types is None else rows.filter(type__in=types)).count():
        hidden[NO_SOURCE_TIME] += n_left_out


def _is_withheld(state: RecordState, reader: UUID | None) -> bool:
    """Whether the record waits for a review and is another's than the agent's that asks."""
    is_waiting = state.is_unconfirmed and state.withdrawn_seq is None
    return reader is not None and is_waiting and state.agent != reader


def hidden_reason(at: AsOf, state: RecordState) -> str | None:
    """Why the record is hidden by default at the point, or None."""
    word = state_of(state)
    if word != "current":
        return word
    too_early = state.valid_from is not None and state.valid_from > at.valid_at
    too_late = state.valid_to is not None and state.valid_to <= at.valid_at
    return "not_valid" if too_early or too_late else None


def _told(
    at: AsOf, terms: Sequence[str], chosen: Sequence[tuple[Hit, RecordState]], budget: int, hidden: Counter[str]
) -> Recall:
    docs = [hit.doc for hit, _ in chosen]
    reasons = fulltext.explain(at.namespace, terms, docs, **_held_by(at))
    contents = contents_of(at.namespace, [address_of(doc) for doc in docs])
    items: list[Recalled] = []
    words = {id: word for judge in _judges for id, word in judge(at, [state.id for _, state in chosen]).items()}
    left = budget
    for hit, state in chosen:
        parts = contents[address_of(hit.doc)]
        text = parts.get("content", "")
        size = n_tokens(text)
        if size > left:
            hidden["budget"] += 1
            continue
        left -= size
        why = sorted(reasons[hit.doc].items(), key=lambda pair: (-pair[1], pair[0]))
        source = parts.get("details", {}).get("source", {})
        age = max(0, int((at.valid_at - state.recorded_at).total_seconds()))
        items.append(Recalled(
            state.id, state.type, text, round(hit.score, 6), tuple((word, round(score, 6)) for word, score in why),
            state.recorded_at, age, state_of(state), source.get("origin", ""), state.source_class, size,
            words.get(state.id),
        ))  # fmt: skip
    return Recall(tuple(items), dict(sorted(hidden.items())), budget - left, at.seq)
