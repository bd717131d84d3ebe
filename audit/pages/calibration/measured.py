"""How often each instrument cries wolf on calibrated forecasts, and how soon it finds what is wrong, as measured.

The tables at the foot of the page; the command beside each measures it again.
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

POWER_COMMAND = "manage.py experiment drift-power"


@dataclass(frozen=True, slots=True)
class Power:
    """Of 300 streams that go wrong after 2,000 labels told one by one: percent found, and labels until half are."""

    change: str
    instrument: str
    percent: str
    delay: str


POWER: tuple[Power, ...] = (
    Power("claims biased by 0.05", "e-process", "65 %", "2,220"),
    Power("claims biased by 0.05", "change detector", "100 %", "830"),
    Power("claims biased by 0.10", "e-process", "100 %", "774"),
    Power("claims biased by 0.10", "change detector", "100 %", "268"),
    Power("sharpened x 2.5", "e-process", "100 %", "75"),
    Power("sharpened x 2.5", "change detector", "100 %", "82"),
    Power("30 % random labels", "e-process", "100 %", "108"),
    Power("30 % random labels", "change detector", "100 %", "221"),
)
