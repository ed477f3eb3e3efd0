"""A figure drawn when it is painted, so that its first frame already has the right size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.geometry import Size

from tuibench.tui.widgets.plot_view import PlotView
from tuibench.tui.widgets.row import Row, shown

Drawer = Callable[[int, int], Sequence[Row]]
"""Function that returns the rows of a figure for a width and a height."""


class FigureView(PlotView):
    """A plot view that sends nothing twice: neither an empty figure first nor one of a wrong size."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(focusable=False, id=id)
        self._drawer: Drawer | None = None
        self._drawn_for: Size | None = None

    def show_figure(self, drawer: Drawer) -> None:
        """Show the figure that `drawer` draws."""
        self._drawer = drawer
        self._drawn_for = None
        self.repaint()

    def row(self, y: int) -> Row:
        """Return a row of the figure, drawing it first if the size has changed."""
        size = self.size
        if self._drawer is not None and size != self._drawn_for:
            self._rows = tuple(shown(row) for row in self._drawer(*size))
            self._drawn_for = size
        return super().row(y)
