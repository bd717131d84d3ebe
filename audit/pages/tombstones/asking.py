"""Asking about a route, at any point in time, by whoever may read: an answer that writes nothing.

What agents ask before they act is recorded with what it met; a person who looks is no act that was stopped.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.frame import pairs_of
from audit.navigation import CARRIED, Link
from audit.pages.tombstones.forms import CheckForm
from audit.pages.tombstones.words import REASONS, scope_of, where
from memory.tombstones.checking import checked


@require_safe
@page("tombstones")
def check(request: HttpRequest, visit: Visit) -> HttpResponse:
    is_asked = any(request.GET.get(name) for name in ("route", "scope"))
    form = CheckForm(request.GET if is_asked else None)
    found = None
    if is_asked and form.is_valid():
        found = checked(visit.at, route=form.cleaned_data["route"], scope=scope_of(form.cleaned_data["scope"]))
    context = {
        "form": form,
        "found": found,
        "verdict": REASONS["blocked" if found.verdict == "blocked" else found.reason] if found else None,
        "met": [
            (one, *REASONS[one.reason], where(one.sign.scope), f"/tombstones/{one.sign.id}{visit.carry}")
            for one in (found.met if found else ())
        ],
        "kept": [pair for pair in pairs_of(request) if pair[0] in CARRIED],
        "trail": (Link("Dead ends", f"/tombstones{visit.carry}"), Link("Check a route", "")),
    }
    return render(request, "tombstones/check.html", context, status=422 if is_asked and found is None else 200)
