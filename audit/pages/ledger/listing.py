"""The log: how long it is, what covers it, what was verified, and its entries."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, is_partial, page
from audit.components import Column, Pager
from audit.entry_words import EntryLine, entry_line
from audit.exports import csv_answer, json_answer
from audit.pages.ledger.filtering import Asked, asked, count_text, facets, parts
from audit.templatetags.console import count
from memory.agents.activity import ToldEntry
from memory.agents.log import CAP, LogPage, every_entry, log
from memory.checks.standing import Block, Scanned, Standing, block_size, blocks, standing
from memory.ledger.queries import deliveries, trees
from memory.worker import target

COLUMNS = (
    "seq", "recorded_at", "verb", "principal", "person", "agent", "on_behalf_of", "run", "n_items", "leaf",
)  # fmt: skip
BLOCK_WORDS = {"verified": "verified", "failed": "a fault was found here", "not_checked": "not checked"}


@dataclass(frozen=True, slots=True)
class LogRow:
    """One entry of the list: its line in words, and the hash of its leaf."""

    line: EntryLine
    leaf: str


@dataclass(frozen=True, slots=True)
class StripBlock:
    """One block of the strip with the address that narrows the list to it."""

    state: str
    words: str
    url: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Outside:
    """Where checkpoints go. `place` is "" where nowhere; `sentence` says what nobody outside could notice."""

    place: str
    delivery: deliveries.Delivery | None
    sentence: str
    is_open: bool


@require_safe
@page("ledger")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    given = asked(request)
    listed = log(visit.at, where=given.where, after=given.after)
    context = _list(visit, given, listed)
    if is_partial(request):
        return render(request, "ledger/index.html#entries", context)
    stands = standing(visit.at)
    context |= {
        "stands": stands,
        "root": trees.root(visit.at.namespace, visit.at.seq).hex(),
        "outside": outside(visit, stands),
        "coverage": _coverage(visit, stands.scan),
        "block_size": block_size(visit.at.seq),
        "strip": _strip(visit, given, blocks(stands.scan, size=visit.at.seq)),
        "recorded": recorded.told(request, carry=visit.carry),
        "size": visit.at.seq,
        "origin_shown": stands.origin.rpartition("/")[2][:8],
        "may_own": visit.actor.may("own") and visit.frame.can_write,
    }
    return render(request, "ledger/index.html", context)


@require_safe
@page("ledger")
def as_csv(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The whole filter as CSV."""
    rows = every_entry(visit.at, where=asked(request).where, most=CAP)
    return csv_answer(visit, "ledger", columns=COLUMNS, rows=(_fields(row) for row in rows))


@require_safe
@page("ledger")
def as_json(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The whole filter as JSON."""
    rows = every_entry(visit.at, where=asked(request).where, most=CAP + 1)
    return json_answer(visit, rows=(_fields(row) for row in rows), most=CAP)


def _fields(row: ToldEntry) -> dict[str, Any]:
    return {
        "seq": row.seq, "recorded_at": row.recorded_at, "verb": row.verb, "principal": row.principal,
        "person": row.person_name, "agent": row.agent_name, "on_behalf_of": row.on_behalf_of, "run": row.run,
        "n_items": row.n_items, "leaf": row.leaf.hex(),
    }  # fmt: skip


def _list(visit: Visit, given: Asked, listed: LogPage) -> dict[str, Any]:
    total = count_text(listed)
    words = " and ".join(part.words for part in parts(given, listed))
    return {
        "total_text": f"{total} entr{'y' if total == '1' else 'ies'}",
        "facets": facets(given, listed),
        "parts": parts(given, listed),
        "clear_url": given.cleared(),
        "columns": _COLUMNS,
        "rows": [LogRow(entry_line(row, carry=visit.carry), row.leaf.hex()) for row in listed.items],
        "empty_words": "" if listed.items else words or "anything was written",
        "pager": _pager(given, listed, total),
        "csv_url": given.export("csv"),
        "json_url": given.export("json"),
        "export_note": f"the whole filter, at most {count(CAP)} entries, as of seq {count(visit.at.seq)}",
    }


_COLUMNS = (
    Column("seq", is_number=True), Column("recorded at"), Column("entry"), Column("items", is_number=True),
    Column("leaf", title="SHA-256 of the canonical entry: what the tree is made of"),
)  # fmt: skip


def _pager(given: Asked, listed: LogPage, total: str) -> Pager:
    newer = given.setting(("after", listed.newer)) if listed.newer else ""
    older = given.setting(("after", listed.older)) if listed.older else ""
    return Pager(newer, older, f"{count(len(listed.items))} of {total}, newest first")


def _strip(visit: Visit, given: Asked, found: tuple[Block, ...]) -> tuple[StripBlock, ...]:
    return tuple(
        StripBlock(
            block.state,
            f"seq {count(block.first)} to {count(block.last)}: {BLOCK_WORDS[block.state]}",
            given.setting(("from", str(block.first)), ("to", str(block.last)), ("after", "")),
            (given.where.first, given.where.last) == (block.first, block.last),
        )
        for block in found
    )


def _coverage(visit: Visit, scan: Scanned | None) -> str:
    """How much of the log the newest scan has passed over."""
    if scan is None or not visit.at.seq:
        return ""
    share = 100 * scan.at_seq / visit.at.seq
    return f"{share:.0f} %" if share in (0, 100) else f"{min(max(share, 0.1), 99.9):.1f} %"


def outside(visit: Visit, stands: Standing) -> Outside:
    """What left the house, and what could be rewritten without anybody outside noticing."""
    try:
        folder = target()
    except ImproperlyConfigured:
        folder = None
    delivery = deliveries.newest_in(folder, namespace=visit.namespace) if folder is not None else None
    size = visit.at.seq
    covered = min(delivery.seq, size) if delivery is not None else 0
    who = "whoever owns this server could still rewrite"
    if not covered:
        sentence = f"No checkpoint held outside covers this log: {who} all {count(size)} entries unnoticed."
    elif covered < size:
        entries = f"entries {count(covered + 1)} to {count(size)}" if covered + 1 < size else f"entry {count(size)}"
        sentence = f"No checkpoint held outside covers {entries}: {who} what stands there unnoticed."
    else:
        sentence = "A checkpoint held outside covers every entry: a rewrite would be noticed by whoever compares."
    return Outside(str(folder) if folder is not None else "", delivery, sentence, covered < size)
