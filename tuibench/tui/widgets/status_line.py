"""The status line: the result of the last action, or a question before an action; notices of several lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from tuibench.present.plots.drawing import Row, Span, row_width, squeezed
from tuibench.tui.key import bindings
from tuibench.tui.widgets.painted import LineLike, Painted, QuietScreen, safe
from tuibench.tui.widgets.text_block import ScrollBlock
from tuibench.tui.widgets.title_line import RuleLine, TitleLine

KINDS = {"info": "accent", "warn": "warn", "bad": "bad"}
"""Style for each kind of status."""


@dataclass(frozen=True, slots=True)
class _Asked:
    text: str
    answers: Mapping[str, str]
    then: Callable[[str], object]
    focused: Widget | None
    """The widget that had the focus; it is focused again after the answer."""


class StatusLine(Painted):
    """The latest status text; the screen that sets it also clears it, e.g. at the next key."""

    DEFAULT_CSS = "StatusLine { height: 1; }"

    def __init__(self, **attributes: str | None) -> None:
        super().__init__(**attributes)
        self._said: Row = ()
        self._asked: _Asked | None = None
        self.kind = "info"

    @property
    def said(self) -> str:
        """The status text; '' for none."""
        return "".join(text for text, _ in self._said)

    @property
    def asking(self) -> bool:
        """True while a question waits for its answer."""
        return self._asked is not None

    def say(self, text: str, kind: str = "info") -> None:
        """Replace the status text with one of a kind in KINDS, '' for none; a pending question stays on screen."""
        sign = "! " if kind == "bad" else ""
        self.kind = kind
        self._said = ((safe(sign + text), KINDS[kind]),) if text else ()
        self.repaint()

    def ask(self, text: str, answers: Mapping[str, str], then: Callable[[str], object]) -> None:
        """Ask; `then` gets the key of an answer, or '' for escape and n. All other keys are ignored meanwhile."""
        self._answer("")
        self.say("")
        self._asked = _Asked(safe(text), dict(answers), then, self.screen.focused)
        self.can_focus = True
        self.screen.set_focus(self)
        self.repaint()

    def _answer(self, answer: str) -> None:
        asked, self._asked = self._asked, None
        if asked is None:
            return
        self.can_focus = False
        kept = asked.focused if asked.focused is not None and asked.focused.is_attached else None
        self.screen.set_focus(kept)
        self.repaint()
        asked.then(answer)

    def on_key(self, event: events.Key) -> None:
        """Pass a valid answer on; ignore other keys."""
        if self._asked is None:
            return
        event.stop()
        event.prevent_default()
        if event.character is not None and event.character in self._asked.answers:
            self._answer(event.character)
        elif event.key == "escape" or event.character == "n":
            self._answer("")

    def on_blur(self) -> None:
        """Treat a lost focus as no."""
        # An answer may ask the next question at once; the event then belongs to the previous question.
        if self.screen.focused is not self:
            self._answer("")

    def row(self, y: int) -> Row:
        """Return the question with its answers, or the status text, after a blank."""
        if y == 0 and self._asked is not None:
            return self._question(self._asked)
        return ((" ", ""), *self._said) if y == 0 and self._said else ()

    def _question(self, asked: _Asked) -> Row:
        answers: list[Span] = []
        for key, word in asked.answers.items():
            name = "n esc" if key == "n" else safe(key)
            answers += [(f" {name}", "key"), (f" {self.legible(safe(word))} ", "")]
        if "n" not in asked.answers:
            answers += [(" n esc", "key"), (" back ", "")]
        # Cut the end of a long question, never an answer.
        room = self.size.width - row_width(answers) - 2
        return (
            (" ", ""),
            *squeezed(((self.legible(asked.text), "warn"),), room, self.glyphs.ellipsis),
            (" ", ""),
            *answers,
        )


def ask(screen: Screen[Any], text: str, answers: Mapping[str, str], then: Callable[[str], object]) -> None:
    """Ask in the screen's status line, which sends some hundred bytes; a separate screen would send all of it.

    `answers` maps single characters to words; `then` gets the character pressed, '' for escape.
    """
    screen.query_one(StatusLine).ask(text, answers, then)


def confirm(screen: Screen[Any], text: str, word: str, then: Callable[[], object]) -> None:
    """Ask in the status line; `then` is called on y, whose effect is `word`, and nothing on any other key."""
    ask(screen, text, {"y": word}, lambda answer: then() if answer == "y" else None)


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
