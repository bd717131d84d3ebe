"""The public export: what may leave the house for everybody, and how much was left out, by why.

Invariants
- Only public compiled records that are current at the head, redacted, and rest on compiled records alone all the way up
  to the raw ones: nothing raw is ever in it, and nothing of a raw record but what a redacted text says.
- One that is behind is left out like one that is stale, withdrawn, superseded, held or not valid: what is public is
  what still speaks for its sources. Each reason is counted, the gravest first.
- No name of a source, of a topic, of an agent or of a person is in it. The same state has the same bytes.

Source: operating contract, R03.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import batched
from typing import Any

from memory.base import instants
from memory.base.asof import AsOf
from memory.ledger.models import Namespace
from memory.ledger.queries.contents import commitments_of, contents_of, names_of
from memory.lineage.queries.compiled import Statement, public_statements, uncontrolled
from memory.lineage.queries.freshness import Freshness, freshness_of
from memory.records.models import RecordState
from memory.records.queries.recall import hidden_reason

CHUNK = 400
FORMAT = "palimpsest-public/1"


def document(at: AsOf) -> dict[str, Any]:
    """The export, as JSON.   at : the head."""
    statements = public_statements(at)
    beyond = uncontrolled(at, [one.record for one in statements])
    left_out: Counter[str] = Counter()
    items: list[dict[str, Any]] = []
    for chunk in batched(statements, CHUNK):
        ids = [one.record for one in chunk]
        states = {state.id: state for state in RecordState.objects.known(at).filter(id__in=ids)}
        fresh = freshness_of(at, ids)
        kept = []
        for one in chunk:
            raw = one.record in beyond
            reason = reason_left_out(at, states[one.record], one, fresh[one.record], is_controlled=not raw)
            if reason:
                left_out[reason] += 1
            else:
                kept.append((one, states[one.record]))
        items.extend(_items(at, kept))
    store = Namespace.objects.get(pk=at.namespace)
    return {
        "format": FORMAT, "namespace": store.name, "store": str(store.uid), "seq": at.seq, "items": items,
        "left_out": dict(sorted(left_out.items())),
    }  # fmt: skip


def reason_left_out(
    at: AsOf, state: RecordState, statement: Statement, fresh: Freshness, *, is_controlled: bool
) -> str:  # fmt: skip
    """Why a public record is left out, in one word; "" where it is exported. `state` comes from `known(at)`."""
    if not is_controlled:
        return "uncontrolled"
    if not statement.redacted:
        return "not_redacted"
    if (hidden := hidden_reason(at, state)) is not None:
        return hidden
    return "" if fresh.state == "current" else fresh.state


def _items(at: AsOf, kept: list[tuple[Statement, RecordState]]) -> Iterator[dict[str, Any]]:
    stored = contents_of(at.namespace, [(state.seq, state.item) for _, state in kept])
    digests = commitments_of(at.namespace, "record", [one.record for one, _ in kept])
    types = names_of(at.namespace, [state.type for _, state in kept])
    for one, state in kept:
        parts = stored[state.seq, state.item]
        details = parts.get("details", {})
        item: dict[str, Any] = {
            "id": str(one.record), "digest": digests[one.record].hex(), "type": types.get(state.type, ""),
            "content": parts["content"], "recorded_at": instants.text(state.recorded_at), "seq": one.seq,
            "function": {"name": one.function, "version": one.version},
        }  # fmt: skip
        given = {"summary": details.get("summary"), "tags": details.get("tags")}
        bounds = {"valid_from": state.valid_from, "valid_to": state.valid_to}
        item |= {name: value for name, value in given.items() if value}
        item |= {name: instants.text(value) for name, value in bounds.items() if value is not None}
        yield item
