"""Pages behind the door of the console that show what they were given: for its tests."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import path

from audit import urls as site
from audit.access import Visit, page
from memory.base.errors import StaleVersion


@page("records")
def shown(request: HttpRequest, visit: Visit) -> JsonResponse:
    return JsonResponse({
        "namespace": visit.namespace, "role": visit.role, "seq": visit.at.seq, "valid_at": visit.at.valid_at,
        "provisional": visit.at.provisional, "source_at": visit.at.source_at, "can_write": visit.frame.can_write,
        "shows_writes": visit.frame.shows_writes, "refusal": visit.frame.write_refusal, "carry": visit.carry,
    })  # fmt: skip


@page("records")
def drawn(request: HttpRequest, visit: Visit) -> HttpResponse:
    return render(request, "base.html")


@page("agents", applies=False)
def timeless(request: HttpRequest, visit: Visit) -> HttpResponse:
    return render(request, "base.html")


@page("records", power="review")
def act(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse(f"written by {visit.actor.role}")


@page("records", power="own")
def own(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("written by an owner")


@page("records", power="own")
def stale(request: HttpRequest, visit: Visit) -> HttpResponse:
    raise StaleVersion("The rule has moved on.")


urlpatterns = [
    *site.urlpatterns,
    *(path(f"door/{view.__name__}", view) for view in (shown, drawn, timeless, act, own, stale)),
]
handler403, handler404, handler500 = site.handler403, site.handler404, site.handler500
