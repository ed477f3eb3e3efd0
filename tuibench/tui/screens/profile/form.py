"""The form of a profile: its fields, checked while they are filled in, and the screen around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields as attributes
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.machine import Machine, isa_words
from tuibench.core.settings import profile
from tuibench.core.settings.setting import Place
from tuibench.core.spec import LEVELS, LOSS, PERFORMANCE
from tuibench.core.units import count_of, seconds
from tuibench.present.error.words import hint_words, message_words
from tuibench.services.form_values import FLOPS, LONG_S, ProfileCheck, ProfileStart, ProfileValues
from tuibench.tui import key, route
from tuibench.tui.screens.benchmark.actions import show_started
from tuibench.tui.screens.detail.facts import Fact, hung
from tuibench.tui.screens.form.screen import RunForm
from tuibench.tui.widgets.choice_field import ButtonField, Choice, ChoiceField, ManyField
from tuibench.tui.widgets.field import Field, FieldColumn, FieldPair, TextField
from tuibench.tui.widgets.painted import Glyphs, LineLike
from tuibench.tui.widgets.status_line import ask
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

DIM = "dim:"
"""Prefix of the key of a symbolic dim's field."""
ON, OFF = "on", "off"
LABEL = 16
OF = {
    PERFORMANCE: ("name", "what_if", "runs", "processes"),
    LOSS: ("loss_name", "samples", "inputs_file", "levels", "budget"),
}
"""Fields that only one kind of profile has."""
OF_BOTH = ("engine", "batch", "cores", "sequence_length")
_SWITCHED = ("performance", "what_if", "loss", "budget")
"""Fields with two choices, which are booleans in the values."""
_SWITCHES = (Choice(ON, "on"), Choice(OFF, "off"))
_REACH = (Choice(OFF, "all layers"), Choice(ON, "the ten worst"))
_NO_TIMES = "reports no layer times"


def make_fields(values: ProfileValues, machine: Machine | None) -> Iterator[Widget]:
    """Yield the fields from the first line to the last; related ones share a line."""
    yield _switch("performance", "Performance", values.performance, "off: the theoretical FLOPS profile only")
    yield TextField("name", "  name", values.name, width=24, label_width=LABEL)
    what_if = _place("what_if")
    yield _switch("what_if", what_if.label, values.what_if, what_if.hint)
    yield FieldPair(_text("runs", values.runs), _text("processes", values.processes))
    yield _engine(values, machine)
    yield _text("batch", values.batch)
    usable = f"of {machine.usable_cores}: those you will deploy on" if machine is not None else ""
    yield _text("cores", values.cores, empty=str(machine.default_cores) if machine is not None else "", hint=usable)
    if values.sequence_length:
        yield _text("sequence_length", values.sequence_length)
    for name, text in values.dims:
        yield _text("dims", text, key=DIM + name, label=name)
    yield from _of_loss(values)
    yield ButtonField("run", "RUN", label_width=LABEL)


def _of_loss(values: ProfileValues) -> Iterator[Widget]:
    yield _switch("loss", "Loss", values.loss, "off: the approximated profile only")
    name = TextField("loss_name", "  name", values.loss_name, width=24, label_width=LABEL)
    yield FieldPair(name, _text("samples", values.samples))
    yield _text("inputs_file", values.inputs_file)
    levels, budget = _place("levels"), _place("budget")
    choices = [Choice(level, level.removeprefix("pruned ")) for level in LEVELS]
    yield ManyField("levels", levels.label, choices, values.levels, hint=levels.hint, label_width=LABEL)
    reach = ON if values.budget else OFF
    yield ChoiceField("budget", budget.label, _REACH, reach, hint=budget.hint, label_width=LABEL)


