"""What the keys of a project's lists do where a line may be a benchmark, a profile, a run, or theory."""

from __future__ import annotations

from collections.abc import Callable

from tuibench.core.short_id import short_id
from tuibench.tui import route
from tuibench.tui.desk_profile import APPROXIMATED, FLOPS
from tuibench.tui.screens.benchmark_list import BenchmarkList
from tuibench.tui.screens.profile_list import ProfileList
from tuibench.tui.screens.profile_rows import THEORIES
from tuibench.tui.screens.run_actions import RunActions
from tuibench.tui.screens.theory_actions import TheoryActions
from tuibench.tui.widgets.filter_line import FilterLine
from tuibench.tui.widgets.record_table import RecordTable


class ProjectProfiles(TheoryActions, RunActions):
    """To be inherited by the screen with the lists."""

    project_id: str

    @property
    def shown_list(self) -> BenchmarkList | None:
        """The screen's: the list in sight."""
        raise NotImplementedError

    def show_kind(self, kind: str) -> None:
        """The screen's: the list of profiles of that kind."""
        raise NotImplementedError

    def returned_from(self, kind: str) -> None:
        """The list in which a profile stands, or stood: the page may have been opened while another one was shown."""
        if kind and self.shown_list is not None:
            self.show_kind(kind)

    @property
    def kind(self) -> str:
        """Of what is in the list in sight."""
        shown = self.shown_list
        return shown.kind if isinstance(shown, ProfileList) else ""

    @property
    def theory(self) -> str:
        """FLOPS or APPROXIMATED where the cursor is on that, else ''."""
        shown = self.shown_list
        one = shown.table.cursor_key if shown is not None else None
        return one if one in (FLOPS, APPROXIMATED) else ""

    def target(self) -> str | None:
        """What is under the cursor; theory is no record."""
        shown = self.shown_list
        return shown.table.cursor_key if shown is not None and not self.theory else None

    def marked(self) -> tuple[str, ...]:
        """As the list has them."""
        shown = self.shown_list
        return tuple(one for one in shown.marked() if one not in THEORIES) if shown is not None else ()

    def targets(self) -> tuple[str, ...]:
        """The marked ones, else the one under the cursor."""
        return self.marked() or super().targets()

    def action_compare(self) -> None:
        """Of theory there is nothing to compare, which is said of what is marked, too."""
        marked = self.marked()
        if self.theory and len(marked) == 1:
            name, origin, _ = THEORIES[self.theory]
            other = f"{short_id(marked[0])} is marked: c on another profile, or with two marks, compares"
            self.say(f"{name} is {origin}, so nothing compares with it; {other}", "warn")
        else:
            super().action_compare()

    def with_target(self, then: Callable[[str], object]) -> None:
        """Of theory there is nothing to name, measure again or remove."""
        if self.theory:
            name, origin, _ = THEORIES[self.theory]
            self.say(f"{name} is {origin}: enter shows it, n measures one", "warn")
        elif self.kind and self.target() is None:
            self.say("there is no profile under the cursor: n makes one", "warn")
        else:
            super().with_target(then)

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """Enter: the run while it is none of the stored ones, else what is stored or worked out."""
        message.stop()
        one, shown = message.key, self.shown_list
        if self.theory:
            self.dashboard.go(route.theory(self.project_id, one))
        elif shown is not None and one in shown.rows.runs:
            self.dashboard.go(route.run(one))
        else:
            self.dashboard.go(route.profile(one) if self.kind else route.detail(one))

    def on_filter_line_typed(self, message: FilterLine.Typed) -> None:
        """Filter while one types."""
        message.stop()
        if (shown := self.shown_list) is not None:
            shown.filter_by(message.text)

    def action_new(self) -> None:
        """A benchmark, or a profile of the kind in sight."""
        if self.kind:
            self.dashboard.go(route.profile_form(self.project_id, self.kind))
        else:
            self.dashboard.go(route.form(project_id=self.project_id))

    def action_copy_command(self) -> None:
        """The shell command that does the same."""
        if self.theory:
            self.copy_theory(self.project_id, self.theory)
        else:
            super().action_copy_command()

    def action_export(self) -> None:
        """To a file."""
        if self.theory:
            self.export_theory(self.project_id, self.theory)
        else:
            super().action_export()
