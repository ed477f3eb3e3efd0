"""Actions on projects: rename, copy, remove."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tuibench.core.project import ProjectRow
from tuibench.core.text import show, too_long
from tuibench.tui.desk import Removed
from tuibench.tui.screens.run_actions import RunActions
from tuibench.tui.widgets.question import ask


class ProjectActions(RunActions):
    """Mixin for a screen with projects; `chosen` returns the project."""

    def chosen(self) -> ProjectRow | None:
        """Return the project that keys act on; None if there is none."""
        return None

    def why_none(self) -> str:
        """Return why no project is chosen, with a hint."""
        return "there is no project yet: n makes one"

    def action_edit(self) -> None:
        """Edit name and description; for a run without a project, the run's."""
        if self.target() is not None:
            super().action_edit()
        else:
            self._with_project(self._ask_edit)

    def _ask_edit(self, row: ProjectRow, typed: tuple[str, ...] | None = None, why: str = "") -> None:
        from tuibench.tui.widgets.text_question import TextQuestion  # lazy: the first frame needs no fields

        name, description = typed or (row.project.name, row.project.description)
        heading = f"{show(row.project.name, 16)} not saved, {why}" if why else "Name and description of the project"
        question = TextQuestion(heading, (("name", name), ("description", description)), check=_named)
        self.app.push_screen(question, partial(self._edit_project, row))

    def _edit_project(self, row: ProjectRow, answers: tuple[str, ...] | None) -> None:
        if answers is None or answers == (row.project.name, row.project.description):
            return
        name, description = answers
        self.wish(
            lambda: self.desk.edit_project(row.project, name, description, None),
            lambda _: self.went_on("the project is changed"),
            # Ask again with the typed text, so that it is not lost.
            otherwise=lambda error: self.when_shown(lambda: self._ask_edit(row, answers, error.message)),
        )

    def action_copy_project(self) -> None:
        """Create a second project with the same model."""
        self._with_project(self._ask_copy)

    def _ask_copy(self, row: ProjectRow, typed: tuple[str, ...] | None = None, why: str = "") -> None:
        from tuibench.tui.widgets.text_question import TextQuestion  # lazy: as above

        (name,) = typed or (f"{row.project.name} copy",)
        heading = f"{show(row.project.name, 16)} not copied, {why}" if why else "Name of the copy"
        question = TextQuestion(heading, (("name", name),), check=_named)
        self.app.push_screen(question, partial(self._copy, row))

    def _copy(self, row: ProjectRow, answers: tuple[str, ...] | None) -> None:
        if answers is not None:
            self.wish(
                lambda: self.desk.copy_project(row.project.id, answers[0]),
                lambda made: self.went_on(f"{made.project.name} has the same model; benchmarks stay with the first"),
                otherwise=lambda error: self.when_shown(lambda: self._ask_copy(row, answers, error.message)),
            )

    def action_remove(self) -> None:
        """Remove the project with its benchmarks, or a run without a project, after one question."""
        if self.target() is not None:
            super().action_remove()
        else:
            self._with_project(self._ask_remove_project)

    def _ask_remove_project(self, row: ProjectRow) -> None:
        held = f" with {row.held}" if row.measured > 0 else ""
        # `u undoes it` must be visible at 80 columns.
        text = f"Remove {show(row.project.name, 16)}{held}? u undoes it."
        ask(self, text, {"y": "remove"}, lambda answer: self._remove_project(row) if answer == "y" else None)

    def _remove_project(self, row: ProjectRow) -> None:
        desk, one = self.desk, row.project.id
        self.say(f"removing {show(row.project.name, 40)} ...")
        self.wish(self.dashboard.removals.removing(lambda: desk.remove_projects((one,))), self._show_gone)

    def _show_gone(self, removed: Removed) -> None:
        self.went_on(f"{removed.words}; u brings it back")

    def _with_project(self, then: Callable[[ProjectRow], object]) -> None:
        row = self.chosen()
        if row is None:
            self.say(self.why_none(), "warn")
        else:
            then(row)


def _named(answers: tuple[str, ...]) -> str:
    return too_long(answers[0]) if answers[0].strip() else "a project needs a name"