def values_of(fields: Mapping[str, Field], given: ProfileValues) -> ProfileValues:
    """Return the typed values; settings without a field keep their given value."""
    known = {one.name for one in attributes(ProfileValues)}
    answers = {name: field.answer for name, field in fields.items() if name in known}
    answers |= {name: answers[name] == ON for name in _SWITCHED}
    dims = tuple((name, str(fields[DIM + name].answer)) for name, _ in given.dims)
    return ProfileValues(dims=dims, **{"sequence_length": given.sequence_length, **answers})


def _engine(values: ProfileValues, machine: Machine | None) -> ChoiceField:
    """Return the installed engines and those that can time layers, with a reason for each that cannot be chosen."""
    known = [each for each in (machine.engines if machine is not None else ()) if each.available or each.tells_layers]
    choices = [
        Choice(each.name, each.name, _NO_TIMES if not each.tells_layers else "" if each.available else "not installed")
        for each in known
    ]
    if values.engine and values.engine not in {choice.key for choice in choices}:
        choices.append(Choice(values.engine, values.engine))
    return ChoiceField("engine", _place("engine").label, choices, values.engine, label_width=LABEL)


def _switch(key: str, label: str, value: bool, hint: str) -> ChoiceField:
    return ChoiceField(key, label, _SWITCHES, ON if value else OFF, hint=hint, label_width=LABEL)


def _place(name: str) -> Place:
    return profile.by_name()[name].place or Place("")


def _text(
    name: str, value: str, *, key: str = "", label: str = "", empty: str | None = None, hint: str | None = None
) -> TextField:
    """Return the text field of a setting; one that stands beside another has its width and a short label."""
    place = _place(name)
    label = label or place.label
    field = TextField(
        key or name,
        label,
        value,
        hint=place.hint if hint is None else hint,
        placeholder=(place.empty or profile.by_name()[name].default_words) if empty is None else empty,
        width=place.width,
        label_width=len(label) + 3 if place.beside else LABEL,
    )
    if place.beside:
        field.styles.width = place.beside
    return field


def amount_lines(
    values: ProfileValues, found: ProfileCheck | None, machine: Machine | None, start: ProfileStart, glyphs: Glyphs
) -> list[LineLike]:
    """Return the lines, the most important first, because the last ones are cut if there is no room."""
    dot = f" {glyphs.dot} "
    lines: list[LineLike] = []
    if found is None:
        lines.append((" estimating the time ...", "dim"))
        return lines
    if found.errors:
        lines.append((f" {count_of(len(found.errors), 'field')} to correct: see the texts beside them", "bad"))
    else:
        lines.append((f" {dot.join(_times(values, found, start.project))}", "title"))
    lines += [(f" ! {text}", "warn") for text in _long_words(values, found, start.project)]
    if found.busy and (values.performance or values.loss):
        lines.append((f" after {found.busy}", "warn"))
    if machine is not None and machine.isa:
        lines.append((f" instruction sets: {isa_words(machine.isa)}", "dim"))
    lines += [(f" same as  {command}", "dim") for command in found.commands]
    return lines


def long_ones(values: ProfileValues, found: ProfileCheck) -> list[str]:
    """Return the kinds that are on and take long."""
    took = {PERFORMANCE: (values.performance, found.performance_s), LOSS: (values.loss, found.loss_s)}
    return [kind for kind, (is_on, seconds_) in took.items() if is_on and (seconds_ or 0.0) > LONG_S]


def _long_words(values: ProfileValues, found: ProfileCheck, project: str) -> Iterator[str]:
    """Yield warnings about long durations, with alternatives and ways to shorten them."""
    kinds = long_ones(values, found)
    if PERFORMANCE in kinds:
        instead = ": with Performance off there is the FLOPS profile, at once" if project else ""
        yield f"performance takes long{instead}"
    if LOSS in kinds:
        several = len(values.levels) > 1
        ways = (
            ("the ten worst", several and not values.budget),
            ("fewer levels", several),
            ("fewer samples", values.samples.strip() != "1"),
        )
        shorter = ", ".join(way for way, helps in ways if helps)
        yield "loss takes long" + (f": shorter by {shorter}" if shorter else "")


