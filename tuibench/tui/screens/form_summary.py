"""Below the form's fields: RUN, what it amounts to, what is wrong or doubtful, and the command that does the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message

from tuibench.tui.desk import FormCheck, FormStart, FormValues, Machine, Pulse
from tuibench.tui.glyph import glyphs_of
from tuibench.tui.screens.form_words import amount_words, command_lines, origin_words, warning_lines, wrong_words
from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import Row
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine


@dataclass(frozen=True, slots=True)
class FormState:
    """All that the summary speaks of."""

    start: FormStart
    machine: Machine | None
    check: FormCheck | None
    pulse: Pulse | None
    values: FormValues
    errors: Mapping[str, str]
    """Field to what is wrong with it, from top to bottom."""
    labels: Mapping[str, str]
    """Field to what it is called."""
    focused: str
    """Field that has the focus; '' for none."""


class RunButton(Painted, can_focus=True):
    """Starts; what has the focus is said by its brackets, not by colour alone."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", "RUN", show=False)]

    class Pressed(Message):
        """Start."""

    def row(self, y: int) -> Row:
        """Its word."""
        if y:
            return ()
        return ((">[ RUN ]", "title cursor"),) if self.has_focus else ((" [ RUN ]", "title"),)

    def action_press(self) -> None:
        """Tell the screen."""
        self.post_message(self.Pressed())

    def on_click(self) -> None:
        """Likewise, where a mouse was asked for."""
        self.action_press()


class FormSummary(Container):
    """Repaints only the lines that say something else."""

    def compose(self) -> ComposeResult:
        """Line by line, the most important first."""
        yield RuleLine()
        yield RunButton(id="run")
        yield TextBlock(id="amount")
        yield TextBlock(id="doubts")
        yield TextBlock(id="origin")
        yield TextBlock(id="command")

    @property
    def button(self) -> RunButton:
        """RUN."""
        return self.query_one("#run", RunButton)

    def show(self, state: FormState) -> None:
        """What is known now."""
        glyphs = glyphs_of(bool(getattr(self.app, "ascii_only", False)))
        amount = amount_words(state.check, state.values, glyphs.times)
        wrong = [state.labels[name] for name in state.errors]
        self._put("amount", [(wrong_words(wrong), "bad") if wrong else (amount, "")])
        focused = (state.focused, state.labels.get(state.focused, state.focused))
        doubts = warning_lines(state.start, state.check, state.errors, focused)
        self._put("doubts", [(f" ! {line}", "warn") for line in self._cut(doubts)])
        self._put("origin", [(f" {origin_words(state.start, state.machine, state.pulse, glyphs.dot)}", "dim")])
        self._show_command(state)

    def _show_command(self, state: FormState) -> None:
        block = self.query_one("#command", TextBlock)
        command = state.check.command if state.check is not None and not state.errors else ""
        lines = command_lines(command, max(self.size.width - 1, 20), max(block.size.height, 1)) if command else []
        block.show_lines([(f" {line}", "dim") for line in lines])

    def _cut(self, doubts: list[str]) -> list[str]:
        """As many as there is room for; the last one says that there are more."""
        most = max(self.query_one("#doubts", TextBlock).size.height, 1)
        if len(doubts) <= most:
            return doubts
        shown = doubts[:most]
        shown[-1] = f"{shown[-1]} (and {len(doubts) - most} more)"
        return shown

    def _put(self, name: str, lines: list[tuple[str, str]]) -> None:
        self.query_one(f"#{name}", TextBlock).show_lines(lines)
