"""Tables of fields: one description of a payload, from which it is read and from which its schema is published.

Invariants
- What the table says of a key, its reader enforces and its schema shows; rules between keys are code beside the table.
- Null is absence where a field is nullable, and nowhere else.
- Version 1 of a payload, which is also the absent one, does not know the keys of version 2, not even as null.

Source: posterior-memory-harness 0.9.0, its input contract; JSON Schema 2020-12.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory.beliefs.kernel.reading import (
    IDENTIFIER_CHARS,
    boolean,
    identifier,
    identifiers,
    integer,
    members,
    number,
    one_of,
    only,
)

REQUIRED: Final = object()
VERSION = "schema_version"

Schema = dict[str, Any]

_PATTERN = r"^[^\u0000-\u001f\u007f]*$"


@dataclass(frozen=True, slots=True)
class Field:
    """How a key is read, by its value and its name; the schema of what is read; what its absence means."""

    read: Callable[[object, str], object]
    schema: Schema
    default: object = REQUIRED
    is_nullable: bool = False


def text_schema(*, chars: int = IDENTIFIER_CHARS) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": chars, "pattern": _PATTERN}


def a_text(*, default: object = REQUIRED) -> Field:
    """An identifier; with a default of None it may be null."""
    return Field(identifier, text_schema(), default, default is None)


def a_number(*, least: float | None = None, most: float | None = None, default: object = REQUIRED) -> Field:
    """A finite number, perhaps in a closed range; with a default of None it may be null."""

    def read(value: object, key: str) -> float:
        return number(value, key, least=least, most=most)

    bounds = {word: bound for word, bound in (("minimum", least), ("maximum", most)) if bound is not None}
    return Field(read, {"type": "number", **bounds}, default, default is None)


def an_integer(*, least: int, most: int, default: int) -> Field:
    """A true integer in a closed range."""

    def read(value: object, key: str) -> int:
        return integer(value, key, least=least, most=most)

    return Field(read, {"type": "integer", "minimum": least, "maximum": most}, default)


def a_boolean(*, default: bool) -> Field:
    return Field(boolean, {"type": "boolean"}, default)


def a_word(*words: str, default: str) -> Field:
    """One of the words."""

    def read(value: object, key: str) -> str:
        return one_of(value, key, words=words)

    return Field(read, {"enum": list(words)}, default)


def texts(*, least: int = 0, most: int, chars: int = IDENTIFIER_CHARS, default: object = ()) -> Field:
    """A list of unique identifiers; with a default of () it may be null."""

    def read(value: object, key: str) -> Sequence[str]:
        return identifiers(value, key, least=least, most=most, chars=chars)

    items: Schema = {"type": "array", "items": text_schema(chars=chars), "uniqueItems": True, "maxItems": most}
    return Field(read, {**items, "minItems": least} if least else items, default, default == ())


def read_fields(document: object, fields: Mapping[str, Field], *, second: Collection[str] = ()) -> dict[str, Any]:
    """The value of every key of the table but the version; `second` are the keys that version 1 does not know.

    Raises Invalid, naming the place.
    """
    given = members(document)
    version = integer(given.get(VERSION, 1), VERSION, least=1, most=2)
    known = [VERSION, *(key for key in fields if version == 2 or key not in second)]
    required = [key for key, field in fields.items() if field.default is REQUIRED]
    only(given, known=known, required=required, second=second)
    return {key: _value(given, key, field) for key, field in fields.items()}


def payload_schema(fields: Mapping[str, Field], *, second: Collection[str] = (), **more: object) -> Schema:
    """The schema of a payload; `more` are keywords for rules between keys."""
    schema: Schema = {
        "type": "object",
        "additionalProperties": False,
        "required": [key for key, field in fields.items() if field.default is REQUIRED],
        "properties": {
            VERSION: {"type": "integer", "minimum": 1, "maximum": 2, "default": 1},
            **{key: _shown(field) for key, field in fields.items()},
        },
        **more,
    }
    if second:
        schema["if"] = {"required": [VERSION], "properties": {VERSION: {"const": 2}}}
        schema["else"] = {"not": {"anyOf": [{"required": [key]} for key in sorted(second)]}}
    return schema


def _value(given: Mapping[str, object], key: str, field: Field) -> object:
    if key not in given or (field.is_nullable and given[key] is None):
        return field.default
    return field.read(given[key], key)


def _shown(field: Field) -> Schema:
    return {"anyOf": [field.schema, {"type": "null"}]} if field.is_nullable else field.schema
