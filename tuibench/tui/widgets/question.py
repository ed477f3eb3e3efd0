"""What is asked before something happens: one line at the bottom, so that what it is about stays in sight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen, Screen

from tuibench.tui.key import bindings
from tuibench.tui.widgets.calm import Calm
from tuibench.tui.widgets.record_table import Column, Line, RecordTable
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

    def action_back(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)


class ChoiceQuestion(Calm, ModalScreen[str]):
    """One of several; the result is its key, '' for escape."""

    DEFAULT_CSS = """
    ChoiceQuestion { background: transparent; align: center bottom; }
    ChoiceQuestion RecordTable { height: auto; max-height: 70%; }
    """
    AUTO_FOCUS = "RecordTable"
    BINDINGS: ClassVar[list[BindingType]] = bindings(only=("back", "leave"))

    def __init__(self, title: str, choices: Sequence[tuple[str, str]], chosen: str = "") -> None:
        """`choices` are pairs of a key of yours and the text for people."""
        super().__init__()
        self._heading = title
        self._choices = tuple(choices)
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        """A title and the choices."""
        yield RuleLine()
        yield TitleLine((self._heading, "title"), ("enter choose  esc back ", "dim"))
        yield RecordTable(header=False)

    def on_mount(self) -> None:
        """The one that holds is under the cursor."""
        table = self.query_one(RecordTable)
        table.show_lines([Column("text", "", 8, grow=True)], [Line(key, (text,)) for key, text in self._choices])
        table.move_to(self._chosen)

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """Chosen."""
        message.stop()
        self.dismiss(message.key)

    def action_back(self) -> None:
        """None of them."""
        self.dismiss("")

    def action_leave(self) -> None:
        """None of them."""
        self.dismiss("")
