"""What is asked before something happens: one line at the bottom, so that what it is about stays in sight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen

from tuibench.tui.key import bindings
from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.record_table import Column, Line, RecordTable
from tuibench.tui.widgets.row import LineLike, Row, Span, safe, squeezed, width_of
from tuibench.tui.widgets.text_block import ScrollBlock
from tuibench.tui.widgets.title_line import RuleLine, TitleLine

_ESCAPE = "escape"


class QuestionLine(Painted, can_focus=True):
    """The question and its answers with their keys; of a long question the end goes, never an answer."""

    DEFAULT_CSS = "QuestionLine { dock: bottom; height: 1; }"

    def __init__(self, text: str, answers: Mapping[str, str]) -> None:
        super().__init__()
        self._text = safe(text)
        self._answers = dict(answers)

    def row(self, y: int) -> Row:
        """All in one line."""
        answers: list[Span] = []
        for key, word in self._answers.items():
            answers += [(f" {key}", "key"), (f" {safe(word)} ", "")]
        question = squeezed(((self._text, "warn"),), self.size.width - width_of(answers) - 2, self.glyphs.ellipsis)
        return ((" ", ""), *question, (" ", ""), *answers)


class Question(ModalScreen[str]):
    """Asks; the result is the key that was pressed, '' for escape."""

    DEFAULT_CSS = "Question { background: transparent; }"
    AUTO_FOCUS = "QuestionLine"

    def __init__(self, text: str, answers: Mapping[str, str]) -> None:
        """`answers` are single characters to words, such as y to "remove"; case counts."""
        super().__init__()
        self._text = text
        self._answers = {**answers, "esc": "back"} if "n" not in answers else dict(answers)
        self._keys = frozenset(answers)

    def compose(self) -> ComposeResult:
        """One line."""
        yield QuestionLine(self._text, self._answers)

    def on_key(self, event: events.Key) -> None:
        """An answer, or nothing: no key does what it does elsewhere while something is asked."""
        event.stop()
        event.prevent_default()
        if event.character is not None and event.character in self._keys:
            self.dismiss(event.character)
        elif event.key == _ESCAPE:
            self.dismiss("")


class Notice(ModalScreen[None]):
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


class ChoiceQuestion(ModalScreen[str]):
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
        table.go_to(self._chosen)

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
