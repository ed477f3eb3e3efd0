"""The benchmark form: what to measure, what that amounts to, and RUN from any field."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.timer import Timer
from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.core.short_id import short_id
from tuibench.tui import key, route
from tuibench.tui.desk import FormCheck, FormStart, FormValues, Machine, Pulse
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.form_column import FormColumn
from tuibench.tui.screens.form_plan import errors_of_ticks, plan_rows
from tuibench.tui.screens.form_summary import FormState, FormSummary, RunButton
from tuibench.tui.screens.form_words import wrong_words
from tuibench.tui.widgets.question import ask

CHECK_S = 0.15
"""After the last key: whoever types is not told of every half of a number."""
LOOK_S = 0.4
"""Likewise for the model, which a child has to read."""


class FormScreen(Page):
    """Fields, what is wrong beside each, and below them what it amounts to."""

    CSS_PATH = "form.tcss"
    AUTO_FOCUS = ""
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-tall")]  # noqa: RUF012 - Textual declares it for instances
    BINDINGS: ClassVar[list[BindingType]] = [*key.bindings("form", only=("copy-command",))]
    hints = ("run-form", "next-field", "previous-field", "back", "copy-command", "palette", "help")
    about = (
        "One field per line. Lists are written 1,2,4 or 1-8 or pow2, as in a shell; what an empty field means "
        "stands in it. Space ticks, left and right go through choices, enter goes to the next field, and RUN "
        "starts from any. What is wrong stands beside its field, and in whole below when that field has the focus. "
        "Every combination of the lists is one cell. Below the fields: how many cells, about how long and at most, "
        "about how much memory, who measures now, and the command for a shell that does the same."
    )

    def __init__(self, project_id: str = "", benchmark: str = "", path: str = "") -> None:
        super().__init__()
        self._project = project_id
        self._benchmark = benchmark
        self._path = path
        self._place = ""
        self._start: FormStart | None = None
        self._machine: Machine | None = None
        self._check: FormCheck | None = None
        self._begun: FormValues | None = None
        self._pending: dict[str, Timer] = {}
        self._busy = False
        self._opened = False

    # What is shown

    def body(self) -> Iterable[Widget]:
        """Fields, and what they amount to."""
        yield FormColumn(id="fields")
        yield FormSummary(id="summary")

    def title_parts(self) -> tuple[str, ...]:
        """The project or the model, and what is asked."""
        again = f"Measure {short_id(self._benchmark)} again" if self._benchmark else "New benchmark"
        model = self._start.values.model if self._start is not None else self._path
        return (self._place or os.path.basename(model.rstrip("/")), again)

    @property
    def column(self) -> FormColumn:
        """The fields."""
        return self.query_one("#fields", FormColumn)

    @property
    def summary(self) -> FormSummary:
        """What stands below them."""
        return self.query_one("#summary", FormSummary)

    def load(self) -> None:
        """Once: what is typed stays, whatever others do meanwhile."""
        if self._opened:
            self.show_summary()
            return
        self._opened = True
        self.ask(self._open, self._begin, group="form")
        if self._project:
            self.ask(lambda: self.desk.project(self._project).project.name, self._show_place, group="place")

    def _open(self) -> tuple[Machine, FormStart]:
        machine = self.desk.machine()
        try:
            return machine, self.desk.form(self._project, self._benchmark, self._path)
        except TuibenchError as error:
            return machine, FormStart(FormValues(model=self._path), "", None, told(error))

    def _show_place(self, name: str) -> None:
        self._place = name
        self.show_title()

    def _begin(self, opened: tuple[Machine, FormStart]) -> None:
        self._machine, self._start = opened
        self._begun = self._start.values
        self.column.fill(plan_rows(self._begun, self._machine), self._begun)
        self.show_title()
        if self._start.error and not self._start.changed:
            self.column.go_to("model")
        elif self._benchmark:
            self.column.go_to("cores")
        else:
            self.summary.button.focus()
        self.check()

    def pulse_changed(self, pulse: Pulse, before: Pulse | None) -> None:
        """Only who measures now is another."""
        self.show_summary()

    def show_summary(self) -> None:
        """What is known of it now."""
        if self._start is None:
            return
        column, found = self.column, self._all_errors()
        errors = {name: found[name] for name in column.in_order(found)}
        column.show_errors(errors)
        labels = {name: column.label_of(name) for name in errors}
        state = FormState(
            self._start, self._machine, self._check, self.dashboard.pulse, column.values(), errors, labels,
            column.focused_field,
        )  # fmt: skip
        self.summary.show(state)

    def _all_errors(self) -> dict[str, str]:
        values = self.column.values()
        errors = dict(self._check.errors) if self._check is not None else {}
        errors |= errors_of_ticks(values)
        if self._start is not None and self._start.error and not self._start.changed:
            errors["model"] = self._start.error
        return errors

    # While it is typed

    def on_form_column_edited(self, message: FormColumn.Edited) -> None:
        """Check it soon; another model is looked at, too."""
        message.stop()
        if message.name == "model":
            self._soon("model", LOOK_S, self._look_at_model)
        self._soon("check", CHECK_S, self.check)

    def on_form_column_moved(self, message: FormColumn.Moved) -> None:
        """Another field has the focus: what is said of it comes first."""
        message.stop()
        self.show_summary()

    def _soon(self, name: str, wait_s: float, then: Callable[[], None]) -> None:
        if name in self._pending:
            self._pending[name].stop()
        self._pending[name] = self.set_timer(wait_s, then)

    def check(self) -> None:
        """What it amounts to as it stands."""
        self.ask(self._checking(), self._checked, group="check")

    def _checking(self) -> Callable[[], FormCheck]:
        values, summary = self.column.values(), self._start.summary if self._start is not None else None
        return lambda: self.desk.check_form(values, summary, self._project)

    def _checked(self, check: FormCheck) -> None:
        self._check = check
        self.show_summary()

    def _look_at_model(self) -> None:
        path = self.column.values().model
        self.ask(lambda: self.desk.form(path=path), self._show_model, group="model", otherwise=self._refuse_model)

    def _show_model(self, found: FormStart) -> None:
        if self._start is None:
            return
        self._start = replace(self._start, summary=found.summary, error=found.error, changed=found.changed)
        values = self.column.values()
        typed = dict(values.dims)
        dims = tuple((name, typed.get(name, text)) for name, text in found.values.dims)
        if [name for name, _ in dims] != list(typed):
            values = replace(values, dims=dims)
            self.column.fill(plan_rows(values, self._machine), values)
        self.check()

    def _refuse_model(self, error: TuibenchError) -> None:
        if self._start is not None:
            self._start = replace(self._start, summary=None, error=told(error), changed=False)
            self.show_summary()

    # What is done

    def on_field_column_finished(self, message: FormColumn.Finished) -> None:
        """Behind the last field stands RUN."""
        message.stop()
        self.summary.button.focus()

    def action_next_field(self) -> None:
        """From RUN to the first field."""
        self.focus_next()

    def action_previous_field(self) -> None:
        """From RUN to the last field."""
        self.focus_previous()

    def on_run_button_pressed(self, message: RunButton.Pressed) -> None:
        """RUN."""
        message.stop()
        self.action_run_form()

    def action_run_form(self) -> None:
        """Check what is there now, and start if nothing is wrong with it; else go to what is."""
        if self._busy or self._start is None:
            return
        self._busy = True
        self.ask(self._checking(), self._decide, group="check", otherwise=self._give_up)

    def _decide(self, check: FormCheck) -> None:
        self._checked(check)
        errors = self._all_errors()
        if errors:
            self._busy = False
            labels = [self.column.label_of(name) for name in self.column.in_order(errors)]
            self.say(wrong_words(labels), "bad")
            self.column.go_to(next(iter(self.column.in_order(errors)), "model"))
        elif self._start is not None and self._start.changed:
            answers = {"v": "measure it as a new version", "o": "name the old file", "n": "neither"}
            ask(self, "The model is another one than was measured:", answers, self._answer)
        else:
            self._run()

    def _answer(self, answer: str) -> None:
        if answer == "v":
            self._run()
            return
        self._busy = False
        if answer == "o":
            self.column.go_to("model")

    def _run(self) -> None:
        values = self.column.values()
        self.say("starting")
        start = self.desk.start
        self.ask(
            lambda: start(values, self._project, self._benchmark), self._started, group="run", otherwise=self._give_up
        )

    def _started(self, begun: tuple[str, tuple[str, ...]]) -> None:
        run, notes = begun
        app = self.dashboard
        app.go(route.run(run), replace=True)
        if notes:
            # The run's screen has its line of news only once it is composed.
            app.call_after_refresh(lambda: app.page.say("; ".join(notes)))

    def _give_up(self, error: TuibenchError) -> None:
        self._busy = False
        self.explain(error)

    def action_copy_command(self) -> None:
        """The shell command that does the same."""
        command = self._check.command if self._check is not None else ""
        if not command:
            self.say("there is no command for it until what is wrong is mended", "warn")
            return
        self.app.copy_to_clipboard(command)
        self.ask(lambda: self.desk.keep_copy(command), lambda path: self.say(f"copied, also to {path}"), group="copy")

    def action_back(self) -> None:
        """Back; what was typed is not thrown away by one key, as a slow line makes an escape of an arrow."""
        self._leave(super().action_back)

    def action_leave(self) -> None:
        """Likewise."""
        self._leave(super().action_leave)

    def _leave(self, then: Callable[[], None]) -> None:
        if self._busy:
            return
        if self._begun is None or self.column.values() == self._begun:
            then()
            return
        answers = {"y": "leave, nothing is measured", "n": "stay"}
        ask(self, "Leave the form?", answers, lambda answer: then() if answer == "y" else None)


def told(error: TuibenchError) -> str:
    """An error beside its field."""
    return f"{error.message}; {error.hint}" if error.hint else error.message
