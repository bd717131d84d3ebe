"""What fills the frame of a page: namespaces, the point in time, banners, the rail, and what may be written.

Invariants
- Everything here is worked out from what was read before (`memory.agents.attention`) and one reading of the clock.
- A point that can be pinned is pinned in the address: a wall clock becomes `seq:N` by a redirect, a missing clock is
  set beside the given one. An instant past the head stays, since its answer may still change: it is provisional.
- Links of the control keep the filter of the page and drop its cursor.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest

from audit.navigation import (
    CARRIED,
    MATTERS,
    AsOfReading,
    Banner,
    Frame,
    Link,
    NamespaceChoice,
    SignedIn,
    Waiting,
    build_rail,
    carried_query,
)
from audit.templatetags.console import count
from memory.agents.attention import Attention, Member, Open, Standing
from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.ledger.queries import asof

POINT = ("as_of", "valid_at", "known_at")
CURSORS = ("after",)
OVERDUE_AFTER = timedelta(days=7)
ROLE_NOTES = {
    "auditor": "Reads, exports and verifies; writes nothing.",
    "reviewer": "Reads, settles conflicts, confirms or rejects, withdraws with a reason.",
    "owner": "Also approves, rolls back, stops, erases and manages people and agents.",
}


@dataclass(frozen=True, slots=True)
class Person:
    """The person at the screen, as the site knows them."""

    id: int
    name: str


def framed(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the frame that the door of the page has built; pages without one are drawn bare."""
    frame = getattr(request, "frame", None)
    return {"frame": frame} if frame is not None else {}


def build_frame(
    request: HttpRequest, *, key: str, applies: bool, person: Person, members: Sequence[Member], member: Member,
    attention: Attention, at: AsOf, read_at: datetime, names: Mapping[int, str],
) -> Frame:  # fmt: skip
    """The frame of one page of one namespace at one point."""
    parameters = request.GET.dict()
    refusal = _write_refusal(member, attention=attention, at=at)
    whole = _together(attention.waiting.values())
    waiting = {page: _waiting(items, read_at) for page, items in {**attention.waiting, "inbox": whole}.items()}
    carried = tuple((name, parameters[name]) for name in CARRIED if parameters.get(name))
    return Frame(
        read_at=read_at,
        environment=settings.PALIMPSEST_ENVIRONMENT,
        namespace=member.name,
        namespaces=_choices(request, members, member) if len(members) > 1 else (),
        as_of=_reading(request, at=at, attention=attention, applies=applies, read_at=read_at),
        single_owner=attention.single_owner,
        banners=_banners(attention, names=names, carry=carried_query(dict(carried))),
        rail=build_rail(
            key, carry=carried_query(dict(carried)), populated=attention.populated, waiting=waiting
        ),
        user=_signed_in(person, member),
        can_write=not refusal,
        shows_writes=member.role != "auditor",
        write_refusal=refusal,
        theme=_theme(request),
        rail_is_hidden=request.COOKIES.get("rail") == "hidden",
        head_seq=attention.head,
        n_waiting=whole.count,
        oldest_waiting=waiting["inbox"].oldest,
        is_overdue=waiting["inbox"].is_overdue,
        waits=_waits(attention, carried),
        n_waits={key: items.count for key, items in attention.waiting.items()},
        populated=attention.populated,
        n_frozen=attention.n_frozen,
        is_on_hold=attention.hold is not None,
        carried=carried,
    )  # fmt: skip


def _theme(request: HttpRequest) -> Literal["", "light", "dark"]:
    match request.COOKIES.get("theme"):
        case "light":
            return "light"
        case "dark":
            return "dark"
        case _:
            return ""


def _signed_in(person: Person, member: Member) -> SignedIn:
    expires = f"{member.expires_at:%-d %b %Y}" if member.expires_at else ""
    return SignedIn(person.name, member.role, ROLE_NOTES[member.role], expires)


def _write_refusal(member: Member, *, attention: Attention, at: AsOf) -> str:
    """Why nothing can be written from this page; "" where it can."""
    if member.role == "auditor":
        return "An auditor writes nothing."
    if not at.is_now:
        return "You look at the past; nothing can be written there."
    if attention.is_replay:
        return "This namespace replays events; it takes no writes from people."
    if attention.closed is not None:
        return "This namespace is closed; it takes no writes."
    return ""


