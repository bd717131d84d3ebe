"""The routes of the API as its own document tells them: what a generated test walks over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memory.api.site import api

PREFIX = "/api/v1/namespaces/{ns}"
Schema = Mapping[str, Any]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `path` begins after the namespace."""

    operation: str
    method: str
    path: str
    document: Schema

    @property
    def is_for_people(self) -> bool:
        return len(self.document["security"]) == 1

    @property
    def is_write(self) -> bool:
        return "idempotency_mismatch" in self.document["x-codes"]

    @property
    def needs(self) -> list[str]:
        return list(self.document["x-needs"])

    @property
    def body(self) -> Schema | None:
        return self.document.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")

    @property
    def query(self) -> dict[str, Schema]:
        return {one["name"]: one["schema"] for one in self.document["parameters"] if one["in"] == "query"}


def routes() -> list[Route]:
    """Every route of the document, in its order."""
    return [
        Route(operation["operationId"], method.upper(), path.removeprefix(PREFIX), operation)
        for path, methods in api.document["paths"].items()
        for method, operation in methods.items()
        if method != "parameters"
    ]


def resolved(schema: Schema) -> Schema:
    """The schema itself, for a reference, or for a value that may also be null."""
    if "$ref" in schema:
        return resolved(api.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]])
    if "allOf" in schema and len(schema["allOf"]) == 1:
        return resolved(schema["allOf"][0])
    options = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return resolved(options[0]) if len(options) == 1 else schema


def variant(schema: Schema, body: Any) -> Schema:
    """Of a body that can be several things, the schema of this one."""
    found = resolved(schema)
    if "discriminator" in found:
        name = found["discriminator"]["propertyName"]
        return resolved({"$ref": found["discriminator"]["mapping"][body[name]]})
    return found


def leaves(schema: Schema, at: Path = ()) -> Iterator[tuple[Path, Schema]]:
    """(place, schema) of every value in a body that is no object or list itself."""
    found = resolved(schema)
    for name, part in found.get("properties", {}).items():
        yield from leaves(part, (*at, name))
    if found.get("type") == "array" and found.get("maxItems") != 0:
        inside = found.get("prefixItems") or [found["items"]]
        for index, part in enumerate(inside):
            yield from leaves(part, (*at, index))
    elif "properties" not in found and found.get("type") not in ("object", "array") and at:
        yield at, found


def put(body: Any, at: Path, value: Any) -> Any:
    """A copy of the body with the value at that place; what leads there is made."""
    step, *further = at
    if isinstance(step, int):
        items = list(body) if isinstance(body, list) else []
        items += [None] * (step + 1 - len(items))
        items[step] = put(items[step], tuple(further), value) if further else value
        return items
    members = dict(body) if isinstance(body, dict) else {}
    return {**members, step: put(members.get(step), tuple(further), value) if further else value}
