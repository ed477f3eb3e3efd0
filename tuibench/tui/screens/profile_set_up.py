"""The fields of the set-up of profiles, checked while they are filled in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from textual import events
from textual.timer import Timer
from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.core.machine import Machine
from tuibench.core.profile_spec import LOSS, PERFORMANCE
from tuibench.core.short_id import short_id
from tuibench.tui.desk import Pulse
from tuibench.tui.desk_profile import ProfileCheck, ProfileStart, ProfileValues
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.detail_fact import Fact, hung
from tuibench.tui.screens.profile_fields import DIM, OF, OF_BOTH, make_fields, values_of
from tuibench.tui.screens.profile_form_words import amount_lines
from tuibench.tui.widgets.field import Field
from tuibench.tui.widgets.field_column import FieldColumn
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

CHECK_S = 0.15
"""Delay after the last key, so that half-typed numbers are not reported."""


class ProfileSetUp(Page):
    """Fields and checks of the set-up; a subclass starts the run."""

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
        self._timer: Timer | None = None
        self._weighing = False
        self.ready = False
        """True when the fields exist, or loading has failed. Keys pressed before are ignored."""

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
        self.ask(
            lambda: (self.desk.machine(), self.desk.profile_form(project, profile)),
            self._begin,
            group="form",
            otherwise=self._refuse,
        )

    def _refuse(self, error: TuibenchError) -> None:
        self.ready = True
        self.query_one("#amount", TextBlock).show_lines([(f" {error.message}", "bad"), f" {error.hint}"])
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

    def on_key(self, event: events.Key) -> None:
        """Ignore keys before the fields exist, so that they do not act on the page; escape leaves it."""
        if not self.ready and event.key != "escape":
            event.stop()
            event.prevent_default()
        else:
            super().on_key(event)

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
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(CHECK_S, self.check)

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
        desk = self.desk
        self.ask(
            lambda: desk.weigh_profile(values, project, again), self._weighed, group="costs", otherwise=self._weighed
        )

    def _weighed(self, _: object) -> None:
        self._weighing = False
        self.check()

    def check(self) -> None:
        """Check the present values."""
        values, project, again = self.values(), self.project_id, self.profile
        self.ask(lambda: self.desk.check_profile(values, project, again), self.checked, group="check")

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

    def pulse_changed(self, pulse: Pulse, before: Pulse | None) -> None:
        """Keep the typed values on other processes' changes."""