def _choices(request: HttpRequest, members: Sequence[Member], member: Member) -> tuple[NamespaceChoice, ...]:
    """Another namespace has other records and other times: its link leads to the same page, now and unfiltered."""
    path = request.path if request.resolver_match is None or not request.resolver_match.kwargs else "/"
    return tuple(
        NamespaceChoice(one.name, f"{path}?{urlencode({'ns': one.name})}", one.namespace == member.namespace)
        for one in members
    )


def _together(items: Iterable[Open]) -> Open:
    """All that waits: the Inbox is the queue of everything."""
    told = list(items)
    return Open(
        sum(one.count for one in told),
        min((one.oldest_at for one in told if one.oldest_at is not None), default=None),
    )


def _waits(attention: Attention, carried: Sequence[tuple[str, str]]) -> tuple[Link, ...]:
    """How many of each kind, in the order of MATTERS, each with its part of the Inbox."""
    kept = [pair for pair in carried if pair[0] == "ns"]
    return tuple(
        Link(
            f"{count(items.count)} {matter.one if items.count == 1 else matter.many}",
            address("/inbox", [*kept, ("kind", key)]),
        )
        for key, matter in MATTERS.items()
        if (items := attention.waiting.get(key)) is not None
    )


def _waiting(open_items: Open, read_at: datetime) -> Waiting:
    oldest = open_items.oldest_at
    if oldest is None:
        return Waiting(open_items.count)
    return Waiting(open_items.count, short_age(oldest, read_at=read_at), read_at - oldest >= OVERDUE_AFTER)


def short_age(since: datetime, *, read_at: datetime) -> str:
    """The age in one unit, for narrow places: "3 d", "5 h", "2 min"."""
    seconds = max(0.0, (read_at - since).total_seconds())
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"


def _banners(attention: Attention, *, names: Mapping[int, str], carry: str) -> tuple[Banner, ...]:
    banners = []
    if attention.closed is not None:
        title = "This namespace is closed: all its texts are erased and it takes no writes."
        link = Link(f"seq {count(attention.closed.seq)}", f"/ledger/{attention.closed.seq}{carry}")
        banners.append(Banner("closed", title, _on_whose_word(attention.closed, names), link))
    if attention.frozen is not None and attention.closed is None:
        agent = attention.frozen.agent or "An agent"
        others = attention.n_frozen - 1
        more = f" {others} more {'is' if others == 1 else 'are'} frozen." if others else ""
        title = f"Agent {agent} is frozen: its writes are refused."
        detail = _on_whose_word(attention.frozen, names) + more
        banners.append(Banner("stop", title, detail, Link("Agents", f"/agents{carry}")))
    if attention.hold is not None:
        until = f" until {attention.hold.until_at:%-d %b %Y}" if attention.hold.until_at else ""
        title = f"This namespace is on hold{until}: nothing can be erased."
        link = Link(f"seq {count(attention.hold.seq)}", f"/ledger/{attention.hold.seq}{carry}")
        banners.append(Banner("hold", title, _on_whose_word(attention.hold, names), link))
    if attention.is_replay:
        told = attention.notice.removeprefix("Replayed. ") or "Times are those of the events."
        banners.append(Banner("replay", "Replayed.", f"{told} It takes no writes from people."))
    return tuple(banners)


def _on_whose_word(standing: Standing, names: Mapping[int, str]) -> str:
    who = names.get(standing.person or 0, "the system" if standing.person is None else f"person {standing.person}")
    reason = standing.reason.rstrip(".") or "no reason was recorded"
    return f"By {who}, {words(standing.recorded_at)}: {reason}."


def words(at: datetime) -> str:
    """An instant for a sentence: "1 Nov 2026" at midnight, else "12 Nov 2026 14:03:07 UTC"."""
    moment = at.astimezone(UTC)
    is_midnight = (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)
    return f"{moment:%-d %b %Y}" if is_midnight else f"{moment:%-d %b %Y %H:%M:%S} UTC"


