"""Refusals as problem documents: every exception that can reach a route has its answer here.

Invariants
- Code, status and title come from the one table; members that a refusal brings along stand beside them.
- Neither the text nor the place of an unexpected exception is shown; the log line with the same request id has them.
- A refused write of a frozen agent leaves an entry of its own, after the rollback of what was refused.

Source: RFC 9457 (problem details); RFC 9110, sections 10.2.3 (Retry-After) and 11.6.1 (WWW-Authenticate).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import msgspec
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import IntegrityError, InterfaceError, OperationalError, connection
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from memory.base.actor import Actor
from memory.base.bodies import refused
from memory.base.errors import (
    Conflict,
    DomainError,
    Forbidden,
    Invalid,
    Malformed,
    NotFound,
    TooLarge,
    Unauthorized,
    Unavailable,
)
from memory.ledger.operations.refusing import refuse

PROBLEM_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 1
# Refusals that say something about the work of an agent, not about one request.
RECORDED = frozenset({"stopped"})

logger = logging.getLogger("memory.api")


class MethodNotAllowed(DomainError):
    code = "method_not_allowed"


class Internal(DomainError):
    code = "internal"


def answered(request: HttpRequest, error: DomainError) -> HttpResponse:
    """The problem document of a refusal."""
    problem = {
        **error.extra,
        "type": "about:blank",
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
        "code": error.code,
        "errors": [
            {"loc": list(place.loc), "code": place.code, "expected": place.expected, "got": place.got}
            for place in error.errors
        ],
        "request_id": str(getattr(request, "request_id", "")),
    }
    body = msgspec.json.encode(problem)
    response = HttpResponse(body, status=error.status, content_type=PROBLEM_TYPE)
    if error.code == "unauthorized":
        response.headers["WWW-Authenticate"] = 'Bearer realm="palimpsest"'
    if error.code == "unavailable":
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def explain(api: NinjaAPI) -> None:
    """Give every exception its answer."""

    def answer(kind: type[Exception], meaning: Callable[[HttpRequest, Exception], DomainError]) -> None:
        def handle(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
            assert isinstance(error, Exception)
            return answered(request, meaning(request, error))

        api.add_exception_handler(kind, handle)

    answer(DomainError, _domain)
    answer(ValidationError, _invalid)
    answer(HttpError, _http)
    answer(Http404, lambda request, error: NotFound("There is nothing at this address."))
    answer(RequestDataTooBig, lambda request, error: TooLarge("The body is larger than this site takes."))
    answer(SuspiciousOperation, lambda request, error: Invalid("The request could not be read."))
    answer(MultiPartParserError, lambda request, error: Malformed("The form could not be read."))
    answer(UnreadablePostError, lambda request, error: Malformed("The body ended before its announced length."))
    answer(IntegrityError, _clash)
    answer(OperationalError, _database)
    answer(InterfaceError, _database)
    answer(Exception, _unexpected)


def _domain(request: HttpRequest, error: Exception) -> DomainError:
    assert isinstance(error, DomainError)
    if error.code in RECORDED and isinstance(by := getattr(request, "auth", None), Actor):
        try:
            refuse(by, code=error.code)
        except (OperationalError, DomainError):
            # The refusal stands all the same; its trace is missing, and the log says so.
            logger.exception("refusal not recorded", extra={"fields": {"code": error.code}})
    return error


def _invalid(request: HttpRequest, error: Exception) -> DomainError:
    assert isinstance(error, ValidationError)
    of_body = [each for each in error.errors if each["source"] == "body"]
    others = [each for each in error.errors if each["source"] != "body"]
    return refused(others) if others else refused(of_body, getattr(request, "parsed_body", None))


def _http(request: HttpRequest, error: Exception) -> DomainError:
    """What ninja raises itself: a body that was refused while it was read, or no credentials."""
    assert isinstance(error, HttpError)
    if isinstance(error.__cause__, DomainError):
        return error.__cause__
    kinds: dict[int, type[DomainError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound}
    return kinds.get(error.status_code, Malformed)(f"{error.message}.")


def _clash(request: HttpRequest, error: Exception) -> DomainError:
    logger.warning("constraint refused a write", exc_info=error)
    return Conflict("What was asked clashes with what stands; read it again and decide anew.")


def _database(request: HttpRequest, error: Exception) -> DomainError:
    """SQLite says "locked" when it is busy and otherwise means a fault; PostgreSQL means that it is out of reach."""
    if connection.vendor == "sqlite" and "locked" not in str(error):
        return _unexpected(request, error)
    logger.warning("store was busy", exc_info=error)
    return Unavailable("The store is busy or out of reach; try again.")


def _unexpected(request: HttpRequest, error: Exception) -> DomainError:
    fields = {"method": request.method, "path": request.path}
    logger.error("request failed", exc_info=error, extra={"fields": fields})
    return Internal("The server failed; its log names the request id.")
