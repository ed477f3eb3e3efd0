"""A figure of one value per layer over the depth of the model, with a cursor that names its layer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from tuibench.present.plots.depth import Depth, draw_depth
from tuibench.present.plots.drawing import Row
from tuibench.present.profile.view import ProfileView
from tuibench.tui import key
from tuibench.tui.screens.profile.pane import ChoicePane
from tuibench.tui.widgets.row import shown
from tuibench.tui.widgets.text_block import Movable, TextBlock
from tuibench.tui.widgets.title_line import RuleLine, SelectorLine


class DepthFigure(Movable):
    """The plot; the keys of lists move its cursor."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("open")

    class Moved(Message):
        """Posted when the cursor moves to another layer."""

    class Opened(Message):
        """Posted on enter on a layer."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._depth = Depth("", (), ())
        self._rows: tuple[Row, ...] = ()
        self._drawn_for: object = None
        self.at = 0

    def show_depth(self, depth: Depth) -> None:
        """Show new values and keep the cursor on its layer."""
        held = self.under
        self._depth = replace(depth, title=self.legible(depth.title), empty=self.legible(depth.empty))
        self.at = depth.keys.index(held) if held in depth.keys else 0
        self._drawn_for = None
        self.move(0)

    @property
    def under(self) -> str:
        """Key of the layer under the cursor; '' if there is none."""
        return self._depth.keys[self.at] if self.at < len(self._depth.keys) else ""

    @property
    def page(self) -> int:
        """A tenth of all layers."""
        return max(len(self._depth.keys) // 10, 1) + 1

    def move(self, by: int) -> None:
        """Move the cursor by this many layers."""
        self.at = min(max(self.at + by, 0), max(len(self._depth.keys) - 1, 0))
        self.repaint()
        self.post_message(self.Moved())

    def move_to_end(self, last: bool) -> None:
        """Move to the first or last layer."""
        self.move(len(self._depth.keys) if last else -len(self._depth.keys))

    def action_open(self) -> None:
        """Open the layer under the cursor."""
        if self.under:
            self.post_message(self.Opened())

    def row(self, y: int) -> Row:
        """Return line `y` of the figure, which fills the widget."""
        wanted = (self.size, self.at)
        if self._depth.title and wanted != self._drawn_for:
            ascii_only = bool(getattr(self.app, "ascii_only", False))
            self._rows = draw_depth(self._depth, *self.size, cursor=self.at, ascii_only=ascii_only)
            self._drawn_for = wanted
        return shown(self._rows[y]) if y < len(self._rows) else ()


class DepthPane(ChoicePane):
    """The Depth tab: selectors, figure, and the layer under the cursor."""

    def __init__(self, view: ProfileView[Any], *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(view, id=id)
        self._depth: Depth | None = None

    def compose(self) -> ComposeResult:
        """Yield the selectors, the figure and the layer's lines."""
        yield SelectorLine(id="choices")
        yield RuleLine()
        yield DepthFigure(id="depth-figure")
        yield RuleLine()
        yield TextBlock(id="depth-layer")

    def on_mount(self) -> None:
        """Show the last choice."""
        self.update_choices()

    @property
    def figure(self) -> DepthFigure:
        """The plot."""
        return self.query_one(DepthFigure)

    def draw(self) -> None:
        """Draw the chosen values."""
        self._depth = self.view.depth(self.chosen_kind, self.chosen_display)
        self.figure.show_depth(self._depth)

    def on_depth_figure_moved(self, message: DepthFigure.Moved) -> None:
        """Show the layer under the cursor."""
        message.stop()
        depth, figure = self._depth, self.figure
        block = self.query_one("#depth-layer", TextBlock)
        if depth is None or not figure.under:
            block.show_lines(())
            return
        first = f" {figure.at + 1} of {len(depth.keys)}  {depth.texts[figure.at]}"
        block.show_lines([(first, "title"), *self.view.brief(self.view.row(figure.under))[:2]])

    def on_depth_figure_opened(self, message: DepthFigure.Opened) -> None:
        """Show all facts of the layer."""
        message.stop()
        self.open_layer(self.figure.under)