def in_url(at: datetime) -> str:
    """The spelling of an instant in addresses: RFC 3339, UTC, no more digits than it has."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def address(path: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Path and query; pairs without a value are left out, and what reads well in an address stays readable."""
    kept = [(name, value) for name, value in pairs if value]
    return f"{path}?{urlencode(kept, safe=':,')}" if kept else path


def pairs_of(request: HttpRequest, *, without: Collection[str] = ()) -> list[tuple[str, str]]:
    """The pairs of the query in order, repeated names kept; those named in `without` left out."""
    return [(name, value) for name, values in request.GET.lists() if name not in without for value in values if value]


def pinned_address(request: HttpRequest, at: AsOf) -> str:
    """The address to redirect to, so that a copied link never drifts; "" where this one stands as it is."""
    if at.is_now or at.source_at is not None:
        return ""
    if at.provisional and "as_of" not in request.GET:
        return ""
    if at.valid_pinned and asof.named_seq(request.GET.get("known_at", "")) is not None:
        return ""
    known_at = request.GET["as_of"] + "Z" if at.provisional else f"seq:{at.seq}"
    point = [("valid_at", in_url(at.valid_at)), ("known_at", known_at)]
    return address(request.path, [*pairs_of(request, without=POINT), *point])


def asked_point(request: HttpRequest) -> tuple[str, str]:
    """(valid_at, known_at) as the request asks: both by `as_of` (UTC without an offset), or each by its own name.

    Raises Invalid (both forms at once).
    """
    both = request.GET.get("as_of", "")
    apart = (request.GET.get("valid_at", ""), request.GET.get("known_at", ""))
    if both and any(apart):
        raise Invalid.at("as_of", expected="either as_of, or valid_at and known_at")
    return (both + "Z", both + "Z") if both else apart


def _reading(request: HttpRequest, *, at: AsOf, attention: Attention, applies: bool, read_at: datetime) -> AsOfReading:
    kept = pairs_of(request, without=(*POINT, *CURSORS))
    is_separated = not at.is_now and at.source_at is None and not _is_one_point(at, attention)
    shortcuts = (
        ("an hour ago", timedelta(hours=1)),
        ("yesterday", timedelta(days=1)),
        ("a week ago", timedelta(days=7)),
    )
    return AsOfReading(
        form_url=request.path,
        is_now=at.is_now or not applies,
        valid_at_text=words(at.valid_at) if at.valid_pinned else "now",
        known_at_text=_known_words(at, is_separated=is_separated),
        valid_at=request.GET.get("valid_at", ""),
        known_at=request.GET.get("known_at", ""),
        is_separated=is_separated,
        is_provisional=at.provisional,
        is_source_reading=at.source_at is not None,
        applies=applies,
        now_url=address(request.path, kept),
        source_url=_source_url(request, kept, attention, read_at) if at.source_at is None else "",
        carried=tuple(kept),
        shortcuts=tuple(
            Link(label, address(request.path, [*kept, ("as_of", f"{read_at - back:%Y-%m-%dT%H:%M:%S}")]))
            for label, back in shortcuts
        ),
    )  # fmt: skip


def _source_url(request: HttpRequest, kept: Sequence[tuple[str, str]], attention: Attention, read_at: datetime) -> str:
    if "imports" not in attention.populated:
        return ""
    return address(request.path, [*kept, ("known_at", f"source:{in_url(read_at.replace(microsecond=0))}")])


def _is_one_point(at: AsOf, attention: Attention) -> bool:
    """True if both clocks name the same moment: what was true when entry `seq` was the newest."""
    if at.provisional:
        return False
    is_after = at.known_at is None or at.known_at <= at.valid_at
    following = attention.instants.get(at.seq + 1)
    return is_after and (following is None or at.valid_at < following)


def _known_words(at: AsOf, *, is_separated: bool) -> str:
    if at.source_at is not None:
        return words(at.source_at)
    if at.seq == 0:
        return "before the first entry"
    instant = at.valid_at if not is_separated else at.known_at
    return f"{words(instant)} · seq {count(at.seq)}" if instant else f"seq {count(at.seq)}"
