"""Keys that scroll or move a cursor, the same in every list and text."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType

from tuibench.tui.key import bindings
from tuibench.tui.widgets.painted import Painted


class Moving(Painted, can_focus=True):
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
