"""Opens the page of a run after a page has started it."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from tuibench.core.short_id import short_id
from tuibench.tui import route
from tuibench.tui.screens.base import Page

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard


def show_started(page: Page, run: str, notes: Sequence[str] = (), *, replace: bool = False) -> None:
    """Open the run that `page` has started and show the notes; `replace` leaves no way back to `page`.

    If the user opened another screen meanwhile, keep it and say that the run was started: keys typed there must not act
    on the run.
    """
    app = page.dashboard
    app.started = run
    app.look()
    if app.screen is not page:
        app.page.say(f"run {short_id(run)} was started")

    def open_run() -> None:
        # Switch screens now; only the wait is a worker. The app runs it, since a replaced page's workers are cancelled.
        screen = route.run(run)
        opened = app.switch_screen(screen) if replace else app.push_screen(screen)
        app.run_worker(_tell(app, opened, notes), group="open")

    page.when_shown(open_run)


async def _tell(app: Dashboard, opened: Awaitable[object], notes: Sequence[str]) -> None:
    """Show the notes once the new page is open."""
    await opened
    if notes:
        app.page.say("; ".join(notes), "warn")
