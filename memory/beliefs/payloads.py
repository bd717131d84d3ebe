"""The peer's documents at the door: read from the body, and held to the namespace of the address.

A document may leave its namespace out, since the address names it; under compat it may not, as with the peer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.base.bodies import JSON, NDJSON, Line, read_array, read_json, read_lines, require_type
from memory.base.canonical import Dialect
from memory.base.doors import Entered
from memory.base.doors import namespace as named
from memory.base.errors import Invalid
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


def lines(request: Entered, *, profile: Profile) -> list[Line]:
    """The documents of a batch.   Raises as `memory.base.bodies`."""
    dialect: Dialect = payload_dialect(profile)
    media = require_type(request.headers.get("Content-Type", ""), allowed=(JSON, NDJSON))
    read = read_lines(request.body, dialect=dialect) if media == NDJSON else read_array(request.body, dialect=dialect)
    return [line if line.refusal else _line(request, line.value, profile) for line in read]


def _line(request: Entered, value: Any, profile: Profile) -> Line:
    try:
        return Line(placed(request, value, profile=profile))
    except Invalid as refusal:
        return Line(refusal=refusal)


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
