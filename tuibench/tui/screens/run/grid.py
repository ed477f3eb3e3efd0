"""Grid of the cells of a run: its plan, and the widget with a cursor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from tuibench.core.cell import MAIN_NUMBERS, Asked, CellResult
from tuibench.core.label import name_cell, varying_axes
from tuibench.core.scenario import find
from tuibench.core.text import fit, show, width_of
from tuibench.core.units import count_of
from tuibench.present.plots.drawing import Row, Span, wrapped
from tuibench.tui import key
from tuibench.tui.widgets.painted import LineLike, shown
from tuibench.tui.widgets.text_block import Movable

Column = tuple[int | None, tuple[tuple[str, int], ...]]
"""Batch and dims."""
_OF_SIDES = ("model", "engine", "scenario", "precision", "pin", "options")


@dataclass(frozen=True, slots=True)
class GridLine:
    """One line of cells with the same core count: one key per column, '' if nothing is planned."""

    label: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One series: cells with equal settings except cores, batch and shape."""

    title: str
    """Includes the unit of its numbers."""
    lines: tuple[GridLine, ...]


@dataclass(frozen=True)
class GridPlan:
    """The position of each cell."""

    columns: tuple[str, ...]
    blocks: tuple[Block, ...]

    @cached_property
    def lines(self) -> tuple[GridLine, ...]:
        """The lines of all blocks, from the top."""
        return tuple(line for block in self.blocks for line in block.lines)


def plan_grid(cells: Sequence[CellResult], names: Mapping[str, str]) -> GridPlan:
    """Plan the grid; `names` are the models' names by sha256, and cells are in planned order."""
    columns = list(dict.fromkeys(_column(cell.asked) for cell in cells))
    columns.sort(key=lambda column: (column[0] or 0, column[1]))
    sides: dict[tuple[object, ...], dict[int, dict[Column, str]]] = {}
    first: dict[tuple[object, ...], Asked] = {}
    for cell in cells:
        side = _side(cell.asked)
        first.setdefault(side, cell.asked)
        sides.setdefault(side, {}).setdefault(cell.asked.cores, {})[_column(cell.asked)] = cell.key
    axes = tuple(axis for axis in varying_axes(cell.asked for cell in cells) if axis in _OF_SIDES)
    blocks = tuple(
        Block(
            _title(first[side], axes, names),
            tuple(
                GridLine(count_of(cores, "core"), tuple(line.get(column, "") for column in columns))
                for cores, line in sorted(lines.items())
            ),
        )
        for side, lines in sides.items()
    )
    several = len({dims for _, dims in columns}) > 1
    return GridPlan(tuple(_heading(column, several) for column in columns), _numbered(blocks))


