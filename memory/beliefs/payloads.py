"""The peer's documents at the door: read from the body, and held to the namespace of the address.

A document may leave its namespace out, since the address names it; under compat it may not, as with the peer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from memory.base.bodies import JSON, NDJSON, Line, read_array, read_json, read_lines, require_type
from memory.base.doors import Entered
from memory.base.doors import namespace as named
from memory.base.errors import DomainError, Invalid
from memory.beliefs.kernel.documents import payload_dialect, read_payload
from memory.beliefs.kernel.reading import shown
from memory.beliefs.profiles import Profile


def document(request: Entered, *, profile: Profile) -> Any:
    """The document of a body.   Raises Malformed, Invalid, TooLarge."""
    require_type(request.headers.get("Content-Type", ""))
    return placed(request, read_payload(request.body, profile=profile), profile=profile)


def plain(request: Entered) -> Any:
    """The value of a body that is no document of the peer's.   Raises Malformed, Invalid, TooLarge."""
    require_type(request.headers.get("Content-Type", ""))
    return read_json(request.body)


def items[Item](
    request: Entered, read: Callable[[Any], Item], *, profile: Profile
) -> tuple[dict[int, Item], dict[int, DomainError]]:
    """What `read` makes of each item of a batch, and the refusals of the others, by index.

    Raises as `memory.base.bodies`.
    """
    found: dict[int, Item] = {}
    refusals: dict[int, DomainError] = {}
    for index, line in enumerate(_lines(request, profile)):
        try:
            if line.refusal is not None:
                raise line.refusal
            found[index] = read(line.value)
        except DomainError as refusal:
            refusals[index] = refusal
    return found, refusals


def _lines(request: Entered, profile: Profile) -> list[Line]:
    dialect = payload_dialect(profile)
    media = require_type(request.headers.get("Content-Type", ""), allowed=(JSON, NDJSON))
    return read_lines(request.body, dialect=dialect) if media == NDJSON else read_array(request.body, dialect=dialect)


def sent(schema: Mapping[str, Any], *, many: bool = False) -> dict[str, Any]:
    """How the API describes a body that its route reads by itself: one document, or a batch."""
    content: dict[str, Any] = {JSON: {"schema": schema}}
    if many:
        listed = {"type": "array", "items": schema, "minItems": 1}
        content = {JSON: {"schema": listed}, NDJSON: {"schema": {"type": "string"}}}
    return {"requestBody": {"required": True, "content": content}}


def told(document: Mapping[str, Any]) -> str:
    """The document as it was made: the same answer is the same text."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def placed(request: Entered, value: Any, *, profile: Profile) -> Any:
    """The document with its namespace, that of the address.   Raises Invalid for another one."""
    if not isinstance(value, Mapping) or "capsule" in value:
        return value
    here = named(request)
    if "namespace" not in value:
        return value if profile == "compat" else {**value, "namespace": here}
    told = value["namespace"]
    if isinstance(told, str) and told != here:
        raise Invalid.at("namespace", expected=f"{here}, as in the address", got=told)
    return value


def require_here(request: Entered, capsule: Mapping[str, object], *, profile: Profile) -> None:
    """Natively a capsule that is handed in is one of the namespace of the address.   Raises Invalid."""
    here, told = named(request), capsule.get("namespace")
    if profile == "native" and told != here:
        got = "nothing" if told is None else shown(told)
        raise Invalid.at("capsule", "namespace", expected=f"{here}, as in the address", got=got)


def placed_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a document at an address that names its namespace: the document may leave it out."""
    if "anyOf" in schema:
        return {**schema, "anyOf": [placed_schema(one) for one in schema["anyOf"]]}
    return {**schema, "required": [key for key in schema.get("required", ()) if key != "namespace"]}
