"""Where every page stands, and the frame drawn around it.

Two things live here. ``PAGES`` is the one list of pages; the rail, the breadcrumbs and the command palette are read
from it. ``Frame`` is the one value that ``base.html`` draws; a context processor builds it for each request and
nothing else on the page may ask for more.

Invariants
- A page is listed once, when it exists; its path is its contract with the reader, so paths, not url names, stand here.
- A rail entry folds under "More" only while its namespace has no row of that kind and nothing waits in it; that of an
  advanced page, while nothing waits in it.
- Links carry the point in time and the namespace (``CARRIED``), so that moving about never changes the question.
- Nothing here reads a database or a clock: counts, ages and readings are given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from urllib.parse import urlencode

CARRIED = ("ns", "valid_at", "known_at")
"""Query parameters that every link inside the console keeps."""

type BannerKind = Literal["closed", "replay", "hold", "stop", "notice"]
type Role = Literal["auditor", "reviewer", "owner"]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the console. An advanced page stands one link deep on its parent, and on the rail while it has an
    open item; until then it folds under "More" if it has a group, and is not on the rail if it has none."""

    key: str
    label: str
    path: str
    group: str = ""
    parent: str = ""
    is_advanced: bool = False


PAGES: tuple[Page, ...] = (
    Page("overview", "Overview", "/"),
    Page("inbox", "Inbox", "/inbox"),
    Page("records", "Records", "/records", group="Memory"),
    Page("facts", "Facts", "/facts", group="Memory"),
    Page("timeline", "Timeline", "/timeline", group="Memory"),
    Page("tombstones", "Dead ends", "/tombstones", group="Memory"),
    Page("runs", "Runs", "/runs", group="What was done"),
    Page("ledger", "Ledger", "/ledger", group="Trust"),
    Page("beliefs", "Beliefs", "/beliefs", group="Trust"),
    Page("calibration", "Calibration", "/calibration", group="Trust"),
    Page("agents", "Agents", "/agents", group="Control"),
    Page("imports", "Imports and exports", "/imports", group="Control"),
    Page("search", "Search", "/search", group="Find"),
    Page("conflicts", "Conflicts", "/facts/conflicts", group="Memory", parent="facts", is_advanced=True),
    Page("compiled", "Compiled records", "/records/compiled", parent="records", is_advanced=True),
    Page("checkpoints", "Checkpoints", "/ledger/checkpoints", parent="ledger", is_advanced=True),
    Page("laws", "Invariants", "/laws", group="Trust", parent="ledger", is_advanced=True),
    Page("erasures", "Erasures", "/erasures", group="Trust", parent="ledger", is_advanced=True),
    Page("gallery", "Gallery", "/gallery", parent="overview", is_advanced=True),
)

ALWAYS_ON_THE_RAIL = frozenset({"overview", "inbox", "records", "ledger", "agents", "imports", "search"})
"""Entries that never fold: they are how the first row of anything comes to be, or how it is found."""


@dataclass(frozen=True, slots=True)
class Matter:
    """One kind of thing that waits for a person: its words, the verb that settles one, and the power that it takes.

    ``path`` is where one is settled; it takes the id of the thing, or what it is called.
    """

    title: str
    one: str
    many: str
    verb: str
    power: Literal["review", "own"]
    path: str


MATTERS: dict[str, Matter] = {
    "inbox": Matter("Held memories", "held memory", "held memories", "Review", "review", "/records/{about}"),
    "conflicts": Matter("Conflicts", "conflict", "conflicts", "Settle", "review", "/facts/conflicts/{about}"),
    "tombstones": Matter("Dead ends", "dead end due", "dead ends due", "Re-test or keep", "own", "/tombstones/{about}"),
    "calibration": Matter("Alarms", "alarm", "alarms", "Acknowledge", "review", "/calibration/alarms/{about}"),
    "laws": Matter("Invariants", "broken invariant", "broken invariants", "Waive or mend", "own", "/laws/{told}"),
    "ledger": Matter("Checks", "failing check", "failing checks", "Waive or mend", "own", "/ledger/checks/{about}"),
}
"""What waits, by the page that its slice registered it for; held memories wait in the Inbox itself."""


