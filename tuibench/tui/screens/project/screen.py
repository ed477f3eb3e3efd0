"""Pages of a project and of records without one: benchmarks, profiles, settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from tuibench.core.activity import RunRow, Snapshot
from tuibench.core.errors import TuibenchError
from tuibench.core.model import UNCHANGED, ModelState
from tuibench.core.spec import LOSS, PERFORMANCE
from tuibench.core.stored import BenchmarkRow, ProjectRow
from tuibench.present.error.words import hint_words, message_words
from tuibench.tui import key
from tuibench.tui.route import UNASSIGNED
from tuibench.tui.screens.base import TabbedPage
from tuibench.tui.screens.benchmark.list import BenchmarkList
from tuibench.tui.screens.profile.list import ProfileList
from tuibench.tui.screens.project.actions import ProjectProfiles
from tuibench.tui.screens.project.settings import ProjectSettings
from tuibench.tui.widgets.field import FilterLine
from tuibench.tui.widgets.status_line import ask
from tuibench.tui.widgets.title_line import RuleLine, TabLine

_LIST = (
    "open", "new", "rerun", "rerun-changed", "compare", "remove", "undo", "mark", "filter", "sort", "export",
    "copy-command", "edit", "wide", "tab-next", "palette", "help",
)  # fmt: skip
_PROFILES = (
    "open", "new", "compare", "mark", "edit", "remove", "undo", "rerun", "rerun-changed", "filter", "sort", "export",
    "copy-command", "wide", "tab-next", "palette", "help",
)  # fmt: skip
_SETTINGS = ("edit", "page-down", "tab-previous", "system", "trash", "palette", "help")
_EMPTY = ("new", "undo", "tab-next", "system", "trash", "palette", "help")
_THEORY = ("open", "new", "undo", "export", "copy-command", "tab-next", "system", "trash", "palette", "help")
"""If the list contains only the theoretical profile."""


def hints_of(tab: str, *, is_empty: bool, has_project: bool) -> tuple[str, ...]:
    """Return the keys for a tab; `is_empty` if its list has no record and no run."""
    if tab == "settings":
        return _SETTINGS
    is_profiles = tab in (PERFORMANCE, LOSS)
    hints: tuple[str, ...]
    if is_empty:
        hints = _THEORY if is_profiles and has_project else _EMPTY
    else:
        hints = _PROFILES if is_profiles else _LIST
    return tuple(each for each in hints if has_project or each != "new")


TABS = ("benchmarks", PERFORMANCE, LOSS, "settings")
_NAMES = ("Benchmarks", "Performance", "Loss", "Settings")

Rows = tuple[BenchmarkRow, ...]


class ProjectScreen(TabbedPage, ProjectProfiles):
    """The benchmarks and profiles of one model, runs first; previews the record under the cursor."""

    CSS_PATH = "project.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *key.bindings("tab", "benchmark", "run"),
        *key.bindings(only=("new",)),
    ]
    about = (
        "The benchmarks of this project. Active, queued and interrupted runs come first, with a sign for their state; "
        "then the stored ones, the newest first. BEST is the least time of a single request, or the most items per "
        "second, with its interval and the grade of the machine's noise, from A to D. The lines below the list show "
        "how the benchmark under the cursor scales, and facts without a column. The next two tabs have the profiles: "
        "where the time goes, and how much each layer can be changed before outputs suffer. The last line of each is "
        "computed without measuring."
    )
    has_theory: ClassVar[bool] = True
    """True if there is a model with theoretical profiles."""
    tab_ids: ClassVar[tuple[str, ...]] = TABS
    tab_names = _NAMES

    def __init__(self, project_id: str, tab: str = TABS[0]) -> None:
        super().__init__(tab)
        self.project_id = project_id
        self._project: ProjectRow | None = None
        self._is_read = False
        """True once the lists are read."""
        self.hints = self._hints()

    def body(self) -> Iterable[Widget]:
        """Yield tabs, filter, then the lists and settings, one of them visible."""
        with Horizontal(id="head"):
            # Share one row, so that the filter moves nothing below.
            yield TabLine(id="tabs")
            yield FilterLine(id="filter")
        yield RuleLine()
        with Horizontal(id="columns"):
            yield BenchmarkList(id="benchmarks")
            for kind in (PERFORMANCE, LOSS):
                yield ProfileList(kind, has_theory=self.has_theory, id=kind, classes="hidden")
            yield ProjectSettings(self.project_id, id="settings", classes="hidden")

    def on_mount(self) -> None:
        """Show the requested tab."""
        self._show_tab()

    @property
    def benchmarks(self) -> BenchmarkList:
        """The list of benchmarks."""
        return self.query_one("#benchmarks", BenchmarkList)

    @property
    def lists(self) -> tuple[BenchmarkList, ...]:
        """All lists, including hidden ones."""
        return tuple(self.query(BenchmarkList))

    @property
    def shown_list(self) -> BenchmarkList | None:
        """The visible list; None on the settings tab."""
        name = self.tab
        return None if name == "settings" else self.query_one(f"#{name}", BenchmarkList)

    def title_parts(self) -> tuple[str, ...]:
        """Return the project and the title of the visible tab."""
        name = self._project.project.name if self._project is not None else ""
        shown = self.shown_list
        return (name, shown.heading() if shown is not None else self.tab_names[self.tab_index])

    # Content

    def load(self) -> None:
        """Read the project, its benchmarks and its profiles."""
        wanted = self.project_id
        self.request(
            lambda: (
                self.services.projects.get(wanted),
                self.services.library.list(wanted),
                self.services.library.list_profiles(wanted),
            ),
            self._show,
            group="benchmarks",
            otherwise=self._refuse,
            opens=self._project is None,
        )

    def _show(self, found: tuple[ProjectRow, Rows, Rows]) -> None:
        if self.dashboard.snapshot is None:
            # Runs come first and would move the cursor, so wait for the first snapshot, which reloads everything.
            self.dashboard.key_queue.hold()
            return
        known, (self._project, rows, profiles) = self._project, found
        self.show_rows(rows, profiles)
        if known is None:
            self.dashboard.remember(project=self.project_id)
        if known is None or known.project.versions != self._project.project.versions:
            self.request(lambda: self.services.projects.newest_state(self.project_id), self._show_model, group="model")

    def show_rows(self, rows: Rows, profiles: Rows) -> None:
        """Show stored records and runs."""
        self._is_read = True
        for one in self.lists:
            one.show(rows if one is self.benchmarks else profiles, one.runs_of_mine(self._runs()))
            if (started := self.dashboard.started) and one.table.move_to(started):
                self.dashboard.started = ""
        self.show_title()
        self._show_around()

    def _refuse(self, error: TuibenchError) -> None:
        """Show the error in the empty list; keep rows that were read before."""
        if self._project is None:
            self.benchmarks.table.empty = (message_words(error), "", hint_words(error))
        self.explain(error)

    def _show_model(self, state: ModelState) -> None:
        if state.state != UNCHANGED:
            self.say(
                f"the model of this project is {state.state}: {state.file}; {TABS.index('settings') + 1} explains",
                "warn",
            )

    def _runs(self) -> tuple[RunRow, ...]:
        snapshot = self.dashboard.snapshot
        return tuple(row for row in snapshot.runs if row.project == self.project_id) if snapshot is not None else ()

    def snapshot_changed(self, snapshot: Snapshot, before: Snapshot | None) -> None:
        """Reload stored records if they changed; take runs from the snapshot."""
        super().snapshot_changed(snapshot, before)
        if before is None or snapshot.runs != before.runs:
            for one in self.lists:
                one.show_runs(one.runs_of_mine(self._runs()))

    def show_ages(self) -> None:
        """Update the line of tabs; lists and settings update themselves."""
        self._show_around()

    def on_benchmark_list_changed(self, message: BenchmarkList.Changed) -> None:
        """Show order, filter and marks above the list."""
        message.stop()
        self._show_around()
        self.show_title()
        if (hints := self._hints()) != self.hints:
            self.hints = hints
            self.show_keys()

    def _hints(self) -> tuple[str, ...]:
        """Return the keys that apply to the current list; before it is read, assume that all do."""
        shown = self.shown_list if self._is_read else None
        is_empty = shown is not None and not shown.rows.ids and not shown.text
        return hints_of(self.tab, is_empty=is_empty, has_project=self.has_theory)

    def _show_around(self) -> None:
        """Show the tabs, with order and filter of the list."""
        shown = self.shown_list
        self.show_tab_line(shown.words() if shown is not None else "")

    # Keys

    def action_edit(self) -> None:
        """On the settings tab, focus the first field; else edit name and note of a benchmark."""
        if self.shown_list is not None:
            super().action_edit()
        else:
            self.focus_next("#settings *")

    def action_back(self) -> None:
        """Leave a field, else clear the filter, else the marks, else go back."""
        shown = self.shown_list
        if self._in_settings:
            self.set_focus(self.query_one(ProjectSettings).facts)
        elif shown is not None and shown.text:
            shown.filter_by("")
        elif shown is not None and shown.marks:
            shown.show_marks(frozenset())
        else:
            self._leave_by(super().action_back)

    def action_leave(self) -> None:
        """Leave the page, after a question on unsaved settings."""
        self._leave_by(super().action_leave)

    def _leave_by(self, leave: Callable[[], object]) -> None:
        """Ask about unsaved settings, then call `leave`."""
        settings = self.query_one(ProjectSettings)
        if not settings.unsaved:
            leave()
            return

        def answered(answer: str) -> None:
            if answer == "d":
                leave()
            elif answer == "s":
                self.go_to_tab(TABS.index("settings"))
                settings.save(lambda: self.when_shown(leave))

        ask(self, "Settings are not saved.", {"s": "save", "d": "discard"}, answered)

    # Tabs

    def _show_tab(self) -> None:
        for n, name in enumerate(TABS):
            self.query_one(f"#{name}").set_class(n != self.tab_index, "hidden")
        self.hints = self._hints()
        self.show_title()
        self.show_keys()
        self._show_around()
        shown = self.query_one(f"#{self.tab}")
        if isinstance(shown, ProjectSettings):
            shown.open()
        if isinstance(shown, BenchmarkList):
            shown.refresh_lines()
        # Focus no field, since it would take this screen's keys as text; tab or e focuses one.
        self.set_focus(shown.table if isinstance(shown, BenchmarkList) else self.query_one(ProjectSettings).facts)

    @property
    def _in_settings(self) -> bool:
        """True if a field of the settings has the focus."""
        focused, column = self.focused, self.query_one(ProjectSettings).column
        return self.shown_list is None and focused is not None and column in focused.ancestors

    def show_kind(self, kind: str) -> None:
        """Show the tab of that kind."""
        self.go_to_tab(TABS.index(kind))

    def go_to_tab(self, tab: int) -> None:
        """Show a tab by its index."""
        if 0 <= tab < self.tabs and tab != self.tab_index:
            self.tab_index = tab
            self._show_tab()


class UnassignedScreen(ProjectScreen):
    """The project screen without a project: it has no settings and cannot start a new benchmark."""

    about = (
        "Benchmarks without a project, such as imported ones, and runs of models without one. All actions on "
        "benchmarks work here; tuibench edit ID --project NAME moves one into a project."
    )

    has_theory = False
    tab_ids = tuple(tab for tab in TABS if tab != "settings")

    def __init__(self) -> None:
        super().__init__(UNASSIGNED)

    def on_mount(self) -> None:
        """Change the hint of the empty list: benchmarks are created in a project."""
        self.benchmarks.nothing = ("No benchmark.", "", "To measure, open a project and press n.")

    def title_parts(self) -> tuple[str, ...]:
        """Return the title."""
        shown = self.shown_list or self.benchmarks
        return ("Without a project", shown.heading())

    def load(self) -> None:
        """Request the benchmarks and profiles; there is no project to read."""
        self.request(
            lambda: (self.services.library.list_unassigned(), self.services.library.list_unassigned(profiles=True)),
            lambda found: self.show_rows(*found),
            group="benchmarks",
            otherwise=self._refuse,
        )

    def _runs(self) -> tuple[RunRow, ...]:
        snapshot = self.dashboard.snapshot
        return tuple(row for row in snapshot.runs if not row.project) if snapshot is not None else ()

    def action_new(self) -> None:
        """Refuse: a benchmark needs a model, which only a project has."""
        self.say("open a project and press n there", "warn")
