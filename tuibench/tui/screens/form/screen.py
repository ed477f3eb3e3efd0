"""The benchmark form: settings, checks, the resulting plan, and RUN from any field."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget

from tuibench.core.activity import Snapshot
from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.machine import Machine
from tuibench.present.error.words import error_line
from tuibench.services.form_values import FormCheck, FormStart, FormValues
from tuibench.tui import key
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.benchmark.actions import show_started
from tuibench.tui.screens.engines import InstallsEngines
from tuibench.tui.screens.form.fields import FormColumn, engine_choices, errors_of_ticks, make_rows
from tuibench.tui.screens.form.summary import FormState, FormSummary, RunButton, wrong_words
from tuibench.tui.widgets.choice_field import ManyField
from tuibench.tui.widgets.status_line import StatusLine, ask
from tuibench.tui.widgets.title_line import RuleLine

CHECK_S = 0.15
"""Delay after the last key, so that half-typed numbers cause no messages."""
LOOK_S = 0.4
"""Delay before the model is inspected, which takes a child process."""


class RunForm(Page):
    """A form whose RUN starts a run, once; a subclass shows the fields, checks them and starts the run."""

    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self.ready = False
        """True once there are fields, or loading has failed. Keys pressed before are ignored."""
        self._starting = False
        self._waiting: dict[str, Timer] = {}

    def on_key(self, event: events.Key) -> None:
        """Ignore keys while there are no fields, so that they do not act on the page; escape leaves it."""
        if not self.ready and event.key != "escape":
            event.stop()
            event.prevent_default()

    def after_pause(self, name: str, wait_s: float, then: Callable[[], None]) -> None:
        """Call `then` once the user has paused typing for `wait_s`; a newer call with the same name replaces it."""
        if name in self._waiting:
            self._waiting[name].stop()
        self._waiting[name] = self.set_timer(wait_s, then)

    def action_back(self) -> None:
        """Go back, unless the run is being started."""
        self._leave(super().action_back)

    def action_leave(self) -> None:
        """Leave, unless the run is being started."""
        self._leave(super().action_leave)

    def _leave(self, then: Callable[[], None]) -> None:
        if self._starting:
            self.say("it is starting, please wait", "warn")
        else:
            self.leave_by(then)

    def leave_by(self, then: Callable[[], None]) -> None:
        """Call `then`, which leaves the form; a subclass first keeps what was typed, or asks."""
        then()

    def _give_up(self, error: TuibenchError) -> None:
        self._starting = False
        self.explain(error)


class CheckedForm(RunForm):
    """Fields with their errors, and a summary of the plan below; a subclass fills and starts the form."""

    def __init__(self, project_id: str) -> None:
        super().__init__()
        self.project_id = project_id
        self.machine: Machine | None = None
        self.begun: FormStart | None = None
        """Initial values, with the latest facts about the model; None until they are read."""
        self.found: FormCheck | None = None
        """Result of the last check."""

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
            self.after_pause("model", LOOK_S, self._look_at_model)
        self.after_pause("check", CHECK_S, self.check)

    def on_form_column_moved(self, message: FormColumn.Moved) -> None:
        """Show the whole error of the newly focused field."""
        message.stop()
        self.show_summary()

    def check(self) -> None:
        """Check the current values."""
        self.request(self.checking(), self._checked, group="check")

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
            self.request(
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
            self.column.put_dims(dims)
        self.check()

    def _refuse_model(self, path: str, error: TuibenchError) -> None:
        if self.begun is not None and self._is_typed(path):
            self.begun = replace(self.begun, error=error_line(error))
            self.show_summary()


def at_once(bindings: Iterable[BindingType]) -> list[BindingType]:
    """Return the bindings with priority, so that each key of a burst acts before the next one is dispatched."""
    return [replace(binding, priority=True) if isinstance(binding, Binding) else binding for binding in bindings]


_MOVES = ("next_field", "previous_field", "focus_next", "focus_previous", "run_form")
_TINY = 16
"""Terminal height below which only the fields and RUN are shown."""


class FormScreen(InstallsEngines, CheckedForm):
    """The form for a new benchmark of a project or a model path, or with an older benchmark's settings."""

    CSS_PATH = "form.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        # These keys have priority over the focused widget: the next key of a burst must reach the next field.
        *at_once(key.bindings(only=("next-field", "previous-field", "focus-next", "focus-previous"))),
        *key.bindings("engine", only=("run-form", "copy-command", "back", "leave")),
    ]
    hints = ("run-form", "next-field", "previous-field", "back", "copy-command", "palette", "help")
    about = (
        "One field per line. Lists are written 1,2,4 or 1-8 or pow2, as in the shell; an empty field shows its "
        "default. Space selects, left and right change a choice, enter goes to the next field, and RUN starts from "
        "any field. On an engine that is not installed, i installs it. An error is shown beside its field, and in "
        "full below when the field has the focus. Every combination of the lists is one cell. Below the fields: the "
        "number of cells, the expected and the longest time, the expected memory, the run that is measuring now, and "
        "the equivalent shell command."
    )

    def __init__(self, project_id: str = "", benchmark: str = "", path: str = "") -> None:
        super().__init__(project_id)
        self._benchmark = benchmark
        self._path = path
        self._place = ""
        self._first: FormValues | None = None
        """Values when the form was filled; None until then."""
        self._asked = False

    def title_parts(self) -> tuple[str, ...]:
        """Return the project or the model, and the purpose of the form."""
        again = f"Measure {short_id(self._benchmark)} again" if self._benchmark else "New benchmark"
        model = self.begun.values.model if self.begun is not None else self._path
        return (self._place or model.rstrip("/").rpartition("/")[2], again)

    def load(self) -> None:
        """Read the form once; afterwards only what other pages may have changed."""
        if self._asked:
            self.show_summary()
            if self.begun is not None:
                self.follow_installation()
                self.engines_changed()
            return
        self._asked = True
        self.say("reading the model")
        self.request(self._open, self._begin, group="form")
        if self.project_id:
            self.request(
                lambda: self.services.projects.get(self.project_id).project.name, self._show_place, group="place"
            )

    def _open(self) -> tuple[Machine, FormStart]:
        machine = self.services.machine.read()
        try:
            return machine, self.services.forms.open(self.project_id, self._benchmark, self._path)
        except TuibenchError as error:
            return machine, FormStart(FormValues(model=self._path), "", None, error_line(error))

    def _show_place(self, name: str) -> None:
        self._place = name
        self.show_title()

    def _begin(self, opened: tuple[Machine, FormStart]) -> None:
        self.say("")
        self.machine, self.begun = opened
        self._first = self.begun.values
        rows = make_rows(self._first, self.machine, self.dashboard.glyphs.plus_minus, self.shown_key("install-engine"))
        self.column.fill(rows, self._first)
        self.show_title()
        self.follow_installation()

    def on_form_column_filled(self, message: FormColumn.Filled) -> None:
        """Focus the field that the user most probably edits first."""
        message.stop()
        if self.ready or self.begun is None:
            return
        if self.begun.error and not self.begun.changed:
            self.column.focus_field("model")
        elif self._benchmark:
            self.column.focus_field("cores")
        else:
            self.set_focus(self.summary.button)
        self.check()
        # Fields may normalize the given values, which is not an edit by the user.
        self._first = self.column.values()
        self.ready = True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable moving and starting while there are no fields or a question is open."""
        if action not in _MOVES:
            return True
        waits = not self.ready or self.query_one("#news", StatusLine).asking
        # Enter on RUN presses the button instead of moving on. The screen is asked for the focus, since the button
        # learns of it later, and the next key may arrive before that.
        return not waits and (action != "next_field" or self.focused is not self.summary.button)

    def on_resize(self) -> None:
        """Show only fields and RUN on a very low terminal."""
        self.set_class(self.size.height < _TINY, "-tiny")
        self.call_after_refresh(self.show_summary)

    def errors(self) -> dict[str, str]:
        """Return all errors by field; that of a missing engine names the key that installs it."""
        found = super().errors()
        field = self.column.fields.get("engines")
        if isinstance(field, ManyField) and field.missing_answers and "engines" in found:
            name, install = field.missing_answers[0], self.shown_key("install-engine")
            found["engines"] = f"{name} is not installed: {install} in this field installs it, space leaves it out"
        return found

    # Keys

    def action_next_field(self) -> None:
        """Focus the next field; after the last one, RUN."""
        self._go(1)

    def action_previous_field(self) -> None:
        """Focus the previous field."""
        self._go(-1)

    action_focus_next = action_next_field
    action_focus_previous = action_previous_field

    def _go(self, by: int) -> None:
        stops = [*self.column.stops(), self.summary.button]
        at = stops.index(self.focused) if self.focused in stops else -1
        self.set_focus(stops[(at + by) % len(stops)])

    def action_install_engine(self) -> None:
        """Install the engine under the cursor of its field, else a selected one that is not installed."""
        field = self.column.fields.get("engines")
        missing = (field.missing_key, *field.missing_answers) if isinstance(field, ManyField) else ()
        if name := next(filter(None, missing), ""):
            self.install_engine(name, self._refuse_engine)
        else:
            self.say("move to an engine that is not installed", "warn")

    def _refuse_engine(self, error: TuibenchError) -> None:
        # Another terminal may have installed it.
        self.explain(error)
        self.engines_changed()

    def engines_changed(self) -> None:
        """Offer the engines that are installed now."""
        self.request(self.services.machine.read, self._show_machine, group="machine")

    def _show_machine(self, machine: Machine) -> None:
        self.machine = machine
        field = self.column.fields.get("engines")
        if isinstance(field, ManyField):
            field.put_choices(engine_choices(field.answer, machine, self.shown_key("install-engine")))
        self.check()

    def action_copy_command(self) -> None:
        """Copy the equivalent shell command."""
        command = self.found.command if self.found is not None and not self.errors() else ""
        if not command:
            self.say("no command while fields have errors", "warn")
        else:
            self.copy_text(lambda: command)

    def leave_by(self, then: Callable[[], None]) -> None:
        """Ask first if values were typed: on a slow line an arrow key can arrive as escape."""
        if self._first is None or self.column.values() == self._first:
            then()
        else:
            answers = {"y": "leave without measuring", "n": "stay"}
            ask(self, "Leave the form?", answers, lambda answer: then() if answer == "y" else None)

    # RUN

    def on_run_button_pressed(self, message: RunButton.Pressed) -> None:
        """Start the run."""
        message.stop()
        self.action_run_form()

    def action_run_form(self) -> None:
        """Check the current values, then start; if something is wrong, focus its field."""
        if self._starting or self.begun is None:
            return
        self._starting = True
        # A group of its own, so that a pending check does not cancel this one.
        self.request(self.checking(), self._decide, group="run", otherwise=self._give_up)

    def _decide(self, check: FormCheck) -> None:
        self._checked(check)
        errors = self.errors()
        if errors:
            self._starting = False
            self.say(wrong_words([self.column.label_of(name) for name in errors]), "bad")
            self.column.focus_field(next(iter(errors)))
        elif self.begun is not None and self.begun.changed:
            answers = {"v": "measure as a new version", "o": "enter the old file's path", "n": "cancel"}
            ask(self, "The model changed since it was measured.", answers, self._answer)
        else:
            self._run()

    def _answer(self, answer: str) -> None:
        if answer == "v":
            self._run()
            return
        self._starting = False
        if answer == "o":
            self.column.focus_field("model")

    def _run(self) -> None:
        values, services = self.column.values(), self.services
        self.say("starting")
        self.request(
            lambda: services.forms.start(values, self.project_id, self._benchmark),
            lambda begun: show_started(self, *begun, replace=True),
            group="run",
            otherwise=self._give_up,
        )
