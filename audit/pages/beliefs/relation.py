"""The law of a relation type: its table, its labels, how observations are read by it, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.components import Definition
from audit.navigation import Link
from audit.pages.beliefs.words import AUTHORITY, named
from audit.templatetags.console import count
from memory.beliefs.kernel.laws import Law
from memory.beliefs.queries.types import relation_rows
from memory.beliefs.relations import Relation, no_law

MOST_LABELS = 32
LINEAGE = {
    "edge": "one event speaks once for each pair of nodes",
    "global": "one event speaks once, whatever it speaks of",
}
SUPPORT = {
    "reject": "an observation with mass where its prior has none is refused",
    "flag": "mass where the prior has none is taken, and flagged",
}


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of the law's table: a label, and what it gives before each other label."""

    label: str
    products: tuple[str, ...]
    inverse: str


@require_safe
@page("beliefs")
def shown(request: HttpRequest, visit: Visit, relation_type: str) -> HttpResponse:
    row = next((row for row in relation_rows(visit.at) if row.relation.text == relation_type), None)
    if row is None:
        raise no_law(relation_type)
    law = row.relation.law
    context = {
        "name": named(relation_type),
        "definitions": _definitions(visit, row.relation, row.n_observations, row.last_seq),
        "labels": law.labels[:MOST_LABELS] if law else (),
        "n_labels": law.size if law else 0,
        "table": _table(law) if law else [],
        "identity": law.labels[law.identity] if law else "",
        "is_commutative": bool((law.table == law.table.T).all()) if law else False,
        "is_erased": law is None,
        "trail": (Link("Beliefs", f"/beliefs{visit.carry}"), Link(named(relation_type), "")),
        "authority": AUTHORITY,
    }
    return render(request, "beliefs/relation.html", context)


def _definitions(visit: Visit, relation: Relation, n: int, last_seq: int | None) -> list[Definition]:
    law = relation.law
    return [
        Definition("law", law.name if law else "erased"),
        Definition("labels", count(law.size) if law else "erased"),
        Definition("fingerprint", relation.fingerprint or "erased", is_code=True, title="SHA-256 of the canonical law"),
        Definition("bound by", f"seq {count(relation.seq)}", url=f"/ledger/{relation.seq}{visit.carry}"),
        Definition("lineage", LINEAGE[relation.lineage_key]),
        Definition("prior", SUPPORT[relation.prior_support]),
        Definition("zeros", "a zero is impossible" if relation.has_zero_floor else "a zero is improbable, 1e-12"),
        Definition("attested", "a person vouched for a foreign store" if relation.is_attested else "no need"),
        Definition("observations", count(n)),
        Definition(
            "newest", f"seq {count(last_seq)}" if last_seq else "none", url=f"/ledger/{last_seq}{visit.carry}" if
            last_seq else "",
        ),
    ]  # fmt: skip


def _table(law: Law) -> list[TableRow]:
    """The first MOST_LABELS rows and columns."""
    size = min(law.size, MOST_LABELS)
    return [
        TableRow(
            law.labels[i], tuple(law.labels[law.table[i, j]] for j in range(size)), law.labels[law.inverse[i]]
        )
        for i in range(size)
    ]  # fmt: skip
