"""Runs: the task, session or case that an entry belongs to, opened by the first entry that names it.

A write names a run by id, by external references, or by a W3C traceparent, whose trace id then finds it again.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from memory.agents.models import Run, RunEnd, RunReference
from memory.base import gate, ids, sql
from memory.base.actor import Actor, RunGiven
from memory.base.answers import Appended
from memory.base.errors import Conflict, NotFound, Raced
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import OpenEntry, opened, retried
from memory.ledger.queries.contents import contents_of


def attach(entry: OpenEntry) -> None:
    """Companion of every entry: resolve the run that the actor names, or open it in the same entry.

    Raises NotFound (an id alone that is no run of this namespace).
    """
    given = entry.by.run
    if given is None or entry.run is not None:
        return
    known = _find(entry.by.namespace, given)
    if known is not None:
        entry.run = known
        return
    if entry.verb == "refuse":
        # What was refused has opened nothing.
        return
    if given.id is not None and not (given.title or given.refs):
        if entry.by.kind == "system":
            # A refusal is written down whatever run the refused act named.
            return
        raise NotFound(f"There is no run {given.id}.")
    entry.run = _open(entry, given)


def _find(namespace: int, given: RunGiven) -> UUID | None:
    if given.id is not None:
        return Run.objects.filter(namespace=namespace, id=given.id).values_list("id", flat=True).first()
    trace = dict(given.refs).get("trace")
    if trace is None:
        return None
    rows = RunReference.objects.filter(namespace=namespace, key="trace", value=trace)
    return rows.values_list("run_id", flat=True).first()


def _open(entry: OpenEntry, given: RunGiven) -> UUID:
    run = given.id or ids.new_id()
    draft = Draft("run", run, Run, {"id": run, "kind": given.kind}, {"run": _told(given)})
    item = entry.add(draft)
    rows = [(entry.by.namespace, run, entry.seq, item, key, text) for key, text in given.refs]
    entry.then(lambda: sql.insert(RunReference, rows))
    return run


@retried
def open_run(by: Actor) -> tuple[UUID, int, bool]:
    """Open the run that `by.run` describes. Answers (id, seq, replayed). Appends: `open_run`.

    Raises Conflict (a run with this id exists and says something else).
    """
    given = by.run or RunGiven()
    if given.id is not None and (standing := _stands(by.namespace, given.id, given)) is not None:
        return given.id, standing, True
    request = {"id": str(given.id) if given.id else None, "kind": given.kind, **_told(given)}
    from_refs = _find(by.namespace, given)
    if from_refs is not None and not by.idempotency_key:
        raise Conflict(f"The run {from_refs} is open already.", run=str(from_refs))
    unattached = _without_run(by)
    with opened(unattached, verb="open_run", need=gate.WRITE, request=request) as entry:
        if entry.replayed_seq is not None:
            first = Run.objects.filter(namespace=by.namespace, seq=entry.replayed_seq).first()
            if first is None:
                raise Raced
            return first.id, entry.replayed_seq, True
        if from_refs is not None:
            raise Conflict(f"The run {from_refs} is open already.", run=str(from_refs))
        if _find(by.namespace, given) is not None:
            raise Raced
        entry.run = _open(entry, given)
    return entry.run, entry.seq, False


def _stands(namespace: int, run: UUID, given: RunGiven) -> int | None:
    """The entry that opened the run, if the run says the same."""
    row = Run.objects.filter(namespace=namespace, id=run, kind=given.kind).first()
    if row is None:
        return None
    told = contents_of(namespace, [(row.seq, row.item)])[row.seq, row.item].get("run")
    return row.seq if told == _told(given) else None


def _told(given: RunGiven) -> dict[str, object]:
    """The content of a run."""
    return {"title": given.title, "refs": dict(given.refs), "runtime": dict(given.runtime)}


@retried
def end_run(by: Actor, *, run: UUID, note: str = "") -> Appended:
    """End the run. Appends: `end_run`. Raises NotFound, Conflict (ended before)."""
    with opened(_without_run(by), verb="end_run", need=gate.WRITE, request=[str(run), note]) as entry:
        if entry.is_replay:
            return entry.answer
        if not Run.objects.filter(namespace=by.namespace, id=run).exists():
            raise NotFound(f"There is no run {run}.")
        if RunEnd.objects.filter(namespace=by.namespace, run=run).exists():
            raise Conflict("This run has ended already.")
        entry.run = run
        entry.add(Draft("run_end", run, RunEnd, {"run": run}, {"note": note} if note else {}))
    return entry.answer


def _without_run(by: Actor) -> Actor:
    return replace(by, run=None)
