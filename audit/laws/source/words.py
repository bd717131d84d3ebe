"""A reading of source code in words."""

from collections.abc import Iterator

from audit.laws.clauses import BY_CLAUSE
from audit.laws.source.values import ClauseReading, PatternReading, SourceReport

PLACES_SHOWN = 5
UNREAD_SHOWN = 5

BESIDE_DATA = (
    "A reading speaks of the derivations in the source, data of everything that was done to one store: links, changes"
    " in place, deletions and writes that failed lie outside what is read. So a clause whose pattern is not found may"
    " be violated in data, as L3 is where the second of two writes failed; both answers stand."
)


def reading_words(report: SourceReport) -> str:
    """The whole reading: what was read, one block for each clause, and what could not be read."""
    if report.refusal:
        lines = [f"{report.folder}: skipped, because {report.refusal}."]
    else:
        files = "1 file" if report.n_files == 1 else f"{report.n_files} files"
        lines = [f"{report.folder}: {files} read, none of them run"]
    lines += [line for clause in report.clauses for line in _clause_lines(clause)]
    if report.unread:
        shown = ", ".join(report.unread[:UNREAD_SHOWN])
        more = f" and {len(report.unread) - UNREAD_SHOWN} more" if len(report.unread) > UNREAD_SHOWN else ""
        lines.append(f"     Not read: {shown}{more}.")
    lines.append("     A pattern that is found shows how a clause can fail; one that is not found proves nothing.")
    return "\n".join(lines)


def _clause_lines(reading: ClauseReading) -> Iterator[str]:
    yield f"{reading.clause:<4} {BY_CLAUSE[reading.clause].title}: {reading.verdict}"
    for pattern in reading.patterns:
        if pattern.places:
            yield from _pattern_lines(pattern)


def _pattern_lines(pattern: PatternReading) -> Iterator[str]:
    yield f"       {pattern.sentence}"
    for place in pattern.places[:PLACES_SHOWN]:
        yield f"         {place.file}:{place.line} {place.words}"
    if len(pattern.places) > PLACES_SHOWN:
        yield f"         and {len(pattern.places) - PLACES_SHOWN} more"
