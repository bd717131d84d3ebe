"""A question and its answer: what each node is believed to be, which observations speak, which are contradicted.

- The answer is worked out in the request, within a budget of its own; beyond it the answer is sampled and says so.
- `against` answers the same question at another point, `again` works the same answer off in the opposite order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, page, problem_of
from audit.charts.figures import Figure
from audit.exports import csv_answer
from audit.navigation import Link
from audit.pages.beliefs.address import QuestionForm, asked, carried, graph_url, query_text, with_pairs
from audit.pages.beliefs.cards import cards
from audit.pages.beliefs.compared import compared
from audit.pages.beliefs.shown import (
    HiddenRow,
    ObservationRow,
    Shown,
    drawing,
    figures,
    hidden_rows,
    node_rows,
    observation_rows,
    shown,
)
from audit.pages.beliefs.words import AUTHORITY, named
from memory.base.errors import Conflict, DomainError, Invalid, NotFound
from memory.beliefs.kernel.questions import QueryDocument
from memory.beliefs.kernel.removals import largest_difference
from memory.beliefs.kernel.terms import Budget
from memory.beliefs.queries.asking import Asking, ask
from memory.beliefs.queries.saved import SavedRow, saved_version

MOST_ROWS = 200
PAGE_BUDGET = Budget(largest_entries=1 << 20, total_entries=1 << 22, samples=8_000)
"""An exact answer within it takes a fifth of a second at most."""


@require_safe
@page("beliefs")
def graph(request: HttpRequest, visit: Visit) -> HttpResponse:
    if "query" not in request.GET:
        return _question(request, visit)
    query = asked(request, visit)
    try:
        asking = ask(visit.at, query=query, profile="native", budget=PAGE_BUDGET)
    except Conflict as refusal:
        return _contradiction(request, visit, query, refusal)
    view = shown(asking, node=request.GET.get("node", ""))
    other, fault = compared(request, visit, query, asking, budget=PAGE_BUDGET)
    is_again = request.GET.get("again") == "1" and asking.answer.inference is not None
    saved_row, newest = _saved(request, visit)
    name = _named(request, saved_row)
    title = name or _title(query)
    context = {
        **_answer(request, visit, view),
        "title": title,
        "asked": _title(query) if name else "",
        "trail": _trail(visit, title),
        "authority": AUTHORITY,
        "cards": cards(visit, view),
        "again": f"{largest_difference(asking.answer):.1e}" if is_again else "",
        "again_url": with_pairs(request, again="1"),
        "newer": _newer(visit, saved_row, newest),
        "other": other,
        "against": request.GET.get("against", ""),
        "against_fault": fault,
        "against_kept": [pair for pair in request.GET.items() if pair[0] not in ("against", "again")],
        "against_off_url": with_pairs(request, against=""),
        "json_url": with_pairs(request, "/beliefs/graph.json"),
    }
    return render(request, "beliefs/graph.html", context, status=422 if fault else 200)


def _answer(request: HttpRequest, visit: Visit, view: Shown) -> dict[str, Any]:
    asking = view.asking
    urls = {id: f"/beliefs/observations/{stored}{visit.carry}" for id, stored in asking.ids.items()}
    node_urls = {node: f"#node-{index}" for index, node in enumerate(view.nodes)}
    told = figures(view)
    drawn = drawing(view, urls=urls, node_urls=node_urls)
    inference = asking.answer.inference
    return {
        "view": view,
        "focus": named(view.nodes[view.focus]) if view.focus >= 0 else "",
        "certainty": "exact" if inference is None else inference.certainty,
        "drawing": "" if not hasattr(drawn, "__html__") else drawn,
        "drawing_refusal": "" if hasattr(drawn, "__html__") else drawn,
        "figures": [
            (told[name], with_pairs(request, "/beliefs/graph.csv", figure=name)) for name in told if name != "conflicts"
        ],
        "conflicts": told["conflicts"],
        "conflicts_csv": with_pairs(request, "/beliefs/graph.csv", figure="conflicts"),
        "nodes": node_rows(view),
        "focus_kept": [pair for pair in request.GET.items() if pair[0] not in ("node", "again")],
        "used": _rows(observation_rows(view), urls),
        "hidden": _rows(hidden_rows(view), urls),
        "n_zero_trust": sum(trust == 0.0 for trust in asking.answer.used.trust.tolist()),
    }  # fmt: skip


def _rows(rows: Sequence[ObservationRow] | Sequence[HiddenRow], urls: Mapping[str, str]) -> dict[str, Any]:
    """The first MOST_ROWS with their pages, how many there are, and how many are left out."""
    shown_rows = [(row, urls.get(row.id, "")) for row in rows[:MOST_ROWS]]
    return {"rows": shown_rows, "n": len(rows), "n_more": len(rows) - len(shown_rows)}


@require_safe
@page("beliefs")
def as_json(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The capsule, as the API gives it for the same question at the same point."""
    told = _asking(request, visit).capsule(profile="native")
    return HttpResponse(json.dumps(told, ensure_ascii=False, allow_nan=False), content_type="application/json")