def _times(values: ProfileValues, found: ProfileCheck, project: str) -> list[str]:
    if not (values.performance or values.loss):
        # Theoretical profiles belong to a project.
        theory = "RUN opens the FLOPS profile: nothing is measured"
        return [theory if project else "both are off: switch one on"]
    words = []
    for is_on, name, took in (
        (values.performance, "performance", found.performance_s),
        (values.loss, "loss", found.loss_s),
    ):
        if is_on:
            unknown = "estimating ..." if found.uncounted else "time unknown"
            words.append(f"{name} about {seconds(took)}" if took is not None else f"{name}: {unknown}")
    return words


CHECK_S = 0.15
"""Delay after the last key, so that half-typed numbers are not reported."""


class ProfileSetUp(RunForm):
    """Fields and checks of the set-up; a subclass starts the run."""

    follows_store = False

    def __init__(self, project_id: str = "", kind: str = "", profile: str = "") -> None:
        """Create the page; `kind` switches the other kind off; `profile` is the id of a profile to re-run."""
        super().__init__()
        self.project_id = project_id
        self._kind = kind
        self.profile = profile
        self.begun: ProfileStart | None = None
        self._values: ProfileValues | None = None
        """The values first put into the fields."""
        self._machine: Machine | None = None
        self.found: ProfileCheck | None = None
        self._weighing = False

    def body(self) -> Iterable[Widget]:
        """Yield the fields and the text below them."""
        yield RuleLine()
        yield FieldColumn(id="fields")
        yield RuleLine()
        yield TextBlock(id="amount")

    def title_parts(self) -> tuple[str, ...]:
        """Return the project and the kind of set-up."""
        start = self.begun
        again = f"Profile {short_id(self.profile)} again" if self.profile else "Profile set-up"
        return ((start.place or start.model) if start is not None else "", again)

    @property
    def column(self) -> FieldColumn:
        """The column of fields."""
        return self.query_one("#fields", FieldColumn)

    # Loading

    def load(self) -> None:
        """Load once; later calls are ignored, because they only follow other processes' changes."""
        if self.begun is not None or self.column.fields:
            return
        self.say("looking at the model")
        project, profile = self.project_id, self.profile
        self.request(
            lambda: (self.services.machine.read(), self.services.profile_forms.open(project, profile)),
            self._begin,
            group="form",
            otherwise=self._refuse,
        )

    def _refuse(self, error: TuibenchError) -> None:
        self.ready = True
        self.query_one("#amount", TextBlock).show_lines([(f" {message_words(error)}", "bad"), f" {hint_words(error)}"])
        self.say("")

    def _begin(self, opened: tuple[Machine, ProfileStart]) -> None:
        self.say("")
        self._machine, start = opened
        self.project_id = self.project_id or start.project
        self.begun = replace(start, project=self.project_id)
        values = self.begun.values
        if not self.profile:
            kept = self.dashboard.drafts.get(self.draft)
            switched = replace(values, performance=self._kind != LOSS, loss=self._kind != PERFORMANCE)
            values = kept if isinstance(kept, ProfileValues) else switched
        self._values = values
        self.show_title()
        self.call_next(self._fill, list(make_fields(values, self._machine)))

    async def _fill(self, made: list[Widget]) -> None:
        # Fields that share a line are mounted after the line.
        await self.column.mount_all(made)
        self.call_after_refresh(self._filled)

    @property
    def draft(self) -> str:
        """Key of the kept values."""
        return f"{self.project_id} {self._kind}"

    def _filled(self) -> None:
        """Focus RUN, the most probable next step."""
        if self.ready:
            return
        self.show_switches()
        self.column.focus_field("run")
        self.check()
        self.ready = True

    # Editing

    def values(self) -> ProfileValues:
        """Return the typed values."""
        given = self._values or ProfileValues()
        return values_of(self.column.fields, given) if self.column.fields else given

    def on_field_changed(self, message: Field.Changed) -> None:
        """Check after a short delay."""
        message.stop()
        if not self.ready:
            return
        if message.field.key in (PERFORMANCE, LOSS):
            self.show_switches()
        self.after_pause("check", CHECK_S, self.check)

    def show_switches(self) -> None:
        """Hide the fields of a profile that is off."""
        values, fields = self.values(), self.column.fields
        on = {PERFORMANCE: values.performance, LOSS: values.loss}
        for name, field in fields.items():
            off = any(name in OF[kind] and not on[kind] for kind in on)
            neither = (name in OF_BOTH or name.startswith(DIM)) and not any(on.values())
            field.set_class(off or neither, "hidden")

    def _weigh(self) -> None:
        """Count the model's costs at these sizes for the estimate, one count at a time, then check again."""
        if self._weighing:
            return
        self._weighing = True
        values, project, again = self.values(), self.project_id, self.profile
        services = self.services
        self.request(
            lambda: services.profile_forms.weigh(values, project, again),
            self._weighed,
            group="costs",
            otherwise=self._weighed,
        )

    def _weighed(self, _: object) -> None:
        self._weighing = False
        self.check()

    def check(self) -> None:
        """Check the present values."""
        values, project, again = self.values(), self.project_id, self.profile
        self.request(lambda: self.services.profile_forms.check(values, project, again), self.checked, group="check")

    def checked(self, found: ProfileCheck) -> None:
        """Show durations and commands, or all errors."""
        self.found = found
        self.column.show_errors(found.errors)
        self._show_amount()
        if found.uncounted:
            self._weigh()

    def _show_amount(self) -> None:
        start = self.begun
        if start is None:
            return
        block, width = self.query_one("#amount", TextBlock), max(self.size.width - 1, 20)
        facts = (Fact(" !", start.error, "bad", "bad"), Fact(" !", start.note, "warn", "warn"))
        about = [row for fact in facts if fact.text for row in hung(fact, 3, width, block.legible)]
        lines = amount_lines(self.values(), self.found, self._machine, start, self.dashboard.glyphs)
        block.show_lines([*about, *lines])

    def on_resize(self) -> None:
        """Wrap sentences at the new width."""
        self._show_amount()


