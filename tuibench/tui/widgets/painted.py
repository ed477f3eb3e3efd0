"""Base class of the dashboard's widgets: compares with the screen and sends only lines that differ.

Textual sends whole regions again, changed or not, which makes a dashboard slow over a slow link.
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
    """A widget made of lines: a subclass provides each line and calls `repaint` when one may have changed."""

    ALLOW_SELECT = False
    # Textual's search for a link under the pointer repaints the widget at every pointer move.
    auto_links: Reactive[bool] = Reactive(False)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes, markup=False)
        self._on_screen: dict[int, tuple[Row, Style]] = {}

    def row(self, y: int) -> Row:
        """Return line `y`, safe to print; it is cut or padded to the width."""
        raise NotImplementedError

    @property
    def glyphs(self) -> Glyphs:
        """The signs that this terminal can show."""
        return glyphs_of(bool(getattr(self.app, "ascii_only", False)))

    def legible(self, text: str) -> str:
        """Return the text in signs that this terminal can show; words of results contain others."""
        # Every painted text passes through here, so no widget can forget it.
        text = safe(text)
        return text if text.isascii() or not getattr(self.app, "ascii_only", False) else to_ascii(text)

    def legible_row(self, row: Row) -> Row:
        """Return a line in signs that this terminal can show; call it before layout, as a replacement may be wider."""
        return tuple((self.legible(text), style) for text, style in row)

    def repaint(self) -> None:
        """Send the lines that differ from the screen, each up to its last difference."""
        self.refresh()

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Repaint changed lines only; Textual's version sends the whole widget, also on each change of focus."""
        is_partial = bool(regions) or not repaint or layout or recompose
        if is_partial or not self.is_mounted or (self.size and not self._on_screen):
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        if not self.size:
            # Hidden: forget the painted lines, so that the widget does not return with them.
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
        """Return a line and remember it as the one on the terminal."""
        row, base = self._whole(y), self._base_style
        self._on_screen[y] = (row, base)
        colour = bool(getattr(self.app, "colour", True))
        return Strip([Segment(text, base + _style(name, colour)) for text, name in row], self.size.width)

    def render(self) -> Any:
        """Return nothing: lines come from `row`. Textual calls this for the widget as a whole, e.g. to copy text."""
        return ""


def _style(names: str, colour: bool) -> Style:
    """Combine the styles named in a blank-separated list; later ones win."""
    return Style.combine(style_of(name, colour) for name in names.split(" "))
