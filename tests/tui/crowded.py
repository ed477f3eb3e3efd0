"""Measures the dashboard over a project of thousands of benchmarks, in its own process.

python -m tests.tui.crowded WHAT, with TUIBENCH_HOME set: one line of JSON with CPU milliseconds. WHAT is `bare` for an
empty app of Textual, `home` or `project` for that screen's first frame with rows, `keys` for the handlers of every key
of the list, `undo` for restoring a record removed at either end of the list; `memory` for megabytes before and after
opening and closing 600 benchmarks.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.tui.counting import CountingDriver

NAME = "crowded"
SIZE = (80, 24)
ROUNDS = 3
OPENINGS = 600
KEYS = (
    *("down", "up", "pagedown", "pageup", "end", "home", "G", "g", "ctrl+d", "ctrl+u", "space"),
    *("s", "S", "s", "S", "s", "s", "s", "s", "s", "s", "S", "a", "a", "w", "right", "left", "w"),
    *("slash", "m", "o", "d", "e", "l", "-", "1", "7", "backspace", "backspace", "enter", "escape"),
    *("slash", "o", "n", "n", "x", "escape", "escape", "end", "pageup", "home"),
)
"""Every key of a list, more than once round its orders, and words typed into its filter."""


def fill_home(home: Path, count: int) -> str:
    """Create a project with `count` benchmarks in the store of that home; return the project's id."""
    from tests.store.volume import fill
    from tests.tui.sample_data import add_project
    from tuibench.core.machine import Places
    from tuibench.host.system import read_machine
    from tuibench.services.api import Services
    from tuibench.services.settings import Settings

    services = Services(Settings(Places(*(home / kind for kind in ("data", "state", "cache", "config")))))
    project = add_project(services, NAME)
    fill(home / "data", count, project=project, machine=read_machine())
    return project


class FirstSight(CountingDriver):
    """A counting driver that records the CPU time when given words are first sent."""

    words = ""
    seen_ms = 0.0

    def write(self, data: str) -> None:
        """Store the text and look for the words."""
        if self.words and not FirstSight.seen_ms and self.words in data:
            FirstSight.seen_ms = 1000 * time.process_time()
        super().write(data)


async def bare_frame() -> dict[str, float]:
    """Return the CPU time of a process until Textual shows one word."""
    from textual.app import App, ComposeResult
    from textual.widgets import Static

    class QuietContainer(App[None]):
        def compose(self) -> ComposeResult:
            yield Static("here")

    FirstSight.words = "here"
    app = QuietContainer(driver_class=FirstSight)
    async with app.run_test(headless=False, size=SIZE) as pilot:
        await until_seen(pilot)
    return {"cpu_ms": FirstSight.seen_ms}


async def first_frame(words: str, where: str) -> dict[str, float]:
    """Return the CPU time of a process until a dashboard screen has shown a row."""
    imported_ms = 0.0
    FirstSight.words = words
    async with opened() as (app, pilot):
        imported_ms = 1000 * time.process_time()
        if where == "project":
            FirstSight.words, FirstSight.seen_ms = "", 0.0
            await until_shown(app, pilot)
            begin_ms = 1000 * time.process_time()
            FirstSight.words = words
            await pilot.press("enter")
            await until_seen(pilot)
            return {"cpu_ms": FirstSight.seen_ms - begin_ms}
        await until_seen(pilot)
    return {"cpu_ms": FirstSight.seen_ms, "entered_ms": imported_ms}


async def until_seen(pilot: Any) -> None:
    """Wait until the words were sent."""
    for _ in range(12_000):
        if FirstSight.seen_ms or pilot.app._exit:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("never shown: " + FirstSight.words)


async def until_shown(app: Any, pilot: Any) -> None:
    """Wait until the app is idle."""
    from tests.tui.pilot import settle

    await settle(pilot)


async def key_costs() -> dict[str, Any]:
    """Return for each key of the list the CPU milliseconds until its effect is on the screen."""
    from tests.tui.pilot import press, settle

    async with opened() as (app, pilot):
        await settle(pilot)
        await press(pilot, "enter")
        assert len(app.page.benchmarks.table.keys) > 1000
        idle_ms = statistics.median([await cost_of(settle(pilot)) for _ in range(9)])
        # A first, uncounted press: imports and first reads belong to opening the screen.
        await press(pilot, *KEYS)
        costs = [(key, await cost_of(press(pilot, key)) - idle_ms) for _ in range(ROUNDS) for key in KEYS]
    return {"keys_ms": costs, "idle_ms": idle_ms}


async def undo_cost() -> dict[str, Any]:
    """Return the cost of each `u` with the cursor at the opposite end of the list from the restored record."""
    from tests.tui.pilot import press, settle

    costs = []
    async with opened() as (app, pilot):
        await settle(pilot)
        await press(pilot, "enter")
        for here, there in [("G", "g"), ("g", "G")] * ROUNDS:
            await press(pilot, here)
            under = app.page.benchmarks.table.cursor_key
            await press(pilot, "d", "y", there)
            costs.append(await cost_of(press(pilot, "u")))
            assert under in app.page.benchmarks.table.keys
    return {"undo_ms": costs}


async def memory_of_openings() -> dict[str, float]:
    """Return the resident megabytes on the benchmark list before the first opening, after 100 and after all."""
    from tests.tui.pilot import press, settle
    from tuibench.tui.screens.detail.screen import DetailScreen

    found: dict[str, float] = {}
    async with opened() as (app, pilot):
        await settle(pilot)
        await press(pilot, "enter")
        for number in range(OPENINGS + 1):
            if number in (0, 100, OPENINGS):
                found[str(number)] = resident_mb()
            await press(pilot, "enter")
            assert isinstance(app.page, DetailScreen)
            await press(pilot, "escape", "down")
            app._driver.take()
    return found


def resident_mb() -> float:
    """Return the current resident memory of this process in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


async def cost_of(work: Awaitable[object]) -> float:
    """Return the CPU time of all threads during the coroutine."""
    begin = time.process_time()
    await work
    return 1000 * (time.process_time() - begin)


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[Any, Any]]:
    """Open the dashboard as the command does, on a driver that only counts."""
    from tuibench.services.api import Services
    from tuibench.tui.config import Config
    from tuibench.tui.start import make_dashboard
    from tuibench.tui.terminal import Display

    services = Services()
    app = make_dashboard(services, services.settings.places, Display(), Config())
    app.driver_class = FirstSight
    async with app.run_test(headless=False, size=SIZE) as pilot:
        yield app, pilot


def main(what: str) -> dict[str, Any]:
    """Return the result of the named measurement."""
    if what == "bare":
        return asyncio.run(bare_frame())
    if what == "keys":
        return asyncio.run(key_costs())
    if what == "undo":
        return asyncio.run(undo_cost())
    if what == "memory":
        return asyncio.run(memory_of_openings())
    return asyncio.run(first_frame(NAME if what == "home" else " ort ", what))


if __name__ == "__main__":
    found = main(sys.argv[1])
    assert sys.__stdout__ is not None
    sys.__stdout__.write(json.dumps(found) + "\n")
