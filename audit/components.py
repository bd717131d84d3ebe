"""The values that shared components draw; the gallery shows each of them in each state.

A query hands a page frozen rows, the page turns what a component needs into these, and the template only prints.

Invariants
- No component reads a database, a clock or a request.
- Whatever can be absent is absent by its own word, never by an empty string that means something.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from audit.navigation import Link

type Direction = Literal["ascending", "descending"]
type Verdict = Literal["ok", "failed", "not_checked", "erased"]


@dataclass(frozen=True, slots=True)
class FilterPart:
    """One condition of a list in words, with the URL of the list without it."""

    words: str
    remove_url: str


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value to narrow a list by. ``count_text`` is exact up to 10 000 and reads "10 000+" above."""

    label: str
    count_text: str
    url: str
    is_active: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    label: str
    values: tuple[FacetValue, ...]
    more_url: str = ""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Rows the list leaves out by default: what they are, how many, and the URL that shows them."""

    label: str
    count_text: str
    url: str


@dataclass(frozen=True, slots=True)
class Column:
    """A head of a table; without ``sort_url`` the column cannot be sorted."""

    label: str
    sort_url: str = ""
    sorted: Direction | None = None
    is_number: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Pager:
    """Keyset paging: an empty URL means there is nothing further on that side."""

    newer_url: str = ""
    older_url: str = ""
    range_text: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    label: str
    url: str
    is_current: bool = False
    count_text: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """One row of a definition list; ``value`` None prints "not recorded" with its mark."""

    term: str
    value: str | None
    url: str = ""
    is_code: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class VerdictStep:
    """One step of a verification. ``expected`` and ``got`` are printed beside each other where it failed."""

    name: str
    verdict: str
    detail: str = ""
    expected: str = ""
    got: str = ""
    evidence: Link | None = None


@dataclass(frozen=True, slots=True)
class ProblemError:
    """What was wrong with one part of the input."""

    loc: str
    code: str
    expected: str = ""
    got: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error for people, the same words as the API's problem document."""

    status: int
    title: str
    detail: str = ""
    code: str = ""
    request_id: str = ""
    errors: tuple[ProblemError, ...] = ()
    ways_on: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the first run; it is done when the ledger says so."""

    title: str
    detail: str
    is_done: bool
    action: Link | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """A task that runs: ``n_total`` None means that its size is not known yet."""

    label: str
    n_done: int
    n_total: int | None
    unit: str
    state: str
    detail: str = ""

    @property
    def percent(self) -> int | None:
        if not self.n_total:
            return None
        return min(100, 100 * self.n_done // self.n_total)


def columns(*specifications: Column | str) -> tuple[Column, ...]:
    """Heads of a table; a plain word is a column that cannot be sorted."""
    return tuple(entry if isinstance(entry, Column) else Column(entry) for entry in specifications)


def sortable_columns(
    labels: dict[str, str], *, current: str, url_of: Callable[[str], str], numbers: frozenset[str] = frozenset()
) -> tuple[Column, ...]:
    """Heads whose links sort by field, descending first, and turn the order where the list is sorted by that field.

    ``labels`` maps field to label; ``current`` is the value of ``sort`` in the URL, with "-" for descending.
    """
    heads = []
    for name, label in labels.items():
        direction: Direction | None = None
        if current.removeprefix("-") == name:
            direction = "descending" if current.startswith("-") else "ascending"
        target = name if direction == "descending" else f"-{name}"
        heads.append(Column(label=label, sort_url=url_of(target), sorted=direction, is_number=name in numbers))
    return tuple(heads)
