"""The log of a run: what happened, and what its processes said; it goes on while the run does."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.core.short_id import short_id
from tuibench.core.watch import RunView
from tuibench.tui.desk import Pulse
from tuibench.tui.screens.base import Page
from tuibench.tui.widgets.row import LineLike
from tuibench.tui.widgets.text_block import ScrollBlock
from tuibench.tui.widgets.title_line import RuleLine

LOOK_S = 1.0
_Found = tuple[RunView, tuple[str, ...]]


class RunLogScreen(Page):
    """The end is followed until somebody moves up."""

    AUTO_FOCUS = "ScrollBlock"
    hints = ("page-up", "page-down", "first", "last", "back", "palette", "help")
    about = (
        "What happened in a run, with the time of this machine, and below it what its processes said outside of "
        "their protocol. The end is followed while the run goes on, until you move up."
    )

    def __init__(self, run_id: str, look: Callable[[], RunView]) -> None:
        """`look` is for threads: the run as it stands."""
        super().__init__()
        self._run = run_id
        self._look = look
        self._looking = False
        self._view: RunView | None = None
        self._said: tuple[str, ...] = ()

    def body(self) -> Iterable[Widget]:
        """One text."""
        yield RuleLine()
        yield ScrollBlock(wrap=True, follow=True, id="lines", classes="body")

    def on_mount(self) -> None:
        """Look once a second."""
        self.set_interval(LOOK_S, self.load)

    def title_parts(self) -> tuple[str, ...]:
        """Of which run."""
        return (f"run {short_id(self._run)}", "log")

    def pulse_changed(self, pulse: Pulse, before: Pulse | None) -> None:
        """The run has its own looks."""

    def load(self) -> None:
        """One look, unless the last one still goes on."""
        view = self._view
        if self._looking or (view is not None and view.saved):
            return
        self._looking = True
        self.ask(self._find, self._show, group="watch", otherwise=self._cannot)

    def _find(self) -> _Found:
        view = self._look()
        # What its processes said is read again only where something happened.
        return view, self._said if view is self._view else self.desk.run_log(self._run)

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
            lines += ["", (" What its processes said:", "title"), *(f" {line}" for line in self._said)]
        self.query_one("#lines", ScrollBlock).show_lines(lines or [(" nothing has happened yet", "dim")])
