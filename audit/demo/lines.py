"""The real half of the story: lines of public, dated facts, and when each is played.

Invariants
- Every line names its source.
- A line with an instant plays at it. A line of a day plays after 23:50 of that day, a second after the line before it,
  because nobody could rely on it earlier. Lines under embargo play when the embargo ends: true earlier, known later.
- A reservation, visible only afterwards, plays with the publication.
"""

import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid5

NAMESPACE = "xz-2024"
FILE = Path(__file__).with_name("xz-2024.ndjson.xz")
# All ids of a story are UUIDv5 of "<namespace>/<step>" under this one.
STORY = UUID("5b1ad3c0-0c1c-5e43-9e0a-202403290001")
LATE = timedelta(hours=23, minutes=50)
EMBARGOED = range(11, 17)
EMBARGO_ENDS = datetime(2024, 3, 29, 15, 55, tzinfo=UTC)
PLAYS_WITH = {17: 19}
# This line repeats another's text, so it is no root of its own.
DERIVED_FROM = {61: 20}
NOT_RESEEN = "not-reseen"


class LineFault(ValueError):
    """A line that does not say what a line must."""


@dataclass(frozen=True, slots=True)
class Line:
    """One public fact. `when` is midnight where only the day is known; `seen` is false for what was not reread."""

    number: int
    when: datetime
    is_day: bool
    kind: str
    text: str
    source: str
    source_class: str
    seen: bool
    subject: str
    attribute: str = ""
    value: str = ""

    @property
    def key(self) -> str:
        """The step's name, L01 to L80."""
        return f"L{self.number:02d}"

    @property
    def host(self) -> str:
        """The host of the source's address."""
        return urlsplit(self.source.split()[0]).hostname or ""


def id_of(step: str, *, namespace: str = NAMESPACE) -> UUID:
    """The id of what a step makes, where the client chooses it."""
    return uuid5(STORY, f"{namespace}/{step}")


def read_lines(text: str) -> list[Line]:
    """Lines from NDJSON, numbered from 1.   Raises LineFault (no source, no time)."""
    return [_line(number, json.loads(raw)) for number, raw in enumerate(text.splitlines(), 1)]


def story_lines() -> list[Line]:
    """The lines of the story."""
    return read_lines(lzma.decompress(FILE.read_bytes()).decode())


def _line(number: int, given: dict[str, Any]) -> Line:
    source = str(given.get("source", "")).strip()
    if not urlsplit(source.split()[0] if source else "").hostname:
        raise LineFault(f"Line {number} names no source.")
    try:
        when = datetime.fromisoformat(given["when"])
    except (KeyError, ValueError) as error:
        raise LineFault(f"Line {number} names no time.") from error
    is_day = given.get("precision") == "day"
    return Line(
        number=number,
        when=when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC),
        is_day=is_day,
        kind=given["kind"],
        text=given["text"],
        source=source,
        source_class=given["source_class"],
        seen=given["seen"],
        subject=given["subject"],
        attribute=given.get("attribute", ""),
        value=given.get("value", ""),
    )


def played(lines: Iterable[Line]) -> Iterator[tuple[datetime, Line]]:
    """Each line with the instant at which it plays, in the order of the lines."""
    listed = list(lines)
    by_number = {line.number: line for line in listed}
    of_day: Counter[datetime] = Counter()
    for line in listed:
        if line.number in EMBARGOED:
            yield EMBARGO_ENDS + timedelta(seconds=line.number - EMBARGOED.start), line
        elif line.is_day:
            yield line.when + LATE + timedelta(seconds=of_day[line.when]), line
            of_day[line.when] += 1
        else:
            yield by_number[PLAYS_WITH.get(line.number, line.number)].when, line


def record_of(line: Line, by_number: dict[int, Line]) -> dict[str, Any]:
    """The payload of the record that a line becomes."""
    root = by_number[DERIVED_FROM.get(line.number, line.number)]
    payload: dict[str, Any] = {
        "id": str(id_of(line.key)),
        "type": line.kind,
        "content": line.text,
        "valid_from": line.when.isoformat().replace("+00:00", "Z"),
        "source": {"class": line.source_class, "origin": root.host, "pointer": line.source},
    }
    return payload if line.seen else {**payload, "tags": [NOT_RESEEN]}
