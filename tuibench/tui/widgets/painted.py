"""Base class of the dashboard's widgets: compares with the screen and sends only lines that differ.

Textual sends whole regions again, changed or not, which makes a dashboard slow over a slow link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import dropwhile
from typing import Any, Self, cast

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tuibench.present.plots.drawing import Row, filled
from tuibench.present.table import to_ascii
from tuibench.tui.glyph import Glyphs, glyphs_of, style_of
from tuibench.tui.widgets.row import changed_end, safe, shown


class QuietScreen:
    """First base class of a screen: moving the focus repaints only the two widgets involved.

    Can be removed once setting `Screen.focused` no longer repaints the screen. Both widgets receive an event and
    repaint themselves.
    """

    # Textual declares it with repaint=True: each tab key would send the whole screen, 5 to 9 kB.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def _compositor_refresh(self) -> None:
        """Skip painting a covered screen; not needed once `App._background_screens` stops at an opaque screen on top.

        Textual checks only the screens below for transparency, so the next one below is painted behind any page
        (Textual's pull requests 3062 and 6307, made for modal screens).
        """
        # Covering a screen marks it for painting. The paint runs 1/60 s later and would make the covering screen paint
        # again. The covered screen is painted when it returns.
        me = cast("Screen[object]", self)
        above = list(dropwhile(lambda one: one is not me, me.app.screen_stack))[1:]
        if all(one.is_modal for one in above):
            super()._compositor_refresh()  # type: ignore[misc]


class QuietWidget:
    """First base class of a widget: a new size does not send again what the layout has just painted.

    Can be removed once `Widget._size_updated` no longer marks the whole widget for painting after a layout.
    """

    # Not a Widget subclass: Textual takes the default CSS of the first base that is one.
    _size: Size
    _repaint_regions: set[Region]

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        is_new = self._size != size
        changed: bool = super()._size_updated(size, virtual_size, container_size, layout)  # type: ignore[misc]
        if is_new:
            # The layout that set the size paints the whole widget; Textual requests the same paint again.
            self._repaint_regions.clear()
            # Textual sends no Resize to a widget whose region was read between its creation and its first layout:
            # fields were painted without their right ends. A duplicate Resize replaces the first.
            self.post_message(events.Resize(size, virtual_size, container_size))  # type: ignore[attr-defined]
        return changed


class QuietContainer(QuietWidget):
    """First base class of a container that paints nothing itself: a change of it does not repaint its children.

    The layout repaints what a shrinking or removed child leaves behind. Can be removed once a container's refresh does
    not repaint its children.
    """

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Request a layout if asked for; never repaint."""
        refreshed: Self = super().refresh(*regions, repaint=False, layout=layout, recompose=recompose)  # type: ignore[misc]
        return refreshed


class Painted(QuietWidget, Widget):
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


Drawer = Callable[[int, int], Sequence[Row]]
"""Function that returns the rows of a figure for a width and a height."""


class FigureView(Painted):
    """Draws its figure once per size; only changed lines are sent."""

    _drawer: Drawer | None = None
    _drawn_for: Size | None = None
    _rows: tuple[Row, ...] = ()

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
        return self._rows[y] if y < len(self._rows) else ()