@require_safe
@page("beliefs")
def as_csv(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The numbers of one figure."""
    name = request.GET.get("figure", "conflicts")
    told: Mapping[str, Figure] = figures(shown(_asking(request, visit), node=request.GET.get("node", "")))
    if name not in told:
        raise Invalid.at("figure", expected=" or ".join(told), got=name)
    columns = [column.label for column in told[name].columns]
    rows = [dict(zip(columns, row, strict=True)) for row in told[name].rows]
    return csv_answer(visit, f"belief-{name}", columns=columns, rows=rows)


@require_safe
@page("beliefs")
def saved(request: HttpRequest, visit: Visit, saved: UUID) -> HttpResponseBase:
    """A saved question leads to the address that asks it."""
    found, _ = saved_version(visit.at, id=saved)
    if found.query is None:
        raise NotFound(f"The saved question {saved} is erased.")
    return HttpResponseRedirect(graph_url(found.query, carried=carried(visit), saved=str(saved)))


def _saved(request: HttpRequest, visit: Visit) -> tuple[SavedRow | None, SavedRow | None]:
    """The saved question that led to the address, and the one that stands by now under its name."""
    try:
        return saved_version(visit.at, id=UUID(request.GET.get("saved", "")))
    except (ValueError, NotFound):
        return None, None


def _named(request: HttpRequest, row: SavedRow | None) -> str:
    """What the question of the address is called; "" where the address asks another one by now."""
    if row is None or row.query is None or query_text(row.query) != request.GET["query"]:
        return ""
    return named(row.name)


def _newer(visit: Visit, row: SavedRow | None, newest: SavedRow | None) -> Link | None:
    if row is None or newest is None or newest.id == row.id:
        return None
    return Link(named(newest.name), f"/beliefs/saved/{newest.id}{visit.carry}")


def _asking(request: HttpRequest, visit: Visit) -> Asking:
    if "query" not in request.GET:
        raise Invalid.at("query", expected="a question as JSON", got="nothing")
    return ask(visit.at, query=asked(request, visit), profile="native", budget=PAGE_BUDGET)


def _question(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The form of a question; what is typed becomes an address."""
    is_typed = any(name in request.GET for name in ("relation_type", "root", "nodes"))
    form = QuestionForm(request.GET if is_typed else None)
    if is_typed and form.is_valid():
        return HttpResponseRedirect(graph_url(form.document(), carried=carried(visit)))
    context = {
        "form": form, "kept": carried(visit), "trail": _trail(visit, "Ask"), "authority": AUTHORITY,
    }  # fmt: skip
    return render(request, "beliefs/ask.html", context, status=422 if is_typed else 200)


def _contradiction(request: HttpRequest, visit: Visit, query: QueryDocument, refusal: DomainError) -> HttpResponse:
    """No assignment is possible: the observations that cannot all hold, instead of an answer."""
    ids = refusal.extra.get("observation_ids", ())
    links = [
        Link(named(str(id)), with_pairs(request, "/beliefs/observations", query="", observation_id=str(id)))
        for id in (ids if isinstance(ids, list | tuple) else ())
    ]
    name = _named(request, _saved(request, visit)[0])
    title = name or _title(query)
    context = {
        "problem": problem_of(request, refusal), "links": links, "title": title, "asked": _title(query) if name else "",
        "trail": _trail(visit, title), "authority": AUTHORITY,
    }  # fmt: skip
    return render(request, "beliefs/contradiction.html", context, status=refusal.status)


def _title(query: QueryDocument) -> str:
    return f"{named(query.relation_type)} seen from {named(query.root)}"


def _trail(visit: Visit, title: str) -> tuple[Link, ...]:
    return (Link("Beliefs", f"/beliefs{visit.carry}"), Link(title, ""))
