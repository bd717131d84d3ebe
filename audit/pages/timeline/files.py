"""The timeline as files: every version that was read as CSV, and the whole of the page as JSON.

The same address at the same point has the same bytes, however much is recorded after its last drawn entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.charts.bitemporal_values import Learned, Version
from audit.exports import csv_answer
from audit.frame import in_url
from audit.pages.timeline.asking import Asked, asked, compared_with, horizon
from audit.pages.timeline.shown import read
from audit.pages.timeline.told import Answer, Told, stands_how
from memory.base.asof import AsOf
from memory.base.errors import Invalid

COLUMNS = (
    "attribute", "value", "valid_from", "valid_to", "known_from_seq", "known_from_at", "known_to_seq", "known_to_at",
    "state", "at_the_point", "source", "actor", "claimed_at", "id",
)  # fmt: skip


@require_safe
@page("timeline")
def as_csv(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    _, found, _ = _found(request, visit)
    return csv_answer(visit, "timeline", columns=COLUMNS, rows=_items(found))


@require_safe
@page("timeline")
def as_json(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    given, found, upto = _found(request, visit)
    told: dict[str, Any] = {
        "namespace": visit.namespace, "seq": visit.at.seq, "valid_at": in_url(visit.at.valid_at),
        "provisional": visit.at.provisional, "until": upto.seq, "title": found.title,
        "record": str(given.record) if given.record else None, "subject": given.subject or None,
        "is_claimed_by_the_source": found.is_claimed, "answers": [_answer(one) for one in found.answers],
        "items": [{**one, **_as_text(one)} for one in _items(found)], "total": found.n_total,
        "truncated": found.n_total > len(found.versions), "hidden": dict(sorted(found.hidden.items())),
    }  # fmt: skip
    if found.against is not None:
        told["against"] = {"seq": found.against.seq, "learned": [_learned(one) for one in found.learned]}
    return JsonResponse(told, json_dumps_params={"ensure_ascii": False})


def _found(request: HttpRequest, visit: Visit) -> tuple[Asked, Told, AsOf]:
    """Raises Invalid (no timeline is named, or what is to be compared with is no recording)."""
    against, given = compared_with(visit, asked(request))
    if given.faults:
        raise Invalid.at("against", expected="seq:N, a day or an instant", got=request.GET.get("against", ""))
    if given.record is None and not given.subject:
        raise Invalid.at("record", expected="the id of a record, or a subject")
    upto = horizon(visit, given, against)
    return given, read(visit, given, upto, against), upto


def _items(found: Told) -> Iterator[dict[str, Any]]:
    for one in sorted(found.versions, key=lambda one: (one.group, one.known_from, one.id)):
        yield _item(one, stands_how(one, found.point))


def _item(one: Version, how: str) -> dict[str, Any]:
    until = one.known_to
    return {
        "attribute": one.group, "value": one.value, "valid_from": one.valid_from, "valid_to": one.valid_to,
        "known_from_seq": one.known_from.seq or None, "known_from_at": one.known_from.at,
        "known_to_seq": (until.seq or None) if until else None, "known_to_at": until.at if until else None,
        "state": one.state, "at_the_point": how, "source": one.source, "actor": one.actor,
        "claimed_at": one.claimed_at, "id": one.id,
    }  # fmt: skip


def _as_text(item: dict[str, Any]) -> dict[str, str]:
    return {name: in_url(value) for name, value in item.items() if isinstance(value, datetime)}


def _answer(one: Answer) -> dict[str, Any]:
    return {
        "attribute": one.group, "status": one.status, "why": one.why,
        "values": [{"value": side.value, "why": side.why, "rests_on": _ids(side.rests_on)} for side in one.sides],
    }  # fmt: skip


def _ids(links: Sequence[Any]) -> list[str]:
    return [link.url.partition("?")[0].rsplit("/", 1)[-1] for link in links]


def _learned(one: Learned) -> dict[str, Any]:
    return {
        "attribute": one.group, "change": one.change,
        "valid_from": in_url(one.valid_from) if one.valid_from else None,
        "valid_to": in_url(one.valid_to) if one.valid_to else None,
        "before": [side.value for side in one.before], "after": [side.value for side in one.after],
    }  # fmt: skip
