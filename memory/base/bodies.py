"""Bodies of requests: read strictly, and what is wrong in them named by its place.

Invariants
- Text that is not JSON is `malformed`; JSON that is refused is `invalid`, or `too_large` where a limit is passed.
- A place is the way to it in the body as the client wrote it; steps of our own schemas never show.
- The depth is bounded well below what the canonical form allows, as operations wrap what they are given.

Source: RFC 8259; RFC 9457; the newline-delimited form has one JSON text on each line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory.base.canonical import STRICT, Dialect, MalformedJson, UnacceptableJson, strict_loads
from memory.base.errors import WHOLE, DomainError, Invalid, Loc, Malformed, Place, TooLarge
from memory.base.text import BATCH_ITEMS, BODY_BYTES

JSON = "application/json"
NDJSON = "application/x-ndjson"
DEPTH = 32
PLACES = 50
RECORD_HINT = " Text that you want back is a record: POST /records with the fields `type` and `content`."

_SHOWN_CHARS = 60
_WORDS = {
    "missing": "missing",
    "extra_forbidden": "unknown",
    "literal_error": "not_listed",
    "union_tag_invalid": "not_listed",
    "union_tag_not_found": "missing",
    "string_pattern_mismatch": "pattern",
}
_EXPECTED = {
    "missing": "a value",
    "union_tag_not_found": "a value",
    "extra_forbidden": "no field of this name",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One item of a batch: its value, or why it has none."""

    value: Any = None
    refusal: DomainError | None = None


def require_type(content_type: str, *, allowed: Sequence[str] = (JSON,)) -> str:
    """The media type of a body.   Raises Invalid for another one; `+json` types count as JSON."""
    media, _, parameters = content_type.lower().replace('"', "").partition(";")
    media = media.strip()
    if media.startswith("application/") and media.endswith("+json"):
        media = JSON
    if media in allowed and "charset" not in parameters.replace("charset=utf-8", ""):
        return media
    hint = RECORD_HINT if media.startswith("text/") else ""
    place = Place(("Content-Type",), "content_type", " or ".join(allowed), content_type[:_SHOWN_CHARS])
    raise Invalid(f"Content-Type: expected {place.expected}, got {place.got or 'none'}.{hint}", errors=(place,))


def read_json(body: bytes, *, dialect: Dialect = STRICT) -> Any:
    """The value of a JSON body.   Raises Malformed, Invalid, TooLarge."""
    if len(body) > BODY_BYTES:
        raise TooLarge(f"A body has at most {BODY_BYTES} bytes; this one has {len(body)}.")
    return _loads(body, depth=DEPTH, dialect=dialect)


def read_array(body: bytes, *, dialect: Dialect = STRICT) -> list[Line]:
    """The items of a JSON array.   Raises Malformed, Invalid, TooLarge."""
    if len(body) > BODY_BYTES:
        raise TooLarge(f"A body has at most {BODY_BYTES} bytes; this one has {len(body)}.")
    items = _loads(body, depth=DEPTH + 1, dialect=dialect)
    if not isinstance(items, list):
        raise _whole("an array of items; one item alone goes to the address without /batch", _got("", items))
    return _counted([Line(item) for item in items])


def read_lines(body: bytes, *, dialect: Dialect = STRICT) -> list[Line]:
    """The items of a newline-delimited body; blank lines are none.   Raises TooLarge, Invalid (no items)."""
    if len(body) > BODY_BYTES:
        raise TooLarge(f"A body has at most {BODY_BYTES} bytes; this one has {len(body)}.")
    return _counted([_line(text, dialect) for text in body.split(b"\n") if text.strip()])


def _line(text: bytes, dialect: Dialect) -> Line:
    try:
        return Line(_loads(text, depth=DEPTH, dialect=dialect))
    except DomainError as refusal:
        return Line(refusal=refusal)


def _counted(lines: list[Line]) -> list[Line]:
    if not lines:
        raise _whole("at least one item", "none")
    if len(lines) > BATCH_ITEMS:
        raise TooLarge(f"A batch has at most {BATCH_ITEMS} items; this one has {len(lines)}.")
    return lines


