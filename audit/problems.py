"""Answers for what no view answered: problem+json under /api/, else the page `problem.html`, with the same status.

Invariants
- Neither form shows the exception, its text or a stack; the log line with the same request id does.
- The page falls back to plain text when its template is missing or fails, so that an error page never raises.

Source: RFC 9457 (problem details).
"""

import json
import logging

from django.http import HttpRequest, HttpResponse
from django.template import loader

API_PREFIXES = ("/api/", "/mcp", "/healthz", "/readyz")
PROBLEM_TYPE = "application/problem+json"

logger = logging.getLogger("audit.problems")


def problem_json(request: HttpRequest, *, status: int, code: str, title: str, detail: str) -> HttpResponse:
    body = {
        "type": f"urn:palimpsest:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "errors": [],
        "request_id": getattr(request, "request_id", ""),
    }
    return HttpResponse(json.dumps(body), status=status, content_type=PROBLEM_TYPE)


def problem_page(request: HttpRequest, *, status: int, code: str, title: str, detail: str) -> HttpResponse:
    request_id = getattr(request, "request_id", "")
    problem = {"status": status, "code": code, "title": title, "detail": detail, "request_id": request_id}
    try:
        page = loader.render_to_string("problem.html", {"problem": problem}, request)
    except Exception:
        logger.exception("problem page failed", extra={"fields": {"status": status, "code": code}})
        text = f"{title}\n{detail}\nRequest {request_id}\n"
        return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
    return HttpResponse(page, status=status)


def answer(request: HttpRequest, *, status: int, code: str, title: str, detail: str) -> HttpResponse:
    form = problem_json if request.path.startswith(API_PREFIXES) else problem_page
    return form(request, status=status, code=code, title=title, detail=detail)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(
        request, status=400, code="malformed", title="Malformed request", detail="The request could not be read."
    )


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, status=403, code="forbidden", title="Forbidden", detail="You may not do this here.")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, status=404, code="not_found", title="Not found", detail="There is nothing at this address.")


def server_error(request: HttpRequest) -> HttpResponse:
    fields = {"method": request.method, "path": request.path}
    # Django calls this while it handles the exception.
    logger.error("request failed", exc_info=True, extra={"fields": fields})  # noqa: LOG014
    return answer(
        request,
        status=500,
        code="internal",
        title="Internal error",
        detail="The server failed on this request; its log names the request id.",
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return answer(
        request,
        status=403,
        code="forbidden",
        title="The form has expired",
        detail="Reload the page and send the form again; cookies must be allowed for this site.",
    )
