"""What every request passes through, outermost first.

Invariants
- Each answer carries the header X-Request-ID. A caller's own id is kept when it is a UUID, else replaced by a new one:
  the id goes into the ledger, which takes no text.
- Each request leaves one log line: method, path, status, duration. Never its query, body, cookies or
  headers, nor the token of a one-time link.
- A cookie that is set over https is marked Secure.
"""

import logging
import time
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from audit.logs import current_request_id

REQUEST_ID_HEADER = "X-Request-ID"
PROBE_PATHS = frozenset({"/healthz", "/readyz"})
SIGN_IN_PATH = "/sign-in/"

logger = logging.getLogger("audit.access")

type View = Callable[[HttpRequest], HttpResponseBase]


class IdentifiedRequest(HttpRequest):
    """A request behind `request_identity`; for annotations only."""

    request_id: uuid.UUID


def request_identity(get_response: View) -> View:
    """Give the request an id, put it into the log context, and answer it in the header."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        request_id = _offered_id(request) or uuid.uuid4()
        request.request_id = request_id  # type: ignore[attr-defined]
        token = current_request_id.set(str(request_id))
        try:
            response = get_response(request)
        finally:
            current_request_id.reset(token)
        response.headers[REQUEST_ID_HEADER] = str(request_id)
        return response

    return middleware


def _offered_id(request: HttpRequest) -> uuid.UUID | None:
    try:
        return uuid.UUID(request.headers.get(REQUEST_ID_HEADER, ""))
    except ValueError:
        return None


def access_log(get_response: View) -> View:
    """Log one line for each request; probes are logged only when they fail."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        response = get_response(request)
        status = response.status_code
        if request.path not in PROBE_PATHS or status >= 400:
            fields = {
                "method": request.method,
                "path": _logged_path(request.path),
                "status": status,
                "duration_ms": round((time.perf_counter() - started) * 1000, 1),
            }
            logger.log(logging.ERROR if status >= 500 else logging.INFO, "request answered", extra={"fields": fields})
        return response

    return middleware


def _logged_path(path: str) -> str:
    """A one-time link is a secret until it is used: its path is cut behind the page that it leads to."""
    return f"{SIGN_IN_PATH}…" if path.startswith(SIGN_IN_PATH) else path


def secure_cookies(get_response: View) -> View:
    """Mark every cookie of an answer given over https as Secure."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.is_secure():
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response

    return middleware