def _numbered(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Number the blocks if there are several, because not all may be visible."""
    many = len(blocks)
    if many < 2:
        return blocks
    return tuple(replace(block, title=f"{block.title} ({n} of {many})") for n, block in enumerate(blocks, 1))


def _side(asked: Asked) -> tuple[object, ...]:
    options = tuple(sorted(asked.options.items()))
    return asked.engine, asked.model_sha256, asked.version, asked.scenario, asked.precision, asked.pin, options


def _column(asked: Asked) -> Column:
    return asked.batch, tuple(sorted(asked.dims.items()))


def _title(asked: Asked, axes: tuple[str, ...], names: Mapping[str, str]) -> str:
    """Return the distinguishing settings; always with the scenario, which determines the unit."""
    name = name_cell(asked, axes, model=names.get(asked.model_sha256, ""), sizes=False)
    return f"{name}, {MAIN_NUMBERS[find(asked.scenario).metric].title}"


def _heading(column: Column, several: bool) -> str:
    batch, dims = column
    words = [f"batch {batch}"] if batch is not None else ["no batch"]
    words += [f"{show(name, 12)}={size}" for name, size in dims] if several else []
    return " ".join(words)


_LABEL = 11
_NARROWEST, _WIDEST, _MAX_NAME_WIDTH = 15, 30, 24


class CellGrid(Movable):
    """A grid that scrolls in both directions to keep the cursor and the title of its side in view."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("open", only=("previous-value", "next-value", "side"))

    class Moved(Message):
        """The cursor moved to another cell."""

        def can_replace(self, message: Message) -> bool:
            """Replace an unhandled older message: a held key posts many, and only the last counts."""
            return isinstance(message, CellGrid.Moved)

    class Opened(Message):
        """Enter was pressed; `key` is '' in an empty grid."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, **attributes: str | None) -> None:
        super().__init__(**attributes)
        self._plan = GridPlan((), ())
        self._cells: Mapping[str, Span] = {}
        self._rows: tuple[int | str, ...] = ()
        """Content of each row: the number of a line, or the title of a block."""
        self._line = 0
        self._column = 0
        self._top = 0
        self._first = 0
        self._message: tuple[LineLike, ...] = ()
        self._width, self._seen = _NARROWEST, 1
        """Width of a column, and the number of columns that fit."""

    def show_cells(
        self, plan: GridPlan, cells: Mapping[str, Span], message: Sequence[LineLike] = (), cursor: str = ""
    ) -> None:
        """Show cells by key; `message` is shown without a plan; `cursor` names the cell to move to, if any."""
        if plan is not self._plan:
            self._plan, self._rows = plan, tuple(_rows(plan))
            self._line = min(self._line, max(len(plan.lines) - 1, 0))
            self._column = min(self._column, max(len(plan.columns) - 1, 0))
            self._measure()
        if cursor and cursor != self.cursor_key:
            self._go_to(cursor)
        self._cells, self._message = cells, tuple(message)
        self.repaint()

    @property
    def cursor_key(self) -> str:
        """The cell under the cursor; '' in an empty grid."""
        lines = self._plan.lines
        return lines[self._line].keys[self._column] if lines and self._plan.columns else ""

    def _go_to(self, wanted: str) -> None:
        for at, line in enumerate(self._plan.lines):
            if wanted in line.keys:
                self._line, self._column = at, line.keys.index(wanted)
                self._follow()

    # Cursor

    @property
    def page(self) -> int:
        """Number of lines visible at once."""
        return max(self.size.height - 2, 1)

    def move(self, by: int) -> None:
        """Move the cursor up or down."""
        self._line = min(max(self._line + by, 0), max(len(self._plan.lines) - 1, 0))
        self._moved()

    def move_to_end(self, last: bool) -> None:
        """Move the cursor to the first or the last line."""
        self.move(len(self._plan.lines) if last else -len(self._plan.lines))

    def action_previous_value(self) -> None:
        """Move the cursor one column to the left."""
        self._column = max(self._column - 1, 0)
        self._moved()

    def action_next_value(self) -> None:
        """Move the cursor one column to the right."""
        self._column = min(self._column + 1, max(len(self._plan.columns) - 1, 0))
        self._moved()

    def action_side(self) -> None:
        """Move the cursor to the first line of the next side; after the last side, of the first."""
        starts = [0]
        for block in self._plan.blocks:
            starts.append(starts[-1] + len(block.lines))
        self._line = next((start for start in starts[:-1] if start > self._line), 0)
        self._moved()

    def action_open(self) -> None:
        """Post Opened for the cell under the cursor."""
        self.post_message(self.Opened(self.cursor_key))

    def _moved(self) -> None:
        self._follow()
        self.repaint()
        self.post_message(self.Moved())

    @property
    def _height(self) -> int:
        """Rows below the column names; 1 if the widget has a single row, which is then the cursor's."""
        return max(self.size.height - 1, 1)

    def _follow(self) -> None:
        height = self._height
        at = next((n for n, found in enumerate(self._rows) if found == self._line), 0)
        # Keep the row above the cursor visible: it shows the title of the cursor's side.
        margin = 1 if height > 1 else 0
        if at - margin < self._top:
            self._top = max(at - margin, 0)
        elif at >= self._top + height:
            self._top = at - height + 1
        self._top = max(min(self._top, len(self._rows) - height), 0)
        seen = self._seen
        if self._column < self._first:
            self._first = self._column
        elif self._column >= self._first + seen:
            self._first = self._column - seen + 1
        self._first = max(min(self._first, len(self._plan.columns) - seen), 0)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._measure()
        self.repaint()

    # Painting

    def _measure(self) -> None:
        """Choose the width of the columns and how many fit."""
        room = self.size.width - _LABEL - 1
        longest = max((width_of(name) for name in self._plan.columns), default=0)
        narrowest = max(_NARROWEST, min(longest + 2, _MAX_NAME_WIDTH))
        self._width = min(max(room // max(len(self._plan.columns), 1) - 1, narrowest), _WIDEST)
        self._seen = max(room // (self._width + 1), 1)
        self._follow()

    def row(self, y: int) -> Row:
        """Return the column names, a title or a line of cells."""
        if not self._rows:
            return self._message_row(y)
        if self.size.height == 1:
            return self._cells_row(self._line)
        if y == 0:
            return self._headings()
        at = self._top + y - 1
        if at >= len(self._rows):
            return ()
        found = self._rows[at]
        # Repeat the title of a side whose own title is scrolled out of view.
        if y == 1 and self._height > 1 and not isinstance(found, str):
            found = next(title for title in reversed(self._rows[:at]) if isinstance(title, str))
        return ((f" {show(found, 200)}", "title"),) if isinstance(found, str) else self._cells_row(found)

    def _message_row(self, y: int) -> Row:
        width = max(self.size.width - 2, 1)
        rows = [part for line in self._message for part in wrapped(self.legible_row(shown(line)), width)]
        return ((" ", ""), *rows[y]) if y < len(rows) else ()

    def _headings(self) -> Row:
        width, glyphs = self._width, self.glyphs
        last = self._first + self._seen
        row: list[Span] = [(" " * _LABEL + (glyphs.before if self._first else " "), "dim")]
        names = self._plan.columns[self._first : last]
        row += [(fit(" " + show(name, 60), width, glyphs.ellipsis) + " ", "dim") for name in names]
        return (*row, (glyphs.after if last < len(self._plan.columns) else "", "dim"))

    def _cells_row(self, at: int) -> Row:
        line, glyphs, width = self._plan.lines[at], self.glyphs, self._width
        row: list[Span] = [(fit(line.label, _LABEL, glyphs.ellipsis, right=True) + " ", "dim")]
        last = min(self._first + self._seen, len(line.keys))
        # The reason of a failed cell may extend to the edge if no other cell is in its way.
        spare = self.size.width - _LABEL - 1 - (last - self._first) * (width + 1)
        for n, one in enumerate(line.keys[self._first : last], self._first):
            text, style = self._cells.get(one, ("", "")) if one else ("", "")
            here = at == self._line and n == self._column
            sign = glyphs.cursor if here else " "
            room = width + (max(spare, 0) if n == last - 1 else 0)
            cell = fit(self.legible(f"{sign}{show(text, 200)}"), room, glyphs.ellipsis)
            marked = f"{style} cursor".strip() if here and self.has_focus else style
            row += [(cell[:width], marked), (cell[width:] + " ", style)]
        return tuple(row)


def _rows(plan: GridPlan) -> Sequence[int | str]:
    rows: list[int | str] = []
    number = 0
    for block in plan.blocks:
        rows.append(block.title)
        rows += range(number, number + len(block.lines))
        number += len(block.lines)
    return rows
