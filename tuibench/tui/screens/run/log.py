"""The log page of a run: events and process output, updated while the run is alive."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.widget import Widget

from tuibench.core.activity import RunView
from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.services.monitor import Snapshot
from tuibench.tui.screens.base import Page
from tuibench.tui.widgets.row import LineLike
from tuibench.tui.widgets.text_block import ScrollBlock
from tuibench.tui.widgets.title_line import RuleLine

LOOK_S = 1.0
_Found = tuple[RunView, tuple[str, ...]]


class RunLogScreen(Page):
    """Follows the end of the log until the user scrolls up."""

    AUTO_FOCUS = "ScrollBlock"
    hints = ("page-up", "page-down", "first", "last", "back", "palette", "help")
    about = (
        "The events of a run, in the time of this machine, and below them the output of its processes. The page "
        "follows the end while the run is active, until you scroll up."
    )

    def __init__(self, run_id: str, look: Callable[[], RunView]) -> None:
        """`look` returns the run's current view and is called in a thread."""
        super().__init__()
        self._run = run_id
        self._look = look
        self._looking = False
        self._view: RunView | None = None
        self._said: tuple[str, ...] = ()

    def body(self) -> Iterable[Widget]:
        """Yield one scrollable text."""
        yield RuleLine()
        yield ScrollBlock(wrap=True, follow=True, id="lines", classes="body")

    def on_mount(self) -> None:
        """Poll once a second."""
        self.set_interval(LOOK_S, self.load)

    def title_parts(self) -> tuple[str, ...]:
        """Return the run and the word `log`."""
        return (f"run {short_id(self._run)}", "log")

    def snapshot_changed(self, snapshot: Snapshot, before: Snapshot | None) -> None:
        """Do nothing: the page polls the run itself."""

    def load(self) -> None:
        """Poll, unless a poll is in progress or the run is saved."""
        view = self._view
        if self._looking or (view is not None and view.saved):
            return
        self._looking = True
        self.ask(self._find, self._show, group="watch", otherwise=self._cannot)

    def _find(self) -> _Found:
        view = self._look()
        # Read process output again only after new events.
        return view, self._said if view is self._view else self.services.runs.log(self._run)

    def _cannot(self, error: TuibenchError) -> None:
        self._looking, self._view = False, None
        self.query_one("#lines", ScrollBlock).show_lines([(f" {error.message}", "bad"), f" {error.hint}"])

    def _show(self, found: _Found) -> None:
        self._looking = False
        before = self._view
        self._view, self._said = found
        if self._view is before:
            return
        lines: list[LineLike] = [f" {line}" for line in self._view.log]
        if self._said:
            lines += ["", (" Process output:", "title"), *(f" {line}" for line in self._said)]
        self.query_one("#lines", ScrollBlock).show_lines(lines or [(" no events yet", "dim")])
