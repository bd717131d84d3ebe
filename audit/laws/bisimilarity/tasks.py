"""Comparisons as jobs: small stores in the request, large ones by the next free worker.

Invariants
- A comparison writes nothing of record; its outcome is kept with the job for a day.
- It reads one namespace: at one point or at two, or beside the raw rows of an import into it.
- An outcome holds identifiers, names of fields and counts, no text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.tasks import task

from audit.laws.bisimilarity import imported, ours
from audit.laws.bisimilarity.comparing import compare_records, compare_stores
from audit.laws.bisimilarity.values import SharedClass, Side
from memory.base import gate, jobs
from memory.base.actor import Actor
from memory.base.jobs import Job

KIND = "comparison"
# Reading and comparing grow with the store; beyond this they take longer than a page should.
IN_REQUEST_RECORDS = 5_000
CLASSES_TOLD = 50

_COUNT = "SELECT count(*) FROM (SELECT 1 FROM memory_record WHERE namespace_id = %s LIMIT %s) AS counted"


def given_records(*, seq: int, first: UUID, second: UUID, against: int | None = None) -> dict[str, Any]:
    """What is asked: two records at one point, or the second as of the entry `against`."""
    return {"what": "records", "seq": seq, "first": str(first), "second": str(second), "against": against}


def given_stores(*, seq: int, against: int | None = None, run: UUID | None = None) -> dict[str, Any]:
    """What is asked: the namespace at two points, or beside what an import brought."""
    return {"what": "stores", "seq": seq, "against": against, "run": str(run) if run is not None else None}


def is_long(namespace: int) -> bool:
    """Whether comparing takes longer than a request should."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [namespace, IN_REQUEST_RECORDS + 1])
        return int(cursor.fetchone()[0]) > IN_REQUEST_RECORDS


def ask(by: Actor, *, given: Mapping[str, Any]) -> Job:
    """Have a comparison made by the next free worker.   Raises Forbidden."""
    gate.permits(by, gate.READ)
    job = jobs.ask(by, kind=KIND, given=given)
    compare_asked.enqueue(str(job.id))
    return jobs.job(job.id, namespace=by.namespace, kind=KIND)


@task()
def compare_asked(job: str) -> None:
    run(UUID(job))


def run(id: UUID) -> None:
    """Make the comparison of a job."""
    with jobs.running(id) as work:
        work.tell("comparing", 0, None)
        work.end(outcome(work.job.namespace, work.job.given))


def outcome(namespace: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to what is asked.   Raises KeyError (a record that is not there at its point)."""
    return _records(namespace, given) if given["what"] == "records" else _stores(namespace, given)


def _records(namespace: int, given: Mapping[str, Any]) -> dict[str, Any]:
    sides = [ours.side("first", namespace=namespace, seq=given["seq"])]
    if given["against"] is not None:
        sides.append(ours.side("second", namespace=namespace, seq=given["against"]))
    found = compare_records(sides, (0, given["first"]), (len(sides) - 1, given["second"]))
    n_first, n_second = _n_by_relation(sides[0], given["first"]), _n_by_relation(sides[-1], given["second"])
    return {
        "is_same_class": found.is_same_class, "parted_at": found.parted_at, "rounds": found.n_rounds,
        "differences": [
            {"name": one.name, "kind": one.kind, "is_relation": one.is_relation,
             "n_first": n_first[one.name], "n_second": n_second[one.name]}
            for one in found.differences
        ],
    }  # fmt: skip


def _n_by_relation(side: Side, identifier: str) -> Counter[str]:
    return Counter(relation for source, relation, _ in side.edges if source == identifier)


def _stores(namespace: int, given: Mapping[str, Any]) -> dict[str, Any]:
    first = ours.side("first", namespace=namespace, seq=given["seq"])
    second: Side
    if given["run"] is not None:
        second = imported.comparable(imported.side("second", namespace=namespace, run=UUID(given["run"])))
        first = imported.comparable(first)
    else:
        second = ours.side("second", namespace=namespace, seq=given["against"])
    found = compare_stores(first, second)
    return {
        "first": found.n_first, "second": found.n_second, "rounds": found.n_rounds, "classes_in_both": len(found.both),
        "unequal_in_number": found.n_unequal, "only_first": _told([one.first for one in found.only_first]),
        "only_second": _told([one.second for one in found.only_second]),
        "most_in_both": [_counts(one) for one in found.both if len(one.first) != len(one.second)][:CLASSES_TOLD],
    }  # fmt: skip


def _told(classes: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """Classes of one side: how many, with how many records, and the largest of them, each by one of them."""
    return {
        "classes": len(classes), "records": sum(map(len, classes)),
        "largest": [{"records": len(ids), "id": ids[0]} for ids in classes[:CLASSES_TOLD]],
    }  # fmt: skip


def _counts(shared: SharedClass) -> dict[str, Any]:
    return {
        "first": len(shared.first), "second": len(shared.second), "id": shared.first[0], "other_id": shared.second[0],
    }  # fmt: skip
