"""What pages of calibration share: verdicts, instruments and windows in words, and the address of a segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from audit.charts.calibration_course import nats_words
from audit.frame import address
from audit.navigation import CARRIED
from audit.pages.beliefs.words import named
from audit.templatetags.console import count
from memory.calibration.issuing import Key
from memory.calibration.queries.alarms import AlarmRow
from memory.calibration.queries.verdicts import Lean, SegmentRow, Window

INSTRUMENTS: Mapping[str, str] = {"evidence": "ever miscalibrated", "change": "changed"}
ORDER_NOTE = "whether scores may be in any order: it rises where the data become harder, and raises no alarm"


@dataclass(frozen=True, slots=True)
class VerdictWords:
    """A verdict line: the key of its badge, and the line."""

    key: str
    words: str


def verdict_of(row: SegmentRow) -> VerdictWords:
    """ "calibrated", "too few to say (7 of 30)", "no alarm yet: 3 bets of 30".

    "alarm since 3 Nov 2026: over-confident at 0.92".
    """
    if row.verdict == "too_few":
        return VerdictWords("too_few", f"too few to say ({count(row.n_labeled)} of {count(row.n_needed)})")
    if row.verdict == "calibrated":
        return VerdictWords("calibrated", "calibrated")
    if row.since is None:
        return VerdictWords("no_alarm", no_alarm_words(row))
    return VerdictWords("alarm", f"alarm since {day_words(row.since)}{lean_words(row.lean)}")


def no_alarm_words(row: SegmentRow) -> str:
    """Why silence is no "calibrated": "no alarm yet: 50 forecasts overlap, so about 8 bets each".

    A window outside its bands comes first: "outside its bands, no alarm yet".
    """
    said = "outside its bands, no alarm yet" if row.is_outside else "no alarm yet"
    if row.has_power:
        return said if row.is_outside else f"{said}: no forecast of the window can be scored"
    n_bets, each = row.watch.n_bets, row.watch.bets_per_lane
    n_lanes = round(n_bets / each) if each else 0
    if n_lanes > 1:
        return f"{said}: {count(n_lanes)} forecasts overlap, so about {count(round(each))} bets each"
    bets = f"{count(n_bets)} bet{'' if n_bets == 1 else 's'} of {count(row.n_needed)}"
    return f"{said}: {bets}{' since it began again' if row.watch.epoch > 1 else ''}"


def lean_words(lean: Lean | None) -> str:
    """ ": over-confident at 0.92", or nothing where the window cannot be read."""
    if lean is None or lean.confidence == lean.accuracy:
        return ""
    return f": {'over' if lean.is_over_confident else 'under'}-confident at {lean.confidence:.2f}"


def evidence_words(row: SegmentRow) -> str:
    """What the process against "calibrated" holds, and what it is held against."""
    return f"{nats_words(row.watch.log_evidence)} of {row.watch.evidence_threshold:.1f} nats"


def window_words(row: SegmentRow, window: Window) -> str:
    """Which forecasts a window holds: "the last 80 labels", "the first 100 labels"."""
    span = row.span_of(window)
    return f"the {'first' if window == 'reference' else 'last'} {count(span.n)} labels"


def too_few_words(row: SegmentRow) -> str:
    """Why a segment has no figure."""
    pending = f", {count(row.n_pending)} pending" if row.n_pending else ""
    return f"{count(row.n_labeled)} of {count(row.n_needed)} labels have come{pending}."


def day_words(at: datetime) -> str:
    return f"{at.astimezone(UTC):%-d %b %Y}"


def about(row: SegmentRow | AlarmRow) -> str:
    """A segment in a line: its source family, its relation type, its run."""
    return f"{named(row.source_family)} · {named(row.relation_type)} · {named(row.run_id)}"


def segment_path(key: Key) -> str:
    run, relation, family = key
    return f"/calibration/segments/{run}/{relation}/{family}"


def segment_url(key: Key, *, carried: tuple[tuple[str, str], ...], suffix: str = "", **more: str) -> str:
    """The page of a segment, or with ".csv" one of its figures as a file."""
    kept = [pair for pair in carried if pair[0] in CARRIED]
    return address(segment_path(key) + suffix, [*kept, *more.items()])
