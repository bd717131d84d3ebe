"""One source namespace of the peer's store comes to stand in one namespace here: all of it, or nothing.

The rows go through the operations of clients; one more entry keeps them raw, with what each became and every finding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched, groupby
from typing import Any
from uuid import UUID

from django.db import transaction

from memory.agents.operations import change_setting
from memory.base import gate, ids
from memory.base.actor import Actor
from memory.base.canonical import canonical
from memory.base.errors import DomainError
from memory.beliefs import profiles
from memory.beliefs.kernel.acts import RevocationDocument
from memory.beliefs.operations import binding, monitors, observing, revoking
from memory.beliefs.operations.binding import Binding
from memory.beliefs.operations.observing import Asked, Observed
from memory.calibration.operations import recording
from memory.interchange import sources
from memory.interchange.contextfs.applying import Applied
from memory.interchange.contextfs.kernel.cells import encode_cell
from memory.interchange.models import ImportedRow, ImportFinding, ImportRun
from memory.interchange.posterior.kernel.findings import Finding, Row
from memory.interchange.posterior.kernel.plan import NamespacePlan, PlannedObservation
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.models import Namespace
from memory.ledger.operations.appending import NameBook, opened
from memory.ledger.queries.contents import contents_of

FORMAT = "posterior"
CHUNK = 400
NOTE = "revoked in the source"

# The hashes under which the row of a place was taken; None for one that is erased.
Standing = Mapping[sources.Key, set[str | None]]


@dataclass(frozen=True, slots=True)
class Target:
    """Where one source namespace goes, and from which source and file it comes."""

    namespace: Namespace
    source: str
    file_sha256: str


@dataclass(slots=True)
class _Taken:
    """What was new: each row with what it became and which object that is, and what stood before."""

    rows: list[tuple[Row, str, UUID]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    ids: dict[str, UUID] = field(default_factory=dict)
    n_observations: int = 0
    n_skipped: int = 0
    n_labels: int = 0
    n_revocations: int = 0


def raw_of(row: Row) -> dict[str, Any]:
    """The row as it is kept: every cell, and the hash by which it is known again."""
    cells = {name: encode_cell(cell) for name, cell in row.cells.items()}
    return {"key": list(row.place), "hash": hashlib.sha256(canonical(cells)).hexdigest(), "row": cells}


@transaction.atomic
def apply(by: Actor, target: Target, plan: NamespacePlan) -> Applied:
    """Take what is new of the plan.

    Appends: `change_setting` where the profile is another one, `register`, `monitor`, `observe`, `revoke`, `label`, and
    `import`, which holds the rows; none of them where nothing is new. Raises Conflict (another law or configuration).
    """
    known = standing(target.namespace, source=target.source, keys=keys(plan))
    taken = _Taken()
    _found_profile(by)
    _bind(by, plan, known, taken)
    _observe(by, plan, known, taken)
    _open_runs(by, plan, known, taken)
    _revoke(by, plan, known, taken)
    _label(by, plan, known, taken)
    taken.findings += plan.findings
    seq, run, n_findings, n_quarantined = _enter(by, target, plan, taken)
    if seq is None:
        # The profile alone is no reason for an entry.
        transaction.set_rollback(True)
    return Applied(
        target.namespace.name, seq, taken.n_observations, 0, n_quarantined, n_findings, taken.n_skipped, run=run,
        n_labels=taken.n_labels, n_revocations=taken.n_revocations,
    )  # fmt: skip


def keys(plan: NamespacePlan) -> Iterator[sources.Key]:
    """The place of every row that the plan takes."""
    for row in plan.shared.values():
        yield row.place
    for planned in plan.observations:
        yield planned.row.place
        if planned.forecast is not None:
            yield planned.forecast.place
    for label in plan.outcomes:
        yield label.row.place


def standing(namespace: Namespace, *, source: str, keys: Iterable[sources.Key]) -> Standing:
    """{place: the hashes under which its row was taken} of what the namespace holds, quarantined rows left out.

    A row that was quarantined may stand after all: by another law, or once its parent does.
    """
    secret = bytes(namespace.secret)
    places = {sources.row_digest(secret, source, key): key for key in keys}
    found: dict[sources.Key, set[str | None]] = {}
    for chunk in batched(places, CHUNK):
        rows = ImportedRow.objects.filter(namespace=namespace, digest__in=chunk).exclude(became="finding")
        addresses = {(row.seq, row.item): bytes(row.digest) for row in rows}
        parts = contents_of(namespace.pk, list(addresses))
        for address, digest in addresses.items():
            found.setdefault(places[digest], set()).add(parts[address].get("raw", {}).get("hash"))
    return found


def _is_known(row: Row, known: Standing) -> bool:
    """Whether the row was taken before, as it is; an erased one counts as known whatever it says now."""
    remembered = known.get(row.place, set())
    return None in remembered or raw_of(row)["hash"] in remembered


def _found_profile(by: Actor) -> None:
    if profiles.profile_of(by.namespace) != "compat":
        change_setting(by, name=profiles.NAME, value="compat")


def _bind(by: Actor, plan: NamespacePlan, known: Standing, taken: _Taken) -> None:
    for relation, law in sorted(plan.laws.items()):
        asked = Binding(relation, law, is_attested=relation in plan.attested)
        bound = binding.register(by, binding=asked, profile="compat").relation
        row = plan.shared.get(f"law/{relation}")
        if row is not None and not _is_known(row, known):
            taken.rows.append((row, "law", bound.name))


def _open_runs(by: Actor, plan: NamespacePlan, known: Standing, taken: _Taken) -> None:
    """After the observations, which open the runs that track them."""
    for name, config in sorted(plan.runs.items()):
        row = plan.shared[f"run/{name}"]
        if not _is_known(row, known):
            taken.rows.append((row, "run", monitors.open_run(by, config=config).id))


def _observe(by: Actor, plan: NamespacePlan, known: Standing, taken: _Taken) -> None:
    fresh = []
    for planned in plan.observations:
        if planned.row.place not in known:
            fresh.append(planned)
            continue
        taken.n_skipped += 1
        if not _is_known(planned.row, known) and planned.revoked_at is None:
            why = "the row is another one than the one that was imported"
            taken.findings.append(
                Finding("observation-altered", (str(planned.document.observation_id),), why, (planned.row,))
            )
    for run, group in groupby(fresh, key=lambda planned: planned.run):
        part = list(group)
        config = None if run is None else plan.runs[run]
        asked = Asked("compat", watch=config, tracks=config is not None)
        answers = observing.observe_each(by, documents=[planned.document for planned in part], asked=asked)
        for planned, answer in zip(part, answers, strict=True):
            _took(planned, answer, taken)


def _took(planned: PlannedObservation, answer: Observed | DomainError, taken: _Taken) -> None:
    id = str(planned.document.observation_id)
    if isinstance(answer, DomainError):
        kept = (planned.row,) if planned.forecast is None else (planned.row, planned.forecast)
        taken.findings.append(Finding("observation-refused", (id,), answer.detail, kept))
        return
    taken.n_observations += 1
    taken.ids[id] = answer.id
    taken.rows.append((planned.row, "observation", answer.id))
    if planned.forecast is not None:
        taken.rows.append((planned.forecast, "forecast", answer.id))


def _revoke(by: Actor, plan: NamespacePlan, known: Standing, taken: _Taken) -> None:
    """Those that came revoked, and those that were revoked since they came: only that cell of a row ever changes."""
    for planned in plan.observations:
        id = str(planned.document.observation_id)
        if planned.revoked_at is None or (id not in taken.ids and _is_known(planned.row, known)):
            continue
        asked = RevocationDocument(at=planned.revoked_at, reason=NOTE, cascade="record", reexpose=True)
        try:
            done = revoking.revoke(by, observation_id=id, asked=asked, profile="compat")
        except DomainError as error:
            if id not in taken.ids and planned.row.place in known:
                taken.findings.append(Finding("observation-altered", (id,), error.detail, (planned.row,)))
            continue
        taken.n_revocations += 1
        if id not in taken.ids:
            taken.rows.append((planned.row, "revocation", done.observation))


def _label(by: Actor, plan: NamespacePlan, known: Standing, taken: _Taken) -> None:
    fresh = [label for label in plan.outcomes if label.row.place not in known]
    if not fresh:
        return
    answers = recording.record_each(by, documents=[label.document for label in fresh])
    for label, answer in zip(fresh, answers, strict=True):
        place = (label.document.observation_id, str(label.document.outcome_event_id))
        if isinstance(answer, DomainError):
            taken.findings.append(Finding("outcome-refused", place, answer.detail, (label.row,)))
        elif answer.id is not None:
            taken.n_labels += 1
            taken.rows.append((label.row, "outcome", answer.id))


def _enter(by: Actor, target: Target, plan: NamespacePlan, taken: _Taken) -> tuple[int | None, UUID | None, int, int]:
    """The entry of the import, its id, and how many findings and quarantines it has; nothing where nothing is new."""
    secret, run = bytes(target.namespace.secret), ids.new_id()
    listed = {
        sources.finding_digest(secret, target.source, _told(finding)): finding for finding in taken.findings
    }  # fmt: skip
    known = sources.known_findings(target.namespace, list(listed))
    fresh = [(digest, finding) for digest, finding in listed.items() if digest not in known]
    if not fresh and not taken.rows:
        return None, None, 0, 0
    book = NameBook(target.namespace.pk)
    book.learn([target.source])
    drafts: list[Draft] = []
    for row, became, about in taken.rows:
        drafts.append(_row_draft(secret, target.source, run, row, became, about))
    for digest, finding in fresh:
        drafts += _finding_drafts(secret, target.source, run, finding, digest, taken.ids)
    n_quarantined = sum(finding.is_quarantine for _, finding in fresh)
    values = {
        "id": run, "format": FORMAT, "source": book.id(target.source), "n_records": taken.n_observations,
        "n_edges": 0, "n_quarantined": n_quarantined, "n_skipped": taken.n_skipped,
    }  # fmt: skip
    report = {"source": target.source, "namespace": plan.name, "file": target.file_sha256}
    head = Draft("import_run", run, ImportRun, values, {"report": report})
    drafting.seal([head, *drafts])
    with opened(by, verb="import", need=gate.OWN, names=book) as entry:
        entry.add(head, *drafts)
    return entry.seq, run, len(fresh), n_quarantined


def _told(finding: Finding) -> list[Any]:
    hashes = [[*row.place, raw_of(row)["hash"]] for row in finding.rows]
    return [finding.code, list(finding.ids), finding.why, hashes]


def _finding_drafts(
    secret: bytes, source: str, run: UUID, finding: Finding, digest: bytes, here: Mapping[str, UUID]
) -> Iterable[Draft]:
    id = ids.new_id()
    values = {
        "id": id, "run": run, "code": finding.code, "clause": "", "severity": finding.severity,
        "record": here.get(finding.ids[0]) if finding.ids else None, "digest": digest,
    }  # fmt: skip
    report = {"ids": list(finding.ids), "relation": None, "before": None, "after": {"why": finding.why}}
    yield Draft("import_finding", id, ImportFinding, values, {"report": report})
    if finding.is_quarantine:
        yield from (_row_draft(secret, source, run, row, "finding", id) for row in finding.rows)


def _row_draft(secret: bytes, source: str, run: UUID, row: Row, became: str, about: UUID) -> Draft:
    digest = sources.row_digest(secret, source, row.place)
    return Draft(
        "imported_row", about, ImportedRow, {"run": run, "digest": digest, "became": became, "object": about},
        {"raw": raw_of(row)},
    )  # fmt: skip


def would(target: str, plan: NamespacePlan, known: Standing) -> Applied:
    """What an import would take, as far as can be said without writing."""
    new = _fresh(plan.observations, known)
    n_quarantined = sum(finding.is_quarantine for finding in plan.findings)
    n_skipped = len(plan.observations) - len(new)
    n_labels = sum(label.row.place not in known for label in plan.outcomes)
    n_revocations = sum(one.revoked_at is not None and not _is_known(one.row, known) for one in plan.observations)
    return Applied(
        target, None, len(new), 0, n_quarantined, len(plan.findings), n_skipped, n_labels=n_labels,
        n_revocations=n_revocations,
    )  # fmt: skip


def _fresh(planned: Sequence[PlannedObservation], known: Standing) -> list[PlannedObservation]:
    return [one for one in planned if one.row.place not in known]
