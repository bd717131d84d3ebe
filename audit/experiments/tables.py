"""What an experiment finds: tables for people, and the same numbers as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Interval(NamedTuple):
    """Both ends in the unit of the figure that it belongs to."""

    low: float
    high: float


Cell = str | int | float | Interval | None


@dataclass(frozen=True, slots=True)
class Column:
    """`key` in JSON; for people its `title`, and numbers times `scale`, spelled as `form` says."""

    key: str
    title: str
    form: str = ".0f"
    scale: float = 1.0

    def told(self, cell: Cell) -> str:
        if cell is None:
            return ""
        if isinstance(cell, Interval):
            return f"[{self.told(cell.low)}, {self.told(cell.high)}]"
        return cell if isinstance(cell, str) else f"{cell * self.scale:{self.form}}"


def share(key: str, title: str, *, form: str = ".2f") -> Column:
    """A share, told in percent."""
    return Column(key, title, form, 100.0)


@dataclass(frozen=True, slots=True)
class Table:
    """One table; each row has a cell for every column."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def cell(self, row: str, key: str) -> Cell:
        """The cell of the row whose first cell is `row`.   Raises KeyError."""
        place = [column.key for column in self.columns].index(key)
        return {cells[0]: cells[place] for cells in self.rows}[row]

    def markdown(self) -> str:
        told = [[column.told(cell) for column, cell in zip(self.columns, row, strict=True)] for row in self.rows]
        lines = [[column.title for column in self.columns], ["---"] * len(self.columns), *told]
        return "\n".join([f"{self.caption}", "", *(f"| {' | '.join(line)} |" for line in lines)])

    def as_json(self) -> dict[str, Any]:
        keys = [column.key for column in self.columns]
        rows = [dict(zip(keys, row, strict=True)) for row in self.rows]
        return {"name": self.name, "caption": self.caption, "rows": rows}


def markdown(tables: Sequence[Table]) -> str:
    """All tables, one below the other."""
    return "\n\n".join(table.markdown() for table in tables)