def _whole(expected: str, got: str) -> Invalid:
    return Invalid(f"{WHOLE}: expected {expected}, got {got}.", errors=(Place((), "invalid", expected, got),))


def _loads(text: bytes, *, depth: int, dialect: Dialect) -> Any:
    try:
        return strict_loads(text, max_depth=depth, dialect=dialect)
    except MalformedJson as error:
        place = Place((), "malformed", "JSON", f"{error.reason} at position {error.position}")
        raise Malformed(f"The body is {error}.", errors=(place,)) from error
    except UnacceptableJson as error:
        raise Invalid(f"{error}.", errors=(Place(error.loc, error.code, error.expected, error.got),)) from error


def moved(refusal: DomainError, *under: str | int) -> DomainError:
    """The same refusal with its places below `under`: of one item, as part of a batch."""
    where = ".".join(str(step) for step in under)
    places = tuple(Place((*under, *each.loc), each.code, each.expected, each.got) for each in refusal.errors)
    detail = refusal.detail.removeprefix(f"{WHOLE}: ")
    return type(refusal)(f"{where}: {detail}", errors=places or (Place(under, refusal.code),), **refusal.extra)


def refused(errors: Sequence[Mapping[str, Any]], body: Any = None) -> DomainError:
    """The refusal for what a schema found wrong.

    errors : as pydantic lists them, `loc` below the body.   body : what was validated; None for parameters.
    """
    found = sorted(_places(errors, body), key=lambda place: [str(step) for step in place.loc])
    # Whatever else is wrong, a client must first send less.
    kind: type[DomainError] = TooLarge if any(place.code == "too_large" for place in found) else Invalid
    first, more = found[0], len(found) - 1
    where = ".".join(str(step) for step in first.loc) or WHOLE
    tail = f", got {first.got}" if first.got else ""
    others = f" (and {more} more)" if more else ""
    return kind(f"{where}: expected {first.expected}{tail}{others}.", errors=found[:PLACES])


def _places(errors: Sequence[Mapping[str, Any]], body: Any) -> Iterator[Place]:
    for error in errors:
        kind, context = error["type"], error.get("ctx", {})
        loc = _as_sent(error["loc"], body)
        if kind.startswith("union_tag"):
            loc = (*loc, str(context["discriminator"]).strip("'"))
        value = context.get("tag", error.get("input"))
        yield Place(loc, _word(kind), _expected(kind, error["msg"], context), _got(kind, value))


def _as_sent(loc: Loc, body: Any) -> Loc:
    """The steps that exist in what was sent; the last one may be what is missing there."""
    if body is None:
        return loc
    steps: list[str | int] = []
    here: Any = body
    for index, step in enumerate(loc):
        is_last = index == len(loc) - 1
        if _holds(here, step):
            here = here[step]
        elif not is_last or not isinstance(here, dict) or step == "[key]":
            # The tag of a union, the key of a mapping: a step of the schema.
            continue
        steps.append(step if isinstance(step, int) else _cut(str(step)))
    return tuple(steps)


def _holds(here: Any, step: str | int) -> bool:
    if isinstance(here, list):
        return isinstance(step, int) and step < len(here)
    return isinstance(here, dict) and step in here


def _word(kind: str) -> str:
    if kind in _WORDS:
        return _WORDS[kind]
    if kind.startswith(("greater_than", "less_than")):
        return "out_of_range"
    for ending, word in (("too_long", "too_long"), ("too_short", "too_short"), ("_type", "wrong_type"),
                         ("_parsing", "wrong_type"), ("_size", "out_of_range")):  # fmt: skip
        if kind.endswith(ending):
            return word
    return kind


def _expected(kind: str, message: str, context: Mapping[str, Any]) -> str:
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind in ("literal_error", "union_tag_invalid"):
        return str(context.get("expected") or context.get("expected_tags")).replace("'", "")
    if kind == "string_pattern_mismatch":
        return f"text that matches {context['pattern']}"
    for bound, words in (("min_length", "at least"), ("max_length", "at most")):
        if bound in context:
            return f"{words} {context[bound]} {'characters' if kind.startswith('string') else 'items'}"
    return message.removeprefix("Input should be ")


def _got(kind: str, value: Any) -> str:
    if kind in ("missing", "union_tag_not_found"):
        return "nothing"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
