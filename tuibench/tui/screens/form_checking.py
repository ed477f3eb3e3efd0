"""A form that is checked while it is typed: every change ends in one question to the desk, and its answer is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from textual.timer import Timer
from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.tui.desk import FormCheck, FormStart, Machine, Pulse
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.form_column import FormColumn
from tuibench.tui.screens.form_plan import errors_of_ticks, plan_rows
from tuibench.tui.screens.form_summary import FormState, FormSummary
from tuibench.tui.widgets.title_line import RuleLine

CHECK_S = 0.15
"""After the last key: whoever types is not told of every half of a number."""
LOOK_S = 0.4
"""Likewise for the model, which a child has to read."""


class CheckedForm(Page):
    """Fields, what is wrong beside each, and below them what it amounts to; a subclass fills and starts it."""

    def __init__(self, project_id: str) -> None:
        super().__init__()
        self.project_id = project_id
        self.machine: Machine | None = None
        self.begun: FormStart | None = None
        """What it began with, and what is known of the model since; None until that is read."""
        self.found: FormCheck | None = None
        """What the last check said."""
        self._waiting: dict[str, Timer] = {}

    def body(self) -> Iterable[Widget]:
        """Fields, and what they amount to."""
        yield RuleLine(id="top")
        yield FormColumn(id="fields")
        yield FormSummary(id="summary")

    @property
    def column(self) -> FormColumn:
        """The fields."""
        return self.query_one("#fields", FormColumn)

    @property
    def summary(self) -> FormSummary:
        """What stands below them."""
        return self.query_one("#summary", FormSummary)

    def errors(self) -> dict[str, str]:
        """All that is wrong, from the first field to the last."""
        found = dict(self.found.errors) if self.found is not None else {}
        found |= errors_of_ticks(self.column.values())
        if self.begun is not None and self.begun.error and not self.begun.changed:
            found["model"] = self.begun.error
        return {name: found[name] for name in self.column.in_order(found)}

    def show_summary(self) -> None:
        """What is known now."""
        if self.begun is None or not self.is_mounted:
            return
        column, errors = self.column, self.errors()
        column.show_errors(errors)
        state = FormState(
            start=self.begun,
            machine=self.machine,
            check=self.found,
            pulse=self.dashboard.pulse,
            values=column.values(),
            errors=errors,
            labels={name: column.label_of(name) for name in errors},
            focused=column.focused_field,
        )
        self.summary.show(state)

    def pulse_changed(self, pulse: Pulse, before: Pulse | None) -> None:
        """Only who measures now is another: what is typed stays, whatever others do."""
        self.show_summary()

    # While it is typed

    def on_form_column_edited(self, message: FormColumn.Edited) -> None:
        """Check it soon; another model is looked at, too. What was said of the form as it was holds no more."""
        message.stop()
        self.say("")
        if message.name == "model" and self.begun is not None:
            # What was wrong with the old one says nothing of this one.
            self.begun = replace(self.begun, summary=None, error="", changed=False)
            self._soon("model", LOOK_S, self._look_at_model)
        self._soon("check", CHECK_S, self.check)

    def on_form_column_moved(self, message: FormColumn.Moved) -> None:
        """Another field has the focus: what is wrong with it is said in whole."""
        message.stop()
        self.show_summary()

    def _soon(self, name: str, wait_s: float, then: Callable[[], None]) -> None:
        if name in self._waiting:
            self._waiting[name].stop()
        self._waiting[name] = self.set_timer(wait_s, then)

    def check(self) -> None:
        """Ask what it amounts to as it stands."""
        self.ask(self.checking(), self._checked, group="check")

    def checking(self) -> Callable[[], FormCheck]:
        """The question, with the values of this moment."""
        values, summary = self.column.values(), self.begun.summary if self.begun is not None else None
        return lambda: self.desk.check_form(values, summary)

    def _checked(self, check: FormCheck) -> None:
        self.found = check
        self.show_summary()

    def _look_at_model(self) -> None:
        path = self.column.values().model
        if path.strip():
            self.ask(
                lambda: self.desk.form(path=path),
                lambda found: self._show_model(path, found),
                group="model",
                otherwise=lambda error: self._refuse_model(path, error),
            )

    def _is_typed(self, path: str) -> bool:
        """Whether an answer is still about the model in the field: the next question waits for a pause."""
        return self.begun is not None and self.column.values().model == path

    def _show_model(self, path: str, found: FormStart) -> None:
        if self.begun is None or not self._is_typed(path):
            return
        self.begun = replace(self.begun, summary=found.summary, error=found.error, changed=found.changed)
        values = self.column.values()
        typed = dict(values.dims)
        dims = tuple((name, typed.get(name, text)) for name, text in found.values.dims)
        if [name for name, _ in dims] != list(typed):
            rows = plan_rows(replace(values, dims=dims), self.machine, self.dashboard.glyphs.plus_minus)
            self.column.put_dims(rows, dims)
        self.check()

    def _refuse_model(self, path: str, error: TuibenchError) -> None:
        if self.begun is not None and self._is_typed(path):
            self.begun = replace(self.begun, error=told(error))
            self.show_summary()


def told(error: TuibenchError) -> str:
    """An error beside its field."""
    return f"{error.message}; {error.hint}" if error.hint else error.message
