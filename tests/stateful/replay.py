"""A program: one list of operations on the database that DATABASE_URL names, undone at the end; prints its dump.

    python -m tests.stateful.replay seeded|unseeded NAMESPACES

NAMESPACES is a word such as `st`: the whole list for namespace `s`, then for `t`; with `s-t` they take turns, step by
step. Each step of each namespace has an allocator of its own; the clock stands still. With MAKES_TABLES set the tables
are made first.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat

import django

MOST_STEPS = 12
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def acts(name: str) -> Iterator[None]:
    """Every kind of operation once, in a namespace of that name."""
    from memory.agents import operations as agents
    from memory.base.actor import ROLE_POWERS, Actor, RunGiven
    from memory.base.intervals import Interval
    from memory.checks import operations as checks
    from memory.ledger.operations.erasing import erase
    from memory.ledger.operations.founding import found
    from memory.lineage.operations import derivations, links, merging
    from memory.lineage.operations.deriving import Cause
    from memory.records import operations as records
    from memory.records.content import NewRecord

    namespace = found(Actor(0, "system"), name=name).pk
    yield
    alice = Actor(namespace, "person", person=1, role="owner", powers=ROLE_POWERS["owner"])
    agents.admit_member(Actor(namespace, "system"), person=1, role="owner")
    agent = agents.create_agent(alice, name="scout").id
    yield
    run = RunGiven(title="night build", refs=(("ticket", "4411"), ("trace", "a" * 32)))
    by = Actor(namespace, "agent", agent=agent, powers=frozenset({"read", "write"}), host="build-7", run=run)
    news = [
        NewRecord("doc", "one", tags=("b", "a"), metadata={"who": "Ann", "z": 1, "a": [2]}, origin="log"),
        NewRecord("issue", "two", tags=("c",), metadata={"who": "Bob"}, summary="second"),
        NewRecord("fact", "three", valid_from=NOON, valid_to=NOON + timedelta(days=9)),
    ]
    one, two, three = (saved.id for saved in records.save(replace(by, idempotency_key="k-1"), records=news))
    yield
    records.save(replace(by, idempotency_key="k-1"), records=news)
    cause = Cause("correction", "it was said otherwise")
    new = derivations.evolve(by, record=one, base="", changes={"content": "one, corrected"}, cause=cause).records[0]
    yield
    merge = merging.merge(by, records=[two, new, three], cause=cause).records[0]
    merging.merge(by, records=[three, two], cause=cause, strategy="latest", valid_time="hull", summary="both")
    given = Interval(NOON, None)
    merging.merge(by, records=[new, two], cause=cause, strategy="oldest", valid_time="explicit", interval=given)
    yield
    parts = [{"content": "left"}, {"content": "right"}]
    left, right = derivations.split(by, record=merge, parts=parts, cause=cause).records
    derivations.supersede(by, old=three, new=left, cause=cause)
    yield
    links.link(by, source=left, relation="caused_by", target=right)
    records.withdraw(by, record=right, reason="wrong")
    records.restore(alice, record=right, reason="right after all")
    yield
    erase(alice, items=[_address(namespace, two)], reason="request", note="asked for")
    found_ = [checks.Found(kind, seq=3, item=0) for kind in ("b", "a", "b")]
    checks.record_run(
        alice, name="laws", version=1, verdict="violated", at_seq=9, n_checked=3, found=found_, report={"n": 1}
    )
    agents.freeze(alice, agent=agent, reason="done")
    yield


def _address(namespace: int, record: object) -> tuple[int, int]:
    from memory.records.models import Record

    row = Record.objects.get(namespace=namespace, id=record)
    return row.seq, row.item


def turns(word: str) -> Iterator[str]:
    """The namespace of each step."""
    names = list(word.replace("-", ""))
    if "-" in word:
        return chain.from_iterable(repeat(names, MOST_STEPS))
    return chain.from_iterable(repeat(name, MOST_STEPS) for name in names)


def main(mode: str, word: str) -> None:
    from django.db import transaction

    from memory.base import clock, ids
    from memory.management.schema import bring_up_to_date
    from tests import dumps

    if os.environ.get("MAKES_TABLES"):
        bring_up_to_date()
    steps = {name: enumerate(acts(name)) for name in word.replace("-", "")}
    done = Counter[str]()
    with transaction.atomic():
        for name in turns(word):
            done[name] += 1
            seed = f"{name}/{done[name]}"
            with clock.fixed(NOON), ids.seeded(seed) if mode == "seeded" else nullcontext():
                next(steps[name], None)
        print(json.dumps({"logical": dumps.logical(), "normalised": dumps.normalised()}))
        transaction.set_rollback(True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    main(*sys.argv[1:])
