"""Answers for what no view answered: problem+json under /api/ and at the address of a file, else a page.

Both have the same status; the page is `problem.html`.

Invariants
- Code, status and title come from the one table of codes.
- Neither form shows the exception, its text or a stack; the log line with the same request id does.
- The page falls back to plain text when its template is missing or fails, so that an error page never raises.

Source: RFC 9457 (problem details).
"""

import json
import logging
import sys
from typing import Any

from django.core.exceptions import DisallowedHost, RequestDataTooBig
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.template import loader

from memory.base.errors import CODES

API_PREFIXES = ("/api/", "/mcp", "/healthz", "/readyz")
FILE_SUFFIXES = (".json", ".csv", ".svg")
RETRY_AFTER_SECONDS = 5
PROBLEM_TYPE = "application/problem+json"

logger = logging.getLogger("audit.problems")


def problem_answer(request: HttpRequest, *, code: str, detail: str) -> HttpResponse:
    row = CODES[code]
    problem: dict[str, Any] = {
        "type": "about:blank",
        "title": row.title,
        "status": row.status,
        "detail": detail,
        "code": code,
        "errors": [],
        "request_id": str(getattr(request, "request_id", "")),
    }
    if request.path.startswith(API_PREFIXES) or is_file(request):
        return HttpResponse(json.dumps(problem), status=row.status, content_type=PROBLEM_TYPE)
    return HttpResponse(*_page(request, problem), status=row.status)


def is_file(request: HttpRequest) -> bool:
    """True if the address is that of a file: what reads it expects no page."""
    return request.path.endswith(FILE_SUFFIXES)


def _page(request: HttpRequest, problem: dict[str, Any]) -> tuple[str, str]:
    """Body and content type."""
    shown = {**problem, "ways_on": [{"url": "/", "label": "Overview"}]}
    try:
        return loader.render_to_string("problem.html", {"problem": shown}, request), "text/html; charset=utf-8"
    except Exception:
        # Whatever is wrong with the page, the reader gets the problem it was to show.
        logger.exception("problem page failed", extra={"fields": {"code": problem["code"]}})
        text = f"{problem['title']}\n{problem['detail']}\nRequest {problem['request_id']}\n"
        return text, "text/plain; charset=utf-8"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return problem_answer(request, code="too_large", detail="The body is larger than this site takes.")
    if isinstance(exception, DisallowedHost):
        detail = "The Host header names a host that this site does not serve; PALIMPSEST_HOSTS lists those it does."
        return problem_answer(request, code="invalid", detail=detail)
    return problem_answer(request, code="invalid", detail="The request could not be read.")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return problem_answer(request, code="forbidden", detail="You may not do this here.")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return problem_answer(request, code="not_found", detail="There is nothing at this address.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls this while it handles the exception. A database that is busy or away is 503, all else 500."""
    fields = {"method": request.method, "path": request.path}
    logger.error("request failed", exc_info=True, extra={"fields": fields})  # noqa: LOG014
    if isinstance(sys.exc_info()[1], OperationalError):
        response = problem_answer(request, code="unavailable", detail="The store is busy or out of reach; try again.")
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return response
    return problem_answer(request, code="internal", detail="The server failed; its log names the request id.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return problem_answer(
        request,
        code="forbidden",
        detail="The form was not accepted: reload the page and send it again, with cookies allowed for this site.",
    )
