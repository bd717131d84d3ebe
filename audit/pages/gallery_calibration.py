"""Made-up figures of calibration for the gallery: a window in its bands, processes that began again, a short window."""

from audit.charts.calibration import Bin, reliability
from audit.charts.calibration_course import Mark, Moment, Stretch, Wealth, log_wealth, metric_windows
from audit.charts.figures import Figure

BINS = (
    *(Bin(i / 10, (i + 1) / 10, 0) for i in range(4)),
    Bin(0.4, 0.5, 6, 0.46, 0.5, 0.167, 0.833), Bin(0.5, 0.6, 14, 0.55, 0.5, 0.357, 0.786),
    Bin(0.6, 0.7, 18, 0.65, 0.667, 0.444, 0.833), Bin(0.7, 0.8, 22, 0.76, 0.545, 0.591, 0.909),
    Bin(0.8, 0.9, 31, 0.86, 0.581, 0.742, 0.968), Bin(0.9, 1.0, 44, 0.96, 0.545, 0.909, 1.0),
)  # fmt: skip


def calibration() -> tuple[Figure, ...]:
    return (
        reliability((), window="", too_few="7 of 30 labels have come, 2 pending.", id="reliability-none"),
        reliability(BINS, window="the last 135 labels", id="reliability-many"),
        log_wealth(_wealth(), id="wealth-restarted"),
        metric_windows(
            [Stretch(30 * i + 1, 30 * i + 30, 0.81 - 0.04 * i, 0.83, 0.02 + 0.03 * i, 0.5, 0.3) for i in range(6)],
            size=30, n_labeled=192, n_pending=4, id="metrics-short",
        ),
    )  # fmt: skip


def _wealth() -> Wealth:
    """An alarm at label 90, closed at 120, and a change told at 170."""
    moments = [
        Moment(n, 100 + n, *((0.08 * max(n - 20, 0), 0.03 * n) if n <= 120 else (0.01 * (n - 120), 0.22 * (n - 120))),
               0.0)
        for n in range(1, 201)
    ]  # fmt: skip
    alarms = [Mark(90, "ever miscalibrated", 5.6), Mark(170, "changed", 11.0)]
    return Wealth(moments, [(0, 5.3), (120, 6.4)], 10.6, alarms, [Mark(120, "began again: closing")])
