"""Questions asked before an action, in one line at the bottom, so that their subject stays visible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen, Screen

from tuibench.tui.key import bindings
from tuibench.tui.widgets.painted import QuietScreen
from tuibench.tui.widgets.row import LineLike
from tuibench.tui.widgets.status_line import StatusLine
from tuibench.tui.widgets.text_block import ScrollBlock
from tuibench.tui.widgets.title_line import RuleLine, TitleLine


def ask(screen: Screen[Any], text: str, answers: Mapping[str, str], then: Callable[[str], None]) -> None:
    """Ask in the screen's status line, which sends some hundred bytes; a separate screen would send all of it.

    `answers` maps single characters to words; `then` gets the character pressed, '' for escape.
    """
    screen.query_one(StatusLine).ask(text, answers, then)


class Notice(QuietScreen, ModalScreen[None]):
    """A text of several lines that the user reads and closes."""

    DEFAULT_CSS = """
    Notice { background: transparent; align: center bottom; }
    Notice TitleLine, Notice RuleLine { dock: none; }
    Notice ScrollBlock { height: auto; max-height: 70%; }
    """
    AUTO_FOCUS = "ScrollBlock"
    BINDINGS: ClassVar[list[BindingType]] = bindings(only=("back", "leave"))

    def __init__(self, title: str, lines: Iterable[LineLike]) -> None:
        super().__init__()
        self._heading = title
        self._lines = list(lines)

    def compose(self) -> ComposeResult:
        """Yield a title and the lines."""
        yield RuleLine()
        yield TitleLine((self._heading, "title"), ("esc back ", "dim"))
        yield ScrollBlock(self._lines, wrap=True)

    def show(self, lines: Iterable[LineLike]) -> None:
        """Replace the lines; may be called before compose."""
        self._lines = list(lines)
        for block in self.query(ScrollBlock):
            block.show_lines(self._lines)
            block.refresh(layout=True)

    def action_back(self) -> None:
        """Close the notice."""
        self.dismiss(None)

    def action_leave(self) -> None:
        """Close the notice."""
        self.dismiss(None)
