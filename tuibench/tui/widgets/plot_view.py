"""A figure drawn by `plots`; only changed lines are sent."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import Row, shown


class PlotView(Painted, can_focus=True):
    """Shows the rows of a figure and posts a message when its size changes."""

    class Resized(Message):
        """The view has a new size."""

        def __init__(self, view: PlotView, width: int, height: int) -> None:
            super().__init__()
            self.view = view
            self.width = width
            self.height = height

        @property
        def control(self) -> PlotView:
            """The view, for `@on` with a selector."""
            return self.view

        def can_replace(self, message: Message) -> bool:
            """Replace an unhandled older message: only the latest size counts."""
            return isinstance(message, PlotView.Resized) and message.view is self.view

    def __init__(
        self,
        rows: Sequence[Row] = (),
        *,
        focusable: bool = True,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.can_focus = focusable
        self._rows = tuple(shown(row) for row in rows)

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show the rows of a figure."""
        self._rows = tuple(shown(row) for row in rows)
        self.repaint()

    def row(self, y: int) -> Row:
        """Return a row of the figure."""
        return self._rows[y] if y < len(self._rows) else ()

    def on_resize(self, event: events.Resize) -> None:
        """Request a figure of this size."""
        self.post_message(self.Resized(self, event.size.width, event.size.height))
