"""The filter of the list of records: read from the address, from a typed line, told in words, changed by links.

Invariants
- The address is the state: equal filters have one address, whichever way they were typed or clicked.
- A line such as `agent:scout type:note "refund limit"` names the same filter as the address it leads to.
- Every condition has words and a link that takes it away.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import HttpRequest

from audit.components import FilterPart, Hidden
from audit.frame import address, pairs_of, words
from audit.navigation import CARRIED
from audit.templatetags.console import count
from memory.base.errors import Invalid
from memory.ledger.queries import asof
from memory.records.queries.detail import NO_SOURCE_TIME
from memory.records.queries.lists import CAP, Filter, RecordPage

NAMES = ("type", "agent", "run", "state", "source", "tag")
DATES = ("recorded_from", "recorded_to")
KNOWN = frozenset({*CARRIED, "as_of", "q", *NAMES, *DATES, "include", "sort", "after", "more"})
DATE_WORDS = {"recorded_from": "recorded from", "recorded_to": "recorded before"}
WORDS = {
    "first_hand": "first-hand", "not_valid": "not true then", NO_SOURCE_TIME: "without an instant of the source",
}  # fmt: skip
TOKEN = re.compile(r'(?P<name>[a-z_]+):(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]+))|"(?P<phrase>[^"]*)"|(?P<word>\S+)')
LINE_CHARS = 1_000

type Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks of the list. `pairs` are all of its pairs but the cursor, in order."""

    path: str
    pairs: tuple[Pair, ...]
    where: Filter
    sort: str
    after: str

    @property
    def is_narrowed(self) -> bool:
        return any(name in ("q", *NAMES, *DATES) for name, _ in self.pairs)

    def with_(self, name: str, value: str) -> str:
        """The address with one more condition."""
        return address(self.path, [*self.pairs, (name, value)])

    def without(self, name: str, value: str) -> str:
        """The address without one condition."""
        return address(self.path, [pair for pair in self.pairs if pair != (name, value)])

    def setting(self, name: str, value: str) -> str:
        """The address with `name` set to `value` alone; an empty value takes it away."""
        return address(self.path, [*(pair for pair in self.pairs if pair[0] != name), (name, value)])

    def cleared(self) -> str:
        """The address without any condition, at the same point."""
        dropped = ("q", "sort", "include", *NAMES, *DATES)
        return address(self.path, [pair for pair in self.pairs if pair[0] not in dropped])

    def export(self, suffix: str) -> str:
        """The address of the same list in another form."""
        return address(f"/records.{suffix}", self.pairs)


def asked(request: HttpRequest) -> Asked:
    """Read the address.

    Raises Invalid (a name that this address does not know, a run that is no id, no instant); words that no list knows
    are refused by the list.
    """
    unknown = next((name for name in request.GET if name not in KNOWN), None)
    if unknown is not None:
        raise Invalid.at(unknown[:60], expected=f"one of these: {', '.join(sorted(KNOWN))}", code="unknown")
    pairs = tuple(_typed(request) or pairs_of(request, without=("after",)))
    text = dict(pairs).get("q", "").strip()
    where = Filter(
        query=text,
        types=_values(pairs, "type"),
        agents=tuple(UUID(value) for value in _values(pairs, "agent") if _is_id(value)),
        agent_names=tuple(value for value in _values(pairs, "agent") if not _is_id(value)),
        runs=tuple(_run(value) for value in _values(pairs, "run")),
        source_classes=_values(pairs, "source"),
        tags=_values(pairs, "tag"),
        recorded_from=_instant(pairs, "recorded_from"),
        recorded_to=_instant(pairs, "recorded_to"),
        states=_values(pairs, "state"),
        include=frozenset(word for value in _values(pairs, "include") for word in value.split(",") if word),
    )
    sort = request.GET.get("sort", "") or ("rank" if text else "-recorded_at")
    return Asked(request.path, pairs, where, sort, request.GET.get("after", ""))


def typed_address(request: HttpRequest) -> str:
    """The address that a typed line means; "" where the line is nothing but words."""
    return address(request.path, pairs) if (pairs := _typed(request)) else ""


def _typed(request: HttpRequest) -> list[Pair]:
    """The pairs that a typed line means beside the others; none where the line is nothing but words. Raises Invalid."""
    line = request.GET.get("q", "")
    if len(line) > LINE_CHARS:
        raise Invalid.at("q", expected=f"at most {LINE_CHARS} characters", got=len(line))
    words, named = [], []
    for token in TOKEN.finditer(line):
        if token["name"] in (*NAMES, *DATES):
            named.append((token["name"], token["quoted"] if token["quoted"] is not None else token["bare"]))
        else:
            words.append(token.group())
    if not named:
        return []
    kept = [pair for pair in pairs_of(request, without=("q", "after")) if pair not in named]
    return [*kept, *dict.fromkeys(named), *((("q", " ".join(words)),) if words else ())]


def typed_line(pairs: Iterable[Pair]) -> str:
    """The line that names the filter: what the field of the page shows."""
    pairs = list(pairs)
    named = [f"{name}:{_quoted(value)}" for name, value in pairs if name in (*NAMES, *DATES)]
    return " ".join([*named, *(value for name, value in pairs if name == "q")])


def parts(given: Asked, *, runs: Mapping[str, str]) -> tuple[FilterPart, ...]:
    """Each condition in words. `runs` = {id: title}."""
    found = [FilterPart(_words(name, value, runs), given.without(name, value)) for name, value in given.pairs]
    shown = [part for (name, _), part in zip(given.pairs, found, strict=True) if name in ("q", *NAMES, *DATES)]
    include = ",".join(sorted(given.where.include))
    for word in sorted(given.where.include):
        others = ",".join(other for other in include.split(",") if other != word)
        shown.append(FilterPart(f"{WORDS.get(word, word)} shown too", given.setting("include", others)))
    return tuple(shown)


def _words(name: str, value: str, runs: Mapping[str, str]) -> str:
    if name == "q":
        return f"the text has {value}"
    if name == "run":
        return f"run is {runs.get(value) or value[:8]}"
    if name in DATES:
        return f"{DATE_WORDS[name]} {words(asof.instant(value, loc=name))}"
    return f"{name} is {WORDS.get(value, value)}"


def hidden(given: Asked, page: RecordPage) -> tuple[Hidden, ...]:
    """What is left out by default, each with the address that shows it too."""
    if given.where.states:
        return ()
    return tuple(
        Hidden(
            WORDS.get(word, word), count_text(n, page),
            # No reading of a source shows what has no instant of it; the present does.
            given.setting("known_at", "") if word == NO_SOURCE_TIME
            else given.setting("include", ",".join(sorted({*given.where.include, word}))),
        )
        for word, n in page.hidden.items()
    )  # fmt: skip


def count_text(n: int, page: RecordPage) -> str:
    """Exact up to the cap; above it a count of the newest rows is a lower bound."""
    return f"{count(n)}+" if page.is_capped or n > CAP else count(n)


def _values(pairs: Iterable[Pair], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for key, value in pairs if key == name))


def _instant(pairs: Iterable[Pair], name: str) -> datetime | None:
    values = _values(pairs, name)
    return asof.instant(values[-1], loc=name) if values else None


def _is_id(value: str) -> bool:
    try:
        return str(UUID(value)) == value
    except ValueError:
        return False


def _run(value: str) -> UUID:
    if not _is_id(value):
        raise Invalid.at("run", expected="the id of a run", got=value)
    return UUID(value)


def _quoted(value: str) -> str:
    return f'"{value}"' if re.search(r'[\s"]', value) else value
