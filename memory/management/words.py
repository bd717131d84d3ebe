"""What commands print about checks: one line for each verdict, then what differs, with both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory.checks.rebuilding import Comparison, Rebuilt

CHARS_SHOWN = 200
FAULTS_SHOWN = 20


def rebuild_words(done: Rebuilt) -> str:
    """One namespace: a line for each projection, and below it the first rows that differ."""
    did = "compared" if done.is_check else "rebuilt"
    lines = [f"{done.namespace}: {len(done.comparisons)} projections {did}, {done.n_differences} differences"]
    for each in done.comparisons:
        lines.extend(_comparison_lines(each))
    return "\n".join(lines)


def _comparison_lines(each: Comparison) -> Iterator[str]:
    differs = f", {each.n_wrong} wrong, {each.n_missing} missing" if each.n_differences else ""
    yield f"  {each.projector}: {each.n_rows} rows{differs}"
    for found in each.shown:
        yield f"    {_columns(found.key)}"
        yield f"      stored:  {'no such row' if found.stored is None else _columns(found.stored)}"
        yield f"      rebuilt: {'no such row' if found.rebuilt is None else _columns(found.rebuilt)}"


def _columns(values: tuple[Any, ...]) -> str:
    shown = ", ".join(value.hex() if isinstance(value, bytes) else repr(value) for value in values)
    return shown if len(shown) <= CHARS_SHOWN else shown[: CHARS_SHOWN - 1] + "…"


def scan_words(report: Mapping[str, Any]) -> str:
    """One ledger: what was hashed, the three verdicts apart, and the first faults with both sides."""
    counts = f"{report['entries']} entries, {report['items']} items, {report['contents']} contents"
    lines = [
        f"{report['namespace']}: {counts} ({report['erased']} erased), {report['checkpoints']} checkpoints",
        f"  root {report['root']} of {report['size']} entries",
        *(f"  {name}: {verdict}" for name, verdict in report["verdicts"].items()),
    ]
    lines.extend(f"  {count} x {code}" for code, count in report["codes"].items())
    for fault in report["faults"][:FAULTS_SHOWN]:
        place = ", ".join(
            f"{word} {fault[word]}" for word in ("seq", "item", "part", "place") if fault[word] not in (None, "")
        )
        lines.append(f"    {fault['code']} at {place}: expected {fault['expected']}, got {fault['got']}")
    return "\n".join(lines)
