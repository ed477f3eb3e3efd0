"""Actions on projects, and on the lists of a project."""

from __future__ import annotations

from collections.abc import Callable

from tuibench.core.ids import short_id
from tuibench.core.stored import ProjectRow, Removal
from tuibench.core.text import show, too_long
from tuibench.present.outcome import project_removal_words
from tuibench.present.reason import reason_words
from tuibench.services.form_values import APPROXIMATED, FLOPS
from tuibench.tui import route
from tuibench.tui.screens.benchmark.actions import Change, Texts, ask_texts
from tuibench.tui.screens.benchmark.list import BenchmarkList
from tuibench.tui.screens.profile.list import THEORIES, ProfileList, TheoryActions
from tuibench.tui.screens.run.actions import RunActions
from tuibench.tui.widgets.field import FilterLine
from tuibench.tui.widgets.record_table import RecordTable
from tuibench.tui.widgets.status_line import confirm


class ProjectActions(RunActions):
    """Mixin for a screen with projects; `chosen` returns the project."""

    def chosen(self) -> ProjectRow | None:
        """Return the project that keys act on; None if there is none."""
        return None

    def why_none(self) -> str:
        """Return why no project is chosen, with a hint."""
        return "no project yet: n creates one"

    def action_edit(self) -> None:
        """Edit name and description; for a run without a project, the run's."""
        if self.target() is not None:
            super().action_edit()
        else:
            self._with_project(self._ask_edit)

    def _ask_edit(self, row: ProjectRow) -> None:
        project = row.project
        old = (project.name, project.description)

        def change(answers: Texts) -> Change | None:
            name, description = answers

            def save() -> str:
                self.services.projects.edit(project.id, name=name, description=description, base=project)
                return "project saved"

            return save if answers != old else None

        fields = (("name", project.name), ("description", project.description))
        failed = f"{show(project.name, 16)} not saved"
        ask_texts(self, "Name and description of the project", failed, fields, _named, change)

    def action_copy_project(self) -> None:
        """Create a second project with the same model."""
        self._with_project(self._ask_copy)

    def _ask_copy(self, row: ProjectRow) -> None:
        def change(answers: Texts) -> Change:
            def copy() -> str:
                made = self.services.projects.duplicate(row.project.id, answers[0])
                return f"{made.project.name} created; benchmarks stay with the original"

            return copy

        failed = f"{show(row.project.name, 16)} not copied"
        ask_texts(self, "Name of the copy", failed, (("name", f"{row.project.name} copy"),), _named, change)

    def action_remove(self) -> None:
        """Remove the project with its benchmarks, or a run without a project, after one question."""
        if self.target() is not None:
            super().action_remove()
        else:
            self._with_project(self._ask_remove_project)

    def _ask_remove_project(self, row: ProjectRow) -> None:
        held = f" with {row.held}" if row.measured > 0 else ""
        # `u undoes it` must be visible at 80 columns.
        text = f"Remove {show(row.project.name, 16)}{held}? u restores it."
        confirm(self, text, "remove", lambda: self._remove_project(row))

    def _remove_project(self, row: ProjectRow) -> None:
        services, one = self.services, row.project.id
        counted: list[ProjectRow] = []

        def remove() -> Removal:
            # The shown row may lack counts.
            counted.append(services.projects.get(one))
            return Removal(services.projects.remove(one))

        def done(removal: Removal) -> None:
            if removal.entry is not None:
                self.show_done(f"{project_removal_words(removal.entry, counted)}; u restores it")

        self.say(f"removing {show(row.project.name, 40)} ...")
        self.submit(self.dashboard.removals.removing(remove), done)

    def _with_project(self, then: Callable[[ProjectRow], object]) -> None:
        row = self.chosen()
        if row is None:
            self.say(self.why_none(), "warn")
        else:
            then(row)


def _named(answers: tuple[str, ...]) -> str:
    return reason_words(too_long(answers[0])) if answers[0].strip() else "a project needs a name"


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
            self.say(f"{name} is {origin}, so it cannot be compared; {other}", "warn")
        else:
            super().action_compare()

    def with_target(self, then: Callable[[str], object]) -> None:
        """Call `then` with the target; explain that a theoretical profile cannot be named, removed or rerun."""
        if self.theory:
            name, origin, _ = THEORIES[self.theory]
            self.say(f"{name} is {origin}: enter shows it, n measures one", "warn")
        elif self.kind and self.target() is None:
            self.say("no profile under the cursor: n measures one", "warn")
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
