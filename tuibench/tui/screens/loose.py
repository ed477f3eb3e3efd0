"""Benchmarks that belong to no project: imported ones, and those whose project is gone."""

from __future__ import annotations

from tuibench.core.card import BenchmarkRow
from tuibench.tui.desk import LOOSE, RunRow
from tuibench.tui.screens.project import ProjectScreen


class LooseScreen(ProjectScreen):
    """The list of a project without the project: there are no settings, and nothing new can be measured for it."""

    about = (
        "Benchmarks that belong to no project, such as imported ones, and runs of models that have none yet. All that "
        "can be done with a benchmark can be done here; tuibench edit ID --project NAME puts one into a project."
    )

    def __init__(self) -> None:
        super().__init__(LOOSE)

    def title_parts(self) -> tuple[str, ...]:
        """What they have in common."""
        return ("Without a project", self.benchmarks.heading())

    def load(self) -> None:
        """The benchmarks; there is no project to look at."""
        self.ask(lambda: self.desk.benchmarks(LOOSE), self._show_loose, group="benchmarks", otherwise=self._refuse)

    def _show_loose(self, rows: tuple[BenchmarkRow, ...]) -> None:
        self.benchmarks.show(rows, self._runs())
        self.show_title()
        self._show_around()

    def _runs(self) -> tuple[RunRow, ...]:
        pulse = self.dashboard.pulse
        return tuple(row for row in pulse.runs if not row.project) if pulse is not None else ()

    def _names(self) -> tuple[str, ...]:
        return ()

    def action_new(self) -> None:
        """A benchmark needs a model, which a project has."""
        self.say("a new benchmark is made in a project: q, then enter on one, or n for a new project", "warn")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is one tab."""
        return False if action.startswith("tab_") else super().check_action(action, parameters)
