"""JSON logs: one event a line, for operators. The ledger is the audit trail.

Invariants
- A line holds ids, counts and durations; never a query string, a payload, a name that a client chose, or a secret.
- The event is a fixed phrase in the past tense; what varies stands in named fields (`extra={"fields": {...}}`).
- Of an exception the line holds its type and where it passed, not its text: the text may quote what a client sent.
  With PALIMPSEST_DEBUG the text is there too.
"""

import json
import logging
import traceback
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

# The request that the current thread serves; empty outside of a request.
current_request_id: ContextVar[str] = ContextVar("current_request_id", default="")


class JsonFormatter(logging.Formatter):
    """One JSON object for each record: time, level, event, request_id, the record's own fields, and its exception."""

    def __init__(self, *, shows_exception_text: bool) -> None:
        super().__init__()
        self.shows_exception_text = shows_exception_text

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
        }
        if request_id := current_request_id.get():
            line["request_id"] = request_id
        line.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[1] is not None:
            line["exceptions"] = [self._described(error) for error in chained(record.exc_info[1])]
        return json.dumps(line, ensure_ascii=False, default=str)

    def _described(self, error: BaseException) -> dict[str, Any]:
        frames = traceback.extract_tb(error.__traceback__)
        described: dict[str, Any] = {
            "type": f"{type(error).__module__}.{type(error).__qualname__}",
            "stack": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        }
        if self.shows_exception_text:
            described["text"] = str(error)
        return described


def chained(error: BaseException) -> Iterator[BaseException]:
    """The exception, then what it came from, in the order in which Python would show them from the bottom up."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def log_settings(*, level: str, debug: bool) -> dict[str, Any]:
    """Django's LOGGING.

    Django's own line for each failed request is silenced, as `audit.middleware.access_log` and `audit.problems` write
    theirs; with debug the page of the failure comes from Django, and so does its line.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "audit.logs.JsonFormatter", "shows_exception_text": debug}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.request": {"handlers": [], "level": "ERROR" if debug else "CRITICAL", "propagate": True},
            "django.server": {"handlers": [], "level": "CRITICAL", "propagate": False},
        },
    }
