"""What stands at a point of both clocks, and what does not: probes of the rectangles, one statement for many entities.

- No read by seq walks history: what counts is found by the spatial index alone, what is hidden up to a bound, what
  ended last by halving the time before the instant.
- By a source's own instants there are no rectangles: these reads scan the facts of the entities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import batched

from django.db import connection

from memory.base import sql
from memory.base.asof import AsOf
from memory.facts import space
from memory.facts.models import FactState
from memory.facts.rectangles import LANES, entity_key, micros
from memory.facts.states import Entity, as_claimed, counting, until, word

CHUNK = 200
SHOWN = 20
# So many hidden facts of a lane are sorted; where more cover the instant, the newest of the last so many are shown.
SORTED, LOOKED_AT = 64, 256
COUNTING = ("standing", "erased")
HIDDEN = tuple(lane for lane in LANES if lane not in COUNTING)
# The longest step of the halving, a power of two: all instants there are lie within twice as many microseconds.
_STEP = 2**58


def standing(at: AsOf, entities: Sequence[Entity]) -> dict[Entity, list[FactState]]:
    """The facts of each entity that count at the point, oldest first, erased ones among them."""
    if at.source_at is not None:
        return _scanned(at, entities, COUNTING, None)
    found: dict[Entity, list[FactState]] = {entity: [] for entity in entities}
    for chunk in batched(entities, CHUNK):
        keys = [entity_key(at.namespace, *entity, lane) for entity in chunk for lane in COUNTING]
        hit = (
            f"SELECT r.doc, r.namespace_id FROM asked v CROSS JOIN {space.rectangles()}"
            f" WHERE {_within_point(at, 'v.entity')}"
        )
        for row in _states(at, f"{_asked(keys)}, hit AS MATERIALIZED ({hit})", keys):
            if (row.subject, row.attribute) in found:
                found[row.subject, row.attribute].append(row)
    return found


def hidden_at(at: AsOf, entities: Sequence[Entity], *, limit: int = SHOWN) -> dict[Entity, list[FactState]]:
    """Facts of each entity that would cover the point's instant and do not count, oldest first.

    At most `limit` for each way to be hidden, those that were hidden last. Where more than SORTED of one way cover the
    instant, they are looked for among the last LOOKED_AT, so that the cost is bounded; the tallies count all.
    """
    if at.source_at is not None:
        return _scanned(at, entities, HIDDEN, limit)
    found: dict[Entity, list[FactState]] = {entity: [] for entity in entities}
    for chunk in batched(entities, CHUNK):
        keys = [entity_key(at.namespace, *entity, lane) for entity in chunk for lane in HIDDEN]
        docs = list(_last_hidden(at, keys, limit))
        hit = f"SELECT v.entity AS doc, {int(at.namespace)} AS namespace_id FROM asked v"
        for row in _states(at, f"{_asked(docs)}, hit AS ({hit})", docs) if docs else ():
            if (row.subject, row.attribute) in found:
                found[row.subject, row.attribute].append(row)
    return found


def last_before(at: AsOf, entity: Entity) -> FactState | None:
    """The readable fact that counted until the latest instant at or before the point's; None for none."""
    return lasts_before(at, [entity]).get(entity)


def lasts_before(at: AsOf, entities: Sequence[Entity]) -> dict[Entity, FactState]:
    """What `last_before` says of each entity; those of which nothing ended are missing. Two statements a CHUNK."""
    found: dict[Entity, FactState] = {}
    if at.source_at is not None:
        for entity, claimed in _claimed(at, entities).items():
            rows = [(until(row, at.head), row) for row in claimed if counting(row, at.head) is not None]
            ended = [(end, row.doc, row) for end, row in rows if end is not None and row.valid_from < end]
            past = [one for one in ended if one[0] <= at.valid_at]
            if past:
                found[entity] = max(past, key=lambda one: one[:2])[2]
        return found
    for chunk in batched(entities, CHUNK):
        ends = _last_ends(at, [entity_key(at.namespace, *entity, "standing") for entity in chunk])
        if not ends:
            continue
        values = [number for pair in ends.items() for number in pair]
        asked, last = _asked(values, columns=("entity", "ended")), "v.ended - 1"
        hit = (
            f"SELECT r.doc, r.namespace_id FROM asked v CROSS JOIN {space.rectangles()}"
            f" WHERE {space.within('v.entity', low=last, high=last, known=str(at.seq))} AND r.valid_to = v.ended"
        )
        for row in _states(at, f"{asked}, hit AS MATERIALIZED ({hit})", values):
            if (row.subject, row.attribute) in chunk:
                found[row.subject, row.attribute] = row
    return found


def _within_point(at: AsOf, entity: str) -> str:
    instant = str(micros(at.valid_at))
    return space.within(entity, low=instant, high=instant, known=str(at.seq))


