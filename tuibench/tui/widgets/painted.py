"""Signs, styles, lines of spans, and the base classes of widgets that send only lines that differ.

Textual sends whole regions again, changed or not, which makes a dashboard slow over a slow link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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

from tuibench.core.text import show, to_ascii
from tuibench.present.plots.drawing import Row, Span, filled


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of signs; every state has its own sign, so that none depends on colour alone."""

    running: str
    waiting: str
    failed: str
    interrupted: str
    differs: str
    done: str
    cursor: str
    mark: str
    rule: str
    upright: str
    times: str
    plus_minus: str
    dot: str
    chosen: str
    open_choice: str
    ticked: str
    open_tick: str
    before: str
    after: str
    ellipsis: str
    place: str
    """Separates the parts of a title."""
    enter: str
    micro: str
    to: str


UNICODE = Glyphs(
    running="▶", waiting="…", failed="✗", interrupted="‖", differs="!", done=" ", cursor=">", mark="*", rule="─",
    upright="│", times="×", plus_minus="±", dot="·", chosen="(•)", open_choice="( )", ticked="[x]", open_tick="[ ]",
    before="‹", after="›", ellipsis="…", place="›", enter="⏎", micro="µ", to="→",
)  # fmt: skip
ASCII = Glyphs(
    running="R", waiting="~", failed="X", interrupted="#", differs="!", done=" ", cursor=">", mark="*", rule="-",
    upright="|", times="x", plus_minus="+-", dot="|", chosen="(o)", open_choice="( )", ticked="[x]", open_tick="[ ]",
    before="<", after=">", ellipsis="~", place=">", enter="enter", micro="u", to="->",
)  # fmt: skip


def glyphs_of(ascii_only: bool) -> Glyphs:
    """Return the set that the terminal can show."""
    return ASCII if ascii_only else UNICODE


STYLES: dict[str, str] = {
    "": "",
    "title": "bold",
    "key": "bold",
    "dim": "dim",
    "ok": "green",
    "warn": "yellow",
    "bad": "red bold",
    "accent": "cyan",
    "mark": "bold",
    "cursor": "reverse",
    "axis": "dim",
    "ideal": "dim",
    "series-1": "cyan",
    "series-2": "magenta",
    "series-3": "yellow",
    "good": "green",
}
"""Name to Rich style; no meaning depends on colour alone."""

_WITHOUT_COLOUR = {"ok": "", "warn": "bold", "bad": "bold", "accent": "", "good": "", "series-1": "", "series-2": ""}


def style_of(name: str, colour: bool = True) -> Style:
    """Return the style of that name; without colour, only bold, dim and reverse."""
    text = STYLES[name] if colour else _WITHOUT_COLOUR.get(name, "" if name == "series-3" else STYLES[name])
    return Style.parse(text) if text else Style.null()


LineLike = str | Span | Sequence[Span]
"""A line as screens pass it: a text, a text with a style, or a sequence of those."""

_UNCERTAIN = {0x200D: None, 0xFE0E: None, 0xFE0F: None}
_MAX_CHARS = 1000
"""Wider than any terminal; limits the work for a name of a megabyte."""


def safe(text: str, limit: int = _MAX_CHARS) -> str:
    """Return the text with terminal control characters made visible and with the same width on every terminal.

    Terminals differ on joined emoji and on signs with a wide variant; without the joiners and selectors they agree.
    """
    shown_text = show(text, limit)
    return shown_text if shown_text.isascii() else shown_text.translate(_UNCERTAIN)


def shown(line: LineLike) -> Row:
    """Convert to a row that is safe to print."""
    if isinstance(line, str):
        return ((safe(line), ""),)
    if len(line) == 2 and isinstance(line[0], str) and isinstance(line[1], str):
        return ((safe(line[0]), line[1]),)
    return tuple((safe(text), style) for text, style in cast(Sequence[Span], line))


def changed_end(old: Row, new: Row, width: int) -> int:
    """Return the column after the last difference between two rows of `width` columns; 0 if they are equal."""
    if old == new:
        return 0
    texts = ["".join(text for text, _ in row) for row in (old, new)]
    if not all(text.isascii() for text in texts):
        # A combining mark belongs to the column of the letter before it.
        return width
    cells = [[(char, style) for text, style in row for char in text] for row in (old, new)]
    end = width
    while end and cells[0][end - 1 : end] == cells[1][end - 1 : end]:
        end -= 1
    return end


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
