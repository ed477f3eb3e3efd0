"""A run while it goes on, and what came of it: the grid of its cells is the page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core.cell import CellResult
from tuibench.core.errors import TuibenchError
from tuibench.core.label import name_cell, varying_axes
from tuibench.core.short_id import short_id
from tuibench.core.watch import RunView
from tuibench.tui import key, route
from tuibench.tui.desk import Pulse, RunFeed
from tuibench.tui.screens.cell_grid import CellGrid
from tuibench.tui.screens.cell_words import cell_details, cell_span, now_words
from tuibench.tui.screens.grid_plan import GridPlan, plan_grid
from tuibench.tui.screens.run_keys import RunKeys
from tuibench.tui.screens.run_words import bar_words, head_words, noise_words, state_lines
from tuibench.tui.widgets.row import LineLike, shown
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

LOOK_S = 1.0
"""Between two looks: who measures must not be disturbed by who watches."""
_LOG_SHORT, _LOG_TALL = 2, 8


class RunScreen(RunKeys):
    """Leaving it leaves the run going; everything here is read from the run's journal."""

    CSS_PATH = "run.tcss"
    AUTO_FOCUS = "CellGrid"
    BINDINGS: ClassVar[list[BindingType]] = [*key.bindings("run", only=("log", "copy-command", "rerun", "remove"))]
    about = (
        "One run. The grid has a block for each side, a line for each number of cores and a column for each batch and "
        "shape; cells fill in round after round, each with its number, its 95 % interval and the grade of the "
        "machine's quiet. Below stand the cell under the cursor and what happened last. Leaving the page leaves the "
        "run going, and so does leaving the dashboard."
    )

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id
        self.view: RunView | None = None
        self._feed: RunFeed | None = None
        self._looking = False
        self._spans: dict[str, tuple[CellResult, bool, tuple[str, str]]] = {}
        self._plan = GridPlan((), ())
        self._planned: tuple[str, ...] = ()

    def body(self) -> Iterable[Widget]:
        """How far, what now, the grid, the cell under the cursor, the log."""
        yield TextBlock(id="progress")
        yield RuleLine()
        yield CellGrid(id="grid")
        yield RuleLine()
        yield TextBlock(id="cell")
        yield RuleLine()
        yield TextBlock(id="log")

    def on_mount(self) -> None:
        """Look now, and once a second while it goes on."""
        super().on_mount()
        self.set_interval(LOOK_S, self.load)

    def on_unmount(self) -> None:
        """Nobody watches any more."""
        if self._feed is not None:
            self._feed.close()

    def title_parts(self) -> tuple[str, ...]:
        """The run, and what it measures."""
        name = self.view.info.name if self.view is not None else ""
        words = head_words(self.view) if self.view is not None else ""
        return (f"run {short_id(self.run_id)}" + (f" {name!r}" if name else ""), words)

    @property
    def grid(self) -> CellGrid:
        """The cells."""
        return self.query_one("#grid", CellGrid)

    # Looking

    def load(self) -> None:
        """One look, unless the last one still goes on or nothing more can come."""
        if self._looking or (self.view is not None and self.view.ended):
            return
        if not self.is_current and self.view is not None:
            return
        self._looking = True
        self.ask(self._look, self._show, group="watch", otherwise=self._cannot)

    def _look(self) -> RunView:
        if self._feed is None:
            self._feed = self.desk.watch(self.run_id)
        return self._feed.look()

    def look_again(self) -> None:
        """It may have begun anew."""
        self.view, self._feed, self._looking = None, None, False
        self.load()

    def pulse_changed(self, pulse: Pulse, before: Pulse | None) -> None:
        """The run has its own looks."""

    def _cannot(self, error: TuibenchError) -> None:
        self._looking = False
        self.grid.show_cells(GridPlan((), ()), {}, (error.message, error.hint))

    def _show(self, view: RunView) -> None:
        self._looking = False
        before, self.view = self.view, view
        if before is view:
            return
        self._show_grid(view)
        self._show_around(view)
        if before is None or before.status != view.status or before.info.state != view.info.state:
            self.show_title()
            self.set_hints()
        if before is not None and view.ended:
            self.dashboard.look()

    def _show_grid(self, view: RunView) -> None:
        keys = tuple(cell.key for cell in view.cells)
        if keys != self._planned:
            self._planned, self._plan = keys, plan_grid(view.cells, view.names)
        glyphs = self.dashboard.glyphs
        for cell in view.cells:
            here = view.live is not None and view.live.cell == cell.key
            known = self._spans.get(cell.key)
            if known is None or known[0] is not cell or here or known[1]:
                self._spans[cell.key] = cell, here, cell_span(cell, view.live, glyphs)
        spans = {one: found[2] for one, found in self._spans.items()}
        self.grid.show_cells(self._plan, spans, state_lines(view))

    def _show_around(self, view: RunView) -> None:
        app = self.dashboard
        width = max(self.size.width - 2, 10)
        live = next((cell for cell in view.cells if view.live is not None and cell.key == view.live.cell), None)
        now = now_words(view, self.cell_name(live)) if live is not None else ""
        bar = bar_words(view, width, app.ascii_only)
        self.query_one("#progress", TextBlock).show_lines([f" {bar}", f" {now}" if now else f" {self._state(view)}"])
        self._show_cell()
        rows = _LOG_TALL if self.has_class("-tall") else _LOG_SHORT
        self.query_one("#log", TextBlock).show_lines([f" {line}" for line in view.log[-rows:]])

    def _state(self, view: RunView) -> str:
        return next(iter(state_lines(view)), "")

    def cell_name(self, cell: CellResult) -> str:
        """What tells it from the other cells."""
        view = self.view
        if view is None:
            return ""
        axes = varying_axes(each.asked for each in view.cells)
        return name_cell(cell.asked, axes, model=view.names.get(cell.asked.model_sha256, ""))

    def _show_cell(self) -> None:
        view = self.view
        cell = self.cell_under_cursor()
        if view is None or cell is None:
            self.query_one("#cell", TextBlock).show_lines(())
            return
        app = self.dashboard
        lines = cell_details(cell, view, app.glyphs, app.ascii_only)
        noise = noise_words(view, app.ascii_only)
        told = [(self.cell_name(cell), "title"), *lines, *([noise] if noise else [])]
        self.query_one("#cell", TextBlock).show_lines([_set_in(line) for line in told])

    def cell_under_cursor(self) -> CellResult | None:
        """As it stands."""
        if self.view is None:
            return None
        wanted = self.grid.cursor_key
        return next((cell for cell in self.view.cells if cell.key == wanted), None)

    def on_resize(self) -> None:
        """Another width."""
        if self.view is not None:
            self._show_around(self.view)

    def on_cell_grid_moved(self, message: CellGrid.Moved) -> None:
        """Another cell."""
        message.stop()
        self._show_cell()

    def on_cell_grid_opened(self, message: CellGrid.Opened) -> None:
        """All numbers of a cell once they are stored; until then what is known of it."""
        message.stop()
        view = self.view
        if view is not None and view.saved:
            self.dashboard.go(route.detail(self.run_id), replace=True)
        else:
            self.open_cell()


def _set_in(line: LineLike) -> LineLike:
    return f" {line}" if isinstance(line, str) else ((" ", ""), *shown(line))
