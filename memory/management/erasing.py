"""What the command `erase` reads from its arguments and prints of what it did."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TextIO
from uuid import UUID

from memory.base.schemas import is_id
from memory.checks.scrubbing import Done
from memory.ledger.operations.erasing import Erased
from memory.ledger.operations.previews import Preview
from memory.ledger.queries import asof, receipts
from memory.management.refusals import Refused

ADDRESS = re.compile(r"([1-9][0-9]{0,14})\.([0-9]{1,9})")
SHOWN = 20


def named(
    given: Mapping[str, Any], *, scrub: bool, dry_run: bool, namespace: str, stdin: TextIO
) -> dict[str, Any] | None:
    """What is to be erased, as `previews.asked` takes it; None where the files alone are to be scrubbed.

    Raises Refused (nothing named, no namespace, no reason, an id or address that is none).
    """
    records, items, subject = given["record"], given["item"], given["subject"]
    if not (records or items or subject):
        if scrub and not dry_run:
            return None
        raise Refused("Say what is to be erased: --record, --item or --subject; or --scrub alone.", returncode=2)
    if not namespace:
        raise Refused("An erasure is an act in one namespace: give --namespace.", returncode=2)
    if not given["reason"] and not dry_run:
        raise Refused("Give the reason of the erasure: --reason.", returncode=2)
    if records:
        wrong = [text for text in records if not is_id(text)]
        if wrong:
            raise Refused(f"A record is named by its full id; {wrong[0]!r} is none.", returncode=2)
        return {"records": [UUID(text) for text in records]}
    if items:
        found = [ADDRESS.fullmatch(text) for text in items]
        if None in found:
            raise Refused(f"An item is named by SEQ.ITEM; {items[found.index(None)]!r} is none.", returncode=2)
        return {"items": [(int(match[1]), int(match[2])) for match in found if match is not None]}
    return {"subject": stdin.read().strip() if subject == "-" else subject}


def preview_words(found: Preview, *, n_inside: int = 0) -> str:
    """What would go, what repeats it and what rests on it. n_inside : items that name it only inside longer words."""
    standing = [part for part in found.radius.parts if part.erased_by is None]
    lines = [f"{len(standing)} parts of {len({(part.seq, part.item) for part in standing})} items would go:"]
    if not standing:
        why = "all of it was erased before" if found.radius.parts else "nothing here names it"
        lines = [f"Nothing would go: {why}."]
    if n_inside:
        lines.append(f"{n_inside} items hold it only inside longer words and would stay.")
    lines += _shown([f"  {part.seq}.{part.item} {part.kind} {part.object}: {part.part}" for part in standing])
    if found.radius.n_quotes:
        lines.append(f"{found.radius.n_quotes} records repeat a line word for word and stay, but for --quoting:")
        lines += _shown(
            [f"  {quote.object} ({quote.relation}), {quote.n_lines} lines" for quote in found.radius.quotes]
        )
    if found.radius.n_affected:
        lines.append(f"{found.radius.n_affected} things rest on it and stay:")
        lines += _shown([f"  {one.kind} {one.id} ({one.relation})" for one in found.radius.affected])
    if found.hold is not None:
        until = f" until {found.hold['until']}" if found.hold["until"] else ""
        lines.append(f"On hold{until}, by {found.hold['placed_by']}, entry {found.hold['seq']}: {found.hold['reason']}")
    return "\n".join(lines)


def receipt_words(namespace: int, done: Erased) -> str:
    """The receipt of what an erasure did, place by place."""
    if not done.refs or done.replayed:
        return f"All of it was erased before, by entry {done.seq}."
    found = receipts.receipt(asof.now(namespace), seq=done.seq)
    touched = found.touched or {}
    counts = {"content": touched["content"], "salts": touched["salts"], "names": touched["names"]}
    counts |= {**touched["projections"], **touched["swept"]}
    lines = [f"Erased by entry {done.seq}: {len(done.refs)} parts."]
    lines += [f"  {place.replace('_', ' ')}: {n}" for place, n in counts.items() if n]
    lines.append("Files of the database: not yet scrubbed; run erase --scrub." if found.scrub is None else "")
    lines += [f"Out of reach: {place}. {why}" for place, why in receipts.OUT_OF_REACH]
    return "\n".join(line for line in lines if line)


def scrub_words(done: Done) -> str:
    """What was written anew, and where that is recorded."""
    lines = [f"Scrubbed ({done.scrubbed.engine}): {', '.join(done.scrubbed.places)}."]
    if done.scrubbed.undone:
        lines.append(f"Not done, for want of rights: {', '.join(done.scrubbed.undone)}.")
    lines.append(f"Recorded in {len(done.recorded)} namespaces that had erased since their last scrub.")
    return "\n".join(lines)


def _shown(lines: list[str]) -> Iterator[str]:
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"  and {len(lines) - SHOWN} more"
