"""The site's own HTTP door, asked within this process: the whole stack from middleware to rows, without a socket.

Invariants
- A call is a WSGI request like a server's, with the headers that any client could send.
- An answer that the story does not expect ends the loading with one sentence.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest


class Unexpected(Exception):
    """A step was answered otherwise than the story tells."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    body: Any


class Door:
    """The site's middleware and views, without the signals by which a server opens and closes database connections."""

    def __init__(self) -> None:
        self._handler = WSGIHandler()

    def ask(
        self, method: str, path: str, *, body: Mapping[str, Any] | Sequence[Any], headers: Mapping[str, str]
    ) -> Answer:
        """One request to the site with a JSON body."""
        sent = json.dumps(body).encode()
        environ = {
            "REQUEST_METHOD": method, "PATH_INFO": path, "SCRIPT_NAME": "", "QUERY_STRING": "",
            "SERVER_NAME": "localhost", "SERVER_PORT": "443", "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": _host(),
            # As behind a proxy that ends TLS, so that no redirect to https comes between.
            "HTTP_X_FORWARDED_PROTO": "https", "wsgi.url_scheme": "https",
            "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(sent)), "wsgi.input": io.BytesIO(sent),
            **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()},
        }  # fmt: skip
        response = self._handler.get_response(WSGIRequest(environ))
        return Answer(response.status_code, _read(b"".join(response)))


def _read(received: bytes) -> Any:
    try:
        return json.loads(received)
    except ValueError:
        return {"detail": received.decode(errors="replace")[:500]}


def _host() -> str:
    """A host that the site answers for."""
    named = (host for host in settings.ALLOWED_HOSTS if not host.startswith((".", "*")))
    return next(named, "localhost")