def _asked(values: Sequence[int], *, columns: Sequence[str] = ("entity",)) -> str:
    """A common table of the numbers that are asked about, row by row; PostgreSQL must be told that they are wide."""
    one = "%s::bigint" if connection.vendor == "postgresql" else "%s"
    mark = f"({', '.join([one] * len(columns))})"
    rows = ", ".join([mark] * (len(values) // len(columns)))
    return f"WITH RECURSIVE asked({', '.join(columns)}) AS (VALUES {rows})"


def _states(at: AsOf, tables: str, values: Sequence[int]) -> Iterator[FactState]:
    """The state rows of what the common table `hit` names, in order."""
    rows = sql.fetch(
        # CROSS JOIN keeps SQLite from walking the states in order to spare the sort.
        f"{tables} SELECT {sql.selected(FactState, 'f')} FROM hit CROSS JOIN memory_factstate f"
        " WHERE f.namespace_id = hit.namespace_id AND f.doc = hit.doc AND hit.namespace_id = %s ORDER BY f.doc",
        [*values, at.namespace],
    )
    return (sql.loaded(FactState, row) for row in rows)


def _last_hidden(at: AsOf, keys: Sequence[int], limit: int) -> Iterator[int]:
    """The documents of the last `limit` rectangles of each lane that cover the point."""
    source = (
        f"SELECT r.known_from, r.doc FROM {space.rectangles()} WHERE {_within_point(at, 'v.entity')} LIMIT {SORTED + 1}"
    )
    crowded = []
    for key, pairs in _listed(source, keys):
        if len(pairs) > SORTED:
            crowded.append(key)
        else:
            yield from (doc for _, doc in sorted(pairs)[-limit:])
    if not crowded:
        return
    namespace, seq, instant = int(at.namespace), int(at.seq), micros(at.valid_at)
    last = (
        f"SELECT * FROM memory_factrect c WHERE c.namespace_id = {namespace} AND c.entity = v.entity"
        f" AND c.known_from <= {seq} ORDER BY c.known_from DESC, c.doc DESC LIMIT {LOOKED_AT}"
    )
    source = (
        f"SELECT r.known_from, r.doc FROM ({last}) r WHERE (r.known_to IS NULL OR r.known_to > {seq})"
        f" AND r.valid_from <= {instant} AND (r.valid_to IS NULL OR r.valid_to > {instant})"
    )
    for _, pairs in _listed(source, crowded):
        yield from (doc for _, doc in sorted(pairs)[-limit:])


def _listed(source: str, keys: Sequence[int]) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """(key, pairs of known_from and doc) for each key, by one statement; `source` may speak of `v.entity`."""
    joined = "string_agg(" if connection.vendor == "postgresql" else "group_concat("
    text = f"{joined}CAST(x.known_from AS text) || ':' || CAST(x.doc AS text), ',')"
    rows = sql.fetch(f"{_asked(keys)} SELECT v.entity, (SELECT {text} FROM ({source}) x) FROM asked v", keys)
    for key, told in rows:
        if told:
            yield key, [(int(known), int(doc)) for known, _, doc in (one.partition(":") for one in told.split(","))]


def _last_ends(at: AsOf, keys: Sequence[int]) -> dict[int, int]:
    """{lane: the latest end, in microseconds, of what counted and ended at or before the instant}, where there is one.

    Halving: a step is taken wherever something ends after it, so that each is one probe of the spatial index.
    """
    instant = micros(at.valid_at)
    ends_later = (
        f"SELECT 1 FROM {space.rectangles()} WHERE"
        f" {space.within('b.entity', low='b.past + b.step', high=str(instant - 1), known=str(at.seq))}"
        f" AND r.valid_to <= {instant} AND r.valid_to > b.past + b.step"
    )
    first, step = (f"{number}::bigint" if connection.vendor == "postgresql" else str(number)
                   for number in (space.FIRST, _STEP))  # fmt: skip
    rows = sql.fetch(
        f"{_asked(keys)}, halved(entity, past, step) AS (SELECT entity, {first}, {step} FROM asked UNION ALL"
        f" SELECT b.entity, b.past + CASE WHEN b.past + b.step >= {instant} THEN 0 WHEN EXISTS ({ends_later})"
        " THEN b.step ELSE 0 END, b.step >> 1 FROM halved b WHERE b.step > 0)"
        " SELECT entity, past FROM halved WHERE step = 0",
        list(keys),
    )
    return {int(key): int(past) + 1 for key, past in rows if int(past) != space.FIRST}


def _claimed(at: AsOf, entities: Iterable[Entity]) -> dict[Entity, list[FactState]]:
    assert at.source_at is not None
    found: dict[Entity, list[FactState]] = {}
    for subject, attribute in entities:
        rows = FactState.objects.filter(
            namespace=at.namespace, subject=subject, attribute=attribute, source_recorded_at__lte=at.source_at
        )
        found[subject, attribute] = [as_claimed(row, at.source_at) for row in rows.order_by("doc")]
    return found


def _scanned(
    at: AsOf, entities: Sequence[Entity], lanes: Sequence[str], limit: int | None
) -> dict[Entity, list[FactState]]:
    found: dict[Entity, list[FactState]] = {}
    for entity, rows in _claimed(at, entities).items():
        members = [row for row in rows if _lane_at(row, at) in lanes]
        found[entity] = members if limit is None else members[:limit]
    return found


def _lane_at(row: FactState, at: AsOf) -> str:
    """The lane that covers the point's instant; "" where the fact says nothing of it."""
    if row.valid_from > at.valid_at or (row.valid_to is not None and row.valid_to <= at.valid_at):
        return ""
    told = word(row, at.head)
    if told == "superseded" and row.superseded_at is not None and at.valid_at < row.superseded_at:
        return "standing"
    return told
