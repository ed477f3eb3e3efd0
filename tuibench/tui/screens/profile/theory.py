"""Pages that need no measurement: the FLOPS profile and the approximated loss profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from tuibench.core.errors import TuibenchError
from tuibench.core.spec import LOSS, PERFORMANCE
from tuibench.core.stored import ProjectRow
from tuibench.present.profile.kind import view_of
from tuibench.services.monitor import Snapshot
from tuibench.services.profile_values import FLOPS
from tuibench.tui import key, route
from tuibench.tui.screens.profile.list import THEORIES
from tuibench.tui.screens.profile.page import KEYS, ProfilePage, View
from tuibench.tui.screens.profile.theory_actions import TheoryActions
from tuibench.tui.widgets.text_block import TextBlock

Worked = tuple[ProjectRow, View]


class TheoryScreen(ProfilePage, TheoryActions):
    """A theoretical profile; a child computes it unless cached."""

    BINDINGS: ClassVar = [*key.bindings(*KEYS), *key.bindings(only=("new", "export", "copy-command"))]
    record_keys: ClassVar[tuple[str, ...]] = ("new", "export", "copy-command")

    def __init__(self, project_id: str, what: str, tab: str = "") -> None:
        """`what` is FLOPS or APPROXIMATED."""
        super().__init__(tab)
        self.project_id = project_id
        self.what = what
        self._place = ""

    def title_parts(self) -> tuple[str, ...]:
        """Return the project, and that nothing was measured."""
        name, origin, _ = THEORIES[self.what]
        return (self._place, f"{name} ({origin})")

    @property
    def profile_kind(self) -> str:
        """The kind of measured profile under which it is listed."""
        return PERFORMANCE if self.what == FLOPS else LOSS

    def load(self) -> None:
        """Compute it once: it depends on the model alone."""
        if self.view is None:
            project = self.project_id
            self.query_one("#about", TextBlock).show_lines([(" looking at the model ...", "dim")])
            self.ask(self._work_out(project), self._show, group="theory", otherwise=self._refuse)

    def _work_out(self, project: str) -> Callable[[], Worked]:
        services, flops = self.services, self.what == FLOPS

        def work() -> Worked:
            row = services.projects.get(project)
            return row, view_of(services.theory.costs(project) if flops else services.theory.approximated(project))

        return work

    def snapshot_changed(self, snapshot: Snapshot, before: Snapshot | None) -> None:
        """Do nothing: other sessions do not change it."""

    def _show(self, found: Worked) -> None:
        row, view = found
        self._place = row.project.name
        self.show_view(view)

    def _refuse(self, error: TuibenchError) -> None:
        self.show_wrong(error)

    def right_words(self) -> str:
        """Return the origin of the profile, for every tab."""
        return THEORIES[self.what][1]

    def action_new(self) -> None:
        """Open the form for a measured profile."""
        self.dashboard.go(route.profile_form(self.project_id, self.profile_kind))

    def action_copy_command(self) -> None:
        """Copy the shell command for this profile."""
        self.copy_theory(self.project_id, self.what)

    def action_export(self) -> None:
        """Export it to a file."""
        self.export_theory(self.project_id, self.what)
