"""Home: all projects; on a fresh machine an offer of the built-in sample."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core.project import ProjectRow
from tuibench.core.units import size
from tuibench.report.age import age
from tuibench.tui import key, route
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.benchmark_actions import BenchmarkActions
from tuibench.tui.widgets.record_table import Column, Line, RecordTable

SORTS = ("modified", "name", "created")
_COLUMNS = (
    Column("name", "PROJECT", 16, grow=True),
    Column("model", "MODEL", 14, grow=True, rank=2),
    Column("count", "BENCHMARKS", 10, right=True),
    Column("modified", "CHANGED", 7, right=True),
    Column("created", "MADE", 7, right=True, rank=3),
    Column("size", "SIZE", 7, right=True, rank=1),
)
_EMPTY = (
    "No project yet.",
    "",
    "enter   measure the built-in sample model: two more keys and it runs",
    "n       a project for your own model: a path, hf:ORG/REPO or https://...",
    "?       what the keys do",
)


class HomeScreen(BenchmarkActions, Page):
    """Projects, newest first; benchmark keys mean the newest benchmark of the project under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *key.bindings("list", "project"),
        *key.bindings("benchmark"),
    ]
    hints = ("open", "new", "rerun", "rerun-changed", "compare", "remove", "edit", "filter", "sort", "system", "help")

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[ProjectRow, ...] = ()
        self._by = SORTS[0]
        self._reverse = False
        self._text = ""

    def body(self) -> Iterable[Widget]:
        """The table is the page."""
        yield RecordTable(id="projects", classes="body")

    def title_parts(self) -> tuple[str, ...]:
        """What is sorted and filtered is said where the list is named."""
        order = f"{self._by}{' reversed' if self._reverse else ''}"
        words = f", with {self._text}" if self._text else ""
        return ("tuibench", f"Projects ({len(self._rows)}), by {order}{words}")

    @property
    def table(self) -> RecordTable:
        """The list."""
        return self.query_one("#projects", RecordTable)

    def load(self) -> None:
        """The projects, as sorted and filtered."""
        by, text = self._by, self._text
        self.ask(lambda: self.desk.projects(by, text), self._show, group="projects")

    def _show(self, rows: Sequence[ProjectRow]) -> None:
        self._rows = tuple(reversed(rows)) if self._reverse else tuple(rows)
        now = time.time()
        lines = [self._line(row, now) for row in self._rows]
        self.table.empty = () if self._text else _EMPTY
        first = self.table.cursor_key is None
        self.table.show_lines(_COLUMNS, lines)
        if first:
            last = self.dashboard.remembered.read().get("project")
            if any(row.project.id == last for row in self._rows):
                self.table.move_to(str(last))
        self.show_title()

    def _line(self, row: ProjectRow, now: float) -> Line:
        project = row.project
        model = project.versions[-1].model.asked if project.versions else ""
        cells = (
            project.name,
            model.rpartition("/")[2] or model,
            str(row.benchmarks),
            age(project.modified_utc, now),
            age(project.created_utc, now),
            size(row.size_bytes) if row.size_bytes >= 0 else "",
        )
        return Line(project.id, cells)

    def _chosen(self) -> ProjectRow | None:
        wanted = self.table.cursor_key
        return next((row for row in self._rows if row.project.id == wanted), None)

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """Enter: the project; without any, the sample."""
        self.dashboard.remember(project=message.key)
        self.dashboard.go(route.project(message.key))

    def action_open(self) -> None:
        """Enter on an empty page."""
        if not self._rows and not self._text:
            self.dashboard.go(route.new_project("sample"))

    def action_new(self) -> None:
        """A project."""
        self.dashboard.go(route.new_project())

    def action_sort(self) -> None:
        """By the next order."""
        self._by = SORTS[(SORTS.index(self._by) + 1) % len(SORTS)]
        self.load()

    def action_reverse(self) -> None:
        """The other way round."""
        self._reverse = not self._reverse
        self.load()
