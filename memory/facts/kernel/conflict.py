"""Which statements of one entity cannot all hold, and over which instants.

- Two statements clash when their sides exclude each other and their half-open intervals share an instant.
- `Standing` is what counts at one known point, kept so that a new statement is compared with what overlaps it and not
  with all there is.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from memory.facts.kernel.status import Statement, end_of
from memory.facts.kernel.values import Side, Spec, exclude, side_of

_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Clash:
    """Two statements, the older first, and the interval that both claim; `end` None is open."""

    a: Statement
    b: Statement
    start: datetime
    end: datetime | None


def case_id(subject: UUID, attribute: UUID) -> UUID:
    """The id of the case of an entity."""
    return UUID(bytes=hashlib.sha256(b"case/" + subject.bytes + attribute.bytes).digest()[:16], version=5)


def clash(one: Statement, other: Statement, spec: Spec) -> Clash | None:
    """The clash of two statements, None where both can hold."""
    if one.value is None or other.value is None:
        return None
    if not exclude(side_of(one.stance, one.value, spec), side_of(other.stance, other.value, spec), spec):
        return None
    ends = [end for end in (end_of(one, spec), end_of(other, spec)) if end is not None]
    start, end = max(one.valid_from, other.valid_from), min(ends, default=None)
    if end is not None and end <= start:
        return None
    a, b = sorted((one, other), key=lambda each: each.order)
    return Clash(a, b, start, end)


def clashes(statements: Sequence[Statement], spec: Spec) -> Iterator[Clash]:
    """Every clash among them, by the start of what both claim. The sweep compares only what overlaps and excludes."""
    active: dict[Side, list[tuple[datetime, Statement]]] = {}
    for one in sorted(statements, key=lambda each: (each.valid_from, each.order)):
        if one.value is None:
            continue
        own = side_of(one.stance, one.value, spec)
        for rival in _rivals(own, active, spec):
            active[rival] = [(end, other) for end, other in active[rival] if end > one.valid_from]
            for _, other in active[rival]:
                if (found := clash(one, other, spec)) is not None:
                    yield found
        active.setdefault(own, []).append((end_of(one, spec) or _LAST, one))


def _rivals(own: Side, among: Collection[Side], spec: Spec) -> list[Side]:
    """The sides among these that the side excludes; only an attribute of one value has all of them walked."""
    if own.stance == "asserts" and spec.cardinality == "one":
        return [side for side in among if exclude(own, side, spec)]
    asked = [Side("denies" if own.stance == "asserts" else "asserts", own.form)]
    if own.stance == "asserts":
        asked += [Side(own.stance, form) for pair in spec.exclusive if own.form in pair for form in pair - {own.form}]
    return [side for side in asked if side in among]


@dataclass(slots=True)
class Standing:
    """The statements that count at one known point, by side and by where they begin; those without an end apart."""

    spec: Spec
    bounded: dict[Side, list[tuple[datetime, int, Statement]]] = field(default_factory=dict)
    unending: dict[Side, dict[int, Statement]] = field(default_factory=dict)
    longest: timedelta = timedelta(0)

    def add(self, one: Statement) -> None:
        """Count the statement from now on."""
        if one.value is None:
            return
        end = end_of(one, self.spec)
        if end is None:
            self.unending.setdefault(self._side(one), {})[one.order] = one
        elif end > one.valid_from:
            members = self.bounded.setdefault(self._side(one), [])
            insort(members, (one.valid_from, one.order, one), key=lambda entry: entry[:2])
            self.longest = max(self.longest, end - one.valid_from)

    def remove(self, one: Statement) -> None:
        """Count it no longer; it must be told as it was when it was added."""
        if one.value is None:
            return
        side = self._side(one)
        if end_of(one, self.spec) is None:
            members = self.unending[side]
            del members[one.order]
            if not members:
                del self.unending[side]
            return
        bounded = self.bounded.get(side, [])
        index = bisect_left(bounded, (one.valid_from, one.order), key=lambda entry: entry[:2])
        if index < len(bounded) and bounded[index][:2] == (one.valid_from, one.order):
            del bounded[index]

    def contradicts(self, one: Statement) -> bool:
        """Whether the statement clashes with one that counts."""
        return one.value is not None and any(
            clash(one, other, self.spec) is not None for other in self._overlapping(one)
        )

    def holds_clash(self) -> bool:
        """Whether any two that count clash."""
        return next(clashes(list(self.statements()), self.spec), None) is not None

    def statements(self) -> Iterator[Statement]:
        """All that count."""
        for bounded in self.bounded.values():
            yield from (one for _, _, one in bounded)
        for members in self.unending.values():
            yield from members.values()

    def _side(self, one: Statement) -> Side:
        assert one.value is not None
        return side_of(one.stance, one.value, self.spec)

    def _overlapping(self, one: Statement) -> Iterator[Statement]:
        end, own = end_of(one, self.spec), self._side(one)
        for side in _rivals(own, self.bounded, self.spec):
            bounded = self.bounded[side]
            first = len(bounded) if end is None else bisect_left(bounded, (end,), key=lambda entry: entry[:1])
            for index in range(first - 1, -1, -1):
                start, _, other = bounded[index]
                if one.valid_from - start >= self.longest:
                    break
                yield other
        for side in _rivals(own, self.unending, self.spec):
            yield min(self.unending[side].values(), key=lambda each: each.valid_from)


def periods(
    turns: Iterable[tuple[int, Sequence[Statement], Sequence[Statement], Spec]],
) -> list[tuple[int, int | None]]:
    """The spans of seqs in which something clashed: [opened, closed), closed None where it still does.

    turns : for each seq at which anything changed, in order, what ended, what began, and the declaration from then on.
    """
    found: list[tuple[int, int | None]] = []
    standing: Standing | None = None
    for seq, ended, begun, spec in turns:
        was_open = bool(found) and found[-1][1] is None
        # What held before may clash under another declaration, and the other way round; what only came ends nothing.
        is_other = standing is None or standing.spec != spec
        stays = was_open and not ended and not is_other
        must_ask = not stays and (was_open or is_other)
        if standing is None or standing.spec != spec:
            standing = _under(spec, () if standing is None else standing.statements())
        for one in ended:
            standing.remove(one)
        contradicted = stays
        for one in begun:
            contradicted = contradicted or standing.contradicts(one)
            standing.add(one)
        is_open = contradicted or (must_ask and standing.holds_clash())
        if is_open and not was_open:
            found.append((seq, None))
        elif was_open and not is_open:
            found[-1] = (found[-1][0], seq)
    return found


def _under(spec: Spec, statements: Iterable[Statement]) -> Standing:
    standing = Standing(spec)
    for one in statements:
        standing.add(one)
    return standing
