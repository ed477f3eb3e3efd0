"""The base of all widgets of ours: it compares with what is on the screen and sends only lines that differ.

Textual sends whole regions again, changed or not; over a slow link that is what makes a dashboard slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget

from tuibench.report.style import to_ascii
from tuibench.tui.glyph import Glyphs, glyphs_of
from tuibench.tui.theme import style_of
from tuibench.tui.widgets.calm import Steady
from tuibench.tui.widgets.row import Row, changed_end, filled, safe


class Painted(Steady, Widget):
    """A widget made of lines: a subclass says what is in each, and calls `repaint` when that may have changed."""

    ALLOW_SELECT = False
    # Looking for a link under the pointer repaints the widget at every move of it.
    auto_links: Reactive[bool] = Reactive(False)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes, markup=False)
        self._on_screen: dict[int, tuple[Row, Style]] = {}

    def row(self, y: int) -> Row:
        """Line `y` of the widget, safe to print; it is cut or filled to the width."""
        raise NotImplementedError

    @property
    def glyphs(self) -> Glyphs:
        """The signs that this terminal can show."""
        return glyphs_of(bool(getattr(self.app, "ascii_only", False)))

    def legible(self, text: str) -> str:
        """The text in the signs that this terminal can show: words of results have some that not all can."""
        # Everything painted comes through here, so that no widget can forget it.
        text = safe(text)
        return text if text.isascii() or not getattr(self.app, "ascii_only", False) else to_ascii(text)

    def legible_row(self, row: Row) -> Row:
        """The same for a line, to be done before it is laid out: what stands for a sign can be wider than it."""
        return tuple((self.legible(text), style) for text, style in row)

    def repaint(self) -> None:
        """Send the lines that differ from what is on the screen, each up to its last difference."""
        self.refresh()

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Textual's, which sends all of a widget, as it does for each that gets or loses the focus."""
        is_partial = bool(regions) or not repaint or layout or recompose
        if is_partial or not self.is_mounted or (self.size and not self._on_screen):
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        if not self.size:
            # Not shown: it must not come back with the lines it had, and what is shown has not changed.
            self._styles_cache.clear()
            return self
        changed = list(self._changed_regions())
        return super().refresh(*changed) if changed else self

    def _changed_regions(self) -> Iterator[Region]:
        width, base = self.size.width, self._base_style
        for y in range(self.size.height):
            row, style = self._on_screen.get(y, (None, None))
            end = width if row is None or style != base else changed_end(row, self._whole(y), width)
            if end:
                yield Region(0, y, end, 1)

    @property
    def _base_style(self) -> Style:
        return self.visual_style.rich_style

    def _whole(self, y: int) -> Row:
        return filled(self.legible_row(self.row(y)), self.size.width, self.glyphs.ellipsis)

    def render_line(self, y: int) -> Strip:
        """One line, remembered as what the terminal shows."""
        row, base = self._whole(y), self._base_style
        self._on_screen[y] = (row, base)
        colour = bool(getattr(self.app, "colour", True))
        return Strip([Segment(text, base + _style(name, colour)) for text, name in row], self.size.width)

    def render(self) -> Any:
        """Lines come from `row`; Textual asks for this where it wants a whole, as for a text to copy."""
        return ""


def _style(names: str, colour: bool) -> Style:
    """The styles of names with blanks between them, the later ones on top."""
    return Style.combine(style_of(name, colour) for name in names.split(" "))
