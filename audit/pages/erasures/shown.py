"""What the pages of erasure show of items: grouped by what they are, each with a way to look at it first.

Invariants
- Text is shown to decide what goes, cut short and with what looks like a secret covered.
- A kind that has no words yet is shown under its own name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from audit.entry_words import object_url
from audit.secrets import covered
from memory.ledger.queries.radius import OUT_OF_REACH, Affected, Part, Quote
from memory.ledger.queries.subjects import Naming

SHORT = 8

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Records": ("record",),
    "What was said about records": ("withdrawal", "review"),
    "How records came to be: notes and conflicts": ("derivation",),
    "Dead ends: bounds, evidence, checks, notes": (
        "tombstone",
        "revival_condition",
        "revival_evidence",
        "route_check",
        "block_verdict",
        "tombstone_turn",
    ),
    "Runs: titles, references, runtime": ("run", "run_end"),
    "Names of agents, hosts, types and sources": ("name",),
    "Imports: raw rows, findings, sources": ("imported_row", "import_finding", "import_run"),
    "Exports and restores: their filters": ("export_run", "restore_run"),
    "Wording of earlier erasures": ("erasure",),
    "Other notes": (),
}
KIND_WORDS = {
    "imported_row": "raw row", "import_finding": "finding", "import_run": "import", "run_end": "end of a run",
    "check_run": "check", "export_run": "export", "restore_run": "restore", "admit_member": "role",
    "tombstone": "dead end", "tombstone_turn": "act on a dead end",
}  # fmt: skip
PART_WORDS = {
    "content": "the text", "details": "summary, tags, metadata, source", "note": "a note", "raw": "the raw row",
    "name": "the name", "run": "title, references, runtime", "conflicts": "conflicts of a merge",
    "report": "a report", "value": "a value",
}  # fmt: skip
RELATIONS = {
    "evolved_from": "a later version",
    "merged_from": "sums it up",
    "split_from": "a part of it",
    "same_text": "says the same",
}
AFTERWARDS = {
    "record": "stays with its text and its digest; what it came from shows as erased",
    "item": "stays; what it mentions shows as erased",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One item to tick. `address` is its value in the form; `parts` and `note` say what of it is meant."""

    address: str
    kind: str
    label: str
    url: str
    entry_url: str
    seq: int
    note: str
    is_ticked: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """Items of one sort."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Rests:
    """Something that stays, and how it reads afterwards."""

    label: str
    kind: str
    url: str
    relation: str
    afterwards: str


def kind_words(kind: str) -> str:
    return KIND_WORDS.get(kind, kind.replace("_", " "))


def of_namings(namings: Sequence[Naming], *, carry: str) -> tuple[Group, ...]:
    """What names a subject, by sort, ticked."""
    return grouped((naming.kind, _named_row(naming, carry=carry)) for naming in namings)


def _named_row(naming: Naming, *, carry: str) -> Row:
    return Row(
        f"{naming.seq}.{naming.item}", kind_words(naming.kind), covered(naming.excerpt) or "named by its id",
        object_url(naming.kind, naming.object, carry=carry), f"/ledger/{naming.seq}{carry}", naming.seq,
        ", ".join(PART_WORDS.get(part, part) for part in naming.parts), naming.is_whole,
    )  # fmt: skip


def of_parts(parts: Sequence[Part], lines: Mapping[UUID, str], *, carry: str) -> tuple[Group, ...]:
    """Items with all their parts, by sort."""
    items: dict[tuple[int, int], list[Part]] = {}
    for part in parts:
        items.setdefault((part.seq, part.item), []).append(part)
    return grouped((found[0].kind, _part_row(found, lines, carry=carry)) for found in items.values())


def _part_row(found: Sequence[Part], lines: Mapping[UUID, str], *, carry: str) -> Row:
    first = found[0]
    label = covered(lines.get(first.object, "")) or f"{kind_words(first.kind)} {str(first.object)[:SHORT]}"
    return Row(
        f"{first.seq}.{first.item}", kind_words(first.kind), label, object_url(first.kind, first.object, carry=carry),
        f"/ledger/{first.seq}{carry}", first.seq, ", ".join(PART_WORDS.get(one.part, one.part) for one in found),
    )  # fmt: skip


def grouped(rows: Iterable[tuple[str, Row]]) -> tuple[Group, ...]:
    """(kind, row) pairs by sort, in the order of GROUPS."""
    found: dict[str, list[Row]] = {title: [] for title in GROUPS}
    for kind, row in rows:
        title = next((title for title, kinds in GROUPS.items() if kind in kinds), "Other notes")
        found[title].append(row)
    return tuple(Group(title, tuple(items)) for title, items in found.items() if items)


def of_quotes(quotes: Sequence[Quote], *, carry: str) -> tuple[Row, ...]:
    """Records that repeat a line of what goes, not ticked: they stay unless they are chosen."""
    return tuple(
        Row(
            f"{quote.seq}.{quote.item}", "record", covered(quote.line), f"/records/{quote.object}{carry}",
            f"/ledger/{quote.seq}{carry}", quote.seq,
            f"{RELATIONS.get(quote.relation, quote.relation)}; {quote.n_lines} line{'s' if quote.n_lines > 1 else ''}",
            is_ticked=False,
        )
        for quote in quotes
    )  # fmt: skip


def of_affected(affected: Sequence[Affected], lines: Mapping[UUID, str], *, carry: str) -> tuple[Rests, ...]:
    """What rests on what goes and stays here."""
    return tuple(_rests(one, lines, carry=carry) for one in affected if one.kind not in OUT_OF_REACH)


def gone_out(affected: Sequence[Affected]) -> tuple[Affected, ...]:
    """What left the house and cannot be called back."""
    return tuple(one for one in affected if one.kind in OUT_OF_REACH)


def _rests(one: Affected, lines: Mapping[UUID, str], *, carry: str) -> Rests:
    is_record = one.kind == "record"
    line = covered(lines.get(UUID(one.id), "")) if is_record else ""
    url = f"/records/{one.id}{carry}" if is_record else ""
    if one.kind == "item":
        url = f"/ledger/{one.id.partition('.')[0]}{carry}"
    return Rests(
        line or one.id[: 2 * SHORT], kind_words(one.kind), url, RELATIONS.get(one.relation, one.relation),
        AFTERWARDS.get(one.kind, "stays; what it rests on shows as erased"),
    )  # fmt: skip
