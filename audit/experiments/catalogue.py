"""Which experiments there are."""

from __future__ import annotations

from collections.abc import Callable

from audit.experiments import cycle_rich, monitors, structural
from audit.experiments.size import Size
from audit.experiments.tables import Table

Experiment = Callable[[Size], tuple[Table, ...]]

EXPERIMENTS: dict[str, Experiment] = {
    "cycle-rich": cycle_rich.run,
    "structural": structural.run,
    "false-alarms": monitors.false_alarms,
    "drift-power": monitors.drift_power,
}
BESIDE_PEER = frozenset({"cycle-rich", "structural"})
"""Those that the peer can be asked about, episode by episode."""