_OFF = {PERFORMANCE: ("o", "Performance off"), LOSS: ("l", "Loss off")}
"""The answer that switches off a profile with a long duration."""


class ProfileFormScreen(ProfileSetUp):
    """Set-up of profiles; typed values are kept on leaving until they are started."""

    CSS_PATH = "profile_form.tcss"
    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("run-form", "copy-command"))
    hints: tuple[str, ...] = ("run-form", "next-field", "previous-field", "back", "copy-command", "palette", "help")
    about = (
        "The set-up of profiles. A performance profile measures where the time goes, layer by layer, at one batch and "
        "number of cores: give those that you will deploy with. A loss profile measures how much the outputs change "
        "when single layers are pruned or quantized, on your data or on seeded inputs. Either can be off: the FLOPS "
        "profile and the approximated one are there in any case. Esc leaves, and what you typed is kept."
    )

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
        self.request(
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
        self.request(
            lambda: services.profile_forms.start(values, project, profile),
            self._started,
            group="run",
            otherwise=self._give_up,
        )

    def _started(self, begun: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        runs, notes = begun
        self.dashboard.drafts.pop(self.draft, None)
        notes = (*notes, *(f"{short_id(one)} is queued next" for one in runs[1:]))
        show_started(self, runs[0], notes, replace=True)

    # Other keys

    def action_copy_command(self) -> None:
        """Copy the equivalent shell command."""
        commands = self.found.commands if self.found is not None else ()
        if not commands:
            self.say("no command: both are off, or a field is wrong", "warn")
            return
        self.copy_text(lambda: " && ".join(commands))

    def leave_by(self, then: Callable[[], None]) -> None:
        """Keep the typed values for the next time, then leave."""
        if self.ready and self.begun is not None and not self.profile:
            self.dashboard.drafts[self.draft] = self.values()
        then()
