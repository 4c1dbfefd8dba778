"""Tables as data; the terminal, Markdown, HTML and JSON show them in their own ways."""

from __future__ import annotations

import math

from msgspec import Struct

Cell = str | int | float | None
Row = tuple[Cell, ...]


class Column(Struct, frozen=True):
    """A heading, and how many digits a figure shows behind the point."""

    title: str
    digits: int = 0


class Table(Struct, frozen=True):
    """Rows of figures under headings."""

    title: str
    columns: tuple[Column, ...]
    rows: list[Row]
    compared: tuple[int, ...] = ()
    """Indices of columns that compete: in each row the lowest of them is set in bold."""
    section_by: int | None = None
    """Index of a column: where its value changes, a new section begins."""

    def texts(self, row: int) -> list[str]:
        """A row as people read it."""
        return [cell_text(cell, column) for cell, column in zip(self.rows[row], self.columns, strict=True)]

    def best(self, row: int) -> list[int]:
        """Indices of the columns that show the lowest of the compared figures in this row."""
        texts = self.texts(row)
        figures = [(cell, index) for index in self.compared if _is_figure(cell := self.rows[row][index])]
        if not figures:
            return []
        lowest = texts[min(figures)[1]]
        return [index for _, index in figures if texts[index] == lowest]

    def begins_section(self, row: int) -> bool:
        """Whether this row starts a section other than the first."""
        by = self.section_by
        return by is not None and row > 0 and self.rows[row][by] != self.rows[row - 1][by]


def cell_text(cell: Cell, column: Column) -> str:
    """A cell as people read it; a figure that does not exist is a dash."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    return f"{cell:.{column.digits}f}" if isinstance(cell, float) else str(cell)


def cell_value(cell: Cell, column: Column) -> Cell:
    """A cell as programs read it."""
    if isinstance(cell, float):
        return None if math.isnan(cell) else round(cell, max(column.digits, 3))
    return cell


def _is_figure(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not math.isnan(cell)
