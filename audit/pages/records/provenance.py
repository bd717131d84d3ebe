"""Where a record comes from, as a strip in one fixed order, and what else is known of it, as a list beside its text."""

from collections.abc import Iterable
from dataclasses import dataclass

from audit.access import Visit
from audit.components import Definition
from audit.frame import words
from audit.secrets import covered
from audit.templatetags.console import count, day, size
from memory.records.queries.detail import RecordDetail

CLASSES = {"first_hand": "first-hand", "relayed": "relayed", "derived": "derived"}
CHECKS = {"ok": "ok", "failed": "failed", "not_checked": "not checked"}


@dataclass(frozen=True, slots=True)
class Strip:
    """The strip of provenance: what is known, in order, and the names of what was not given."""

    known: tuple[Definition, ...]
    not_given: tuple[str, ...]


def strip(visit: Visit, found: RecordDetail, *, who: str) -> Strip:
    """What the entry of the record says. `who` is the name of its principal."""
    told, row, carry = found.provenance, found.row, visit.carry
    refs = [f"{key} {text}" for key, text in told.refs if key != "trace"]
    model = " ".join(told.runtime.get(name, "") for name in ("model", "version")).strip()
    check = (
        f"{CHECKS.get(told.check[0], told.check[0])} by the scan of seq {count(told.check[1])}" if told.check else ""
    )
    scan_url = f"/ledger/checks/{told.check[2]}{carry}" if told.check else f"/ledger/{row.seq}{carry}"
    rows = (
        Definition("recorded at", words(row.recorded_at)),
        Definition("written by", who or None, url=f"/agents{carry}" if row.agent else ""),
        Definition("host", told.host or None),
        Definition("on behalf of", told.on_behalf_of or None),
        Definition("run", _run(found, refs), url=f"/runs/{row.run}{carry}" if row.run else ""),
        Definition("model and version", model or None),
        Definition("prompt hash", told.runtime.get("prompt_hash") or None, is_code=True),
        Definition("source", _source(found), title="who vouches for it"),
        Definition("origin", covered(found.origin) or None),
        Definition("request id", str(told.request) if told.request else None, is_code=True),
        Definition("idempotency key", "given, kept as a keyed digest" if told.has_key else None),
        Definition("ledger seq", count(row.seq), url=f"/ledger/{row.seq}{carry}", is_code=True),
        Definition("act", told.verb.replace("_", " ")),
        Definition("ledger check", check or "not checked yet", url=scan_url),
    )
    return Strip(tuple(one for one in rows if one.value), tuple(one.term for one in rows if not one.value))


def _run(found: RecordDetail, refs: Iterable[str]) -> str | None:
    """The title of the run, then those of its references that the title does not say already."""
    if found.row.run is None:
        return None
    title = found.row.run_title or "without title"
    more = [ref for ref in refs if ref.casefold() != title.casefold()]
    return f"{title} ({', '.join(more)})" if more else title


def _source(found: RecordDetail) -> str:
    """`authenticated` where the server itself saw the writer, and no loader or import speaks for it."""
    is_seen = found.provenance.loader is None and found.row.source_recorded_at is None
    told = CLASSES[found.row.source_class]
    return f"{told}, authenticated" if is_seen and found.row.source_class == "first_hand" else told


def hashes(found: RecordDetail) -> tuple[tuple[str, str, str], ...]:
    """(term, hash, what it covers) of the three hashes of the record."""
    return (
        ("Digest", found.digest.hex(), "the commitment of the record"),
        ("Ancestry", found.ancestry_digest.hex(), "the record and everything it rests on"),
        ("Leaf", found.provenance.leaf.hex(), "the hash of its item in the ledger"),
    )


def _interval(found: RecordDetail) -> str:
    start, end = found.row.valid_from, found.row.valid_to
    if start is None and end is None:
        return "no bounds given"
    return f"[{day(start) or '…'} → {day(end) or 'open'})"


def definitions(visit: Visit, found: RecordDetail) -> tuple[Definition, ...]:
    """What is known of the record beside its text."""
    row = found.row
    text = found.content
    claimed = row.source_recorded_at
    rows = (
        Definition("Type", row.type),
        Definition("True", _interval(found), title="valid time"),
        Definition("Size", "erased" if text is None else size(len(text.encode()))),
        Definition("Tags", ", ".join(found.tags) or None),
        Definition("Pointer", covered(found.pointer) or None),
        Definition("As the source says", words(claimed) if claimed else None, title="claimed, not proven here"),
        Definition("Quarantined", count(found.n_quarantined) if found.n_quarantined else None),
        Definition("Line", str(found.line)[:13], url=f"/records/{found.line}{visit.carry}", is_code=True,
                   title="the first version of its line"),
    )  # fmt: skip
    optional = {"Tags", "Pointer", "As the source says", "Quarantined"}
    return tuple(one for one in rows if one.value is not None or one.term not in optional)
