"""One entry: who, what, its items, its canonical bytes, and three verdicts computed while it is read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, page, problem_of
from audit.components import Definition, Pager, Problem, VerdictStep
from audit.entry_words import entry_line, object_url
from audit.frame import address
from audit.navigation import CARRIED, Link, breadcrumbs
from audit.pages.ledger.filtering import existing
from audit.posting import posted
from audit.templatetags.console import count, size, utc
from memory.agents.activity import ToldEntry
from memory.agents.log import entry_told
from memory.base.errors import DomainError, Invalid, NotFound
from memory.ledger import verifier
from memory.ledger.queries.entries import ITEMS_SHOWN, ItemRow
from memory.ledger.queries.proofs import proof as proof_of
from memory.ledger.queries.verdicts import Checked, Step, checked, overall, read_kept

KEPT_CHARS = 20_000
# A proof that leaves out what was asked of it would be a proof of something else.
PROOF_NAMES = frozenset({*CARRIED, "as_of", "item", "kept"})


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an item: text that may be erased; `erased` leads to the entry that did."""

    name: str
    erased: Link | None


@dataclass(frozen=True, slots=True)
class ItemLine:
    """One item of the entry. `url` is the page of its object, `check_url` this page with the item looked at."""

    row: ItemRow
    url: str
    parts: tuple[Part, ...]
    is_chosen: bool
    check_url: str
    proof_url: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the three verdicts with its steps; `word` stands for the verdict where its own would mislead."""

    title: str
    verdict: str
    steps: tuple[VerdictStep, ...]
    word: str = ""


@require_safe
@page("ledger")
def index(request: HttpRequest, visit: Visit, seq: int) -> HttpResponse:
    return _shown(request, visit, seq)


@posted("/ledger/{seq}")
@page("ledger", power="read")
def consistency(request: HttpRequest, visit: Visit, seq: int) -> HttpResponse:
    """The third verdict, with the checkpoint that the reader pastes. Nothing is written."""
    return _shown(request, visit, seq, kept=request.POST.get("kept", "")[:KEPT_CHARS])


def _shown(request: HttpRequest, visit: Visit, seq: int, *, kept: str = "") -> HttpResponse:
    item, seq = asked_item(request), existing(seq, last=visit.at.seq)
    problem: Problem | None = None
    try:
        found = checked(visit.at, seq=seq, item=item, kept=as_saved(kept))
    except NotFound:
        raise
    except DomainError as error:
        problem, found = problem_of(request, error), checked(visit.at, seq=seq, item=item)
    told = entry_told(visit.at, seq=seq)
    context = {
        "line": entry_line(told, carry=visit.carry),
        "found": found,
        "trail": (*breadcrumbs("ledger", carry=visit.carry), Link(f"seq {count(seq)}", "")),
        "known": _known(visit, told, found),
        "not_given": _not_given(told, found),
        "answers": _answers(found),
        "problem": problem,
        "kept": kept,
        "items": _items(visit, found),
        "pager": _pager(visit, found),
        "canonical": found.canonical.decode(),
        "canonical_note": size(len(found.canonical)),
        "item_path": [one.hex() for one in found.item_path],
        "entry_path": [one.hex() for one in found.entry_path],
        "consistency_url": address(f"/ledger/{seq}/consistency", _pairs(visit, item)),
        **_take_away(visit, found, kept=kept if overall(found.consistency) == "ok" else ""),
    }
    return render(request, "ledger/entry.html", context, status=problem.status if problem else 200)


def asked_item(request: HttpRequest) -> int:
    """The item of the address; one that no entry has where it is no number."""
    value = request.GET.get("item", "0")
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= 9 else -1


def _asked_size(request: HttpRequest) -> int | None:
    """The size of the checkpoint that the reader kept, where the address names one.   Raises Invalid."""
    value = request.GET.get("kept", "")
    if not value:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) <= 15):
        raise Invalid.at("kept", expected="the size of a checkpoint", got=value)
    return int(value)


def as_saved(kept: str) -> str:
    """A pasted checkpoint as it was: a browser sends other line ends and may lose the last one."""
    text = kept.replace("\r\n", "\n").strip("\n")
    return f"{text}\n" if text.strip() else ""


def _pairs(visit: Visit, item: int) -> list[tuple[str, str]]:
    return [*visit.frame.carried, ("item", str(item) if item else "")]


def _here(visit: Visit, seq: int, item: int) -> str:
    return address(f"/ledger/{seq}", _pairs(visit, item))


def _answers(found: Checked) -> tuple[Answer, ...]:
    covering = f"checkpoint {count(found.checkpoint)}" if found.checkpoint else "a checkpoint"
    content = f"Content of item {count(found.item)}" if found.row.n_items > 1 else "Content"
    return (
        answer(f"{content} equals its commitment", found.content),
        answer(f"Included in {covering}", found.inclusion),
        answer("Consistent with the checkpoint that you kept", found.consistency),
    )


def answer(title: str, steps: Sequence[Step]) -> Answer:
    """Steps under the gravest verdict among them."""
    shown = tuple(VerdictStep(one.name, one.verdict, one.detail, one.expected, one.got) for one in steps)
    return Answer(title, overall(steps), shown)


def _known(visit: Visit, told: ToldEntry, found: Checked) -> tuple[Definition, ...]:
    """The strip of provenance: what is known of who wrote it, in the order of every page."""
    row = found.row
    person = told.person_name or ("name unknown" if row.person is not None else "")
    agent = told.agent_name or "name erased" if row.agent is not None else ""
    rows = (
        Definition("recorded at", utc(row.recorded_at)),
        Definition("principal", person or agent or f"the {row.principal}"),
        Definition("agent", agent if person else ""),
        Definition("written by the loader", str(row.loader or ""), is_code=True),
        Definition("host", row.host),
        Definition("on behalf of", row.on_behalf_of),
        Definition("run", told.run_title or str(row.run or "")[:8], f"/runs/{row.run}{visit.carry}"),
        Definition("verb", row.verb, is_code=True),
        Definition("request id", str(row.request or ""), is_code=True),
        Definition("idempotency key", "given" if row.has_key else ""),
    )
    return tuple(one for one in rows if one.value)


def _not_given(told: ToldEntry, found: Checked) -> tuple[str, ...]:
    row = found.row
    given = {
        "host": row.host, "on behalf of": row.on_behalf_of, "run": told.run, "request id": row.request,
        "idempotency key": row.has_key,
    }  # fmt: skip
    return tuple(name for name, value in given.items() if not value)


def _items(visit: Visit, found: Checked) -> tuple[ItemLine, ...]:
    seq = found.row.seq
    return tuple(
        ItemLine(
            row, object_url(row.kind, row.object, carry=visit.carry),
            tuple(Part(name, _erasing(visit, by)) for name, _, by in row.parts), row.item == found.item,
            _here(visit, seq, row.item), _proof_url(visit, seq, row.item),
        )
        for row in found.items
    )  # fmt: skip


def _erasing(visit: Visit, seq: int | None) -> Link | None:
    return Link(f"seq {count(seq)}", f"/ledger/{seq}{visit.carry}") if seq is not None else None


def _pager(visit: Visit, found: Checked) -> Pager:
    """Pages of items: those before and after the ones that are shown."""
    first, last, total = found.items[0].item, found.items[-1].item, found.row.n_items
    before = _here(visit, found.row.seq, max(0, first - ITEMS_SHOWN)) if first else ""
    behind = _here(visit, found.row.seq, last + 1) if last + 1 < total else ""
    return Pager(before, behind, f"items {count(first)} to {count(last)} of {count(total)}" if total > 1 else "")


def _proof_url(visit: Visit, seq: int, item: int, *, kept: int | None = None) -> str:
    pairs = [("item", str(item)), ("kept", "" if kept is None else str(kept))]
    return address(f"/ledger/{seq}/proof.json", [*visit.frame.carried, *pairs])


def _proof_name(visit: Visit, seq: int, item: int) -> str:
    return f"proof-{visit.namespace}-{seq}-{item}.json"


def _take_away(visit: Visit, found: Checked, *, kept: str) -> dict[str, Any]:
    """What checks the proof elsewhere, and the entries beside this one. kept : the reader's checkpoint, verified."""
    seq, name = found.row.seq, _proof_name(visit, found.row.seq, found.item)
    key = f" --key {quote(found.key)}" if found.key else ""
    beside = " --checkpoint kept.txt" if kept else ""
    kept_size = read_kept(as_saved(kept)).checkpoint.size if kept else None

    def neighbour(other: int) -> Link | None:
        return Link(f"seq {count(other)}", f"/ledger/{other}{visit.carry}") if 1 <= other <= visit.at.seq else None

    return {
        "proof_url": _proof_url(visit, seq, found.item, kept=kept_size),
        "proof_name": name,
        "verifier_url": f"/ledger/verifier.py{visit.carry}",
        "command": f"python3 verifier.py {name}{key}{beside}",
        "previous": neighbour(seq - 1),
        "next": neighbour(seq + 1),
    }


@require_safe
@page("ledger")
def proof(request: HttpRequest, visit: Visit, seq: int) -> HttpResponse:
    """The proof of one item as a file, for a third party."""
    if unknown := sorted(set(request.GET) - PROOF_NAMES):
        raise Invalid.at(unknown[0][:60], expected=f"one of {', '.join(sorted(PROOF_NAMES))}")
    item, seq = asked_item(request), existing(seq, last=visit.at.seq)
    found = proof_of(visit.at, seq=seq, item=item, kept=_asked_size(request))
    headers = {"Content-Disposition": f'attachment; filename="{_proof_name(visit, seq, item)}"'}
    return HttpResponse(json.dumps(found, indent=1), content_type="application/json", headers=headers)


@require_safe
@page("ledger", applies=False)
def verifier_script(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The stand-alone verifier: one file, the standard library alone."""
    headers = {"Content-Disposition": 'attachment; filename="verifier.py"'}
    text = Path(verifier.__file__).read_text(encoding="utf-8")
    return HttpResponse(text, content_type="text/x-python; charset=utf-8", headers=headers)
