"""Compiled records: their list, what the page of one says of its making, and making one again.

Invariants
- A state is worked out at the point of the page; nothing on it is stored.
- Tainted ones have an address of their own, and the list says how many there are whatever it shows.
- Making one again writes a new record; the one before stays as it is. The page then says whether the texts are equal.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from uuid import UUID, uuid4

from django import forms
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from audit import recorded
from audit.access import Visit, page, require
from audit.components import Column, Definition, FilterPart, Hidden, Pager, Tab
from audit.frame import address, pairs_of
from audit.navigation import Link, breadcrumbs
from audit.pages.records.verbs import Act, ActForm, act_page
from audit.templatetags.console import count
from memory.base.errors import Conflict, DomainError, NotFound
from memory.base.text import CONTENT_CHARS
from memory.lineage.operations.compiling import Recipe, compile_record
from memory.lineage.operations.deriving import Cause, Derived
from memory.lineage.queries.compiled import (
    Compiled,
    CompiledPage,
    ListedCompiled,
    Rebuild,
    Statement,
    compiled,
    compiled_records,
    rerun,
)
from memory.lineage.queries.freshness import Freshness
from memory.records.queries import detail as reads
from memory.records.queries.detail import NO_SOURCE_TIME, RecordDetail

ROOTS_SHOWN = 12
WHY = {
    "newer": "newer on its topic",
    "newer_version": "takes the place of a source",
    "withdrawn": "a source, withdrawn since",
}
STATE_WORDS = {"stale": "tainted by an erasure", "deleted": "deleted"}
OUTPUT_WORDS = {"compiled": "compiled", "public": "public"}
KEPT = ("ns", "valid_at", "known_at")
REBUILD = Act(
    "rebuild", "Make this record again",
    "The same function at the same version makes a new record of the same sources. The one before stays; the page of "
    "the new one says whether both texts are equal.",
    "Make it again", "write",
)  # fmt: skip


class RebuildForm(ActForm):
    content = forms.CharField(
        label="What the function made", max_length=CONTENT_CHARS, strip=False, widget=forms.Textarea(attrs={"rows": 12})
    )


@dataclass(frozen=True, slots=True)
class Chip:
    """A state as its badge prints it."""

    key: str
    word: str


@dataclass(frozen=True, slots=True)
class Row:
    """One compiled record of the list."""

    listed: ListedCompiled
    url: str
    function: str
    chip: Chip


@dataclass(frozen=True, slots=True)
class Compared:
    """Two texts by their hashes: what they are, and whether they are equal; `equal` is "" where one is erased."""

    words: str
    equal: str
    state: Chip
    hashes: tuple[Definition, ...]
    other: Link | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """What the page of a compiled record says of its making. `comparisons` are of texts of equal sources."""

    chip: Chip
    told: str
    rows: tuple[Definition, ...]
    moved: tuple[tuple[Link, str], ...]
    n_more_moved: int
    erased: tuple[Link, ...]
    roots: tuple[Link, ...]
    n_more_roots: int
    comparisons: tuple[Compared, ...]
    again: str
    rebuild_url: str

    @property
    def head_chip(self) -> Chip | None:
        """What stands beside the record's own state: how its sources fare, where they are not what they were."""
        return self.chip if self.chip.key in ("behind", "stale") else None


def chip(fresh: Freshness) -> Chip:
    """The badge of a state: how far behind, or why stale, stands in its word."""
    words = {
        "behind": f"behind {count(fresh.n_behind)}{'+' if fresh.is_capped else ''}",
        "stale": "stale: source erased",
    }
    return Chip(fresh.state, words.get(fresh.state, ""))


