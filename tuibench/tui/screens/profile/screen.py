"""Pages of profiles: a stored one of performance or of loss, and the theoretical one of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType

from tuibench.core.errors import TuibenchError, UnknownId
from tuibench.core.ids import short_id
from tuibench.core.spec import LOSS, PERFORMANCE
from tuibench.core.stored import ProjectRow, StoredBenchmark
from tuibench.core.text import cut, show
from tuibench.present.profile.page import view_of
from tuibench.services.form_values import FLOPS
from tuibench.tui import key, route
from tuibench.tui.screens.benchmark.record import RecordActions
from tuibench.tui.screens.detail.facts import INDENT, hung, log_facts
from tuibench.tui.screens.profile.list import THEORIES, TheoryActions
from tuibench.tui.screens.profile.page import KEYS, ProfilePage, View
from tuibench.tui.widgets.status_line import Notice
from tuibench.tui.widgets.text_block import TextBlock

_NAME = 24


class ProfileScreen(ProfilePage, RecordActions):
    """A stored profile, with all actions of a stored benchmark."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings(*KEYS, "benchmark")
    record_keys: ClassVar[tuple[str, ...]] = (
        "rerun", "rerun-changed", "compare", "edit", "export", "copy-command", "remove", "log",
    )  # fmt: skip

    def __init__(self, profile: str, tab: str = "") -> None:
        super().__init__(tab)
        self.profile = profile

    def title_parts(self) -> tuple[str, ...]:
        """Id and name, what kind it is, and of which model."""
        stored = self.stored
        if stored is None:
            return (f"profile {short_id(self.profile)}",)
        # Of a long name the list has the rest: what kind of page this is must be read, too.
        name = cut(show(stored.metadata.name), _NAME, self.dashboard.glyphs.ellipsis)
        name = f' "{name}"' if name else ""
        return (short_id(self.profile) + name, f"{self.kind} profile", stored.row.models)

    def target(self) -> str | None:
        """This one."""
        return self.profile

    @property
    def kind(self) -> str:
        """performance or loss; what is not read yet is a profile in any case."""
        return self.stored.row.kind if self.stored is not None else "performance"

    @property
    def profile_kind(self) -> str:
        """Once it is read."""
        return self.stored.row.kind if self.stored is not None else ""

    # What is shown

    def load(self) -> None:
        """The record; what was written once does not change, its metadata may."""
        one, services, known = self.profile, self.services, self.view

        def read() -> tuple[StoredBenchmark, View | None]:
            stored = services.library.get(one)
            return stored, known or stored_view(stored)

        self.request(read, self._show, group="open", otherwise=self._refuse, opens=self.stored is None)

    def _show(self, found: tuple[StoredBenchmark, View | None]) -> None:
        before, (stored, view) = self.stored, found
        if view is None:
            self.stored = stored
            self.show_title()
            self.show_wrong(TuibenchError("profile_empty"))
            self.hints = ("rerun", "rerun-changed", "remove", "log", "back", "help")
            self.show_keys()
        elif before is None:
            self.show_view(view, stored)
        else:
            self.stored = stored
            self.show_title()
            self.show_ages()

    def show_ages(self) -> None:
        """Update the age beside the tabs and those in the log."""
        if self.stored is not None and self.view is not None:
            self.show_around()
            self.update_log()

    def _refuse(self, error: TuibenchError) -> None:
        """A damaged record reports what is wrong with it; one that was removed meanwhile stays in sight."""
        if self.stored is None:
            facts, keys = self.error_facts(error)
            self.show_reasons(facts)
            self.hints = (*keys, "palette", "help")
            self.show_keys()
        elif isinstance(error, UnknownId):
            self.say("it was removed; u restores the last removal", "warn")
        else:
            self.explain(error)

    def right_words(self) -> str:
        """When it was measured, and how quiet that was."""
        return self.record_words()

    async def action_log(self) -> None:  # type: ignore[override]
        """The tab of that name; of a profile without any, what the tab would say."""
        if self.stored is None or self.view is not None:
            await self.go_to_tab(4)
            return
        width, legible = max(self.size.width - 2, 20), self.query_one("#about", TextBlock).legible
        facts = log_facts(self.stored, self.dashboard.now())
        lines = [row for fact in facts for row in hung(fact, INDENT, width, legible)]
        self.app.push_screen(Notice(f"Log of {short_id(self.profile)}", lines))


def stored_view(stored: StoredBenchmark) -> View | None:
    """Return the view of a stored profile; None if the profile has no results."""
    profile = stored.result.profile
    return view_of(profile) if profile is not None and (profile.performance or profile.loss) is not None else None


Worked = tuple[ProjectRow, View]


class TheoryScreen(ProfilePage, TheoryActions):
    """A theoretical profile; a child computes it unless cached."""

    follows_store = False
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
            self.request(self._work_out(project), self._show, group="theory", otherwise=self._refuse)

    def _work_out(self, project: str) -> Callable[[], Worked]:
        services, flops = self.services, self.what == FLOPS

        def work() -> Worked:
            row = services.projects.get(project)
            return row, view_of(services.theory.costs(project) if flops else services.theory.approximated(project))

        return work

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
