"""The facts that rest on a record: a part of the record's page."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.pages.facts.values import fact_shown
from audit.pages.records.detail import head
from memory.facts.queries.relying import drawn_from
from memory.records.queries import detail as reads


@require_safe
@page("records")
def shown(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """The facts that name the record as their evidence, newest first."""
    found = reads.record(visit.at, id=record)
    drawn, total = drawn_from(visit.at, (found.row.seq, found.item))
    told = {"drawn": [(one, fact_shown(visit, one.line)) for one in drawn], "n_more": total - len(drawn)}
    return render(request, "records/detail.html", {**head(request, visit, found, tab="facts"), **told})
