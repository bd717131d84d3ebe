"""From places to pixels: where nodes stand and along which line an edge runs.

Invariants
- A curve lies in the channel between two columns, where no node stands; a column is passed on a straight line at the
  height of the bend. So no edge runs behind a node that it does not join.
- Lanes lie above every node; the way up and down to them lies in a channel.
"""

from dataclasses import dataclass
from itertools import pairwise

from audit.charts.layout import Layout
from audit.charts.markup import number

NODE_WIDTH = 196.0
NODE_HEIGHT = 36.0
ROW_PITCH = 52.0
CHANNEL = 72.0
MARGIN = 20.0
LANE_PITCH = 8.0
PARALLEL_GAP = 5.0

type Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Geometry:
    """The layout in pixels, origin at the top left. `top` is where the nodes begin, below the lanes."""

    layout: Layout
    top: float

    @classmethod
    def of(cls, layout: Layout) -> "Geometry":
        lanes = layout.n_lanes
        return cls(layout, MARGIN + (lanes + 1) * LANE_PITCH if lanes else MARGIN)

    @property
    def width(self) -> float:
        n_columns = max(self.layout.n_columns, 1)
        return 2 * MARGIN + n_columns * NODE_WIDTH + (n_columns - 1) * CHANNEL

    @property
    def height(self) -> float:
        return self.top + max(self.layout.rows, default=0.0) * ROW_PITCH + NODE_HEIGHT + MARGIN

    def left(self, column: int) -> float:
        return MARGIN + column * (NODE_WIDTH + CHANNEL)

    def middle(self, row: float) -> float:
        return self.top + row * ROW_PITCH + NODE_HEIGHT / 2

    def corner(self, vertex: int) -> Point:
        """The top left corner of a node."""
        return self.left(self.layout.columns[vertex]), self.middle(self.layout.rows[vertex]) - NODE_HEIGHT / 2

    def way(self, source: int, target: int, *, edge: int, shift: float = 0.0) -> list[Point]:
        """The points of an edge: where it leaves, where it enters and leaves each column, where it arrives."""
        layout = self.layout
        points = [(self.left(layout.columns[source]) + NODE_WIDTH, self.middle(layout.rows[source]) + shift)]
        for column, row in layout.bends[edge]:
            height = self.middle(row) + shift
            points += [(self.left(column), height), (self.left(column) + NODE_WIDTH, height)]
        points.append((self.left(layout.columns[target]), self.middle(layout.rows[target]) + shift))
        return points

    def path(self, source: int, target: int, *, edge: int, shift: float = 0.0) -> str:
        """The way as the ``d`` of an SVG path."""
        points = self.way(source, target, edge=edge, shift=shift)
        lane = self.layout.lanes[edge]
        if lane is not None:
            return self._over_lane(points[0], points[-1], lane=lane)
        commands = [f"M{_at(points[0])}"]
        for index, (start, end) in enumerate(pairwise(points)):
            crosses_channel = index % 2 == 0
            if crosses_channel and start[1] != end[1]:
                middle = (start[0] + end[0]) / 2
                commands.append(f"C{_at((middle, start[1]))} {_at((middle, end[1]))} {_at(end)}")
            else:
                commands.append(f"H{number(end[0])}")
        return "".join(commands)

    def _over_lane(self, start: Point, end: Point, *, lane: int) -> str:
        height = self.top - (lane + 1) * LANE_PITCH
        # Ways that share a channel stand beside each other.
        inset = CHANNEL * (0.2 + 0.5 * (lane % 8) / 8)
        return (
            f"M{_at(start)}H{number(start[0] + inset)}V{number(height)}"
            f"H{number(end[0] - CHANNEL + inset)}V{number(end[1])}H{number(end[0])}"
        )


def _at(point: Point) -> str:
    return f"{number(point[0])} {number(point[1])}"
