"""The OpenAPI document, completed by what the doors know.

Invariants
- Each refusal of a route is listed by its status, with the codes that it can carry, in the words of the one table.
- What every route takes is written once: the namespace, the headers of a write.

Source: OpenAPI 3.1; RFC 9457.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from memory.base.doors import Door
from memory.base.errors import CODES
from memory.base.text import NAME_CHARS

PROBLEM_TYPE = "application/problem+json"
_REFERENCE = re.compile(r"#/components/schemas/(\w+)")
NAMESPACE = {
    "name": "ns", "in": "path", "required": True, "description": "the name of the namespace",
    "schema": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_.-]{0,99}$"},
}  # fmt: skip
HEADERS = (
    ("Idempotency-Key", {"type": "string", "minLength": 1, "maxLength": 200},
     "sent again with the same payload it is answered as before"),
    ("Palimpsest-Run", {"type": "string", "format": "uuid"}, "the run that the write belongs to"),
    ("Palimpsest-On-Behalf-Of", {"type": "string", "minLength": 1, "maxLength": NAME_CHARS}, "for whom it is written"),
    ("Palimpsest-Host", {"type": "string", "minLength": 1, "maxLength": NAME_CHARS}, "where the agent runs"),
    ("traceparent", {"type": "string", "pattern": "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"},
     "W3C trace context; its trace id finds or opens the run"),
)  # fmt: skip
MATCH = (
    "If-Match", {"type": "string", "pattern": r'^(\*|"[0-9a-f]{64}")$'},
    "the digest of the version to replace, or * for whatever is current",
)  # fmt: skip
SECURITY = {
    "Bearer": {"type": "http", "scheme": "bearer", "description": "the token of an agent"},
    "Session": {"type": "apiKey", "in": "cookie", "name": "sessionid",
                "description": "a signed-in person; unsafe methods also need X-CSRFToken"},
}  # fmt: skip


def completed(document: OpenAPISchema, api: NinjaAPI) -> OpenAPISchema:
    """Add to ninja's document what the doors know."""
    doors = {operation.operation_id: _door(operation) for operation in _operations(api)}
    for path in document["paths"].values():
        path["parameters"] = [NAMESPACE]
        for operation in path.values():
            if isinstance(operation, dict):
                _complete(operation, doors[operation["operationId"]])
    document["components"]["securitySchemes"] = SECURITY
    document["components"]["schemas"] = _used(document)
    _untitle(document)
    return document


def _used(document: OpenAPISchema) -> dict[str, Any]:
    """The schemas that something refers to, by name: those of parameters stand where the parameters do."""
    used = set(_REFERENCE.findall(str({name: part for name, part in document.items() if name != "components"})))
    schemas = document["components"]["schemas"]
    ahead = list(used)
    while ahead:
        found = set(_REFERENCE.findall(str(schemas[ahead.pop()]))) - used
        used |= found
        ahead += found
    return {name: schemas[name] for name in sorted(used)}


def _untitle(node: Any, *, names: bool = False) -> None:
    """Take away the titles that only repeat the name of a field; those of whole schemas stay."""
    for key, inner in list(node.items()) if isinstance(node, dict) else enumerate(node):
        if key == "title" and isinstance(inner, str) and not names and node.get("type") != "object":
            del node[key]
        elif isinstance(inner, dict | list):
            _untitle(inner, names=key in ("properties", "schemas"))


def _operations(api: NinjaAPI) -> Iterator[Operation]:
    for _, router in api._routers:  # noqa: SLF001 - ninja lists its operations nowhere else
        for view in router.path_operations.values():
            yield from view.operations


def _door(operation: Operation) -> Door:
    (door,) = operation.auth_callbacks
    assert isinstance(door, Door)
    return door


def _complete(operation: dict[str, Any], door: Door) -> None:
    headers = [*(HEADERS if door.is_write else ()), *((MATCH,) if door.takes_match else ())]
    operation["parameters"] += [
        {"name": name, "in": "header", "required": False, "schema": schema, "description": description}
        for name, schema, description in headers
    ]
    schemes = ("Session",) if door.need.by_person else ("Bearer", "Session")
    operation["security"] = [{scheme: []} for scheme in schemes]
    operation["x-needs"] = list(door.need.powers)
    operation["x-codes"] = list(door.codes)
    answers = operation["responses"].items()
    operation["responses"] = {str(status): _answer(status, answer, door) for status, answer in sorted(answers)}


def _answer(status: int, answer: dict[str, Any], door: Door) -> dict[str, Any]:
    codes = [CODES[code] for code in door.codes if CODES[code].status == status]
    if not codes:
        return answer
    return {
        "description": " ".join(f"{row.code}: {row.meaning}" for row in codes),
        "content": {PROBLEM_TYPE: answer["content"]["application/json"]},
    }
