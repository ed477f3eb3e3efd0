"""Area below the form's fields: RUN, cells and time, errors or warnings, the equivalent command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message

from tuibench.core.activity import Snapshot
from tuibench.core.ids import short_id
from tuibench.core.machine import Machine, isa_words
from tuibench.core.text import show
from tuibench.core.units import count_of, seconds, size
from tuibench.present.command import quote
from tuibench.present.plots.drawing import Row, wrapped
from tuibench.services.form_values import FormCheck, FormStart, FormValues
from tuibench.tui.widgets.painted import LineLike, Painted, glyphs_of, shown
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

_INDENT = " " * 10
MAX_CHARS = 2000
"""Longest command shown, in characters; a longer one is copied as a whole."""


def amount_words(check: FormCheck | None, values: FormValues, times: str, dot: str) -> str:
    """Return cells, time and memory; `times` and `dot` are the separators."""
    if check is None:
        return "checking"
    scenarios = len([each for each in values.scenarios.split(",") if each])
    cells = count_of(check.cells, "cell")
    if scenarios > 1 and check.cells and check.cells % scenarios == 0:
        cells = f"{count_of(check.cells // scenarios, 'cell')} {times} {scenarios} scenarios = {check.cells}"
    parts = [cells]
    if check.expected_s:
        at_most = f", at most {seconds(check.limit_s)}" if check.limit_s else ""
        parts.append(f"~{seconds(check.expected_s)}{at_most}")
    if check.memory_bytes is not None:
        parts.append(f"memory ~{size(check.memory_bytes)}")
    return f" {dot} ".join(parts)


def wrong_words(labels: Sequence[str]) -> str:
    """Return the fields whose errors prevent the start."""
    return f"cannot start: {count_of(len(labels), 'error')} in {', '.join(show(label, 30) for label in labels)}"


def warning_lines(start: FormStart, check: FormCheck | None) -> list[str]:
    """Return warnings that do not prevent the start, the worst first."""
    lines = [start.error] if start.error else []
    if start.changed:
        lines.append("the model changed since it was measured: RUN asks how to proceed")
    return [*lines, *(check.warnings if check is not None else ())]


def origin_words(
    start: FormStart, machine: Machine | None, check: FormCheck | None, snapshot: Snapshot | None, dot: str
) -> str:
    """Return the active benchmark, the origin of the values, and the instruction sets of `machine` if given."""
    busy = busy_words(snapshot) or (_behind(check.busy) if check is not None and check.busy else "")
    load = check.load if check is not None else ""
    parts = [busy or (f"host {load} now" if load else "no other run is active")]
    parts += [f"filled from {start.origin}"] if start.origin else []
    parts += [isa_words(machine.isa)] if machine is not None and machine.isa else []
    return f" {dot} ".join(parts)


def busy_words(snapshot: Snapshot | None) -> str:
    """Return the runs that measure before this one; '' for none."""
    ahead = snapshot.ahead if snapshot is not None else None
    if ahead is None:
        return ""
    run = f"a run of {ahead.user}" if ahead.user else f"run {short_id(ahead.run)}"
    said = f"{run} is measuring{_left(ahead.eta_s)}"
    return _behind(f"{said}, {ahead.waiting} more queued" if ahead.waiting else said)


def _left(eta_s: float | None) -> str:
    return "" if eta_s is None else f", ~{seconds(eta_s)} left"


def _behind(said: str) -> str:
    return f"{said}: this run will be queued"


def command_lines(command: str, width: int, max_lines: int) -> list[str]:
    """Break a command between words with backslashes, into at most `max_lines` lines."""
    try:
        words = [quote(word) for word in shlex.split(command)]
    except ValueError:
        words = [command]
    lines: list[str] = []
    line = "same as "
    for word in (show(word, MAX_CHARS) for word in words):
        if len(lines) < max_lines - 1 and len(line) + len(word) + 3 > width and line.strip() not in ("", "same as"):
            lines.append(f"{line} \\")
            line = _INDENT
        line = f"{line} {word}"
    return [*lines, line]


@dataclass(frozen=True, slots=True)
class FormState:
    """The facts that the summary shows."""

    start: FormStart
    machine: Machine | None
    check: FormCheck | None
    snapshot: Snapshot | None
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
        origin = origin_words(state.start, None if isa else state.machine, state.check, state.snapshot, glyphs.dot)
        self._put("origin", [(f" {origin}", "dim")])
        if state.errors:
            self._show_errors(state)
        else:
            if isa:
                self._put("doubts", [(f" instruction sets: {isa_words(isa)}", "dim")])
            else:
                self._show_warnings(doubts)
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

    def _show_warnings(self, doubts: Sequence[str]) -> None:
        """Show as many warnings as fit; the last line has the number of further ones."""
        max_lines = self._height("doubts")
        said = [f" ! {line}" for line in doubts[:max_lines]]
        if len(doubts) > max_lines:
            said[-1] = f" ! ({len(doubts) - max_lines} more) {said[-1][3:]}"
        self._put("doubts", [(line, "warn") for line in said])

    def _put(self, name: str, lines: Sequence[LineLike]) -> None:
        self.query_one(f"#{name}", TextBlock).show_lines(lines)
