"""Addresses that fail on purpose, beside the site's own: what tests of errors and of the ASGI door ask for."""

from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from audit import urls as site

SECRET_TEXT = "the client's private words"


def broken(request: HttpRequest) -> HttpResponse:
    try:
        int(SECRET_TEXT)
    except ValueError as error:
        raise RuntimeError(f"cannot read {SECRET_TEXT}") from error
    return HttpResponse()


def busy(request: HttpRequest) -> HttpResponse:
    raise OperationalError("database is locked")


def denied(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied(SECRET_TEXT)


def guarded(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"{len(request.POST)} fields")


@csrf_exempt
def echo(request: HttpRequest) -> HttpResponse:
    answer = HttpResponse(request.body, content_type="application/octet-stream")
    answer.set_cookie("echo", "1")
    return answer


urlpatterns = [
    *site.urlpatterns,
    *(
        path(f"{prefix}{view.__name__}", view)
        for prefix in ("", "api/v1/")
        for view in (broken, busy, denied, guarded, echo)
    ),
]
handler400, handler403 = site.handler400, site.handler403
handler404, handler500 = site.handler404, site.handler500
