"""The page of the API: every route with what it needs, takes and answers, and a form that asks the ones that only read.

Invariants
- It shows the OpenAPI document and nothing besides.
- It needs no script and loads nothing from elsewhere: a form comes back here and is sent on to the address it means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase

from memory.base.errors import CODES

LIMITS = ("pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "format")


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, a header or a field of a body: its name, what it may be, where it stands."""

    name: str
    kind: str
    place: str
    is_required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `needs` are powers of which one is enough; `answers` are (status, meaning)."""

    operation: str
    method: str
    path: str
    tag: str
    summary: str
    needs: str
    is_for_people: bool
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    answers: tuple[tuple[str, str], ...]

    @property
    def asked(self) -> tuple[Field, ...]:
        """What a form of this route asks for."""
        return tuple(field for field in self.parameters if field.place in ("path", "query"))


class Reference(DocsBase):
    """Renders the page; with `operation` in the query, sends the reader on to that route."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        routes = sorted(_routes(api.get_openapi_schema(path_params=kwargs)), key=lambda route: route.tag)
        asked = next((route for route in routes if route.operation == request.GET.get("operation")), None)
        if asked is not None and asked.method == "GET":
            return HttpResponseRedirect(_address(asked, request.GET.dict()))
        return render(request, "api/docs.html", {"routes": routes, "codes": list(CODES.values())})


def _address(route: Route, given: Mapping[str, str]) -> str:
    """The address of a route with these parameters; what was left empty is left out."""
    path = route.path
    for field in route.asked:
        if field.place == "path":
            path = path.replace(f"{{{field.name}}}", quote(given.get(field.name, "-") or "-", safe=""))
    query = {field.name: given[field.name] for field in route.asked if field.place == "query" and given.get(field.name)}
    return f"{path}?{urlencode(query)}" if query else path


def _routes(document: Mapping[str, Any]) -> Iterator[Route]:
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method != "parameters":
                yield _route(path, method.upper(), operation, schemas, methods["parameters"])


def _route(
    path: str, method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any], shared: list[Mapping[str, Any]]
) -> Route:
    return Route(
        operation=operation["operationId"], method=method, path=path, tag=operation["tags"][0],
        summary=operation["summary"], needs=" or ".join(operation["x-needs"]),
        is_for_people=len(operation["security"]) == 1,
        parameters=tuple(_parameter(one, schemas) for one in [*shared, *operation["parameters"]]),
        body=tuple(_body(operation, schemas)),
        answers=tuple((status, answer["description"]) for status, answer in operation["responses"].items()),
    )  # fmt: skip


def _parameter(given: Mapping[str, Any], schemas: Mapping[str, Any]) -> Field:
    kind = _kind(given["schema"], schemas)
    return Field(given["name"], kind, given["in"], given.get("required", False), given.get("description", ""))


def _body(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Field]:
    for schema in operation.get("requestBody", {}).get("content", {}).values():
        for variant in _variants(schema["schema"], schemas):
            for name, field in variant.get("properties", {}).items():
                is_required = name in variant.get("required", ())
                place = variant["title"] if "oneOf" in schema["schema"] else "body"
                yield Field(name, _kind(field, schemas), place, is_required, field.get("description", ""))


def _variants(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The objects that a body can be; of an array, those of its items."""
    if "$ref" in schema:
        return [schemas[schema["$ref"].rsplit("/", 1)[-1]]]
    if "items" in schema:
        return _variants(schema["items"], schemas)
    return [one for part in schema.get("oneOf", schema.get("anyOf", ())) for one in _variants(part, schemas)]


def _kind(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """What a value may be, in one line."""
    if "$ref" in schema:
        return _kind(schemas[schema["$ref"].rsplit("/", 1)[-1]], schemas)
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return " | ".join(_kind(part, schemas) for part in schema[word])
    if schema.get("type") == "array":
        items = schema.get("items") or {"type": ", ".join(_kind(one, schemas) for one in schema.get("prefixItems", ()))}
        return f"list of {_kind(items, schemas)}"
    limits = ", ".join(f"{name} {schema[name]}" for name in LIMITS if name in schema)
    return f"{schema.get('type', 'any')}{f' ({limits})' if limits else ''}"
