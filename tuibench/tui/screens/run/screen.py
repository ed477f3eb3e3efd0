"""The page of a run during and after its measurement, with the grid of its cells."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core import activity
from tuibench.core.activity import RunView
from tuibench.core.cell import CellResult
from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.label import name_cell, varying_axes
from tuibench.core.result import SideBySide
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.plots.drawing import Span, squeezed
from tuibench.tui import key, route
from tuibench.tui.screens.run.actions import RunKeys
from tuibench.tui.screens.run.grid import CellGrid, GridPlan, plan_grid
from tuibench.tui.screens.run.summary import (
    LABEL,
    bar_words,
    cell_details,
    cell_span,
    head_words,
    interval_words,
    labelled,
    laid_out,
    model_words,
    news_line,
    now_words,
    part_lines,
    past_words,
    progress_lines,
    set_in,
    stage_of,
    state_lines,
)
from tuibench.tui.widgets.painted import LineLike, shown
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine, TitleLine

if TYPE_CHECKING:  # made in a thread
    from tuibench.services.run_view import RunWatch

LOOK_S = 1.0
"""Seconds between two polls; watching must not disturb measuring."""


class RunScreen(RunKeys):
    """Shows a run from its journal; leaving the page does not stop the run."""

    follows_store = False
    CSS_PATH = "run.tcss"
    AUTO_FOCUS = "CellGrid"
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (14, "-low"), (20, "-short"), (30, "-tall")]  # noqa: RUF012 - as in Page
    BINDINGS: ClassVar[list[BindingType]] = [
        *key.bindings(
            "run", only=("log", "copy-command", "rerun", "rerun-changed", "compare", "edit", "export", "remove")
        )
    ]
    about = (
        "One run. The grid has a block for each series, a line for each number of cores and a column for each batch "
        "and shape. Each round adds an execution to every cell; a cell shows its number, its 95 % interval and the "
        "grade of the machine's noise. The cursor follows the measured cell until you move it; below the grid are the "
        "cell under the cursor and the latest events. A profile has parts in place of cells. The run continues when "
        "you leave the page or the dashboard."
    )

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id
        self.view: RunView | None = None
        self._feed: RunWatch | None = None
        self._looking = False
        self._one_look = threading.Lock()
        self._follows = True
        """True if the cursor follows the measured cell."""
        self._spans: dict[str, tuple[CellResult, bool, Span]] = {}
        self._names: dict[str, str] = {}
        self._plan = GridPlan((), ())
        self._planned: tuple[str, ...] = ()
        self._past = ""
        """Comparison with the baseline or the repeated run."""

    def body(self) -> Iterable[Widget]:
        """Yield progress, grid, the cell under the cursor and the log."""
        yield TextBlock(id="progress")
        yield RuleLine()
        yield CellGrid(id="grid")
        yield RuleLine()
        yield TextBlock(id="cell")
        yield RuleLine(classes="below-cell")
        yield TextBlock(id="log")

    def on_mount(self) -> None:
        """Poll once a second."""
        self.set_interval(LOOK_S, self.load)

    def on_unmount(self) -> None:
        """Close the feed."""
        if self._feed is not None:
            self._feed.close()

    def title_parts(self) -> tuple[str, ...]:
        """Return the models and the run."""
        view = self.view
        name = f' "{view.info.name}"' if view is not None and view.info.name else ""
        return (model_words(view) if view is not None else "", f"run {short_id(self.run_id)}{name}")

    def show_title(self) -> None:
        """Show this run's state at the right, in place of the machine's."""
        view, glyphs = self.view, self.dashboard.glyphs
        if view is None:
            super().show_title()
            return
        parts: list[Span] = []
        for part in filter(None, self.title_parts()):
            parts += [(f" {glyphs.place} ", "")] if parts else []
            parts.append((part, "title"))
        self.query_one("#title", TitleLine).show(parts, head_words(view, glyphs))

    @property
    def grid(self) -> CellGrid:
        """The grid of cells."""
        return self.query_one("#grid", CellGrid)

    # Polling

    def load(self) -> None:
        """Poll, unless a poll is in progress, another screen is shown, or the run is saved."""
        view = self.view
        if self._looking or (view is not None and (view.saved or self.dashboard.page is not self)):
            return
        self._looking = True
        self.request(self.look, self._show, group="watch", otherwise=self._cannot)

    def look(self) -> RunView:
        """Return the run's current view; safe in any thread, also for the log page."""
        with self._one_look:
            if self._feed is None:
                self._feed = self.services.runs.watch(self.run_id)
            return self._feed.look()

    def _cannot(self, error: TuibenchError) -> None:
        self._looking = False
        self.view = None
        self.grid.show_cells(GridPlan((), ()), {}, [(message_words(error), "bad"), hint_words(error)])

    def _show(self, view: RunView) -> None:
        self._looking = False
        before, self.view = self.view, view
        if before is view:
            return
        self.set_class(bool(view.info.kind), "-profile")
        self._show_grid(view)
        self._show_around()
        self.show_opened_cell(view)
        self.show_title()
        if before is None or stage_of(before) != stage_of(view):
            self.set_hints()
        if before is not None and view.ended and not before.ended:
            self.dashboard.poll()
        if view.saved and not view.info.kind:
            # Ignore errors, such as a missing baseline: `compare` reports them.
            self.request(self._compared, self._show_beside, group="past", otherwise=lambda _: None)

    def _compared(self) -> SideBySide | None:
        base = self.services.library.get(self.run_id).metadata.partner
        return self.services.exchange.side_by_side(base, self.run_id) if base else None

    def _show_beside(self, side: SideBySide | None) -> None:
        if side is not None:
            self._past = past_words(side, self.shown_key)
            self._show_around()

    def _show_grid(self, view: RunView) -> None:
        keys = tuple(cell.key for cell in view.cells)
        if keys != self._planned or not self._plan.blocks:
            self._planned, self._plan = keys, plan_grid(view.cells, view.names)
            axes = varying_axes(cell.asked for cell in view.cells)
            self._names = {
                cell.key: name_cell(cell.asked, axes, model=view.names.get(cell.asked.model_sha256, ""))
                for cell in view.cells
            }
        glyphs = self.dashboard.glyphs
        for cell in view.cells:
            here = view.live is not None and view.live.cell == cell.key
            known = self._spans.get(cell.key)
            if known is None or known[0] is not cell or here or known[1]:
                self._spans[cell.key] = cell, here, cell_span(cell, view.live, glyphs)
        spans = {one: found[2] for one, found in self._spans.items()}
        cursor = view.live.cell if self._follows and view.live is not None else ""
        self.grid.show_cells(self._plan, spans, () if view.cells else self._instead(view), cursor)

    def _instead(self, view: RunView) -> Sequence[LineLike]:
        """Return the lines in place of cells; for a profile, its parts."""
        state_lines = self._state_lines(view)
        return part_lines(view, state_lines, self.dashboard.glyphs) if view.info.kind else state_lines[1:]

    def _state_lines(self, view: RunView) -> tuple[LineLike, ...]:
        return state_lines(view, self.shown_key)

    def _show_around(self) -> None:
        view = self.view
        if view is None:
            return
        self.query_one("#progress", TextBlock).show_lines(map(set_in, self._progress_lines(view)))
        self._show_cell()
        # The log's height is known only after the grid has its own.
        self.call_after_refresh(self._fill_log)

    def _fill_log(self) -> None:
        log = self.query_one("#log", TextBlock)
        log.show_lines([f" {line}" for line in self.view.log[-max(log.size.height, 1) :]] if self.view else [])

    def _progress_lines(self, view: RunView) -> list[LineLike]:
        state_lines = self._state_lines(view)
        if view.info.kind:
            return progress_lines(view, state_lines, max(self.size.width - 2, 10), self.dashboard.ascii_only)
        if not view.cells:
            return ["", state_lines[0]]
        if view.ended:
            return [*state_lines, self._past] if self._past else list(state_lines)
        bar = bar_words(view, max(self.size.width - 2, 10), self.dashboard.ascii_only)
        live = next((cell for cell in view.cells if view.live is not None and cell.key == view.live.cell), None)
        if view.info.detail or view.info.state == activity.WAITING or live is None:
            return [bar, state_lines[0]]
        return [bar, now_words(view, live, self.cell_name(live))]

    @property
    def has_sides(self) -> bool:
        """True if the grid has several blocks."""
        return len(self._plan.blocks) > 1

    def cell_name(self, cell: CellResult) -> str:
        """Return the name that distinguishes the cell."""
        return self._names.get(cell.key, cell.key)

    def _show_cell(self) -> None:
        view, cell = self.view, self.cell_under_cursor()
        block = self.query_one("#cell", TextBlock)
        if view is None or cell is None:
            block.show_lines(())
            return
        app, width = self.dashboard, max(self.size.width - LABEL - 2, 1)
        name, reached = self.cell_name(cell), interval_words(cell, view, app.ascii_only)
        # Cut a long name, never the result.
        first = squeezed(shown(((name, "title"), (f"  {reached}" if reached else "", ""))), width, app.glyphs.ellipsis)
        lines = [*cell_details(cell, view, app.glyphs, app.ascii_only), news_line(view, cell.key, self.cell_name)]
        rows = [row for line in lines if line[1] for row in laid_out(line, width)]
        block.show_lines([labelled("this cell", first), *rows])

    def cell_under_cursor(self) -> CellResult | None:
        """Return the cell under the cursor as of the last poll."""
        if self.view is None:
            return None
        wanted = self.grid.cursor_key
        return next((cell for cell in self.view.cells if cell.key == wanted), None)

    def on_resize(self) -> None:
        """Lay out for the new width and height."""
        self.call_after_refresh(self._show_around)

    def on_cell_grid_moved(self, message: CellGrid.Moved) -> None:
        """Stop following the measured cell once the user moves the cursor."""
        message.stop()
        self._follows = False
        self._show_cell()

    def on_cell_grid_opened(self, message: CellGrid.Opened) -> None:
        """Open the stored cell; before the run is saved, show the facts known so far."""
        message.stop()
        if self.view is not None and self.view.saved:
            way = route.profile(self.run_id) if self.kind else route.detail(self.run_id, cell=message.key)
            self.dashboard.go(way, replace=True)
        else:
            self.open_cell()
