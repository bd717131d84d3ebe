"""Every sequence of the arc of facts gives its expected answers; with a rule off, some sequence tells."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from memory.base.asof import AsOf
from memory.facts import answers, rectangles
from memory.facts.kernel import status as kernel
from memory.facts.kernel.status import Status
from memory.facts.models import FactState
from memory.facts.operations import asserting, ending
from memory.facts.queries import status as reading
from memory.ledger.queries.verification import scan
from tests.facts.playing import Play, agrees, answered, sequences
from tests.interchange.archives import archive_of, lose, namespace_named, restored

pytestmark = pytest.mark.django_db

every_sequence = pytest.mark.parametrize("name", sorted(sequences()))


def wrong(play: Play, *, namespace: str = "") -> list[Any]:
    """The queries that are answered otherwise than the sequence expects."""
    found = [(query, answered(play, query, namespace=namespace)) for query in play.sequence["queries"]]
    return [(query, told) for query, told in found if not agrees(told, query["expected"])]


@every_sequence
def test_a_sequence_answers_as_it_should_once_doubled_and_restored(name: str) -> None:
    once = Play(sequences()[name]).run()
    assert wrong(once) == []
    counted = once.n_rows()
    archive = archive_of(once.world.namespace)
    lose(once.world)
    doubled = Play(sequences()[name], times=2).run()
    assert wrong(doubled) == []
    assert doubled.n_rows() == counted
    lose(doubled.world)
    restored(archive, keeps_people=True)
    assert wrong(once, namespace=once.world.name) == []
    assert scan(namespace_named(once.world.name)).is_clean


def orders(events: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Every order in which the events can arrive: what names a fact comes after it. All at the instant of the last."""
    last = max(event["t"] for event in events)
    for order in itertools.permutations(range(len(events))):
        told, arrived = [events[index] for index in order], set[str]()
        for event in told:
            needs = {event[name] for name in ("old", "new") if name in event}
            if event["ev"] in ("retract", "erase"):
                needs.add(event["id"])
            if not needs <= arrived:
                break
            arrived.add(event.get("id", ""))
        else:
            yield [{**event, "t": last} for event in told]


# B08 refuses its second event and B17 repeats one id: for these the order is what is told.
FREE = sorted(set(sequences()) - {"B01", "B08", "B17"})


@pytest.mark.parametrize("name", FREE)
def test_the_order_of_arrival_changes_no_answer_of_today(name: str) -> None:
    sequence = sequences()[name]
    last = max(event["t"] for event in sequence["events"])
    queries = [query for query in sequence["queries"] if query["known_at"] >= last]
    for order in itertools.islice(orders(sequence["events"]), 12):
        play = Play(sequence).run(order)
        for query in queries:
            assert agrees(answered(play, query), query["expected"]), (order, query)
        lose(play.world)


def everything(at: AsOf, entities: Sequence[Any]) -> dict[Any, list[FactState]]:
    """What stands, without any index: the kernel alone tells what covers the instant."""
    found = {}
    for subject, attribute in entities:
        rows = FactState.objects.filter(namespace=at.namespace, subject=subject, attribute=attribute, seq__lte=at.seq)
        found[subject, attribute] = [row for row in rows if reading.word(row, at.seq) in ("standing", "superseded")]
    return found


def _patched(target: Any, name: str, make: Callable[[Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(target, name, make(getattr(target, name)))


def _closed_ends(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reading, "standing", everything)

    def covers(one: Any, spec: Any, instant: Any) -> bool:
        end = kernel.end_of(one, spec)
        return bool(one.valid_from <= instant and (end is None or instant <= end))

    patch.setattr(kernel, "covers", covers)


def _known_for_unknown(real: Any) -> Any:
    def told(*args: Any, **more: Any) -> Status:
        found: Status = real(*args, **more)
        return replace(found, status="known") if found.status == "unknown" else found

    return told


def _all_known(real: Any) -> Any:
    return lambda at, entities: real(replace(at, seq=at.head), entities)


def _erased_from_its_entry_on(real: Any) -> Any:
    def told(at: AsOf, entities: Any) -> Any:
        rows = real(at, entities)
        return {e: [r for r in rows[e] if r.erased_seq is None or r.erased_seq <= at.seq] for e in rows}

    return told


def _counts_candidates(real: Any) -> Any:
    return lambda row, seq: "standing" if real(row, seq) == "candidate" else real(row, seq)


def _may_act(real: Any) -> Any:
    return lambda one: real(one).model_copy(update={"may_act": True})


MUTANTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "B-R1 unknown is the default": ("B06", _patched(reading, "status_of", _known_for_unknown)),
    "B-R2 windows are half-open": ("B04", _closed_ends),
    "B-R3 a conflict is computed": ("B10", _patched(kernel, "any_exclude", lambda _: lambda *_: False)),
    "B-R3 of one value only": ("B09", _patched(kernel, "any_exclude", lambda _: lambda sides, _: len(sides) > 1)),
    "B-R4 known_at hides what came later": ("B05", _patched(reading, "standing", _all_known)),
    "B-R4e an erasure shows always": ("B16", _patched(reading, "standing", _erased_from_its_entry_on)),
    "B-R5 candidates are set aside": ("B13", _patched(rectangles, "word", _counts_candidates)),
    "B-R7 no fact grants an act": ("B14", _patched(answers.EntityOut, "of", _may_act)),
    "B-R8 an id stands for one statement": ("B17", _patched(asserting, "_difference", lambda _: lambda *_: None)),
    "B-R9 a supersession closes its target": (
        "B05", _patched(ending, "enter", lambda _: lambda entry, told: entry.add(*(one.draft for one in told))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", MUTANTS)
def test_without_a_rule_its_sequence_answers_otherwise(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, switch_off = MUTANTS[rule]
    switch_off(monkeypatch)
    assert wrong(Play(sequences()[name]).run()) != []


def test_without_the_index_every_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "standing", everything)
    for name in ("B04", "B06", "B10", "B12"):
        play = Play(sequences()[name]).run()
        assert wrong(play) == []
        lose(play.world)
