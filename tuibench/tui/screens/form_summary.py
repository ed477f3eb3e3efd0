"""The area below the form's fields: RUN, cells and time, errors or warnings, and the equivalent command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message

from tuibench.core.isa import isa_words
from tuibench.tui.desk import FormCheck, FormStart, FormValues, Machine, Pulse
from tuibench.tui.glyph import glyphs_of
from tuibench.tui.screens.form_words import amount_words, command_lines, origin_words, warning_lines, wrong_words
from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import LineLike, Row, shown, wrapped
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine


@dataclass(frozen=True, slots=True)
class FormState:
    """The facts that the summary shows."""

    start: FormStart
    machine: Machine | None
    check: FormCheck | None
    pulse: Pulse | None
    values: FormValues
    errors: Mapping[str, str]
    """Field to its error, from top to bottom."""
    labels: Mapping[str, str]
    """Field to its label."""
    focused: str
    """Field that has the focus; '' for none."""


class RunButton(Painted, can_focus=True):
    """Starts the run; brackets mark the focus, so that colour is not the only sign."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "press", "RUN", show=False),
        Binding("down", "screen.focus_next", "next", show=False),
    ]

    class Pressed(Message):
        """RUN was pressed."""

    def row(self, y: int) -> Row:
        """Return the label."""
        if y:
            return ()
        return ((">[ RUN ]", "title cursor"),) if self.has_focus else ((" [ RUN ]", "title"),)

    def action_press(self) -> None:
        """Post the message."""
        self.post_message(self.Pressed())

    def on_click(self) -> None:
        """Press RUN with the mouse."""
        self.action_press()


class FormSummary(Container):
    """Summary that repaints only changed lines."""

    def compose(self) -> ComposeResult:
        """Yield the lines, the most important first."""
        yield RuleLine()
        yield RunButton(id="run")
        yield TextBlock(id="amount")
        yield TextBlock(id="doubts")
        yield TextBlock(id="command")
        yield TextBlock(id="origin")

    @property
    def button(self) -> RunButton:
        """The RUN button."""
        return self.query_one("#run", RunButton)

    def show(self, state: FormState) -> None:
        """Show the present state."""
        glyphs = glyphs_of(bool(getattr(self.app, "ascii_only", False)))
        amount = amount_words(state.check, state.values, glyphs.times, glyphs.dot)
        wrong = [state.labels[name] for name in state.errors]
        self._put("amount", [(wrong_words(wrong), "bad") if wrong else (amount, "")])
        doubts = warning_lines(state.start, state.check)
        # Without warnings the instruction sets have a line of their own; else they are at the end of the last line.
        isa = state.machine.isa if state.machine is not None and not (doubts or state.errors) else ()
        origin = origin_words(state.start, None if isa else state.machine, state.check, state.pulse, glyphs.dot)
        self._put("origin", [(f" {origin}", "dim")])
        if state.errors:
            self._show_errors(state)
        else:
            if isa:
                self._put("doubts", [(f" instruction sets: {isa_words(isa)}", "dim")])
            else:
                self._show_doubts(doubts)
            command = state.check.command if state.check is not None else ""
            lines = command_lines(command, self._room, self._height("command")) if command else []
            self._put("command", [(f" {line}", "dim") for line in lines])

    @property
    def _room(self) -> int:
        return max(self.size.width - 2, 1)

    def _height(self, name: str) -> int:
        return max(self.query_one(f"#{name}", TextBlock).size.height, 1)

    def _show_errors(self, state: FormState) -> None:
        """Show the whole error of the focused field in the place of warnings and command."""
        error = state.errors.get(state.focused, "")
        label = state.labels.get(state.focused, "")
        lines = wrapped(shown(f" ! {label}: {error}"), self._room) if error else []
        first = self._height("doubts")
        self._put("doubts", lines[:first])
        self._put("command", lines[first:])

    def _show_doubts(self, doubts: Sequence[str]) -> None:
        """Show as many warnings as fit; the last line has the number of further ones."""
        most = self._height("doubts")
        said = [f" ! {line}" for line in doubts[:most]]
        if len(doubts) > most:
            said[-1] = f" ! ({len(doubts) - most} more) {said[-1][3:]}"
        self._put("doubts", [(line, "warn") for line in said])

    def _put(self, name: str, lines: Sequence[LineLike]) -> None:
        self.query_one(f"#{name}", TextBlock).show_lines(lines)