@require_safe
@page("compiled")
def index(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    output, state = request.GET.get("output", ""), request.GET.get("state", "")
    found = compiled_records(visit.at, output=output, state=state, after=request.GET.get("after", ""))
    kept = [pair for pair in pairs_of(request) if pair[0] in KEPT]

    def url(**given: str) -> str:
        asked = {"output": output, "state": state, **given}
        return address("/records/compiled", [*kept, *((name, value) for name, value in asked.items() if value)])

    total = f"{count(found.total)} compiled record{'' if found.total == 1 else 's'}"
    context = {
        "count_text": count(found.total), "total_text": total, "trail": breadcrumbs("compiled", carry=visit.carry),
        "outputs": tuple(Tab(word, url(output=key), output == key) for key, word in _outputs()),
        "states": (Tab("standing", url(state=""), not state), *_states(found, state, url(state="stale"))),
        "parts": tuple(_parts(output, state, url)), "clear_url": address("/records/compiled", kept),
        "hidden": tuple(_hidden(found, url)), "columns": COLUMNS, "rows": tuple(_rows(visit, found.items)),
        "pager": _pager(request, found, url), "is_narrowed": bool(output or state),
    }  # fmt: skip
    return render(request, "records/compiled.html", context)


COLUMNS = (
    Column("recorded at"), Column("kind"), Column("first line"), Column("function, version"), Column("covers"),
    Column("sources", is_number=True), Column("state"),
)  # fmt: skip


def _outputs() -> tuple[tuple[str, str], ...]:
    return ("", "all"), ("compiled", "compiled"), ("public", "public")


def _states(found: CompiledPage, state: str, stale_url: str) -> Iterable[Tab]:
    yield Tab(f"tainted by an erasure ({count(found.n_stale)})", stale_url, state == "stale")


def _parts(output: str, state: str, url: Callable[..., str]) -> Iterable[FilterPart]:
    if output:
        yield FilterPart(f"the kind is {OUTPUT_WORDS[output]}", url(output=""))
    if state:
        yield FilterPart(f"it is {STATE_WORDS[state]}", url(state=""))


def _hidden(found: CompiledPage, url: Callable[..., str]) -> Iterable[Hidden]:
    for why, n_hidden in found.hidden.items():
        if why == NO_SOURCE_TIME:
            yield Hidden("without an instant of the source", count(n_hidden), "/records/compiled")
        else:
            yield Hidden(why, count(n_hidden), url(state=why))


def _pager(request: HttpRequest, found: CompiledPage, url: Callable[..., str]) -> Pager:
    newest = url() if request.GET.get("after") else ""
    return Pager(newest, url(after=found.next) if found.next else "", f"{count(len(found.items))} of {found.total}")


def _rows(visit: Visit, items: Iterable[ListedCompiled]) -> Iterable[Row]:
    for one in items:
        yield Row(one, f"/records/{one.row.id}{visit.carry}", function_words(one.statement), chip(one.freshness))


def function_words(statement: Statement) -> str:
    """The function and its version, in words that say where a name is erased."""
    return f"{statement.function or 'a function whose name is erased'} {statement.version or '(version erased)'}"


def panel(visit: Visit, found: RecordDetail) -> Panel | None:
    """What the page of the record says of its making; None for a raw one."""
    made = compiled(visit.at, record=found.row.id)
    if made is None:
        return None
    fresh = made.freshness
    is_whole = bool(made.statement.function) and not set(fresh.erased) & set(made.sources)
    may_make = visit.actor.may("write") and visit.frame.can_write and is_whole
    return Panel(
        chip=chip(fresh), told=_told(fresh), rows=_definitions(made.statement),
        moved=tuple((_link(visit, one.record), WHY[one.why]) for one in fresh.newer),
        n_more_moved=fresh.n_behind - len(fresh.newer), erased=tuple(_link(visit, one) for one in fresh.erased),
        roots=tuple(_link(visit, root) for root in made.roots[:ROOTS_SHOWN]),
        n_more_roots=max(0, len(made.roots) - ROOTS_SHOWN), comparisons=tuple(_comparisons(visit, made)),
        again=_again(made, is_whole=is_whole),
        rebuild_url=f"/records/{found.row.id}/rebuild{visit.carry}" if may_make else "",
    )  # fmt: skip


def _link(visit: Visit, record: UUID) -> Link:
    return Link(str(record)[:8], f"/records/{record}{visit.carry}")


def _told(fresh: Freshness) -> str:
    """The state in a sentence."""
    n, s = count(fresh.n_behind), "" if fresh.n_behind == 1 else "s"
    return {
        "current": "Nothing that it rests on has moved on since.",
        "behind": f"Behind, not wrong: {n} raw record{s} moved on since it was made.",
        "stale": "Something that it rests on is erased, so it says what nothing stands for any more.",
        "deleted": "It is deleted; its sources can make it again.",
        "erased": "Its own text is erased.",
    }[fresh.state]


def _definitions(told: Statement) -> tuple[Definition, ...]:
    public = "public" + (", redacted: what it leaves out, nobody here can judge" if told.redacted else "")
    rows = [
        Definition("function", told.function or None, is_code=True),
        Definition("version", told.version or None, is_code=True),
        Definition("kind", public if told.output == "public" else "compiled, for readers of this namespace"),
        Definition("run by", "the store itself" if told.runs_here else "its author, who gave the text"),
    ]
    if told.covers is not None:
        rows.append(Definition("covers", told.covers or "a topic whose name is erased", title="a tag of raw records"))
    return tuple(rows)


def _comparisons(visit: Visit, made: Compiled) -> Iterable[Compared]:
    if (again := rerun(visit.at, made)) is not None:
        yield _compared("Run again by the store on the same sources just now.", again, ("then", "now"))
    if made.rebuild is not None:
        words = "Made before of the same sources by the same function at the same version:"
        yield _compared(words, made.rebuild, ("before", "here"), other=_link(visit, made.rebuild.of))


def _compared(words: str, found: Rebuild, names: tuple[str, str], *, other: Link | None = None) -> Compared:
    earlier, later = found.earlier_digest or "erased", found.text_digest or "erased"
    hashes = tuple(Definition(name, value, is_code=True) for name, value in zip(names, (earlier, later), strict=True))
    if found.is_equal is None:
        return Compared(words, "", Chip("unknown", "cannot be compared"), hashes, other)
    state = Chip("ok", "equal texts") if found.is_equal else Chip("failed", "not deterministic")
    return Compared(words, "equal" if found.is_equal else "unequal", state, hashes, other)


def _again(made: Compiled, *, is_whole: bool) -> str:
    """How it is made again, or why it cannot be."""
    if not is_whole:
        return "It cannot be made again: a source, or the name of its function, is erased."
    if made.statement.runs_here:
        return "The store runs this function: it needs no text."
    return (
        "The store cannot run this function. Whoever can, runs it on the same sources and posts the text to "
        "/derivations with the same function, version and sources; the answer says whether it is equal."
    )


@require_http_methods(["GET", "HEAD", "POST"])
@page("records", power=REBUILD.power)
def rebuild(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """Make the record again, of the same sources by the same function."""
    require(visit, REBUILD.power)
    made, found = compiled(visit.at, record=record), reads.record(visit.at, id=record)
    if made is None:
        raise NotFound(f"The record {record} is not compiled.", id=str(record))
    form: forms.Form = (ActForm if made.statement.runs_here else RebuildForm)(
        request.POST or None, initial={"key": uuid4().hex}
    )  # fmt: skip
    if request.method != "POST" or not form.is_valid():
        return act_page(request, visit, record, act=REBUILD, form=form, found=found)
    try:
        done = _make(visit, made, found, key=form.cleaned_data["key"], content=form.cleaned_data.get("content"))
    except DomainError as error:
        return act_page(request, visit, record, act=REBUILD, form=form, error=error, found=found)
    recorded.tell(request, "Made again, recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/records/{done.records[0]}{visit.carry}")


def _make(visit: Visit, made: Compiled, found: RecordDetail, *, key: str, content: str | None) -> Derived:
    told = made.statement
    if not (told.function and told.version) or told.covers == "":
        raise Conflict("A name of how it was made is erased: nobody can tell any more what would make it again.")
    text = None if content is None else content.replace("\r\n", "\n")
    return compile_record(
        visit.once(key), sources=made.sources, cause=Cause(given=False), content=text, type=found.row.type,
        recipe=Recipe(told.function, told.version, told.output, told.redacted, told.covers or ""),
        summary=found.summary, tags=found.tags,
    )  # fmt: skip
