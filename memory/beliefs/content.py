"""What an observation's payload becomes: columns, names and content, and back again.

- Provenance is kept as it was sent; where canonical JSON cannot hold one of its integers, as text with every digit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast
from uuid import UUID

from memory.base.canonical import CanonicalError, canonical
from memory.beliefs.kernel.documents import ObservationDocument, provenance_text
from memory.beliefs.kernel.masses import Masses
from memory.beliefs.models import Observation

# Column: key of the payload.
NAMED = {
    "source": "source", "target": "target", "relation_type": "relation_type", "evidence_family": "evidence_family",
    "source_event": "source_event_id", "lineage_root": "lineage_root_id", "encoder_revision": "encoder_revision",
    "calibration_revision": "calibration_revision",
}  # fmt: skip


def texts_of(document: ObservationDocument) -> Iterator[str]:
    """Every name that the payload uses."""
    for key in NAMED.values():
        yield getattr(document, key) or ""
    yield document.observation_id or ""


def parts_of(document: ObservationDocument) -> dict[str, Any]:
    """The content of an observation."""
    value: dict[str, Any] = {"posterior": plain_masses(document.posterior)}
    if document.prior is not None:
        value["prior"] = plain_masses(document.prior)
    details: dict[str, Any] = {}
    if document.provenance:
        details["provenance"] = _kept(document)
    if document.tags:
        details["tags"] = list(document.tags)
    return {"value": value, **({"details": details} if details else {})}


def plain_masses(masses: Masses) -> Any:
    """As JSON."""
    return dict(masses) if isinstance(masses, Mapping) else list(masses)


def _kept(document: ObservationDocument) -> Any:
    try:
        canonical(document.provenance)
    except CanonicalError:
        return provenance_text(document)
    return dict(document.provenance)


def provenance_of(details: Mapping[str, Any]) -> Mapping[str, Any]:
    """As it was sent."""
    told = details.get("provenance", {})
    return cast(Mapping[str, Any], json.loads(told) if isinstance(told, str) else told)


def document_of(
    row: Observation, parts: Mapping[str, Any], names: Mapping[UUID, str], *, namespace: str,
    parents: tuple[str, ...] = (),
) -> ObservationDocument:  # fmt: skip
    """The payload that a stored observation answers to; its content must stand. A name that is erased reads ""."""
    details = parts.get("details") or {}
    value = parts["value"]
    told = {key: _name(names, getattr(row, column)) for column, key in NAMED.items()}
    return ObservationDocument(
        namespace=namespace, observation_id=names.get(row.name, ""), posterior=_masses(value["posterior"]),
        prior=None if "prior" not in value else _masses(value["prior"]), provenance=provenance_of(details),
        observed_at=row.observed_at, valid_from=row.valid_from, valid_until=row.valid_until,
        independent_evidence=row.is_independent, trust=row.trust, tags=tuple(details.get("tags", ())),
        derived_from=parents, **told,
    )  # fmt: skip


def names_in(row: Observation) -> list[UUID | None]:
    """The ids of every name of the row."""
    return [row.name, *(getattr(row, column) for column in NAMED)]


def _name(names: Mapping[UUID, str], id: UUID | None) -> Any:
    return None if id is None else names.get(id, "")


def _masses(told: Any) -> Masses:
    return (
        {label: float(mass) for label, mass in told.items()} if isinstance(told, Mapping) else tuple(map(float, told))
    )
