"""How often each instrument cries wolf on calibrated forecasts, as it was measured: the table at the foot of the page.

The command beside it measures it again.
"""

from __future__ import annotations

from dataclasses import dataclass

COMMAND = "manage.py experiment false-alarms"
SIZE_WORDS = "300 streams of 5,000 labels, looked at after every label"


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """Streams with an alarm that nothing had caused, in percent, with an interval of 95 %; `promised` "" where nothing
    is."""

    streams: str
    instrument: str
    percent: str
    interval: str
    promised: str


FALSE_ALARMS: tuple[FalseAlarms, ...] = (
    FalseAlarms("calibrated", "e-process", "0 %", "0 to 1.3 %", "0.5 %"),
    FalseAlarms("calibrated", "change detector", "9 %", "6.3 to 12.8 %", "25 %"),
    FalseAlarms("calibrated", "fixed guards", "100 %", "98.7 to 100 %", ""),
    FalseAlarms("calibrated claims", "e-process", "0 %", "0 to 1.3 %", "0.5 %"),
    FalseAlarms("calibrated claims", "change detector", "12 %", "8.8 to 16.2 %", "25 %"),
    FalseAlarms("labels 5 late, shared shock", "e-process", "0 %", "0 to 1.3 %", "0.5 %"),
    FalseAlarms("labels 5 late, shared shock", "change detector", "3.7 %", "2.1 to 6.4 %", "25 %"),
    FalseAlarms("labels 20 late, shared shock", "e-process", "0 %", "0 to 1.3 %", "0.5 %"),
    FalseAlarms("labels 20 late, shared shock", "change detector", "2.7 %", "1.4 to 5.2 %", "25 %"),
    FalseAlarms("six segments, labels 5 late", "e-process", "0 %", "0 to 1.3 %", "0.5 %"),
    FalseAlarms("six segments, labels 5 late", "change detector", "0 %", "0 to 1.3 %", "25 %"),
)
