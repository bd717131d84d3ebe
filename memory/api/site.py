"""The API as one mounted thing: the routes of all slices under /namespaces/{ns}, read and answered one way.

Invariants
- Bodies are read by `memory.base.bodies`; answers are written by one encoder.
- A wrong method is a problem document that names the right ones; HEAD is answered wherever GET is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, wraps
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver
from ninja import NinjaAPI
from ninja.errors import ValidationError, ValidationErrorContext
from ninja.openapi.schema import OpenAPISchema
from ninja.parser import Parser
from ninja.renderers import BaseRenderer

from memory.agents.api import routes as agents
from memory.api.document import completed
from memory.api.headers import admitted
from memory.api.problems import MethodNotAllowed, answered, explain
from memory.api.reference import Reference
from memory.base import doors
from memory.base.bodies import read_json, require_type
from memory.beliefs.api import routes as beliefs
from memory.calibration.api import routes as calibration
from memory.checks.api import routes as checks
from memory.facts.api import routes as facts
from memory.interchange.api import routes as interchange
from memory.ledger.api import routes as ledger
from memory.lineage.api import routes as lineage
from memory.records.api import routes as records
from memory.tombstones.api import routes as tombstones

View = Callable[..., HttpResponseBase]
ROOT = "/api/v1/"
PREFIX = "/namespaces/{ns}"


class StrictParser(Parser):
    """Reads JSON bodies; what was read stays with the request, so that a refusal can name its places."""

    def parse_body(self, request: HttpRequest) -> Any:
        require_type(request.headers.get("Content-Type", ""))
        request.parsed_body = read_json(request.body)  # type: ignore[attr-defined]
        return request.parsed_body  # type: ignore[attr-defined]


class JsonRenderer(BaseRenderer):
    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        return msgspec.json.encode(data)


class Api(NinjaAPI):
    """Ninja's API with our answers to wrong methods, our places of errors and our document."""

    def validation_error_from_error_contexts(
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> ValidationError:
        return ValidationError([error for context in error_contexts for error in _errors(context)])

    @cached_property
    def document(self) -> OpenAPISchema:
        """The OpenAPI document: it changes with the code alone."""
        return completed(super().get_openapi_schema(path_prefix=ROOT), self)

    def get_openapi_schema(self, **_where: Any) -> OpenAPISchema:
        return self.document

    def _get_urls(self) -> list[URLResolver | URLPattern]:
        patterns = super()._get_urls()
        for pattern in patterns:
            if isinstance(pattern, URLPattern):
                pattern.callback = _negotiated(pattern.callback)
        return patterns


def _errors(context: ValidationErrorContext[Any]) -> Iterator[dict[str, Any]]:
    """What a schema found wrong, with where it was found and what was there."""
    source = context.model.__ninja_param_source__
    names = getattr(context.model, "__ninja_flatten_map_reverse__", {})
    for error in context.pydantic_validation_error.errors(include_url=False):
        yield {**error, "source": source, "loc": _place(tuple(error["loc"]), names)}


def _place(loc: tuple[str | int, ...], names: dict[tuple[str | int, ...], tuple[str, ...]]) -> tuple[str | int, ...]:
    """Without the name of our parameter: a field of the body, or the name of a parameter and what is below it."""
    for end in range(len(loc), 0, -1):
        if loc[:end] in names:
            return (*names[loc[:end]], *loc[end:])
    return loc[1:]


def _negotiated(view: View) -> View:
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        asked, request.method = request.method, "GET" if request.method == "HEAD" else request.method
        response = view(request, *args, **kwargs)
        if isinstance(response, HttpResponseNotAllowed):
            return _not_allowed(request, response.headers["Allow"].split(", "))
        if asked == "HEAD" and isinstance(response, HttpResponse):
            response.headers["Content-Length"] = str(len(response.content))
            response.content = b""
        elif asked == "HEAD" and isinstance(response, StreamingHttpResponse):
            response.streaming_content = iter(())
        return response

    return answer


def _not_allowed(request: HttpRequest, allowed: Sequence[str]) -> HttpResponse:
    methods = ", ".join(sorted({*allowed, *(("HEAD",) if "GET" in allowed else ())}))
    error = MethodNotAllowed(
        f"This address answers {methods}, not {request.method}.", errors=doors.unchangeable(request)
    )
    response = answered(request, error)
    response.headers["Allow"] = methods
    return response


def build() -> Api:
    """The API with all routes of all slices."""
    doors.admit_by(admitted)
    site = Api(
        title="Palimpsest", version="1", description="The flight recorder and the memory of AI agents.",
        urls_namespace="api", parser=StrictParser(), renderer=JsonRenderer(), docs=Reference(),
    )  # fmt: skip
    explain(site)
    # Calibration first: the name of a run may hold slashes, so `/monitors/{run_id}` would take its report for one.
    for routes in (ledger, agents, checks, records, lineage, facts, tombstones, calibration, beliefs, interchange):
        site.add_router(PREFIX, routes.router)
    return site


api = build()
