"""What is asked before something happens: one line at the bottom, so that what it is about stays in sight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen, Screen

from tuibench.tui.key import bindings
from tuibench.tui.widgets.calm import Calm
from tuibench.tui.widgets.row import LineLike
from tuibench.tui.widgets.status_line import StatusLine
from tuibench.tui.widgets.text_block import ScrollBlock
from tuibench.tui.widgets.title_line import RuleLine, TitleLine


def ask(screen: Screen[Any], text: str, answers: Mapping[str, str], then: Callable[[str], None]) -> None:
    """Ask in the screen's own line of news, which costs some hundred bytes; a screen of its own would cost all of it.

    `answers` are single characters to words; `then` gets the one that was pressed, '' for escape.
    """
    lines = screen.query(StatusLine)
    if lines:
        lines.first().ask(text, answers, then)
    else:
        screen.app.push_screen(Question(text, answers), lambda answer: then(answer or ""))


class Question(Calm, ModalScreen[str]):
    """Asks over any screen; the result is the key that was pressed, '' for escape."""

    DEFAULT_CSS = """
    Question { background: transparent; }
    Question StatusLine { dock: bottom; }
    """

    def __init__(self, text: str, answers: Mapping[str, str]) -> None:
        """`answers` are single characters to words, such as y to "remove"; case counts."""
        super().__init__()
        self._text = text
        self._answers = dict(answers)

    def compose(self) -> ComposeResult:
        """One line."""
        yield StatusLine()

    def on_mount(self) -> None:
        """Ask."""
        self.query_one(StatusLine).ask(self._text, self._answers, self.dismiss)


class Notice(Calm, ModalScreen[None]):
    """More than a line, to be read and closed."""

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
        """A title and the lines."""
        yield RuleLine()
        yield TitleLine((self._heading, "title"), ("esc back ", "dim"))
        yield ScrollBlock(self._lines, wrap=True)

    def show(self, lines: Iterable[LineLike]) -> None:
        """Other lines, as many as there are; those that come before it is composed are what it begins with."""
        self._lines = list(lines)
        for block in self.query(ScrollBlock):
            block.show_lines(self._lines)
            block.refresh(layout=True)

    def action_back(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)
