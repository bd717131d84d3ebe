"""Facts: reads as of a point against long histories and many subjects, and what a batch of assertions costs.

Invariants
- A read is measured at all four corners of valid time and known seq, at random points, now, and where there is nothing.
- What a read walks is counted too: pages on PostgreSQL, steps of the virtual machine on SQLite.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from random import Random

from django.db import connection

from audit.bench.door import door, rate
from audit.bench.measuring import Figure, Scale, Timing, Work, side_by_side
from audit.bench.versions import FIRST_SEQ, SHAPES, START, History, analysed, crowded, grown, named
from memory.agents.setup import ensure_namespace, system
from memory.base import sql
from memory.base.asof import AsOf
from memory.facts.content import NewFact
from memory.facts.models import FactState
from memory.facts.operations.asserting import assert_facts
from memory.facts.queries.entities import of_subject
from memory.facts.queries.standing import standing
from memory.facts.queries.status import statuses

VERSIONS = (100, 1_000, 10_000, 100_000)
N_OTHERS, OTHERS_LONG = 500, 40
SUBJECTS, PER_SUBJECT = (100_000, 10_000), 10
N_ROWS = 1_000
ROUNDS = 200
FACT_TABLES = ("memory_fact", "memory_content")
# Where in valid time and in known seq, as fractions of the history; beyond 1 lies what nothing says anything of.
PLACES = {
    "random": ((0.0, 1.0), (0.0, 1.0)), "now": ((0.99, 1.0), (1.0, 1.0)), "early, known early": ((0, 0.1), (0, 0.1)),
    "early, known late": ((0, 0.1), (0.9, 1)), "late, known early": ((0.9, 1), (0, 0.1)),
    "late, known late": ((0.9, 1), (0.9, 1)), "before all": ((-0.2, -0.1), (0, 1)), "after all": ((2.1, 2.2), (0, 1)),
}  # fmt: skip


@dataclass(slots=True)
class Walked:
    """How much one statement read at most: pages, or steps."""

    most: int = 0

    @property
    def words(self) -> str:
        return f"{self.most} {'pages' if connection.vendor == 'postgresql' else 'steps'}"


def run(scale: Scale) -> Iterator[Figure]:
    """The figures."""
    yield from _histories(scale)
    yield from _subjects(scale)
    yield from _batches(scale)


def _histories(scale: Scale) -> Iterator[Figure]:
    by = system(ensure_namespace("histories"))
    sizes = list(dict.fromkeys(scale.size(size, least=20) for size in VERSIONS))
    others = named(by, [f"other {number}" for number in range(scale.size(N_OTHERS, least=2))], "reading")
    items = count()
    for entity in others:
        grown(by.namespace, entity, "readings", OTHERS_LONG, item=next(items))
    told: dict[str, list[History]] = {}
    for shape in SHAPES:
        entities = named(by, [f"{shape} of {size}" for size in sizes], "value")
        pairs = zip(entities, sizes, strict=True)
        told[shape] = [grown(by.namespace, entity, shape, size, item=next(items)) for entity, size in pairs]
    analysed()
    for shape, histories in told.items():
        yield from _curve(shape, histories, scale)
    yield from _scan(told["state"], scale)


def _curve(shape: str, histories: Sequence[History], scale: Scale) -> Iterator[Figure]:
    """Each length against the shortest: the place where the ratio is greatest, with the others beside it."""
    shortest = histories[0]
    bar = "≤ 2" if connection.vendor == "postgresql" else "≤ 3"
    for history in histories[1:]:
        cells = {place: _compared(history, shortest, place, scale) for place in PLACES}
        worst = max(cells, key=lambda place: cells[place].ratio)
        walked = [_walked(history, place) for place in PLACES]
        beside = "; ".join(f"{place} {timing.ratio:.2f}" for place, timing in cells.items() if place != worst)
        most = max(walked, key=lambda each: each.most)
        what = f"{shape}, {history.n_versions} / {shortest.n_versions} versions, {worst}"
        yield Figure("facts", what, cells[worst], bar, f"{beside}; at most {most.words}")
    longest = histories[-1]
    timing = side_by_side(_answers(longest, "now"), _answers(shortest, "now"), rounds=scale.rounds(ROUNDS))
    what = f"{shape}, whole status now, {longest.n_versions} / {shortest.n_versions} versions"
    yield Figure("facts", what, timing, "≤ 2")


def _compared(history: History, other: History, place: str, scale: Scale) -> Timing:
    works = [_reads(each, place) for each in (history, other)]
    return side_by_side(*works, rounds=scale.rounds(ROUNDS))


def _points(history: History, place: str) -> Iterator[AsOf]:
    """Without end, the same in every run."""
    random = Random(place)  # noqa: S311 - a benchmark, no secret
    (low, high), (first, last) = PLACES[place]
    while True:
        hour, known = random.uniform(low, high), random.uniform(first, last)
        yield history.at(hour * history.n_versions, round(known * (history.n_versions - 1)))


def _reads(history: History, place: str) -> Work:
    points = _points(history, place)
    return lambda: standing(next(points), [history.entity])


def _answers(history: History, place: str) -> Work:
    points = _points(history, place)
    return lambda: statuses(next(points), [history.entity])


def _scan(histories: Sequence[History], scale: Scale) -> Iterator[Figure]:
    """The same answer by walking the versions of the entity."""
    history = histories[min(2, len(histories) - 1)]
    points, same = _points(history, "random"), _points(history, "random")
    timing = side_by_side(
        lambda: _scanned(next(points), history), lambda: standing(next(same), [history.entity]),
        rounds=scale.rounds(ROUNDS),
    )  # fmt: skip
    bar = "≥ 10" if connection.vendor == "sqlite" else ""
    yield Figure("facts", f"state, {history.n_versions} versions, scan / rectangles", timing, bar)


def _scanned(at: AsOf, history: History) -> list[FactState]:
    rows = sql.fetch(
        f"SELECT {sql.selected(FactState, 'f')} FROM memory_factstate f WHERE f.namespace_id = %s AND f.subject = %s"
        " AND f.attribute = %s AND f.seq <= %s AND f.valid_from <= %s AND (f.valid_to IS NULL OR f.valid_to > %s)"
        " AND (f.superseded_seq IS NULL OR f.superseded_seq > %s OR f.superseded_at > %s) ORDER BY f.doc DESC",
        [at.namespace, *history.entity, at.seq, at.valid_at, at.valid_at, at.seq, at.valid_at],
    )
    return [sql.loaded(FactState, row) for row in rows]


def _walked(history: History, place: str) -> Walked:
    walked, points = Walked(), _points(history, place)
    for at in islice(points, 20):
        n_walked = _pages(at, history) if connection.vendor == "postgresql" else _steps(at, history)
        walked.most = max(walked.most, n_walked)
    return walked


def _pages(at: AsOf, history: History) -> int:
    found = 0

    def explain(send, text, values, many, context):  # type: ignore[no-untyped-def]
        nonlocal found
        send(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {text}", values, many, context)
        plan = context["cursor"].fetchone()[0]
        top = (plan if isinstance(plan, list) else json.loads(plan))[0]["Plan"]
        found += top["Shared Hit Blocks"] + top["Shared Read Blocks"]
        return send(text, values, many, context)

    with connection.execute_wrapper(explain):
        standing(at, [history.entity])
    return found


def _steps(at: AsOf, history: History) -> int:
    ticks = count()
    connection.ensure_connection()
    connection.connection.set_progress_handler(lambda: next(ticks) < 0, 1)
    try:
        standing(at, [history.entity])
    finally:
        connection.connection.set_progress_handler(None, 0)
    return next(ticks)


def _subjects(scale: Scale) -> Iterator[Figure]:
    """Everything that is known of one subject, among many and among few."""
    sizes = [scale.size(size, least=20) for size in SUBJECTS]
    stores = []
    for size in sizes:
        by = system(ensure_namespace(f"subjects-{size}"))
        stores.append((by.namespace, crowded(by, size, PER_SUBJECT)))
    analysed()
    timing = side_by_side(*(partial(_asked, *store, Random(size)) for store, size in zip(stores, sizes, strict=True)),  # noqa: S311
                          rounds=scale.rounds(ROUNDS))  # fmt: skip
    n_facts = [size * PER_SUBJECT for size in sizes]
    what = f"subject with {PER_SUBJECT} facts, {n_facts[0]} facts of {sizes[0]} subjects / {n_facts[1]} of {sizes[1]}"
    yield Figure("facts", what, timing, "≤ 3")


def _asked(namespace: int, subjects: Sequence, random: Random) -> object:  # type: ignore[type-arg]
    seq = FIRST_SEQ + len(subjects) * PER_SUBJECT
    at = AsOf(namespace, seq, seq, START.replace(year=2021))
    answers = statuses(at, of_subject(at, random.choice(subjects)))
    if [answer.status for answer in answers] != ["known"] * PER_SUBJECT:
        raise AssertionError("The subject is not known as it was written.")
    return answers


def _batches(scale: Scale) -> Iterator[Figure]:
    n_rows = scale.size(N_ROWS, least=20)
    by, fresh = system(ensure_namespace("asserted")), _fresh("asserted")

    def assert_batch() -> None:
        assert_facts(by, facts=list(islice(fresh, n_rows)))

    def assert_singly() -> None:
        for new in islice(fresh, n_rows):
            assert_facts(by, facts=[new])

    timing = side_by_side(assert_singly, assert_batch, rounds=scale.rounds(5))
    told = f"{rate(n_rows, timing.second_seconds)} in batches, {rate(n_rows, timing.first_seconds)} one by one"
    yield Figure("facts", f"{n_rows} assertions one by one / as one batch", timing, "≥ 10", told)
    rows = ({"subject": new.subject, "attribute": new.attribute, "value": new.value} for new in _fresh("door"))
    yield from door(
        "facts", path="facts/batch", rows=rows, shaped=assert_batch, n_rows=n_rows, rounds=scale.rounds(20),
        sides=(("the same rows, fact and content", "≤ 5", FACT_TABLES), ("the same rows, all tables", "≤ 5", ())),
    )  # fmt: skip


def _fresh(seed: str) -> Iterator[NewFact]:
    """Without end; ten facts of a subject, of ten attributes."""
    for number in count():
        subject, attribute = divmod(number, PER_SUBJECT)
        yield NewFact(f"{seed} {subject}", f"attribute_{attribute}", number)
