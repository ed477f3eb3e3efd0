"""The set-up of profiles: kinds, names, batch and cores, and the expected duration."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType

from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.spec import LOSS, PERFORMANCE
from tuibench.services.profile_values import FLOPS, ProfileCheck, ProfileValues
from tuibench.tui import key, route
from tuibench.tui.screens.benchmark.actions import show_started
from tuibench.tui.screens.profile.set_up import OFF, ProfileSetUp, long_ones
from tuibench.tui.widgets.choice_field import ButtonField, ChoiceField
from tuibench.tui.widgets.field import FieldColumn
from tuibench.tui.widgets.question import ask

_OFF = {PERFORMANCE: ("o", "Performance off"), LOSS: ("l", "Loss off")}
"""The answer that switches off a profile with a long duration."""


class ProfileFormScreen(ProfileSetUp):
    """Set-up of profiles; typed values are kept on leaving until they are started."""

    CSS_PATH = "profile_form.tcss"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("run-form", "copy-command"))
    hints: tuple[str, ...] = ("run-form", "next-field", "previous-field", "back", "copy-command", "palette", "help")
    about = (
        "The set-up of profiles. A performance profile measures where the time goes, layer by layer, at one batch and "
        "number of cores: give those that you will deploy with. A loss profile measures how much the outputs change "
        "when single layers are pruned or quantized, on your data or on seeded inputs. Either can be off: the FLOPS "
        "profile and the approximated one are there in any case. Esc leaves, and what you typed is kept."
    )

    def __init__(self, project_id: str = "", kind: str = "", profile: str = "") -> None:
        """See ProfileSetUp."""
        super().__init__(project_id, kind, profile)
        self._starting = False

    # RUN

    def on_button_field_pressed(self, message: ButtonField.Pressed) -> None:
        """Start from the RUN button."""
        message.stop()
        self.action_run_form()

    def on_field_column_finished(self, message: FieldColumn.Finished) -> None:
        """Start on enter in the last field."""
        message.stop()
        self.action_run_form()

    def action_run_form(self) -> None:
        """Check the present values; start if they are valid, else focus the first error."""
        if self._starting or not self.ready or self.begun is None:
            return
        values, project, again = self.values(), self.project_id, self.profile
        if not (values.performance or values.loss) and not project:
            self.say("both are off: switch one on", "warn")
            return
        if not (values.performance or values.loss):
            self.dashboard.drafts.pop(self.draft, None)
            self.dashboard.go(route.theory(project, FLOPS), replace=True)
            return
        self._starting = True
        self.ask(
            lambda: self.services.profile_forms.check(values, project, again),
            lambda found: self._decide(found, values),
            group="run",
            otherwise=self._give_up,
        )

    def _decide(self, found: ProfileCheck, values: ProfileValues) -> None:
        self.checked(found)
        if found.errors:
            self._starting = False
            first = next((name for name in self.column.fields if name in found.errors), "")
            self.say(found.errors[first] if first else next(iter(found.errors.values())), "bad")
            self.column.focus_field(first)
        elif kinds := long_ones(values, found):
            answers = {"y": "run it anyway", **{_OFF[kind][0]: _OFF[kind][1] for kind in kinds}}
            ask(self, "It takes long.", answers, lambda answer: self._answer(answer, values))
        else:
            self._run(values)

    def _answer(self, answer: str, values: ProfileValues) -> None:
        if answer == "y":
            self._run(values)
            return
        self._starting = False
        for kind, (letter, _) in _OFF.items():
            if answer == letter:
                self._switch_off(kind)

    def _switch_off(self, kind: str) -> None:
        field = self.column.fields[kind]
        assert isinstance(field, ChoiceField)
        field.put(OFF)
        self.show_switches()
        self.check()

    def _run(self, values: ProfileValues) -> None:
        project, profile, services = self.project_id, self.profile, self.services
        self.say("starting")
        self.ask(
            lambda: services.profile_forms.start(values, project, profile),
            self._started,
            group="run",
            otherwise=self._give_up,
        )

    def _started(self, begun: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        runs, notes = begun
        self.dashboard.drafts.pop(self.draft, None)
        notes = (*notes, *(f"{short_id(one)} waits behind it" for one in runs[1:]))
        show_started(self, runs[0], notes, replace=True)

    def _give_up(self, error: TuibenchError) -> None:
        self._starting = False
        self.explain(error)

    # Other keys

    def action_copy_command(self) -> None:
        """Copy the equivalent shell command."""
        commands = self.found.commands if self.found is not None else ()
        if not commands:
            self.say("there is no command for it: both are off, or a field is wrong", "warn")
            return
        self.copy_text(lambda: " && ".join(commands))

    def action_back(self) -> None:
        """Leave and keep the typed values for the next time."""
        self._leave(super().action_back)

    def action_leave(self) -> None:
        """Leave and keep the typed values for the next time."""
        self._leave(super().action_leave)

    def _leave(self, then: Callable[[], None]) -> None:
        if self._starting:
            self.say("it is being started: a moment", "warn")
            return
        if self.ready and self.begun is not None and not self.profile:
            self.dashboard.drafts[self.draft] = self.values()
        then()
