"""The dashboard as tests drive it: over the real bridge and a store in the test's own home, unless a desk is given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.worker import Worker, WorkerCancelled, WorkerFailed

from tests.store.build import NOW
from tuibench.tui.app import Dashboard, Opening
from tuibench.tui.config import Config
from tuibench.tui.desk import Desk
from tuibench.tui.start import STATE
from tuibench.tui.state import StateFile
from tuibench.tui.terminal import Display
from tuibench.workbench.hall import Workbench

_ROUNDS = 200


def make_desk(bench: Workbench | None = None) -> Desk:
    """The real one, on the store of the test's home."""
    from tuibench.tui.bridge import Bridge

    return Bridge(bench or Workbench())


@asynccontextmanager
async def open_app(
    size: tuple[int, int] = (80, 24),
    *,
    desk: Desk | None = None,
    display: Display | None = None,
    config: Config | None = None,
    path: str = "",
    now: Callable[[], float] = lambda: NOW,
    headless: bool = True,
    driver: type[Any] | None = None,
) -> AsyncIterator[tuple[Dashboard, Pilot[int]]]:
    """A running dashboard whose first screen has come to rest; the clock stands still unless another is given."""
    bench = Workbench()
    state = StateFile(Path(bench.settings.places.state) / STATE)
    opening = Opening(path)
    app = Dashboard(desk or make_desk(bench), display or Display(), config or Config(), state, opening, now)
    if driver is not None:
        app.driver_class = driver
    async with app.run_test(headless=headless, size=size) as pilot:
        await settle(pilot)
        yield app, pilot


async def settle(pilot: Pilot[Any]) -> None:
    """Until every question to the desk is answered and what came of it is on the screen; waits for no timer."""
    app = pilot.app
    for _ in range(_ROUNDS):
        await pilot.pause()
        going = [worker for worker in app.workers if not worker.is_finished]
        screen = app.screen
        dirty = screen._dirty_widgets or screen._layout_required or screen._repaint_required
        if not going and not dirty:
            return
        for worker in going:
            await _end_of(worker)
    raise AssertionError("the dashboard never came to rest")


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys, each once what the one before it did is done."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def type_text(pilot: Pilot[Any], text: str) -> None:
    """Type a text into what has the focus."""
    names = {" ": "space", ".": "full_stop", "/": "slash", "-": "minus", ",": "comma", ":": "colon", "~": "tilde"}
    await press(pilot, *(names.get(char, char) for char in text))


async def look(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Take the look of the next second now."""
    app.look()
    await settle(pilot)


async def _end_of(worker: Worker[Any]) -> None:
    # A question that a newer one made void is done with, too; what broke is raised by the app at its end.
    with suppress(WorkerFailed, WorkerCancelled):
        await worker.wait()
