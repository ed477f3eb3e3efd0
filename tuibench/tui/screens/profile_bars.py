"""A scrollable list of bars with a cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from tuibench.plots.bar import draw_bars
from tuibench.tui import key
from tuibench.tui.widgets.moving import Moving
from tuibench.tui.widgets.row import Row, shown, wrapped

_SIGN = 2


class BarList(Moving):
    """One bar per line; enter opens the bar under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("open")

    class Opened(Message):
        """Posted on enter; carries the bar's label."""

        def __init__(self, label: str) -> None:
            super().__init__()
            self.label = label

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._bars: tuple[tuple[str, float, str], ...] = ()
        self._empty: tuple[str, ...] = ()
        self._drawn: tuple[Row, ...] = ()
        self._drawn_for = -1
        self._first = 0
        self._at = 0

    def show_bars(self, bars: Sequence[tuple[str, float, str]], empty: Sequence[str] = ()) -> None:
        """Show these bars and keep the cursor on its label, else at the top; show `empty` if there are none."""
        held = self.label if self._at else ""
        self._bars, self._empty = tuple(bars), tuple(empty)
        self._at = next((n for n, bar in enumerate(self._bars) if bar[0] == held), 0)
        self._drawn_for = -1
        self.move(0)

    @property
    def label(self) -> str:
        """Label of the bar under the cursor; '' if there is none."""
        return self._bars[self._at][0] if self._at < len(self._bars) else ""

    def move(self, by: int) -> None:
        """Move the cursor by this many bars."""
        self._at = min(max(self._at + by, 0), max(len(self._bars) - 1, 0))
        # Scroll back while there is empty room below the last bar.
        first = min(self._first, max(len(self._bars) - self.page, 0))
        self._first = min(max(first, self._at - self.page + 1), self._at)
        self.repaint()

    def move_to_end(self, last: bool) -> None:
        """Move to the first or last bar."""
        self.move(len(self._bars) if last else -len(self._bars))

    def action_open(self) -> None:
        """Open the bar under the cursor."""
        if self._bars:
            self.post_message(self.Opened(self.label))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable `open` if there are no bars."""
        return bool(self._bars) if action == "open" else True

    def on_resize(self) -> None:
        """Keep the cursor visible."""
        self.move(0)

    def row(self, y: int) -> Row:
        """Return line `y` of the visible bars."""
        width = self.size.width
        if self._drawn_for != width:
            self._drawn_for = width
            self._drawn = self._draw(width)
        at = self._first + y
        if at >= len(self._drawn):
            return ()
        row = self._drawn[at]
        if not self._bars:
            return row
        here = at == self._at
        lit = " cursor" if here and self.has_focus else ""
        sign = self.glyphs.cursor if here else " "
        name, *rest = row
        return ((f"{sign} ", ""), (name[0], f"{name[1]}{lit}".strip()), *rest)

    def _draw(self, width: int) -> tuple[Row, ...]:
        if not self._bars:
            return tuple(part for line in self._empty for part in wrapped(shown(f" {line}"), max(width, 1)))
        bars = [(self.legible(label), length, self.legible(text)) for label, length, text in self._bars]
        rows = draw_bars(bars, max(width - _SIGN, 1), bool(getattr(self.app, "ascii_only", False)))
        return tuple(tuple((text, "" if style == "plain" else style) for text, style in row) for row in rows)
