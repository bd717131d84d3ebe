"""Two namespaces under any operations, against a naive model: the same states and lists at every recorded time.

- A question answered for `seq:N` has the same answer for ever; erasure is the one visible exception.
- The scan finds nothing; projections equal rebuilt ones; every edge joins two records of its namespace.
- What happens in one namespace changes no answer in the other.

Source: laws of the store, 1.1, 1.8, 4.5.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from memory.base import clock, ids
from memory.ledger.models import Entry
from memory.ledger.queries.verification import scan
from memory.lineage.models import Edge
from memory.lineage.queries.ancestry import ancestry
from memory.records.models import Record
from memory.records.queries import lists
from memory.records.queries.detail import RecordRow
from tests.stateful.model import Kept, Store
from tests.states import projected, rebuilt
from tests.world import World

EVERYTHING = lists.Filter(include=frozenset({"superseded", "withdrawn", "erased", "not_valid"}))
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
NAMES = ("here", "there")

namespaces = st.sampled_from(NAMES)
contents = st.sampled_from(["alpha", "beta", "gamma delta", "ä", "the same words"])
types = st.sampled_from(["note", "fact", "idea"])
tags = st.sets(st.sampled_from(["x", "y", "z"]), max_size=2).map(lambda chosen: tuple(sorted(chosen)))
choices = st.randoms(use_true_random=False)


def told(row: RecordRow) -> tuple[str, str, str, int, int]:
    return (row.state, row.type, row.first_line, row.n_parents, row.n_children)


numbers = count(1)


class TwoNamespaces(RuleBasedStateMachine):
    """Every rule acts on one of the two; the clock stands or steps back at will.

    Each example has namespaces of its own: SQLite cannot undo the making of a text index within a transaction that
    goes on.
    """

    def __init__(self) -> None:
        super().__init__()
        self.at = NOON
        number = next(numbers)
        self.around = ExitStack()
        self.around.enter_context(clock.injected(lambda: self.at))
        self.worlds = {name: World(f"{name}-{number}") for name in NAMES}
        # From here on the same steps give the same ids.
        self.around.enter_context(ids.seeded("machine"))
        self.stores = {name: Store() for name in NAMES}
        self.touched = NAMES[0]
        for name in NAMES:
            self.grow(name)
        self.answers: dict[tuple[str, int], dict[UUID, tuple[str, str, str, int, int]]] = {}
        self.last: dict[str, Any] = {}

    def teardown(self) -> None:
        try:
            for name in NAMES:
                for seq in range(1, self.stores[name].size + 1):
                    self.asked(name, seq)
        finally:
            self.around.close()

    def grow(self, name: str) -> int:
        """Take the length of the log over from the store."""
        self.touched = name
        self.stores[name].size = Entry.objects.filter(namespace=self.worlds[name].namespace).count()
        return self.stores[name].size

    def kept(self, name: str, id: UUID, content: str, type: str, given: tuple[str, ...], *parents: UUID) -> None:
        self.stores[name].add(id, Kept(self.stores[name].size, content, type, given, parents))

    @rule(seconds=st.integers(-100, 100))
    def the_clock_moves(self, seconds: int) -> None:
        self.at += timedelta(seconds=seconds)

    @rule(name=namespaces, content=contents, type=types, given=tags)
    def save(self, name: str, content: str, type: str, given: tuple[str, ...]) -> None:
        id = self.worlds[name].save(content, type=type, tags=given).id
        self.grow(name)
        self.kept(name, id, content, type, given)

    @rule(name=namespaces, texts=st.lists(contents, min_size=1, max_size=4))
    def save_a_batch(self, name: str, texts: list[str]) -> None:
        saved = self.worlds[name].save_all(*texts)
        self.grow(name)
        for one, content in zip(saved, texts, strict=True):
            self.kept(name, one.id, content, "note", ())

    def some(self, name: str, random: Random, count: int, *, with_text: bool = False) -> list[UUID]:
        """Records of the namespace that a derivation may take; fewer where there are fewer."""
        found = self.stores[name].usable(with_text=with_text)
        return random.sample(found, min(count, len(found)))

    @rule(name=namespaces, random=choices, given=tags)
    def evolve(self, name: str, random: Random, given: tuple[str, ...]) -> None:
        for old in self.some(name, random, 1):
            store = self.stores[name]
            content = f"evolved {store.size}"
            id = self.worlds[name].evolve(old, content=content, tags=given)
            seq = self.grow(name)
            self.kept(name, id, content, store.type_of(old) or "unknown", given, old)
            store.tell(seq, "supersede", old)

    @rule(name=namespaces, random=choices, count=st.integers(2, 3))
    def merge(self, name: str, random: Random, count: int) -> None:
        sources = self.some(name, random, count, with_text=True)
        if len(sources) < 2:
            return
        id = self.worlds[name].merge(*sources)
        records = [self.stores[name].records[source] for source in sources]
        self.grow(name)
        row = lists.records(self.worlds[name].now(), where=EVERYTHING, limit=1).items[0]
        texts = {record.content for record in records}
        assert row.id == id
        assert row.type in {record.type for record in records}
        merged_tags = tuple(sorted({tag for record in records for tag in record.tags}))
        self.kept(name, id, min(texts, key=str.encode), row.type, merged_tags, *sources)

    @rule(name=namespaces, random=choices, count=st.integers(2, 3))
    def split(self, name: str, random: Random, count: int) -> None:
        for old in self.some(name, random, 1):
            store = self.stores[name]
            texts = [f"part {number} of {store.size}" for number in range(count)]
            parts = self.worlds[name].split(old, *texts)
            seq = self.grow(name)
            for id, content in zip(parts, texts, strict=True):
                self.kept(name, id, content, store.type_of(old) or "unknown", store.records[old].tags, old)
            store.tell(seq, "supersede", old)

    @rule(name=namespaces, random=choices)
    def supersede(self, name: str, random: Random) -> None:
        store = self.stores[name]
        current = [id for id in store.records if not store.is_superseded(id, store.size)]
        if len(current) >= 2:
            old, new = random.sample(current, 2)
            self.worlds[name].supersede(old, new)
            store.tell(self.grow(name), "supersede", old)

    @rule(name=namespaces, random=choices)
    def link(self, name: str, random: Random) -> None:
        store = self.stores[name]
        if len(store.records) >= 2:
            pair = tuple(random.sample(list(store.records), 2))
            if pair not in store.links:
                self.worlds[name].link(pair[0], "references", pair[1])
                store.links.add(pair)
                self.grow(name)

    @rule(name=namespaces, random=choices)
    def withdraw_or_restore(self, name: str, random: Random) -> None:
        store = self.stores[name]
        if store.records:
            record = random.choice(list(store.records))
            if store.is_withdrawn(record, store.size):
                self.worlds[name].restore(record)
                store.tell(self.grow(name), "restore", record)
            else:
                self.worlds[name].withdraw(record)
                store.tell(self.grow(name), "withdraw", record)

    @rule(name=namespaces, random=choices)
    def erase(self, name: str, random: Random) -> None:
        store = self.stores[name]
        if store.records:
            record = random.choice(list(store.records))
            self.worlds[name].erase(record)
            if not store.is_erased(record):
                store.tell(self.grow(name), "erase", record)

    @rule(name=namespaces, random=choices)
    def a_recorded_time_is_asked(self, name: str, random: Random) -> None:
        self.asked(name, random.randint(1, self.stores[name].size))

    def asked(self, name: str, seq: int) -> None:
        """The answer is that of the model, and the one given before but for what was erased since."""
        page = lists.records(self.worlds[name].at(seq, valid_at=NOON), where=EVERYTHING, limit=500)
        answer = {row.id: told(row) for row in page.items}
        assert answer == self.stores[name].listed(seq)
        before = self.answers.setdefault((name, seq), answer)
        assert answer.keys() == before.keys()
        assert {id for id in answer if answer[id] != before[id]} <= {
            id for id in answer if self.stores[name].is_erased(id)
        }

    @invariant()
    def states_now_are_those_of_the_model(self) -> None:
        name = self.touched
        at = self.worlds[name].now()
        shown = lists.records(at, where=lists.Filter(), limit=500)
        expected = self.stores[name].listed(self.stores[name].size)
        assert {row.id for row in shown.items} == {id for id, row in expected.items() if row[0] == "current"}
        states = [row[0] for row in expected.values()]
        assert shown.hidden == {word: states.count(word) for word in sorted(set(states) - {"current"})}
        assert shown.total == states.count("current")

    @invariant()
    def the_other_namespace_answers_as_before(self) -> None:
        for name in NAMES:
            answer = lists.records(
                self.worlds[name].at(self.stores[name].size, valid_at=NOON), where=EVERYTHING, limit=500
            )
            if name != self.touched and name in self.last:
                assert answer == self.last[name]
            self.last[name] = answer

    @invariant()
    def every_edge_joins_two_records_of_its_namespace(self) -> None:
        world = self.worlds[self.touched]
        records = set(Record.objects.filter(namespace=world.namespace).values_list("id", flat=True))
        ends = {
            end
            for pair in Edge.objects.filter(namespace=world.namespace).values_list("source", "target")
            for end in pair
        }
        assert records == set(self.stores[self.touched].records)
        assert ends <= records

    @rule(name=namespaces, random=choices)
    def ancestry_is_that_of_the_model(self, name: str, random: Random) -> None:
        if self.stores[name].records:
            record = random.choice(list(self.stores[name].records))
            found = ancestry(self.worlds[name].now(), record=record)
            assert {step.id for step in found.items} == self.stores[name].ancestors(record)

    @rule(name=namespaces)
    def the_scan_is_clean_and_projections_equal_rebuilt_ones(self, name: str) -> None:
        namespace = self.worlds[name].namespace
        assert scan(namespace).faults == []
        before = projected(namespace)
        assert rebuilt(namespace) == before


# Examples and steps; STORE_MACHINE=deep is for a night.
PROFILES = {"default": (15, 20), "second_engine": (8, 20), "deep": (400, 60)}


def examples_and_steps() -> tuple[int, int]:
    """Of the profile that STORE_MACHINE names. PostgreSQL tries the first of the same examples."""
    usual = "default" if connection.vendor == "sqlite" else "second_engine"
    return PROFILES[os.environ.get("STORE_MACHINE", usual)]


@pytest.mark.slow
@pytest.mark.django_db
def test_two_namespaces_under_any_operations_are_what_the_model_says() -> None:
    examples, steps = examples_and_steps()
    run_state_machine_as_test(
        TwoNamespaces, settings=hypothesis_settings(max_examples=examples, stateful_step_count=steps, deadline=None)
    )
