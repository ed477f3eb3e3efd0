"""A form that is checked while the user types: each change sends one query and shows its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.core.machine import Machine
from tuibench.services.form_values import FormCheck, FormStart
from tuibench.services.monitor import Snapshot
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.form.fields import FormColumn, errors_of_ticks, plan_rows
from tuibench.tui.screens.form.summary import FormState, FormSummary
from tuibench.tui.widgets.title_line import RuleLine

CHECK_S = 0.15
"""Delay after the last key, so that half-typed numbers cause no messages."""
LOOK_S = 0.4
"""Delay before the model is inspected, which takes a child process."""


class CheckedForm(Page):
    """Fields with their errors, and a summary of the plan below; a subclass fills and starts the form."""

    def __init__(self, project_id: str) -> None:
        super().__init__()
        self.project_id = project_id
        self.machine: Machine | None = None
        self.begun: FormStart | None = None
        """Initial values, with the latest facts about the model; None until they are read."""
        self.found: FormCheck | None = None
        """Result of the last check."""
        self._waiting: dict[str, Timer] = {}

    def body(self) -> Iterable[Widget]:
        """Yield the fields and the summary."""
        yield RuleLine(id="top")
        yield FormColumn(id="fields")
        yield FormSummary(id="summary")

    @property
    def column(self) -> FormColumn:
        """The fields."""
        return self.query_one("#fields", FormColumn)

    @property
    def summary(self) -> FormSummary:
        """The summary below the fields."""
        return self.query_one("#summary", FormSummary)

    def errors(self) -> dict[str, str]:
        """Return all errors by field, from the first field to the last."""
        found = dict(self.found.errors) if self.found is not None else {}
        found |= errors_of_ticks(self.column.values())
        if self.begun is not None and self.begun.error and not self.begun.changed:
            found["model"] = self.begun.error
        return {name: found[name] for name in self.column.in_order(found)}

    def show_summary(self) -> None:
        """Update errors and summary."""
        if self.begun is None or not self.is_mounted:
            return
        column, errors = self.column, self.errors()
        column.show_errors(errors)
        state = FormState(
            start=self.begun,
            machine=self.machine,
            check=self.found,
            snapshot=self.dashboard.snapshot,
            values=column.values(),
            errors=errors,
            labels={name: column.label_of(name) for name in errors},
            focused=column.focused_field,
        )
        self.summary.show(state)

    def snapshot_changed(self, snapshot: Snapshot, before: Snapshot | None) -> None:
        """Update the summary, which shows the running measurements; the fields stay as they are."""
        self.show_summary()

    # Checks while the user types

    def on_form_column_edited(self, message: FormColumn.Edited) -> None:
        """Schedule a check, and an inspection if the model changed; clear the message about the old values."""
        message.stop()
        self.say("")
        if message.name == "model" and self.begun is not None:
            # Errors of the old model do not apply to the new one.
            self.begun = replace(self.begun, summary=None, error="", changed=False)
            self._soon("model", LOOK_S, self._look_at_model)
        self._soon("check", CHECK_S, self.check)

    def on_form_column_moved(self, message: FormColumn.Moved) -> None:
        """Show the whole error of the newly focused field."""
        message.stop()
        self.show_summary()

    def _soon(self, name: str, wait_s: float, then: Callable[[], None]) -> None:
        if name in self._waiting:
            self._waiting[name].stop()
        self._waiting[name] = self.set_timer(wait_s, then)

    def check(self) -> None:
        """Check the current values."""
        self.ask(self.checking(), self._checked, group="check")

    def checking(self) -> Callable[[], FormCheck]:
        """Return a check of the current values, for a thread."""
        values, summary = self.column.values(), self.begun.summary if self.begun is not None else None
        return lambda: self.services.forms.check(values, summary)

    def _checked(self, check: FormCheck) -> None:
        self.found = check
        self.show_summary()

    def _look_at_model(self) -> None:
        path = self.column.values().model
        if path.strip():
            self.ask(
                lambda: self.services.forms.open(path=path),
                lambda found: self._show_model(path, found),
                group="model",
                otherwise=lambda error: self._refuse_model(path, error),
            )

    def _is_typed(self, path: str) -> bool:
        """Return whether an answer is still about the model in the field, which may have changed meanwhile."""
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
    """Return the text of an error beside its field."""
    return f"{error.message}; {error.hint}" if error.hint else error.message


def at_once(bindings: Iterable[BindingType]) -> list[BindingType]:
    """Return the bindings with priority, so that each key of a burst acts before the next one is dispatched."""
    return [replace(binding, priority=True) if isinstance(binding, Binding) else binding for binding in bindings]
