"""Addresses that take a form, and what they answer to a method that they do not take.

Invariants
- A refused form is shown at the address that it was sent to; opened again, that address leads to the page that holds
  the form. Nothing is read from the request but what every link inside the console keeps.
- Any other method is answered 405 with the methods that are taken, as a page where a browser asks.

Source: RFC 9110, section 15.5.6 (405, Allow).
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed, HttpResponseRedirect

from audit.frame import address, pairs_of
from audit.navigation import CARRIED
from audit.problems import API_PREFIXES, problem_answer

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def posted(form: str) -> Callable[[View[P]], View[P]]:
    """Take POST alone. `form` is the path of the page that holds the form, with the names of the address in braces."""

    def door(view: View[P]) -> View[P]:
        @wraps(view)
        def entered(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if request.method == "POST":
                return view(request, *args, **kwargs)
            if request.method in ("GET", "HEAD"):
                kept = [pair for pair in pairs_of(request) if pair[0] in CARRIED]
                return HttpResponseRedirect(address(form.format(**kwargs), kept))
            return HttpResponseNotAllowed(["GET", "HEAD", "POST"])

        entered.form = form  # type: ignore[attr-defined]
        return entered

    return door


def told_methods(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Put words into a 405 that has none."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if not isinstance(response, HttpResponseNotAllowed) or request.path.startswith(API_PREFIXES):
            return response
        taken = response.headers["Allow"]
        detail = f"This address takes {taken}, not {request.method}. Nothing was done."
        told = problem_answer(request, code="method_not_allowed", detail=detail)
        told.headers["Allow"] = taken
        return told

    return middleware
