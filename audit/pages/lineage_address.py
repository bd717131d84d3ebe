"""What an address asks of the lineage of one record: levels, opened sides, relations, a way, a find, another point.

Invariants: equal drawings have one address; a value that is the default stands in none; what cannot be read is refused.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.http import HttpRequest

from audit.frame import address, pairs_of
from memory.base.errors import Invalid
from memory.lineage.queries.graph import MOST_DEPTH, Side

FIND_CHARS = 100
LEVELS = f"0 to {MOST_DEPTH} levels"
# A wall clock without an offset is read as UTC, as the control of the point reads it.
_WALL_CLOCK = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?")

type Opened = tuple[tuple[UUID, Side], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks of the lineage of one record. `against` is another point, "" where none is compared.

    `fault` says why what was typed as another point is none.
    """

    record: UUID
    path: str
    pairs: tuple[tuple[str, str], ...]
    up: int
    down: int
    opened: Opened
    groups: tuple[str, ...]
    to: UUID | None
    against: str
    find: str
    is_table: bool
    after: int
    fault: str = ""

    def setting(self, name: str, value: str) -> str:
        """The address with `name` set; an empty value takes it away."""
        return address(self.path, [*self.without(name), (name, value)])

    def without(self, *names: str) -> tuple[tuple[str, str], ...]:
        """The pairs that a form keeps which sets these names itself."""
        return tuple(pair for pair in self.pairs if pair[0] not in (*names, "after"))

    def opening(self, node: UUID, side: Side) -> str:
        """The address with one more side opened."""
        return self.setting("open", _written((*self.opened, (node, side))))

    def closing(self, node: UUID, side: Side) -> str:
        return self.setting("open", _written(tuple(pair for pair in self.opened if pair != (node, side))))

    def showing_way_to(self, node: UUID) -> str:
        """The address of the drawing with the way to a record."""
        return address(self.path, [*self.without("to", "view"), ("to", str(node))])

    def export(self, suffix: str) -> str:
        return address(f"/records/{self.record}/lineage.{suffix}", self.pairs)


def asked(request: HttpRequest, record: UUID, *, path: str = "") -> Asked:
    """Read the address. Raises Invalid (levels, opened sides, a way to no id); relations are refused by the query."""
    find = request.GET.get("find", "").strip()
    if len(find) > FIND_CHARS:
        raise Invalid.at("find", expected=f"at most {FIND_CHARS} characters", got=len(find))
    return Asked(
        record=record,
        path=path or f"/records/{record}",
        pairs=tuple(pairs_of(request, without=("after",))),
        up=_number(request, "up", default=1, expected=LEVELS),
        down=_number(request, "down", default=1, expected=LEVELS),
        opened=_opened(request.GET.get("open", "")),
        groups=tuple(word for word in request.GET.get("relations", "").split(",") if word),
        to=_id(request.GET.get("to", ""), loc="to"),
        against=_point(request.GET.get("against", "").strip()),
        find=find,
        is_table=request.GET.get("view") == "table",
        after=_number(request, "after", default=0),
    )


def _point(value: str) -> str:
    match = _WALL_CLOCK.fullmatch(value)
    return f"{value.replace(' ', 'T')}{'' if match[1] else ':00'}Z" if match else value


def _id(value: str, *, loc: str) -> UUID | None:
    if not value:
        return None
    try:
        return UUID(value)
    except ValueError as error:
        raise Invalid.at(loc, expected="the whole id of a record", got=value) from error


def _number(request: HttpRequest, name: str, *, default: int, expected: str = "a whole number") -> int:
    value = request.GET.get(name, "")
    if value and not (value.isascii() and value.isdecimal() and len(value) <= 6):
        raise Invalid.at(name, expected=expected, got=value)
    return int(value) if value else default


def _opened(value: str) -> Opened:
    found: list[tuple[UUID, Side]] = []
    for word in value.split(",") if value else ():
        identity, _, side = word.partition(":")
        try:
            node = UUID(identity)
        except ValueError as error:
            raise Invalid.at("open", expected="pairs such as <id>:up", got=word) from error
        if side not in ("up", "down"):
            raise Invalid.at("open", expected="up or down after the id", got=word)
        found.append((node, cast(Side, side)))
    return tuple(dict.fromkeys(found))


def _written(opened: Collection[tuple[UUID, Side]]) -> str:
    return ",".join(f"{node}:{side}" for node, side in opened)
