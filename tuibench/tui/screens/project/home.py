"""Home screen: all projects, or an offer of the built-in sample if there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from tuibench.core.activity import RunRow, RunView, Snapshot
from tuibench.core.ids import short_id
from tuibench.core.stored import BenchmarkRow, ProjectRow
from tuibench.core.units import count_of, size
from tuibench.present.ages import age
from tuibench.present.listing import PROJECT_COLUMNS, ListedProject, headline_words, listed_project
from tuibench.tui import key, route
from tuibench.tui.route import UNASSIGNED
from tuibench.tui.screens.project.actions import ProjectActions
from tuibench.tui.screens.run.summary import run_cell
from tuibench.tui.textual_seam import after_painting
from tuibench.tui.widgets.field import FilterLine
from tuibench.tui.widgets.painted import Glyphs, LineLike
from tuibench.tui.widgets.record_table import Line, RecordTable, line_of
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

SORTS = ("modified", "name", "created")
_SORT_WORDS = {"modified": "changed", "name": "name", "created": "made"}
"""Sort order to its word, as in the column heads."""
_HINTS = (
    "open", "new", "rerun", "rerun-changed", "compare", "remove", "undo", "edit", "copy-project", "filter",
    "sort", "reverse", "system", "trash", "palette", "help",
)  # fmt: skip
_FRESH_HINTS = ("open", "new", "undo", "system", "trash", "palette", "help")
"""Footer of an empty home screen; the other keys need a project."""
_EMPTY = (
    "No project yet.",
    "",
    "enter   use the built-in sample model; enter again creates a project,",
    "        and enter once more measures it",
    "n       new project for your model: a path, hf:ORG/REPO or https://...",
    "f2      this machine, its engines and its noise",
)


class HomeScreen(ProjectActions):
    """Lists the projects; keys for benchmarks act on the newest one of the project under the cursor."""

    CSS_PATH = "home.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *key.bindings("list", "project", "open", "run"),
        *key.bindings(only=("rerun", "rerun-changed", "compare", "remove", "edit", "export", "copy-command", "log")),
    ]
    hints: tuple[str, ...] = _HINTS
    about = (
        "All projects; a project holds the measurements of one model. r, R, c, x, y and L act on the newest benchmark "
        "of the project under the cursor, d and e on the project itself. n creates a project."
    )

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, ProjectRow] = {}
        self._lost: dict[str, RunRow] = {}
        """Runs without a project: started in a shell, with a model that is new here."""
        self._unassigned = 0
        """Number of benchmarks without a project."""
        self._loaded = False
        self._by = SORTS[0]
        self._reverse = False
        self._text = ""

    def body(self) -> Iterable[Widget]:
        """Yield the list, and a panel that wide terminals fill with the project under the cursor."""
        with Horizontal(id="head"):
            # Both share one row, so that opening the filter moves nothing below.
            yield FilterLine(id="filter")
            yield RuleLine()
        with Horizontal(id="columns"):
            yield RecordTable(id="projects")
            yield TextBlock(id="panel")

    def title_parts(self) -> tuple[str, ...]:
        """Return the title with sort order and filter."""
        if not self._loaded:
            return ("tuibench",)
        order = "" if self._by == SORTS[0] and not self._reverse else f", by {_SORT_WORDS[self._by]}"
        order += " reversed" if self._reverse else ""
        words = f", with {self._text!r}" if self._text else ""
        return ("tuibench", f"Projects ({len(self._rows)}){order}{words}")

    def on_mount(self) -> None:
        """Restore the sort order of the last session."""
        kept = self.dashboard.remembered.read()
        by = kept.get("projects_by")
        self._by = by if by in SORTS else SORTS[0]
        self._reverse = kept.get("projects_reversed") is True

    @property
    def table(self) -> RecordTable:
        """The list of projects."""
        return self.query_one("#projects", RecordTable)

    # Content

    def load(self) -> None:
        """Request the projects, sorted and filtered."""
        by, text, whole = self._by, self._text, self._loaded
        self.request(
            lambda: self.services.projects.list(by, text, whole=whole), self._show, group="projects", opens=not whole
        )

    def _show(self, found: Sequence[ProjectRow]) -> None:
        rows = reversed(found) if self._reverse else found
        self._rows = {row.project.id: row for row in rows}
        self._list()
        if not self._loaded:
            self._loaded = True
            self.table.move_to(str(self.dashboard.remembered.read().get("project", "")))
        self.show_title()
        self._show_panel()
        # Wait until the first rows are painted: another thread would compete for the interpreter.
        is_whole = all(row.size_text for row in found)
        after_painting(self, self._count_unassigned if is_whole else self.load)

    def _count_unassigned(self) -> None:
        self.request(lambda: len(self.services.library.list_unassigned()), self._show_unassigned, group="unassigned")

    def _show_unassigned(self, count: int) -> None:
        if count != self._unassigned:
            self._unassigned = count
            self._list()

    def _list(self) -> None:
        """Show runs without a project, then projects with their current run."""
        glyphs = self.dashboard.glyphs
        snapshot = self.dashboard.snapshot
        runs = snapshot.runs if snapshot is not None else ()
        # A filtered list shows projects only.
        self._lost = {run.info.id: run for run in runs if not run.project} if not self._text else {}
        going = {run.project: run for run in reversed(runs)}

        def line(one: str) -> Line:
            now = self.dashboard.now()
            if one in self._lost:
                return _run_line(self._lost[one], now, glyphs)
            if one == UNASSIGNED:
                return line_of(
                    PROJECT_COLUMNS, one, ListedProject("(without a project)", count=str(self._unassigned)), "dim"
                )
            return _line(self._rows[one], going.get(one), now, glyphs)

        last = [UNASSIGNED] if self._unassigned and not self._text else []
        words = (f"No match for: {self._text}", "", "esc   clear the filter")
        self.table.empty = words if self._text else _EMPTY
        keys = [*self._lost, *self._rows, *last]
        self.table.show_rows(PROJECT_COLUMNS, keys, line)
        hints = _HINTS if keys or self._text else _FRESH_HINTS
        if hints != self.hints:
            self.hints = hints
            self.show_keys()

    def snapshot_changed(self, snapshot: Snapshot, before: Snapshot | None) -> None:
        """Reload if stored data changed; the runs are part of the poll."""
        super().snapshot_changed(snapshot, before)
        if self._loaded and (before is None or snapshot.runs != before.runs):
            self._list()

    def show_ages(self) -> None:
        """Update the panel; the list updates itself."""
        self._show_panel()

    def on_record_table_cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        """Show the panel of another project."""
        message.stop()
        self._show_panel()

    def on_resize(self) -> None:
        """Show or hide the panel for the new width."""
        self._show_panel()

    def _show_panel(self) -> None:
        row = self.chosen()
        panel = self.query_one("#panel", TextBlock)
        if row is None or not self.has_class("-wide"):
            panel.show_lines(())
            return

        one = row.project.id

        def show(rows: Sequence[BenchmarkRow]) -> None:
            # A line without a project requests nothing, so an answer for the previous line may still arrive.
            if self.table.cursor_key == one:
                panel.show_lines(panel_lines(row, rows, self.dashboard.now()))

        self.request(lambda: self.services.library.list(one, limit=8), show, group="panel")

    def chosen(self) -> ProjectRow | None:
        """Return the project under the cursor."""
        return self._rows.get(self.table.cursor_key or "")

    # Keys for projects

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """Open the project, or the run that has none yet."""
        message.stop()
        if message.key in self._lost:
            self.dashboard.go(route.run(message.key))
            return
        if message.key == UNASSIGNED:
            self.dashboard.go(route.unassigned())
            return
        self.dashboard.remember(project=message.key)
        self.dashboard.go(route.project(message.key))

    def action_open(self) -> None:
        """Open the form for the sample if there are no projects."""
        if self._loaded and not self._rows and not self._text:
            self.dashboard.go(route.new_project("sample"))

    def action_new(self) -> None:
        """Open the form for a new project."""
        self.dashboard.go(route.new_project())

    def action_sort(self) -> None:
        """Sort by the next order."""
        self._by = SORTS[(SORTS.index(self._by) + 1) % len(SORTS)]
        self._resort()

    def action_reverse(self) -> None:
        """Reverse the order."""
        self._reverse = not self._reverse
        self._resort()

    def _resort(self) -> None:
        self.dashboard.remember(projects_by=self._by, projects_reversed=self._reverse)
        self.load()

    def action_filter(self) -> None:
        """Open the filter."""
        self.query_one(FilterLine).open_with(self._text)

    def on_filter_line_typed(self, message: FilterLine.Typed) -> None:
        """Filter while the user types."""
        message.stop()
        if message.text != self._text:
            self._text = message.text
            self.load()

    def action_back(self) -> None:
        """Clear the filter; no screen is behind home."""
        if self._text:
            self._text = ""
            self.load()

    # Keys for benchmarks and runs

    def target(self) -> str | None:
        """Return the run under the cursor if it has no project; a project's benchmark is read when a key needs it."""
        one = self.table.cursor_key
        return one if one in self._lost else None

    def why_none(self) -> str:
        """Return why no benchmark is selected."""
        if (run := self.target()) is not None:
            return f"run {short_id(run)} has no project yet: enter opens it"
        if self.table.cursor_key == UNASSIGNED:
            return "enter opens the benchmarks without a project"
        return "no match: esc clears the filter" if self._text else super().why_none()

    def with_run(self, then: Callable[[RunView], object]) -> None:
        """Tell the user where to control a project's runs, which home does not list."""
        if self.target() is None and (row := self.chosen()) is not None:
            self.say(f"enter, then X, p, + or o on a run of {row.project.name}", "warn")
        else:
            super().with_run(then)

    def with_target(self, then: Callable[[str], object]) -> None:
        """Pass on the newest benchmark of the project under the cursor, or the run that has no project."""
        if (run := self.target()) is not None:
            then(run)
            return
        row = self.chosen()
        if row is None:
            self.say(self.why_none(), "warn")
            return
        one = row.project.id

        def take(rows: Sequence[BenchmarkRow]) -> None:
            if rows:
                then(rows[0].id)
            else:
                self.say(_no_benchmark(row), "warn")

        self.request(lambda: self.services.library.list(one, limit=1), take, group="newest", opens=True)


