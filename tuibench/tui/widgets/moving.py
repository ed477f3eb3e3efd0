"""Keys that move through more lines than fit, the same in every list and text."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType

from tuibench.tui.key import bindings
from tuibench.tui.widgets.painted import Painted


class Moving(Painted, can_focus=True):
    """A widget with a place in its lines; a subclass says what moving there means."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("move")
    WHEEL = 3

    @property
    def page(self) -> int:
        """Lines that are seen at once."""
        return max(self.size.height, 1)

    def move(self, by: int) -> None:
        """Go `by` lines down, or up where it is negative; as far as there are lines."""
        raise NotImplementedError

    def move_to_end(self, last: bool) -> None:
        """Go to the first line, or the last."""
        raise NotImplementedError

    def action_up(self) -> None:
        """One line up."""
        self.move(-1)

    def action_down(self) -> None:
        """One line down."""
        self.move(1)

    def action_page_up(self) -> None:
        """One page up, a line of the last one kept in sight."""
        self.move(-max(self.page - 1, 1))

    def action_page_down(self) -> None:
        """One page down, a line of the last one kept in sight."""
        self.move(max(self.page - 1, 1))

    def action_half_up(self) -> None:
        """Half a page up."""
        self.move(-max(self.page // 2, 1))

    def action_half_down(self) -> None:
        """Half a page down."""
        self.move(max(self.page // 2, 1))

    def action_first(self) -> None:
        """To the first line."""
        self.move_to_end(last=False)

    def action_last(self) -> None:
        """To the last line."""
        self.move_to_end(last=True)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel, where a mouse was asked for."""
        event.stop()
        self.move(self.WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel, where a mouse was asked for."""
        event.stop()
        self.move(-self.WHEEL)

    def on_focus(self) -> None:
        """What has the focus shows it."""
        self.repaint()

    def on_blur(self) -> None:
        """What has lost the focus shows it no longer."""
        self.repaint()
