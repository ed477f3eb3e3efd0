"""Blocks of text: one as high as its lines, one scrolled by keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message

from tuibench.present.plots.drawing import Row, wrapped
from tuibench.tui.key import bindings
from tuibench.tui.widgets.painted import LineLike, Painted, shown


class Movable(Painted, can_focus=True):
    """A focusable widget with a position in its lines; a subclass implements the moves."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("move")
    WHEEL = 3

    @property
    def page(self) -> int:
        """Number of lines visible at once."""
        return max(self.size.height, 1)

    def move(self, by: int) -> None:
        """Move `by` lines down, or up if negative; stop at the first or last line."""
        raise NotImplementedError

    def move_to_end(self, last: bool) -> None:
        """Move to the first or the last line."""
        raise NotImplementedError

    def action_up(self) -> None:
        """Move one line up."""
        self.move(-1)

    def action_down(self) -> None:
        """Move one line down."""
        self.move(1)

    def action_page_up(self) -> None:
        """Move one page up, with one line of overlap."""
        self.move(-max(self.page - 1, 1))

    def action_page_down(self) -> None:
        """Move one page down, with one line of overlap."""
        self.move(max(self.page - 1, 1))

    def action_half_up(self) -> None:
        """Move half a page up."""
        self.move(-max(self.page // 2, 1))

    def action_half_down(self) -> None:
        """Move half a page down."""
        self.move(max(self.page // 2, 1))

    def action_first(self) -> None:
        """Move to the first line."""
        self.move_to_end(last=False)

    def action_last(self) -> None:
        """Move to the last line."""
        self.move_to_end(last=True)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Handle the mouse wheel, if the mouse is enabled."""
        event.stop()
        self.move(self.WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Handle the mouse wheel, if the mouse is enabled."""
        event.stop()
        self.move(-self.WHEEL)

    def on_focus(self) -> None:
        """Repaint with the focus sign."""
        self.repaint()

    def on_blur(self) -> None:
        """Repaint without the focus sign."""
        self.repaint()


class CursorList(Movable):
    """Items with a cursor that `enter` opens; a subclass paints them and gives their number."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("open")

    class Moved(Message):
        """Another item is under the cursor."""

    class Opened(Message):
        """Enter was pressed on an item."""

    at = 0
    """Index of the item under the cursor."""
    _first = 0
    """Index of the first visible item."""

    @property
    def count(self) -> int:
        """Number of items."""
        raise NotImplementedError

    @property
    def room(self) -> int:
        """Number of items visible at once."""
        return self.page

    def move(self, by: int) -> None:
        """Move the cursor by this many items."""
        before, self.at = self.at, min(max(self.at + by, 0), max(self.count - 1, 0))
        self.follow()
        self.repaint()
        if self.at != before:
            self.post_message(self.Moved())

    def follow(self) -> None:
        """Keep the cursor visible, and no empty room below the last item."""
        first = min(self._first, max(self.count - self.room, 0))
        self._first = min(max(first, self.at - self.room + 1), self.at)

    def move_to_end(self, last: bool) -> None:
        """Move the cursor to the first or the last item."""
        self.move(self.count if last else -self.count)

    def action_open(self) -> None:
        """Post Opened for the item under the cursor."""
        if self.count:
            self.post_message(self.Opened())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable `open` if there are no items."""
        return bool(self.count) if action == "open" else True


class TextBlock(Painted):
    """Lines cut at the widget's width and height."""

    DEFAULT_CSS = "TextBlock { height: auto; }"

    def __init__(
        self,
        lines: Iterable[LineLike] = (),
        **attributes: str | None,
    ) -> None:
        super().__init__(**attributes)
        self._rows = _rows(lines)

    def show_lines(self, lines: Iterable[LineLike]) -> None:
        """Show these lines."""
        before, self._rows = len(self._rows), _rows(lines)
        if len(self._rows) != before and self.styles.is_auto_height:
            self.refresh(layout=True)
        self.repaint()

    def row(self, y: int) -> Row:
        """Return line `y`."""
        return self._rows[y] if y < len(self._rows) else ()

    def get_content_height(self, *_: object) -> int:
        """Return the number of lines."""
        return len(self._rows)


class ScrollBlock(Movable):
    """Lines scrolled with the page keys: logs, help, facts."""

    def __init__(
        self,
        lines: Iterable[LineLike] = (),
        *,
        wrap: bool = False,
        follow: bool = False,
        **attributes: str | None,
    ) -> None:
        """`wrap` breaks long lines instead of cutting them; `follow` keeps the end visible until the user scrolls."""
        super().__init__(**attributes)
        self._wrap = wrap
        self._follows = follow
        self._at_end = follow
        self._given = _rows(lines)
        self._rows = self._given
        self._rows_width = -1
        self._first = 0

    def show_lines(self, lines: Iterable[LineLike]) -> None:
        """Show these lines; keep the scroll position, or the end if it is followed."""
        self._given = _rows(lines)
        self._rows_width = -1
        self._set_first(self._most if self._at_end else self._first)

    @property
    def first(self) -> int:
        """Number of lines above the visible ones."""
        return self._first

    @property
    def position(self) -> str:
        """The scroll position in words, such as 12-31 of 40; '' if all lines are visible."""
        total = len(self._laid_out())
        if total <= self.page:
            return ""
        return f"{self._first + 1}-{min(self._first + self.page, total)} of {total}"

    @property
    def _most(self) -> int:
        return max(len(self._laid_out()) - self.page, 0)

    def move(self, by: int) -> None:
        """Scroll by lines."""
        self._set_first(self._first + by)
        self._at_end = self._follows and self._first == self._most

    def move_to_end(self, last: bool) -> None:
        """Scroll to the first or the last line."""
        self.move(len(self._laid_out()) if last else -len(self._laid_out()))

    def _set_first(self, first: int) -> None:
        self._first = max(min(first, self._most), 0)
        self.repaint()

    def _laid_out(self) -> Sequence[Row]:
        width = self.size.width
        if not self._wrap or not width:
            self._rows = self._given
        elif self._rows_width != width:
            self._rows = [part for row in self._given for part in wrapped(self.legible_row(row), width)]
            self._rows_width = width
        return self._rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines at that width, used if the height is automatic."""
        return len(
            [part for row in self._given for part in (wrapped(self.legible_row(row), width) if self._wrap else [row])]
        )

    def row(self, y: int) -> Row:
        """Return line `y` of the visible part."""
        rows = self._laid_out()
        return rows[self._first + y] if self._first + y < len(rows) else ()

    def on_resize(self) -> None:
        """Keep the scroll position as far as there are lines."""
        self._set_first(self._most if self._at_end else self._first)


def _rows(lines: Iterable[LineLike]) -> Sequence[Row]:
    return [shown(line) for line in lines]
