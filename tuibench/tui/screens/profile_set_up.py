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
"""After the last key: whoever types is not told of every half of a number."""


class ProfileSetUp(Page):
    """What is typed is kept when it is left; a subclass starts it."""

    def __init__(self, project_id: str = "", kind: str = "", profile: str = "") -> None:
        """`kind` switches the other one off; `profile` is one whose settings are taken."""
        super().__init__()
        self.project_id = project_id
        self._kind = kind
        self.profile = profile
        self.begun: ProfileStart | None = None
        self._values: ProfileValues | None = None
        """As they were put into the fields."""
        self._machine: Machine | None = None
        self.found: ProfileCheck | None = None
        self._timer: Timer | None = None
        self._weighing = False
        self.ready = False
        """Whether there are fields, or will be none. Keys pressed before are ignored."""

    def body(self) -> Iterable[Widget]:
        """Fields, and what they amount to."""
        yield RuleLine()
        yield FieldColumn(id="fields")
        yield RuleLine()
        yield TextBlock(id="amount")

    def title_parts(self) -> tuple[str, ...]:
        """The project, and what is asked."""
        start = self.begun
        again = f"Profile {short_id(self.profile)} again" if self.profile else "Profile set-up"
        return ((start.place or start.model) if start is not None else "", again)

    @property
    def column(self) -> FieldColumn:
        """The fields."""
        return self.query_one("#fields", FieldColumn)

    # How it begins

    def load(self) -> None:
        """Once; later only what others do is new."""
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
        # Those that share a line are there later than the line.
        await self.column.mount_all(made)
        self.call_after_refresh(self._filled)

    @property
    def draft(self) -> str:
        """By which name what was typed is kept."""
        return f"{self.project_id} {self._kind}"

    def _filled(self) -> None:
        """Go where the user most probably goes on."""
        if self.ready:
            return
        self.show_switches()
        self.column.focus_field("run")
        self.check()
        self.ready = True

    def on_key(self, event: events.Key) -> None:
        """Ignore keys while there are no fields, so that none does something on the page; escape leaves it."""
        if not self.ready and event.key != "escape":
            event.stop()
            event.prevent_default()
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
        if not self.ready:
            return
        if message.field.key in (PERFORMANCE, LOSS):
            self.show_switches()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(CHECK_S, self.check)

    def show_switches(self) -> None:
        """What belongs to a profile that is off is out of the way."""
        values, fields = self.values(), self.column.fields
        on = {PERFORMANCE: values.performance, LOSS: values.loss}
        for name, field in fields.items():
            off = any(name in OF[kind] and not on[kind] for kind in on)
            neither = (name in OF_BOTH or name.startswith(DIM)) and not any(on.values())
            field.set_class(off or neither, "hidden")

    def _weigh(self) -> None:
        """What the model costs at these sizes tells how long its profiles take; one look at a time, then a check."""
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
        """Ask what it amounts to as it stands."""
        values, project, again = self.values(), self.project_id, self.profile
        self.ask(lambda: self.desk.check_profile(values, project, again), self.checked, group="check")

    def checked(self, found: ProfileCheck) -> None:
        """Say what it amounts to, or all that is wrong."""
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
        """Sentences are broken at another place."""
        self._show_amount()

    def pulse_changed(self, pulse: Pulse, before: Pulse | None) -> None:
        """What is typed stays, whatever others do."""
