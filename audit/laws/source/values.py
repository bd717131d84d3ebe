"""What a reading of source code answers.

Invariants
- A place is a file inside the tree and a line; places are in that order.
- "not found" and "skipped" are two answers, and neither of them says that a clause holds.
"""

from dataclasses import dataclass
from typing import Any, Literal

from audit.laws.values import ClauseName

type Verdict = Literal["pattern found", "not found", "skipped"]

PROVES_NOTHING = "nothing: a pattern shows how a clause can fail, its absence not that it holds"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a pattern stands: the file relative to the tree, the line from 1, and what stands there."""

    file: str
    line: int
    words: str


@dataclass(frozen=True, slots=True)
class PatternReading:
    """One pattern and where it was found."""

    clause: ClauseName
    name: str
    sentence: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class ClauseReading:
    """All patterns of one clause."""

    clause: ClauseName
    verdict: Verdict
    patterns: tuple[PatternReading, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(sorted(place for pattern in self.patterns for place in pattern.places))


@dataclass(frozen=True, slots=True)
class SourceReport:
    """A reading of one tree. `refusal` says why nothing was read; `unread` are files that could not be, in order."""

    folder: str
    n_files: int
    clauses: tuple[ClauseReading, ...]
    refusal: str = ""
    unread: tuple[str, ...] = ()

    def clause(self, name: ClauseName) -> ClauseReading:
        """The reading of one clause. Raises KeyError."""
        for reading in self.clauses:
            if reading.clause == name:
                return reading
        raise KeyError(name)

    def as_json(self) -> dict[str, Any]:
        """The shape that `check_laws --source` adds to its answer."""
        return {
            "folder": self.folder, "files": self.n_files, "refusal": self.refusal, "unread": list(self.unread),
            "proves": PROVES_NOTHING,
            "clauses": {
                reading.clause: {
                    "verdict": reading.verdict,
                    "patterns": {
                        pattern.name: [
                            {"file": place.file, "line": place.line, "words": place.words} for place in pattern.places
                        ]
                        for pattern in reading.patterns
                    },
                }
                for reading in self.clauses
            },
        }  # fmt: skip
