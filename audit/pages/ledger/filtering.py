"""The filter of the log: read from the address, told in words, changed by links."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest

from audit.components import Facet, FacetValue, FilterPart
from audit.entry_words import verb_words
from audit.frame import address, pairs_of
from audit.templatetags.console import count
from memory.agents.log import CAP, LogFacet, LogFilter, LogPage
from memory.base.errors import Invalid, NotFound

NAMES = ("verb", "who", "run", "from", "to")
VALUES_SHOWN = 8

type Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks of the log. `pairs` are all of its pairs but the cursor, in order."""

    pairs: tuple[Pair, ...]
    where: LogFilter
    after: str

    @property
    def is_narrowed(self) -> bool:
        return any(name in NAMES for name, _ in self.pairs)

    def setting(self, *given: Pair) -> str:
        """The address with these names set to these values alone; an empty value takes the name away."""
        named = {name for name, _ in given}
        return address("/ledger", [*(pair for pair in self.pairs if pair[0] not in named), *given])

    def cleared(self) -> str:
        """The address without any condition, at the same point."""
        return address("/ledger", [pair for pair in self.pairs if pair[0] not in (*NAMES, "more")])

    def export(self, suffix: str) -> str:
        """The address of the same list in another form."""
        return address(f"/ledger.{suffix}", self.pairs)


def asked(request: HttpRequest) -> Asked:
    """Read the address.   Raises Invalid (a run that is no id, a sequence that is no number)."""
    pairs = tuple(pairs_of(request, without=("after",)))
    given = dict(pairs)
    where = LogFilter(
        verb=given.get("verb", ""), who=given.get("who", ""), run=_run(given.get("run", "")),
        first=seq_of("from", given.get("from", "")), last=seq_of("to", given.get("to", "")),
    )  # fmt: skip
    return Asked(pairs, where, request.GET.get("after", ""))


def seq_of(name: str, value: str) -> int | None:
    """The sequence that a parameter names, None for none.   Raises Invalid."""
    if value and (not value.isascii() or not value.isdecimal() or len(value) > 18):
        raise Invalid.at(name, expected="a sequence of the ledger", got=value)
    return int(value) if value else None


def _run(value: str) -> UUID | None:
    try:
        return UUID(value) if value else None
    except ValueError as error:
        raise Invalid.at("run", expected="the id of a run", got=value) from error


def existing(seq: int, *, last: int) -> int:
    """The sequence of an address.   Raises NotFound (no entry has it: it may be longer than any database counts)."""
    if not 1 <= seq <= last:
        raise NotFound(f"There is no entry {str(seq)[:20]} as of entry {last}.")
    return seq


def parts(given: Asked, page: LogPage) -> tuple[FilterPart, ...]:
    """Each condition in words, with the address without it."""
    where = given.where
    found = []
    if where.verb:
        found.append(FilterPart(f"the act is “{verb_words(where.verb)}”", given.setting(("verb", ""))))
    if where.who:
        named = next((one.label for one in page.actors if one.value == where.who), "") or where.who
        found.append(FilterPart(f"{named} acted", given.setting(("who", ""))))
    if where.run is not None:
        found.append(FilterPart(f"run is {str(where.run)[:8]}", given.setting(("run", ""))))
    if where.first is not None or where.last is not None:
        words = f"seq is {count(where.first or 1)} to {count(where.last) if where.last is not None else 'the newest'}"
        found.append(FilterPart(words, given.setting(("from", ""), ("to", ""))))
    return tuple(found)


def facets(given: Asked, page: LogPage) -> tuple[Facet, ...]:
    """What was done and who did it, each with its count."""
    verbs = _facet(given, page, "verb", "Act", ((one, verb_words(one.value)) for one in page.verbs))
    actors = _facet(given, page, "who", "Who", ((one, one.label or "name erased") for one in page.actors))
    return tuple(facet for facet in (verbs, actors) if facet.values)


def _facet(given: Asked, page: LogPage, name: str, label: str, found: Iterable[tuple[LogFacet, str]]) -> Facet:
    active = dict(given.pairs).get(name, "")
    values = [
        FacetValue(
            words, f"{count(one.count)}{'+' if page.is_capped else ''}",
            given.setting((name, "" if one.value == active else one.value)), one.value == active,
        )
        for one, words in found
    ]  # fmt: skip
    is_open = ("more", name) in given.pairs
    kept = values if is_open else values[:VALUES_SHOWN]
    return Facet(label, tuple(kept), given.setting(("more", name)) if len(kept) < len(values) else "")


def count_text(page: LogPage) -> str:
    """Exact up to the cap."""
    return f"{count(CAP)}+" if page.is_capped else count(page.total)
