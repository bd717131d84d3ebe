"""Compile: one record by a named function out of sources that are left as they are.

Invariants
- Record, edges to every source and the statement of how it was made are one entry: there is no half of it.
- A public record rests on compiled records alone and is redacted: raw text passes into public only through a compiled
  record, and every step of the way is named. That the redaction is any good, nobody here can tell.
- No public record is made of what rests on something erased, however far above.
- A function that the store runs is run by it: nobody may give the text in its name.

Source: operating contract, R03.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.base import instants
from memory.base.actor import Actor
from memory.base.canonical import canonical
from memory.base.errors import Conflict, Erased, Invalid, Place, Raced
from memory.base.intervals import Interval
from memory.base.text import CONTENT_CHARS
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import NameBook, retried
from memory.ledger.queries import asof
from memory.lineage.functions import BUILT_IN, BUILT_IN_NAMES
from memory.lineage.kernel import merged_interval
from memory.lineage.models import OUTPUTS, Compilation
from memory.lineage.operations.deriving import Cause, Derived, Rules, answer_before, derive
from memory.lineage.operations.merging import SOURCES
from memory.lineage.queries.compiled import Standing, outputs_of, standing_under
from memory.lineage.queries.freshness import freshness_of
from memory.lineage.queries.sources import SourceRecord, load_sources
from memory.records.content import NewRecord, details_of
from memory.records.models import Record
from memory.records.operations import Prepared


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a compiled record is made. `covers` is a tag of raw records, or "" for no topic.

    Raises Invalid (output).
    """

    function: str
    version: str
    output: str = "compiled"
    redacted: bool = False
    covers: str = ""

    def __post_init__(self) -> None:
        if self.output not in OUTPUTS:
            raise Invalid.at("output", expected=" or ".join(OUTPUTS), got=self.output)

    @property
    def request(self) -> list[Any]:
        """What it adds to the canonical request."""
        return [self.function, self.version, self.output, self.redacted, self.covers]


@retried
def compile_record(
    by: Actor, *, sources: Sequence[UUID], recipe: Recipe, cause: Cause, content: str | None = None,
    id: UUID | None = None, type: str = "summary", summary: str = "", tags: Sequence[str] = (),
    interval: Interval | None = None,
) -> Derived:  # fmt: skip
    """A compiled record out of one or more sources, which stay as they are.

    content : None for a function that the store runs, and for no other.   id : the client's own; with the same payload
    it is answered as before.   interval : the valid time; by default the hull of the sources'.
    Locks: the namespace head. Appends: `compile`, items record, derivation, compilation, one edge for each source.
    Raises Invalid (with `no_sources`, `public_from_raw` or `not_redacted` where it says so), NotFound, Withdrawn,
    Erased, Conflict (the id stands with another payload, or what is public would rest on something erased).
    """
    _require_distinct(sources)
    new = NewRecord(
        type=type, content=content or "", id=id, summary=summary, tags=tuple(sorted(set(tags))), source_class="derived",
        valid_from=interval.start if interval else None, valid_to=interval.end if interval else None,
    )  # fmt: skip
    request = _request(sources, recipe, new, cause, content=content, interval=interval)
    if (first := answer_before(by, "compile", request)) is not None:
        return first
    if id is not None and (standing := standing_under(by.namespace, id)) is not None:
        return _as_before(standing, sources, recipe, new, content=content, interval=interval)
    _require_lawful(by.namespace, sources, recipe)
    loaded = load_sources(by.namespace, sources)
    _require_usable(loaded)
    new = _complete(new, loaded, text=_text(recipe, content, loaded), interval=interval)

    def statement(book: NameBook, prepared: Sequence[Prepared]) -> Iterable[Draft]:
        book.learn([recipe.function, recipe.version, recipe.covers])
        yield compilation_draft(book, prepared[0].id, recipe=recipe, inputs=inputs_digest(loaded))

    def recheck() -> None:
        _require_free(by.namespace, id)
        _require_untainted(by.namespace, sources, recipe)

    return derive(
        by, "compile", [new], loaded, cause=cause, rules=_rules(content, interval), lines=[None], request=request,
        recheck=recheck, beside=statement,
    )  # fmt: skip


def _rules(content: str | None, interval: Interval | None) -> Rules:
    text, valid = "explicit" if content is not None else "generated", "explicit" if interval else "hull"
    return Rules(content=text, type="explicit", valid=valid)


def _request(
    sources: Sequence[UUID], recipe: Recipe, new: NewRecord, cause: Cause, *, content: str | None,
    interval: Interval | None,
) -> dict[str, Any]:  # fmt: skip
    """The canonical request."""
    return {
        "compile": [str(source) for source in sources], "recipe": recipe.request, "content": content, "type": new.type,
        "id": str(new.id) if new.id else None, "details": details_of(new), "cause": cause.request,
        "interval": [instants.text_or_none(interval.start), instants.text_or_none(interval.end)] if interval else None,
    }  # fmt: skip


