"""The set-up of profiles: which of them, how they are called, at what batch and cores, and how long that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.timer import Timer
from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.core.machine import Machine
from tuibench.core.profile_spec import LOSS, PERFORMANCE
from tuibench.core.short_id import short_id
from tuibench.tui import key, route
from tuibench.tui.desk import Pulse
from tuibench.tui.desk_profile import FLOPS, LONG_S, ProfileCheck, ProfileStart, ProfileValues
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.profile_fields import DIM, OF_LOSS, OF_PERFORMANCE, make_fields, values_of
from tuibench.tui.screens.profile_form_words import amount_lines
from tuibench.tui.widgets.choice_field import ButtonField
from tuibench.tui.widgets.field import Field
from tuibench.tui.widgets.field_column import FieldColumn
from tuibench.tui.widgets.question import ask
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

CHECK_S = 0.15
"""After the last key: whoever types is not told of every half of a number."""


class ProfileFormScreen(Page):
    """What is typed is kept when it is left, until it is started."""

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
        """`kind` switches the other one off; `profile` is one whose settings are taken."""
        super().__init__()
        self.project_id = project_id
        self._kind = kind
        self._profile = profile
        self._start: ProfileStart | None = None
        self._values: ProfileValues | None = None
        """As they were put into the fields."""
        self._machine: Machine | None = None
        self._found: ProfileCheck | None = None
        self._starting = False
        self._timer: Timer | None = None
        self._ahead: list[events.Key] | None = []
        """Keys that came before there were fields; None since these are there."""

    def body(self) -> Iterable[Widget]:
        """Fields, and what they amount to."""
        yield RuleLine()
        yield FieldColumn(id="fields")
        yield RuleLine()
        yield TextBlock(id="amount")

    def title_parts(self) -> tuple[str, ...]:
        """The project, and what is asked."""
        start = self._start
        again = f"Profile {short_id(self._profile)} again" if self._profile else "Profile set-up"
        return ((start.place or start.model) if start is not None else "", again)

    @property
    def column(self) -> FieldColumn:
        """The fields."""
        return self.query_one("#fields", FieldColumn)

    # How it begins

    def load(self) -> None:
        """Once; later only what others do is new."""
        if self._start is not None or self.column.fields:
            return
        self.say("looking at the model")
        project, profile = self.project_id, self._profile
        self.ask(
            lambda: (self.desk.machine(), self.desk.profile_form(project, profile)),
            self._begin,
            group="form",
            otherwise=self._refuse,
        )

    def _refuse(self, error: TuibenchError) -> None:
        self._ahead = None
        self.query_one("#amount", TextBlock).show_lines([(f" {error.message}", "bad"), f" {error.hint}"])
        self.say("")

    def _begin(self, opened: tuple[Machine, ProfileStart]) -> None:
        self.say("")
        self._machine, self._start = opened
        self.project_id = self.project_id or self._start.project
        values = self._start.values
        if not self._profile:
            kept = self.dashboard.drafts.get(self._draft)
            switched = replace(values, performance=self._kind != LOSS, loss=self._kind != PERFORMANCE)
            values = kept if isinstance(kept, ProfileValues) else switched
        self._values = values
        self.column.mount_all(list(make_fields(values, self._machine)))
        self.show_title()
        self.call_after_refresh(self._filled)

    @property
    def _draft(self) -> str:
        return f"{self.project_id} {self._kind}"

    def _filled(self) -> None:
        """Go where the user most probably goes on, then do what was typed meanwhile."""
        if self._ahead is None:
            return
        self._show_switches()
        self.column.focus_field("run")
        self.check()
        self._weigh()
        ahead, self._ahead = self._ahead, None
        for event in ahead:
            self.press_again(event.key, event.character)

    def on_key(self, event: events.Key) -> None:
        """Nothing that is typed while the model is read is lost; escape needs no form."""
        if self._ahead is not None and event.key != "escape":
            event.stop()
            event.prevent_default()
            self._ahead.append(event)
        else:
            super().on_key(event)

    # While it is typed

    def values(self) -> ProfileValues:
        """As typed."""
        given = self._values or ProfileValues()
        return values_of(self.column.fields, given) if self.column.fields else given

    def on_field_changed(self, message: Field.Changed) -> None:
        """Check it soon."""
        message.stop()
        if self._ahead is not None:
            return
        if message.field.key in (PERFORMANCE, LOSS):
            self._show_switches()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(CHECK_S, self.check)

    def _show_switches(self) -> None:
        """What belongs to a profile that is off is out of the way."""
        values, fields = self.values(), self.column.fields
        for name, field in fields.items():
            of = {PERFORMANCE: name in OF_PERFORMANCE, LOSS: name in OF_LOSS}
            off = (of[PERFORMANCE] and not values.performance) or (of[LOSS] and not values.loss)
            neither = (name in ("batch", "cores") or name.startswith(DIM)) and not (values.performance or values.loss)
            field.set_class(off or neither, "hidden")

    def _weigh(self) -> None:
        """What the model costs tells how long its profiles take; without it that is not known, which is said."""
        project = self.project_id
        if project and self._start is not None and not self._start.error:
            self.ask(
                lambda: self.desk.costs(project),
                lambda _: self.check(),
                group="costs",
                otherwise=lambda _: self.check(),
            )

    def check(self) -> None:
        """Ask what it amounts to as it stands."""
        values, project, again = self.values(), self.project_id, self._profile
        self.ask(lambda: self.desk.check_profile(values, project, again), self._checked, group="check")

    def _checked(self, found: ProfileCheck) -> None:
        self._found = found
        self.column.show_errors(found.errors)
        self._show_amount()

    def _show_amount(self) -> None:
        start = self._start
        if start is None:
            return
        lines = amount_lines(self.values(), self._found, self._machine, start, self.dashboard.glyphs)
        self.query_one("#amount", TextBlock).show_lines(lines)

    def pulse_changed(self, pulse: Pulse, before: Pulse | None) -> None:
        """What is typed stays, whatever others do."""

    # RUN

    def on_button_field_pressed(self, message: ButtonField.Pressed) -> None:
        """RUN."""
        message.stop()
        self.action_run_form()

    def on_field_column_finished(self, message: FieldColumn.Finished) -> None:
        """Enter behind the last field."""
        message.stop()
        self.action_run_form()

    def action_run_form(self) -> None:
        """Check what is there now, and start if nothing is wrong with it; else go to what is."""
        if self._starting or self._ahead is not None or self._start is None:
            return
        values, project, again = self.values(), self.project_id, self._profile
        if not (values.performance or values.loss):
            self.dashboard.drafts.pop(self._draft, None)
            self.dashboard.go(route.theory(project, FLOPS), replace=True)
            return
        self._starting = True
        self.ask(
            lambda: self.desk.check_profile(values, project, again),
            lambda found: self._decide(found, values),
            group="run",
            otherwise=self._give_up,
        )

    def _decide(self, found: ProfileCheck, values: ProfileValues) -> None:
        self._checked(found)
        if found.errors:
            self._starting = False
            first = next((name for name in self.column.fields if name in found.errors), "")
            self.say(found.errors[first] if first else next(iter(found.errors.values())), "bad")
            self.column.focus_field(first)
        elif values.performance and (found.performance_s or 0.0) > LONG_S:
            answers = {"y": "run it all the same", "o": "Performance off"}
            ask(self, "The performance profile takes long.", answers, lambda answer: self._answer(answer, values))
        else:
            self._run(values)

    def _answer(self, answer: str, values: ProfileValues) -> None:
        if answer == "y":
            self._run(values)
        elif answer == "o":
            self._starting = False
            self._switch_off()
        else:
            self._starting = False

    def _switch_off(self) -> None:
        from tuibench.tui.screens.profile_fields import OFF
        from tuibench.tui.widgets.choice_field import ChoiceField

        field = self.column.fields[PERFORMANCE]
        assert isinstance(field, ChoiceField)
        field.put(OFF)
        self._show_switches()
        self.check()

    def _run(self, values: ProfileValues) -> None:
        project, profile, desk = self.project_id, self._profile, self.desk
        self.say("starting")
        self.ask(
            lambda: desk.start_profile(values, project, profile), self._started, group="run", otherwise=self._give_up
        )

    def _started(self, begun: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        runs, notes = begun
        app = self.dashboard
        app.drafts.pop(self._draft, None)
        app.started = runs[0]
        notes = (*notes, *(f"{short_id(one)} waits behind it" for one in runs[1:]))
        if app.screen is not self:
            app.page.say(f"run {short_id(runs[0])} was started")
        self.when_shown(lambda: self._go_to_run(runs[0], notes))

    def _go_to_run(self, run: str, notes: tuple[str, ...]) -> None:
        app = self.dashboard
        app.go(route.run(run), replace=True)
        if notes:
            # The run's screen has no line of news before it is composed.
            app.call_after_refresh(lambda: app.page.say("; ".join(notes)))

    def _give_up(self, error: TuibenchError) -> None:
        self._starting = False
        self.explain(error)

    # Other keys

    def action_copy_command(self) -> None:
        """The shell command that does the same."""
        commands = self._found.commands if self._found is not None else ()
        if not commands:
            self.say("there is no command for it: both are off, or a field is wrong", "warn")
            return
        text = " && ".join(commands)
        self.app.copy_to_clipboard(text)
        self.ask(lambda: self.desk.keep_copy(text), lambda path: self.say(f"copied, also to {path}"), group="copy")

    def action_back(self) -> None:
        """What was typed is there when it is opened again."""
        self._leave(super().action_back)

    def action_leave(self) -> None:
        """Likewise."""
        self._leave(super().action_leave)

    def _leave(self, then: Callable[[], None]) -> None:
        if self._starting:
            self.say("it is being started: a moment", "warn")
            return
        if self._ahead is None and self._start is not None and not self._profile:
            self.dashboard.drafts[self._draft] = self.values()
        then()
