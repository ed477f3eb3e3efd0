"""The way from a page that has started a run to the page of that run, the same wherever it was started."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from tuibench.core.short_id import short_id
from tuibench.tui import route
from tuibench.tui.screens.base import Page

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard


def show_started(page: Page, run: str, notes: Sequence[str] = (), *, replace: bool = False) -> None:
    """Open the run that `page` has started, and say the notes there; `replace` leaves no way back to `page`.

    Where its user opened something else meanwhile, that stays in sight and says that the run was started: what is
    typed there must not become keys of the run.
    """
    app = page.dashboard
    app.started = run
    app.look()
    if app.screen is not page:
        app.page.say(f"run {short_id(run)} was started")

    def open_run() -> None:
        # The screens change now; only the wait for the new one is a worker's, and the app's: with a page that is
        # replaced its own workers end.
        screen = route.run(run)
        opened = app.switch_screen(screen) if replace else app.push_screen(screen)
        app.run_worker(_tell(app, opened, notes), group="open")

    page.when_shown(open_run)


async def _tell(app: Dashboard, opened: Awaitable[object], notes: Sequence[str]) -> None:
    """Once the page has a line of news."""
    await opened
    if notes:
        app.page.say("; ".join(notes), "warn")
