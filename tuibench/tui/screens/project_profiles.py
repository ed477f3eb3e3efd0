"""Actions on a project's lists, whose lines may be benchmarks, profiles, runs or theoretical profiles."""

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
    """Mixin for the screen with the lists."""

    project_id: str

    @property
    def shown_list(self) -> BenchmarkList | None:
        """The visible list; the screen implements it."""
        raise NotImplementedError

    def show_kind(self, kind: str) -> None:
        """Show the list of profiles of that kind; the screen implements it."""
        raise NotImplementedError

    def returned_from(self, kind: str) -> None:
        """Show the list of a closed profile page; another list may have been visible when it was opened."""
        if kind and self.shown_list is not None:
            self.show_kind(kind)

    @property
    def kind(self) -> str:
        """Kind of the profiles in the visible list; '' for benchmarks."""
        shown = self.shown_list
        return shown.kind if isinstance(shown, ProfileList) else ""

    @property
    def theory(self) -> str:
        """FLOPS or APPROXIMATED if the cursor is on that profile, else ''."""
        shown = self.shown_list
        one = shown.table.cursor_key if shown is not None else None
        return one if one in (FLOPS, APPROXIMATED) else ""

    def target(self) -> str | None:
        """Return the record under the cursor; a theoretical profile is none."""
        shown = self.shown_list
        return shown.table.cursor_key if shown is not None and not self.theory else None

    def marked(self) -> tuple[str, ...]:
        """Return the marked records of the list."""
        shown = self.shown_list
        return tuple(one for one in shown.marked() if one not in THEORIES) if shown is not None else ()

    def targets(self) -> tuple[str, ...]:
        """Return the marked records, else the one under the cursor."""
        return self.marked() or super().targets()

    def action_compare(self) -> None:
        """Compare; explain that a theoretical profile cannot be compared."""
        marked = self.marked()
        if self.theory and len(marked) == 1:
            name, origin, _ = THEORIES[self.theory]
            other = f"{short_id(marked[0])} is marked: c on another profile, or with two marks, compares"
            self.say(f"{name} is {origin}, so nothing compares with it; {other}", "warn")
        else:
            super().action_compare()

    def with_target(self, then: Callable[[str], object]) -> None:
        """Call `then` with the target; explain that a theoretical profile cannot be named, removed or rerun."""
        if self.theory:
            name, origin, _ = THEORIES[self.theory]
            self.say(f"{name} is {origin}: enter shows it, n measures one", "warn")
        elif self.kind and self.target() is None:
            self.say("there is no profile under the cursor: n makes one", "warn")
        else:
            super().with_target(then)

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """Open a run that is not stored yet, else the stored or theoretical record."""
        message.stop()
        one, shown = message.key, self.shown_list
        if self.theory:
            self.dashboard.go(route.theory(self.project_id, one))
        elif shown is not None and one in shown.rows.runs:
            self.dashboard.go(route.run(one))
        else:
            self.dashboard.go(route.profile(one) if self.kind else route.detail(one))

    def on_filter_line_typed(self, message: FilterLine.Typed) -> None:
        """Filter while the user types."""
        message.stop()
        if (shown := self.shown_list) is not None:
            shown.filter_by(message.text)

    def action_new(self) -> None:
        """Open the form for a benchmark, or for a profile of the visible kind."""
        if self.kind:
            self.dashboard.go(route.profile_form(self.project_id, self.kind))
        else:
            self.dashboard.go(route.form(project_id=self.project_id))

    def action_copy_command(self) -> None:
        """Copy the shell command for the record."""
        if self.theory:
            self.copy_theory(self.project_id, self.theory)
        else:
            super().action_copy_command()

    def action_export(self) -> None:
        """Export to a file."""
        if self.theory:
            self.export_theory(self.project_id, self.theory)
        else:
            super().action_export()
