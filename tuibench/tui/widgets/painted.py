"""The base of all widgets of ours: it compares with what is on the screen and sends only lines that differ.

Textual sends whole regions again, changed or not; over a slow link that is what makes a dashboard slow.
"""

from __future__ import annotations

from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget

from tuibench.tui.glyph import Glyphs, glyphs_of
from tuibench.tui.theme import style_of
from tuibench.tui.widgets.row import Row, changed_end, filled


class Painted(Widget):
    """A widget made of lines: a subclass says what is in each, and calls `repaint` when that may have changed."""

    ALLOW_SELECT = False
    # Looking for a link under the pointer repaints the widget at every move of it.
    auto_links: Reactive[bool] = Reactive(False)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes, markup=False)
        self._on_screen: dict[int, Row] = {}

    def row(self, y: int) -> Row:
        """Line `y` of the widget, safe to print; it is cut or filled to the width."""
        raise NotImplementedError

    @property
    def glyphs(self) -> Glyphs:
        """The signs that this terminal can show."""
        return glyphs_of(bool(getattr(self.app, "ascii_only", False)))

    def repaint(self) -> None:
        """Send the lines that differ from what is on the screen, each up to its last difference."""
        if not self.is_mounted:
            return
        regions = []
        for y in range(self.size.height):
            end = self.size.width
            if (old := self._on_screen.get(y)) is not None:
                end = changed_end(old, self._whole(y), self.size.width)
            if end:
                regions.append(Region(0, y, end, 1))
        if regions:
            self.refresh(*regions)

    def _whole(self, y: int) -> Row:
        return filled(self.row(y), self.size.width, self.glyphs.ellipsis)

    def render_line(self, y: int) -> Strip:
        """One line, remembered as what the terminal shows."""
        row = self._on_screen[y] = self._whole(y)
        base = self.visual_style.rich_style
        colour = not self.app.no_color
        return Strip([Segment(text, base + _style(name, colour)) for text, name in row], self.size.width)

    def notify_style_update(self) -> None:
        """What was painted had other colours."""
        self._on_screen.clear()
        super().notify_style_update()

    def render(self) -> Any:
        """Lines come from `row`; Textual asks for this where it wants a whole, as for a text to copy."""
        return ""


def _style(names: str, colour: bool) -> Style:
    """The styles of names with blanks between them, the later ones on top."""
    return Style.combine(style_of(name, colour) for name in names.split(" "))
