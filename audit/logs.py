"""JSON logs: one event a line, for operators. The ledger is the audit trail.

Invariants
- A line holds ids, counts and durations; never a query string, a payload, a name that a client chose, or a secret.
- The event is a fixed phrase in the past tense; what varies stands in named fields (`extra={"fields": {...}}`).
"""

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

# The request that the current thread serves; empty outside of a request.
current_request_id: ContextVar[str] = ContextVar("current_request_id", default="")


class JsonFormatter(logging.Formatter):
    """One JSON object for each record: time, level, event, request_id, and the record's own fields."""

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
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def log_settings(level: str) -> dict[str, Any]:
    """Django's LOGGING. Its own request log is silenced: `audit.middleware.access_log` writes that line."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "audit.logs.JsonFormatter"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.request": {"handlers": [], "level": "CRITICAL", "propagate": True},
            "django.server": {"handlers": [], "level": "CRITICAL", "propagate": False},
        },
    }