def _no_benchmark(row: ProjectRow) -> str:
    """Return why a key finds no benchmark in the project, which may still have profiles."""
    name = row.project.name
    if row.profiles:
        return f"{name} has {row.held} and no benchmark yet: enter opens it"
    return f"no benchmark in {name} yet: enter, then n"


def _line(row: ProjectRow, run: RunRow | None, now: float, glyphs: Glyphs) -> Line:
    listed = listed_project(row, now)
    if run is not None:
        listed = replace(listed, now=run_cell(run, glyphs))
    return line_of(PROJECT_COLUMNS, row.project.id, listed)


def _run_line(run: RunRow, now: float, glyphs: Glyphs) -> Line:
    models, begun = ", ".join(run.info.models), age(run.info.started_utc, now)
    listed = ListedProject("(no project yet)", models, modified=begun, now=run_cell(run, glyphs))
    return line_of(PROJECT_COLUMNS, run.info.id, listed, "accent")


def panel_lines(row: ProjectRow, newest: Sequence[BenchmarkRow], now: float) -> list[LineLike]:
    """Return name, description, model and the newest results."""
    project = row.project
    lines: list[LineLike] = [(project.name, "title")]
    lines += [(project.description, "dim")] if project.description else []
    if project.versions:
        model = project.versions[-1].model
        weights = sum(stamp.size for stamp in model.external)
        lines += ["", model.asked, (f"{size(model.file.size + weights)}, sha256 {model.sha256[:12]}", "dim")]
        if len(project.versions) > 1:
            last = age(project.versions[-1].created_utc, now)
            lines.append((f"{count_of(len(project.versions), 'version')}, the last {last} old", "dim"))
    lines += [f"{name} = {value}" for name, value in project.dims.items()]
    lines += ["", (f"{row.held}, {row.size_text}", "dim")] if row.size_text else []
    for one in newest:
        lines += ["", ((f"{short_id(one.id)} ", "title"), (f"{age(one.started_utc, now)}  {one.name}", "dim"))]
        lines.append(headline_words(one))
    return lines
