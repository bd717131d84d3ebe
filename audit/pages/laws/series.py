"""The runs of a check as a strip: a bar for each run, and a frame for each day on which others ran and this did not."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from django.utils.safestring import SafeString, mark_safe

from audit.charts.violations import SLOTS, Outcome, Slot, violations_svg
from audit.templatetags.console import count, utc
from memory.checks.board import CheckStanding, RunPoint, WaiverRow

STATES = {"ok": "holds", "failed": "violated", "not_checked": "undecidable"}
OUTCOMES: dict[str, Outcome] = {"holds": "holds", "violated": "broken", "undecidable": "undecidable"}
WORDS = {"holds": "holds", "undecidable": "not decidable from this data"}


def state_of(run: RunPoint | None) -> str:
    """The state that the console prints for a run; "not_run" where there is none."""
    return STATES.get(run.verdict, run.verdict) if run is not None else "not_run"


def days_of(standings: Iterable[CheckStanding]) -> tuple[date, ...]:
    """The days (UTC) on which any check ran, in order."""
    return tuple(sorted({_day(run.recorded_at) for standing in standings for run in standing.runs}))


def slots(standing: CheckStanding, days: Iterable[date]) -> tuple[Slot, ...]:
    """The last runs, oldest first, and between them the days that others have and this check has not."""
    by_day: dict[date, list[RunPoint]] = defaultdict(list)
    for run in standing.runs:
        by_day[_day(run.recorded_at)].append(run)
    found: list[Slot] = []
    for day in days:
        if day in by_day:
            found.extend(_slot(run) for run in by_day[day])
        elif not standing.runs or day > _day(standing.runs[0].recorded_at):
            found.append(Slot(f"{day}", "not_run", 0, "not run, while other invariants were"))
    return tuple(found[-SLOTS:])


def until_words(waiver: WaiverRow) -> str:
    """Up to when a waiver stands: the last day of it where it ends at midnight (UTC)."""
    end = waiver.expires_at.astimezone(UTC)
    is_midnight = (end.hour, end.minute, end.second, end.microsecond) == (0, 0, 0, 0)
    return f"the end of {(end - timedelta(days=1)):%Y-%m-%d}" if is_midnight else f"{end:%Y-%m-%d %H:%M} UTC"


def strip(shown: tuple[Slot, ...], *, title: str) -> SafeString:
    """The drawing; its caption is its label too."""
    return mark_safe(violations_svg(shown, title=title))  # noqa: S308 - the module escapes whatever it is given


def caption(standing: CheckStanding, shown: tuple[Slot, ...]) -> str:
    """The finding in one sentence."""
    if not standing.runs:
        return "It has never run."
    n_broken = sum(run.is_broken for run in standing.runs)
    n_gaps = sum(slot.outcome == "not_run" for slot in shown)
    runs = f"{len(standing.runs)} run{'' if len(standing.runs) == 1 else 's'}"
    told = f"Violations in {n_broken} of the last {runs}" if n_broken else f"No violation in the last {runs}"
    days = f", and {n_gaps} day{'' if n_gaps == 1 else 's'} without one" if n_gaps else ""
    return f"{told}{days}."


def _slot(run: RunPoint) -> Slot:
    state = state_of(run)
    n = run.n_findings if run.is_broken else 0
    words = f"{count(n)} violation{'' if n == 1 else 's'}" if run.is_broken else WORDS.get(state, state)
    return Slot(utc(run.recorded_at), OUTCOMES.get(state, "undecidable"), n, words)


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()
