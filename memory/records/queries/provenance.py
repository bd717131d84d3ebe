"""Where a record comes from: who wrote it, through which door, in which task, and what was checked since.

Everything is read as annotations of the record's own row, so that a page asks once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import BooleanField, ExpressionWrapper, OuterRef, Q, Subquery

from memory.agents.models import Agent, Run
from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.checks.models import CheckRun
from memory.ledger.models import Content, Entry, Item, Name
from memory.records.models import Record, RecordState, Withdrawal

SCAN = "ledger_scan"


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the entry of a record says, in the words that people read. Empty or None is not given.

    `principal` says what `person` or the agent is; `loader` is set where a loader wrote in the agent's name.
    `runtime` and `refs` are those of the run. `check` is what the newest scan of the ledger that covers the entry
    found, its seq and its run; `leaf` is the hash of the item.
    """

    principal: str
    person: int | None
    loader: UUID | None
    verb: str
    host: str
    on_behalf_of: str
    request: UUID | None
    has_key: bool
    refs: tuple[tuple[str, str], ...]
    runtime: Mapping[str, str]
    check: tuple[str, int, UUID] | None
    leaf: bytes


def annotated(at: AsOf, rows: models.QuerySet[RecordState]) -> models.QuerySet[Any]:
    """State rows with the columns of their record, item, entry, run, names and newest withdrawal."""
    record = _of(at, Record).filter(id=OuterRef("id"))
    item = _of(at, Item).filter(seq=OuterRef("seq"), item=OuterRef("item"))
    entry = _of(at, Entry).filter(seq=OuterRef("seq"))
    run = _of(at, Run).filter(id=OuterRef("run"))
    agent = _of(at, Agent).filter(id=OuterRef("agent"))
    known_until = at.head if at.source_at is not None else at.seq
    hidden = _of(at, Withdrawal).filter(record=OuterRef("id"), withdrawn=True, seq__lte=known_until).order_by("-seq")
    scan = _of(at, CheckRun).filter(check_name=SCAN, at_seq__gte=OuterRef("seq"), seq__lte=at.head).order_by("-seq")
    wanted: dict[str, Any] = {
        **_first("r_", record, "line", "n_quarantined", "ancestry_digest"),
        **_first("i_", item, "commitment", "hash"),
        **_first("e_", entry, "principal", "person", "loader", "host", "on_behalf_of", "request", "verb"),
        "e_keyed": Subquery(entry.annotate(keyed=_is_set("key")).values("keyed")[:1]),
        **_first("run_", run, "seq", "item"),
        **_first("agent_", agent, "name"),
        **_first("hidden_", hidden, "seq", "item"),
        **_first("scan_", scan, "verdict", "seq", "id"),
    }
    named = {"type": "n_type", "e_host": "n_host", "e_on_behalf_of": "n_behalf", "agent_name": "n_agent"}
    told = _of(at, Content).filter(seq=OuterRef("run_seq"), item=OuterRef("run_item"), part="run")
    found = rows.annotate(**wanted)
    return found.annotate(
        run_told=Subquery(told.values("payload")[:1]),
        **{to: Subquery(_of(at, Name).filter(id=OuterRef(column)).values("text")[:1]) for column, to in named.items()},
    )


def provenance_of(row: Any) -> Provenance:
    """The provenance in an annotated row."""
    run: Any = strict_loads(row.run_told) if row.run_told else {}
    return Provenance(
        principal=row.e_principal, person=row.e_person, loader=row.e_loader, verb=row.e_verb, host=row.n_host or "",
        on_behalf_of=row.n_behalf or "", request=row.e_request, has_key=bool(row.e_keyed),
        refs=tuple(sorted(run.get("refs", {}).items())), runtime=run.get("runtime", {}),
        check=(row.scan_verdict, row.scan_seq, row.scan_id) if row.scan_seq is not None else None,
        leaf=bytes(row.i_hash),
    )  # fmt: skip


def _of(at: AsOf, model: type[models.Model]) -> models.QuerySet[Any]:
    return model._default_manager.filter(namespace=at.namespace)


def _first(prefix: str, rows: models.QuerySet[Any], *columns: str) -> dict[str, Subquery]:
    return {f"{prefix}{column}": Subquery(rows.values(column)[:1]) for column in columns}


def _is_set(column: str) -> ExpressionWrapper[Q]:
    return ExpressionWrapper(Q(**{f"{column}__isnull": False}), output_field=BooleanField())
