"""Burying a route: one form that says which part is missing and keeps what was typed."""

from uuid import uuid4

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from audit import recorded
from audit.access import Visit, page, problem_of, require
from audit.navigation import Link
from audit.pages.tombstones.forms import BurialForm
from memory.base.errors import DomainError, Invalid
from memory.tombstones.operations.burying import bury

FIELDS = {"retest_at": "retest_on", "review_at": "review_on"}


@require_http_methods(["GET", "HEAD", "POST"])
@page("tombstones", power="write")
def new(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    require(visit, "write")
    if request.method != "POST":
        return _shown(request, visit, BurialForm(initial={"key": uuid4().hex, "route": request.GET.get("route", "")}))
    form = BurialForm(request.POST)
    if not form.is_valid():
        return _shown(request, visit, form)
    try:
        done = bury(visit.once(form.cleaned_data["key"]), new=form.given())
    except Invalid as error:
        _place(form, error)
        return _shown(request, visit, form)
    except DomainError as error:
        return _shown(request, visit, form, error=error)
    recorded.tell(request, "The route is buried, recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/tombstones/{done.id}{visit.carry}")


def _place(form: BurialForm, error: Invalid) -> None:
    """Put what the domain found wrong to the fields where it was typed."""
    for place in error.errors:
        name = FIELDS.get(str(place.loc[0]), str(place.loc[0]))
        at = ", ".join(str(step) for step in place.loc[1:] if not isinstance(step, int))
        got = f", not {place.got}" if place.got else ""
        form.add_error(name if name in form.fields else None, f"{at}: " * bool(at) + f"expected {place.expected}{got}.")


def _shown(
    request: HttpRequest, visit: Visit, form: BurialForm, *, error: DomainError | None = None
) -> HttpResponse:  # fmt: skip
    context = {
        "form": form,
        "problem": None if error is None else problem_of(request, error),
        "trail": (Link("Dead ends", f"/tombstones{visit.carry}"), Link("Bury a route", "")),
        "back_url": f"/tombstones{visit.carry}",
        "action_url": f"/tombstones/new{visit.carry}",
    }
    status = error.status if error is not None else 422 if form.errors else 200
    return render(request, "tombstones/new.html", context, status=status)
