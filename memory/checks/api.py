"""Routes of checks: what laws, scans and probes found, running one, waiving one."""

from __future__ import annotations

from typing import Annotated

from ninja import Path, Query
from ninja.responses import Status

from memory.base import gate
from memory.base.doors import Entered, Routes, actor, made, page
from memory.base.errors import Unavailable
from memory.base.schemas import Act, Id
from memory.checks import operations, queries, running
from memory.checks.schemas import (
    CheckDetailOut,
    CheckedOut,
    CheckList,
    CheckName,
    CheckOut,
    WaivedOut,
    WaiveIn,
)
from memory.ledger.queries import asof
from memory.ledger.schemas import Limit, Point, SeqParameter, rests_on

routes = Routes("checks")

# Whoever may read may have it checked; a token has no say in what is checked.
RUN = gate.Requirement(("read",), by_person=True)


@routes.read("/checks", answer=CheckList)
def checks(
    request: Entered, point: Query[Point], name: CheckName | None = None, after: SeqParameter | None = None,
    limit: Limit = 50,
) -> CheckList:  # fmt: skip
    """Runs of checks, newest first; `after` is the seq to go on from."""
    at = point.at(request.auth.namespace)
    found = queries.check_runs(at, name=name or "", before=after, limit=limit)
    goes_on = len(found) >= limit and queries.count_runs(at, name=name or "", before=found[-1].seq)
    return CheckList(
        items=[CheckOut.of(row) for row in found], total=queries.count_runs(at, name=name or ""),
        next=str(found[-1].seq) if goes_on else None, names=list(running.names()), **rests_on(at),
    )  # fmt: skip


@routes.read("/checks/{check}", answer=CheckDetailOut)
def check(request: Entered, check: Annotated[Id, Path()], point: Query[Point]) -> CheckDetailOut:
    """One run of a check, with what it found."""
    at = point.at(request.auth.namespace)
    return CheckDetailOut.of(queries.check_run(at, id=check), **rests_on(at))


@routes.write("/checks/{name}/run", need=RUN, answer=CheckedOut, makes=True)
def run(request: Entered, name: Annotated[CheckName, Path()], body: Act | None = None) -> Status[CheckedOut]:
    """Run a check and record what it finds.

    A short log is checked at once. A long one is checked by a worker: until it is done the answer is `unavailable`,
    with `job`, and `url` of the page that tells how far it is. Ask again under the same `Idempotency-Key` for what it
    found; without a key that is answered for a minute. What a worker does belongs to no `run` of a body.
    """
    by = actor(request, (body or Act()).run)
    done = running.run(by, name=name)
    if isinstance(done, running.Waiting):
        url = page(request, done.path)
        raise Unavailable(
            f"The log is long, so a worker checks it; ask again, or see {url}.", job=str(done.job), url=url
        )
    found = queries.check_run(asof.now(by.namespace), id=done.id)
    return made(CheckedOut.of(done, found, url=page(request, "/laws")), is_new=not done.replayed)


@routes.write("/laws/{clause}/waive", need=gate.OWN, answer=WaivedOut)
def waive(request: Entered, clause: Annotated[CheckName, Path()], body: WaiveIn) -> WaivedOut:
    """Count an invariant as settled until a date; its verdict stays. `clause` is L1 to L7, or the name of a check.

    A check that is not run here any more can be waived by the whole name of its runs.
    """
    by = actor(request, body.run)
    name = running.named(clause, also=queries.names_that_ran(asof.now(by.namespace)))
    done = operations.waive(by, name=name, reason=body.reason, expires_at=body.expires_at)
    return WaivedOut.of(done, url=page(request, "/laws"))
