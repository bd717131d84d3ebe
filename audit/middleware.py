"""What every request passes through, outermost first.

Invariants
- Each answer carries the header X-Request-ID; a caller's own id is kept when it is a short plain word, else replaced.
- Each request leaves one log line: method, path, status, duration. Never its query, body, cookies or headers.
- A cookie that is set over https is marked Secure.
"""

import logging
import re
import time
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from audit.logs import current_request_id

REQUEST_ID_HEADER = "X-Request-ID"
SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{7,63}")
PROBE_PATHS = frozenset({"/healthz", "/readyz"})

logger = logging.getLogger("audit.access")

type View = Callable[[HttpRequest], HttpResponseBase]


class IdentifiedRequest(HttpRequest):
    """A request behind `request_identity`; for annotations only."""

    request_id: str


def request_identity(get_response: View) -> View:
    """Give the request an id, put it into the log context, and answer it in the header."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        offered = request.headers.get(REQUEST_ID_HEADER, "")
        request_id = offered if SANE_REQUEST_ID.fullmatch(offered) else uuid.uuid4().hex
        request.request_id = request_id  # type: ignore[attr-defined]
        token = current_request_id.set(request_id)
        try:
            response = get_response(request)
        finally:
            current_request_id.reset(token)
        response.headers[REQUEST_ID_HEADER] = request_id
        return response

    return middleware


def access_log(get_response: View) -> View:
    """Log one line for each request; probes are logged only when they fail."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        response = get_response(request)
        status = response.status_code
        if request.path not in PROBE_PATHS or status >= 400:
            fields = {
                "method": request.method,
                "path": request.path,
                "status": status,
                "duration_ms": round((time.perf_counter() - started) * 1000, 1),
            }
            logger.log(logging.ERROR if status >= 500 else logging.INFO, "request answered", extra={"fields": fields})
        return response

    return middleware


def secure_cookies(get_response: View) -> View:
    """Mark every cookie of an answer given over https as Secure."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.is_secure():
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response

    return middleware
