"""Evolve, split and supersede."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import instants
from memory.base.actor import Actor
from memory.base.errors import Conflict, Invalid, StaleVersion
from memory.ledger.operations.appending import retried
from memory.ledger.queries.contents import commitments_of
from memory.lineage.operations.deriving import Cause, Derived, Rules, answer_before, derive
from memory.lineage.queries.differences import as_json, differences
from memory.lineage.queries.sources import SourceRecord, current_version, load_sources, successors
from memory.records.models import Record

PARTS = 100
# In place of a digest: whatever version is current (RFC 9110, section 13.1.1).
ANY_CURRENT = "*"
VERSIONS_COMPARED = 500


@retried
def evolve(by: Actor, *, record: UUID, base: str, changes: Mapping[str, Any], cause: Cause) -> Derived:
    """A new version of the record; what `changes` does not name carries over.

    Locks: the namespace head. Appends: `evolve`, items record, derivation, edge.
    base : the digest of the version that is known; ANY_CURRENT where the record need only be current; "" to not ask.
    Raises NotFound, Erased, Withdrawn, StaleVersion (`base` is not the digest of the line's head), Invalid (no change).
    """
    request = {"evolve": str(record), "base": base, "changes": _plain(changes), "cause": cause.request}
    if (first := answer_before(by, "evolve", request)) is not None:
        return first
    (source,) = load_sources(by.namespace, [record])
    source.require_usable(needs_content="content" not in changes)
    if base and (base not in (source.digest.hex(), ANY_CURRENT) or source.state.superseded_seq is not None):
        raise _stale(by.namespace, source, base)
    new = replace(source.carried(), **changes)
    if new.valid_from is not None and new.valid_to is not None and new.valid_from >= new.valid_to:
        raise Invalid.at("valid_to", expected="an instant after valid_from", got=instants.text(new.valid_to))
    if replace(new, source_class=source.state.source_class) == source.carried_as_is():
        raise Invalid.at("content", expected="at least one change")
    line = source.line if source.state.superseded_seq is None else None
    return derive(by, "evolve", [new], [source], cause=cause, rules=Rules(content="explicit", valid="single"),
                   lines=[line], request=request)  # fmt: skip


def _stale(namespace: int, source: SourceRecord, base: str) -> StaleVersion:
    """The refusal that tells a client what to read, what to name as its base next, and what changed meanwhile."""
    head, current = current_version(namespace, source.id)
    known = _version_of(namespace, source, base)
    if known == head:
        # Nothing changed since what the client knows, for no version is what it named.
        return StaleVersion(f"base is the digest of no version; the current one is {head}.", current=current)
    return StaleVersion(
        f"base is not the digest of the current version, which is {head}.",
        current=current,
        since=str(known),
        differs=as_json(differences(namespace, before=known, after=head)),
    )


def _version_of(namespace: int, source: SourceRecord, base: str) -> UUID:
    """The version of the line whose digest the client names; the named record where no version has it."""
    line = Record.objects.filter(namespace=namespace, line=source.line).order_by("-seq").values_list("id", flat=True)
    digests = commitments_of(namespace, "record", list(line[:VERSIONS_COMPARED]))
    return next((version for version, digest in digests.items() if digest.hex() == base), source.id)


@retried
def split(by: Actor, *, record: UUID, parts: Sequence[Mapping[str, Any]], cause: Cause) -> Derived:
    """Two or more records out of one. Appends: `split`. Raises NotFound, Erased, Withdrawn, Conflict, Invalid."""
    if not 2 <= len(parts) <= PARTS:
        raise Invalid.at("parts", expected=f"2 to {PARTS} parts", got=len(parts))
    request = {"split": str(record), "parts": [_plain(part) for part in parts], "cause": cause.request}
    if (first := answer_before(by, "split", request)) is not None:
        return first
    (source,) = load_sources(by.namespace, [record])
    source.require_usable(needs_content=False)
    news = [replace(source.carried(), summary="", **part) for part in parts]
    return derive(by, "split", news, [source], cause=cause, rules=Rules(content="explicit", valid="single"),
                   lines=[None] * len(news), request=request)  # fmt: skip


@retried
def supersede(by: Actor, *, old: UUID, new: UUID, cause: Cause) -> Derived:
    """`new` takes the place of `old`, from this entry on. Both exist. Appends: `supersede`.

    Raises NotFound, Conflict (old is superseded already, one of them is held), Invalid (one record with itself).
    """
    if old == new:
        raise Invalid.at("new", expected="another record than old", got=new)
    request = {"supersede": [str(old), str(new)], "cause": cause.request}
    if (first := answer_before(by, "supersede", request)) is not None:
        return first
    fresh, stale = load_sources(by.namespace, [new, old])
    fresh.require_confirmed()
    if stale.state.superseded_seq is not None:
        raise Conflict(f"{old} is superseded already, by {stale.state.superseded_by}.")

    def no_circle() -> None:
        # Asked under the lock: two supersedes at once would each have seen the state before the other.
        if old in successors(by.namespace, fresh.id):
            raise Conflict(f"{new} is superseded by {old}: the two would replace each other.")

    return derive(
        by, "supersede", [], [stale], cause=cause, rules=Rules(), lines=[], request=request, newer=new,
        recheck=no_circle,
    )  # fmt: skip


def _plain(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain_value(value) for name, value in changes.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return instants.text(value)
    return list(value) if isinstance(value, tuple) else value