def compilation_draft(book: NameBook, record: UUID, *, recipe: Recipe, inputs: bytes) -> Draft:
    """The item that states how the record was made."""
    row = {
        "record": record, "output": recipe.output, "function": book.id(recipe.function),
        "version": book.id(recipe.version), "redacted": recipe.redacted, "covers": book.id(recipe.covers),
        "inputs": inputs,
    }  # fmt: skip
    return Draft("compilation", record, Compilation, row)


def inputs_digest(sources: Iterable[SourceRecord]) -> bytes:
    """What equal sources in the same order share: SHA-256 over the canonical list of their digests."""
    return hashlib.sha256(canonical([source.digest.hex() for source in sources])).digest()


def _require_distinct(sources: Sequence[UUID]) -> None:
    if not sources:
        raise Invalid.at("sources", expected="at least one record: nothing is compiled from nothing", code="no_sources")
    if len(sources) > SOURCES or len(set(sources)) < len(sources):
        raise Invalid.at("sources", expected=f"1 to {SOURCES} distinct records", got=len(sources))


def _require_lawful(namespace: int, sources: Sequence[UUID], recipe: Recipe) -> None:
    """The firewall of public records.   Raises Invalid, with every place that is wrong."""
    if recipe.output != "public":
        return
    compiled = outputs_of(namespace, sources)
    places = []
    if raw := [source for source in sources if source not in compiled]:
        expected = "compiled records alone: a public record never rests on a raw one"
        places.append(Place(("sources", sources.index(raw[0])), "public_from_raw", expected, str(raw[0])))
    copies = recipe.function in BUILT_IN_NAMES and set(compiled.values()) != {"public"}
    if not recipe.redacted or copies:
        expected = "true, and a text that is redacted" if not copies else "a function that redacts: this one copies"
        places.append(Place(("redacted",), "not_redacted", expected, str(recipe.redacted).lower()))
    if places:
        told = "; ".join(f"{'.'.join(map(str, place.loc))}: expected {place.expected}" for place in places)
        raise Invalid(told, errors=places)


def _require_untainted(namespace: int, sources: Sequence[UUID], recipe: Recipe) -> None:
    """Nothing public comes of what says what is erased. Call it under the lock.   Raises Conflict."""
    if recipe.output != "public":
        return
    found = freshness_of(asof.now(namespace), sources)
    for source in sources:
        if found[source].state == "stale":
            raise Conflict(
                f"The record {source} is stale: something that it rests on is erased, and what is public rests on"
                " nothing erased.", id=str(source),
            )  # fmt: skip


def _require_usable(sources: Iterable[SourceRecord]) -> None:
    for source in sources:
        source.require_usable(needs_content=False)
        if source.content is None:
            raise Erased(f"The record {source.id} is erased: nothing can be compiled from it.", id=str(source.id))


def _text(recipe: Recipe, content: str | None, sources: Sequence[SourceRecord]) -> str:
    """The text, run here where the store knows the function.   Raises Invalid."""
    run = BUILT_IN.get((recipe.function, recipe.version))
    if run is None:
        if recipe.function in BUILT_IN_NAMES:
            known = " or ".join(version for name, version in BUILT_IN if name == recipe.function)
            raise Invalid.at("function", "version", expected=f"{known}: the store runs it", got=recipe.version)
        if content is None:
            raise Invalid.at("content", expected="what the function made", got="nothing", code="missing")
        return content
    if content is not None:
        raise Invalid.at("content", expected=f"nothing: the store runs {recipe.function} itself")
    text = run([source.content or "" for source in sources])
    if len(text) > CONTENT_CHARS:
        raise Invalid.at("sources", expected=f"at most {CONTENT_CHARS} characters in all", got=len(text))
    return text


def _require_free(namespace: int, id: UUID | None) -> None:
    if id is not None and Record.objects.filter(namespace=namespace, id=id).exists():
        raise Raced


def _complete(
    new: NewRecord, sources: Sequence[SourceRecord], *, text: str, interval: Interval | None
) -> NewRecord:  # fmt: skip
    whole = interval or merged_interval(
        [Interval(source.state.valid_from, source.state.valid_to) for source in sources], rule="hull"
    )
    given = {name: getattr(new, name) for name in ("type", "id", "summary", "tags", "source_class")}
    return NewRecord(**given, content=text, valid_from=whole.start, valid_to=whole.end)


def _as_before(
    standing: Standing, sources: Sequence[UUID], recipe: Recipe, new: NewRecord, *, content: str | None,
    interval: Interval | None,
) -> Derived:  # fmt: skip
    """The first answer to the same payload under the same id.   Raises Conflict, Erased."""
    if standing.content is None:
        raise Erased(f"The record {new.id} is erased.", id=str(new.id))
    same = (
        standing.derivation is not None
        and standing.sources == tuple(sources)
        and standing.recipe == recipe.request
        and (standing.type, standing.details) == (new.type, details_of(new))
        and content in (None, standing.content)
        and (interval is None or (interval.start, interval.end) == standing.valid)
    )
    if not same or standing.derivation is None or new.id is None:
        raise Conflict(f"The record {new.id} stands with another payload.", id=str(new.id))
    return Derived(standing.derivation, (new.id,), standing.seq, replayed=True)