@dataclass(frozen=True, slots=True)
class Link:
    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for a person on one page: how many, the age of the oldest in words, and whether that is too long."""

    n_open: int
    oldest: str = ""
    is_overdue: bool = False


@dataclass(frozen=True, slots=True)
class RailEntry:
    key: str
    label: str
    url: str
    is_active: bool
    waiting: Waiting | None = None


@dataclass(frozen=True, slots=True)
class RailGroup:
    label: str
    entries: tuple[RailEntry, ...]


@dataclass(frozen=True, slots=True)
class Rail:
    groups: tuple[RailGroup, ...]
    folded: tuple[RailEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class NamespaceChoice:
    name: str
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Banner:
    """One line under the bar: what stands, who set it, when and why; ``action`` is the way on, where there is one."""

    kind: BannerKind
    title: str
    detail: str = ""
    action: Link | None = None


@dataclass(frozen=True, slots=True)
class AsOfReading:
    """The point in time of the page, in words and as the URL writes it.

    ``valid_at_text`` reads "1 Nov 2026", ``known_at_text`` "12 Nov 2026 14:03:07 UTC · seq 184 203".
    ``valid_at`` and ``known_at`` are the values of the two fields, as the URL has them; empty means now.
    The form of the control is a GET to ``form_url`` with the ``carried`` pairs and either ``as_of`` (one control for
    both clocks, UTC without an offset) or ``valid_at`` and ``known_at``; the receiver redirects to the resolved URL.
    ``applies`` is false on pages that have no point in time; the control then says so instead of offering itself.
    """

    form_url: str
    is_now: bool = True
    valid_at_text: str = ""
    known_at_text: str = ""
    valid_at: str = ""
    known_at: str = ""
    is_separated: bool = False
    is_provisional: bool = False
    is_source_reading: bool = False
    applies: bool = True
    now_url: str = ""
    source_url: str = ""
    carried: tuple[tuple[str, str], ...] = ()
    shortcuts: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The person at the screen. ``role_note`` says what the role may do; ``expires_text`` is an auditor's last day."""

    name: str
    role: Role
    role_note: str = ""
    expires_text: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """All that ``base.html`` draws around a page, under the name ``frame`` in the template context.

    ``read_at`` is the one reading of the clock from which every relative time on the page is worked out.
    ``can_write`` is false for an auditor and for any point other than now; ``write_refusal`` is then the sentence
    shown where a control is disabled (an auditor meets no control at all: templates ask ``shows_writes``).
    ``theme`` is "", "light" or "dark", read from the cookie of that name; "" follows the system.
    ``single_owner`` prints "single owner, not four eyes" beside the namespace.
    ``n_waiting`` and ``oldest_waiting`` go to the title of the window; ``waits`` tells them apart, each a link to its
    part of the Inbox. ``is_overdue`` says that the oldest has waited too long.
    ``populated`` are the keys of the pages that have something to show in the namespace now.
    ``n_frozen`` agents are frozen now, and ``is_on_hold`` says whether a retention hold stands.
    ``carried`` are the pairs of ``CARRIED`` that the request has; ``carry`` is the same as a query string.
    """

    read_at: datetime
    environment: str
    namespace: str
    as_of: AsOfReading
    namespaces: tuple[NamespaceChoice, ...] = ()
    single_owner: bool = False
    banners: tuple[Banner, ...] = ()
    rail: Rail = field(default_factory=lambda: Rail(groups=()))
    user: SignedIn | None = None
    can_write: bool = False
    shows_writes: bool = False
    write_refusal: str = ""
    theme: Literal["", "light", "dark"] = ""
    rail_is_hidden: bool = False
    head_seq: int | None = None
    n_waiting: int = 0
    oldest_waiting: str = ""
    is_overdue: bool = False
    waits: tuple[Link, ...] = ()
    n_waits: Mapping[str, int] = field(default_factory=dict)
    populated: frozenset[str] = frozenset()
    n_frozen: int = 0
    is_on_hold: bool = False
    carried: tuple[tuple[str, str], ...] = ()

    @property
    def carry(self) -> str:
        """The query string that a link inside the console ends with, so that namespace and point travel along."""
        return carried_query(dict(self.carried))


def carried_query(parameters: Mapping[str, str]) -> str:
    """The query string, with its "?", that keeps namespace and point in time; "" when there is nothing to keep."""
    kept = [(name, parameters[name]) for name in CARRIED if parameters.get(name)]
    return f"?{urlencode(kept, safe=':')}" if kept else ""


def build_rail(
    active: str,
    *,
    carry: str = "",
    populated: frozenset[str] = frozenset(),
    waiting: Mapping[str, Waiting] | None = None,
) -> Rail:
    """The rail with ``active`` (or the parent it stands under) marked.

    ``populated`` holds the keys of pages that have rows in this namespace; ``waiting`` the open items by key. An
    advanced page stands among the others while it has one.
    """
    open_items = waiting or {}
    marked = active if active in open_items and open_items[active].n_open else rail_key(active)
    groups: dict[str, list[RailEntry]] = {}
    folded: list[RailEntry] = []
    for page in PAGES:
        is_open = page.key in open_items and open_items[page.key].n_open > 0
        if page.is_advanced and not (is_open or page.group):
            continue
        entry = RailEntry(
            key=page.key,
            label=page.label,
            url=page.path + carry,
            is_active=page.key == marked,
            waiting=open_items[page.key] if is_open else None,
        )
        is_used = page.key in ALWAYS_ON_THE_RAIL or page.key in populated or entry.is_active
        is_kept = is_open or (is_used and not page.is_advanced)
        (groups.setdefault(page.group, []) if is_kept else folded).append(entry)
    return Rail(
        groups=tuple(RailGroup(label, tuple(entries)) for label, entries in groups.items()), folded=tuple(folded)
    )


def rail_key(key: str) -> str:
    """The page of the rail under which ``key`` stands; "" for a page that is not listed."""
    page = next((page for page in PAGES if page.key == key), None)
    while page is not None and page.is_advanced:
        page = next((candidate for candidate in PAGES if candidate.key == page.parent), None)
    return page.key if page else ""


def breadcrumbs(key: str, *, carry: str = "") -> tuple[Link, ...]:
    """The way to the page from its topmost parent, the page itself included."""
    trail: list[Link] = []
    wanted = key
    while page := next((page for page in PAGES if page.key == wanted), None):
        trail.append(Link(page.label, page.path + carry))
        wanted = page.parent
    return tuple(reversed(trail))


def advanced_pages(parent: str, *, carry: str = "") -> tuple[Link, ...]:
    """The pages that stand one link deep on ``parent``, in the order of the list."""
    return tuple(_links((page for page in PAGES if page.parent == parent), carry=carry))


def _links(pages: Iterable[Page], *, carry: str) -> Iterable[Link]:
    return (Link(page.label, page.path + carry) for page in pages)
