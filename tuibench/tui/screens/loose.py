"""Screen of benchmarks without a project: imported ones, and those whose project was removed."""

from __future__ import annotations

from tuibench.tui.desk import LOOSE, RunRow
from tuibench.tui.screens.project import ProjectScreen


class LooseScreen(ProjectScreen):
    """The project screen without a project: it has no settings and cannot start a new benchmark."""

    about = (
        "Benchmarks that belong to no project, such as imported ones, and runs of models that have none yet. All that "
        "can be done with a benchmark can be done here; tuibench edit ID --project NAME puts one into a project."
    )

    has_theory = False
    tabs = 3

    def __init__(self) -> None:
        super().__init__(LOOSE)

    def on_mount(self) -> None:
        """Change the hint of the empty list: benchmarks are created in a project."""
        self.benchmarks.nothing = ("No benchmark.", "", "A benchmark is made in a project, by n.")

    def title_parts(self) -> tuple[str, ...]:
        """Return the title."""
        shown = self.shown_list or self.benchmarks
        return ("Without a project", shown.heading())

    def load(self) -> None:
        """Request the benchmarks and profiles; there is no project to read."""
        self.ask(
            lambda: (self.desk.benchmarks(LOOSE), self.desk.profiles(LOOSE)),
            lambda found: self.show_rows(*found),
            group="benchmarks",
            otherwise=self._refuse,
        )

    def _runs(self) -> tuple[RunRow, ...]:
        pulse = self.dashboard.pulse
        return tuple(row for row in pulse.runs if not row.project) if pulse is not None else ()

    def action_new(self) -> None:
        """Refuse: a benchmark needs a model, which only a project has."""
        self.say("a new benchmark is made in a project: q, then enter on one, or n for a new project", "warn")
