"""Bytes that the list of benchmarks sends to a terminal, which may be on a slow connection."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from textual import events

from tests.tui.counting import CountingDriver, counter_of
from tests.tui.idle import all_handled
from tests.tui.pilot import look, open_app, press, replace_methods, send_key, settle
from tests.tui.sample_data import make_going, make_id, rich_project
from tests.tui.screens.stage import Shown, with_runs
from tests.tui.screens.test_best import STREAMS, SYNC, row_of
from tuibench.services.api import Services
from tuibench.tui import route

KEY, PAGE = 1500, 6000


@asynccontextmanager
async def listed(change: Callable[[Services], object] = lambda services: None) -> AsyncIterator[Shown]:
    services = Services()
    project, ids = rich_project(services)
    change(services)
    async with open_app(services=services, headless=False, driver=CountingDriver) as (app, pilot):
        app.go(route.project(project))
        await settle(pilot)
        yield Shown(app, pilot, services, project, ids)


async def sent(seen: Shown, *keys: str) -> int:
    """Return the bytes sent by some keys, pressed one after the other."""
    counter_of(seen.app).take()
    await press(seen.pilot, *keys)
    return len(counter_of(seen.app).take().encode())


def crowd(services: Services) -> None:
    """Replace the listed benchmarks by ten thousand, each with the record of a stored one."""
    one = services.library.list()[0].id
    rows = tuple(replace(row_of(SYNC, STREAMS), id=make_id(n, 60.0 * n), name=f"run {n}") for n in range(10_000))
    opened = services.library.get(one)
    replace_methods(services, library__list=lambda project="": rows)
    replace_methods(services, library__get=lambda benchmark: opened)


async def test_list_sends_only_what_changed() -> None:
    async with listed() as seen:
        # A cached record has its preview at once; both directions stay within the bounds.
        for keys in (["down"], ["up"], ["space"], ["S"], ["slash"], ["o"], ["enter"], ["escape"], ["d"], ["escape"]):
            assert 0 < await sent(seen, *keys) <= KEY, keys
        # An update that changes nothing sends nothing.
        counter_of(seen.app).take()
        seen.page.load()
        await settle(seen.pilot)
        await look(seen.app, seen.pilot)
        assert counter_of(seen.app).take() == ""
        # Losing or gaining the focus sends nothing.
        await seen.press("d")
        assert seen.answers == ("y",)
        counter_of(seen.app).take()
        for event in (events.AppBlur(), events.AppFocus()):
            seen.app.post_message(event)
            await settle(seen.pilot)
            assert counter_of(seen.app).take() == ""
            assert seen.answers == ("y",)
        await seen.press("escape")
        # An update of an active run sends its line only.
        going = make_going(seen.project)
        with_runs(seen.app.services, *going)
        await look(seen.app, seen.pilot)
        for done in (10, 11):
            info = replace(going[0].info, cells_done=done, eta_s=190.0 - done)
            with_runs(seen.app.services, replace(going[0], info=info), going[1])
            counter_of(seen.app).take()
            await look(seen.app, seen.pilot)
            assert 0 < len(counter_of(seen.app).take().encode()) <= 500


async def test_list_of_ten_thousand_sends_little_and_loads_only_rows_rested_on() -> None:
    asked: list[str] = []
    read = threading.Event()

    def wait(real: Callable[[str], object], benchmark: str) -> object:
        asked.append(benchmark)
        read.wait(20)
        return real(benchmark)

    async with listed(crowd) as seen:
        assert len(seen.keys) == 10_000
        # While a key is held, only the first and the last record are loaded.
        get = seen.app.services.library.get
        replace_methods(seen.app.services, library__get=partial(wait, get))
        for _ in range(20):
            send_key(seen.app, "down")
            await all_handled()
        read.set()
        await settle(seen.pilot)
        assert asked == [make_id(1, 60.0), make_id(20, 60.0 * 20)] and seen.cursor == asked[-1]
        replace_methods(seen.app.services, library__get=get)
        # Each key sends little.
        await seen.press("g")
        for keys in (["down"], ["s"], ["S"], ["a"], ["space"]):
            assert 0 < await sent(seen, *keys) <= KEY, keys
        for keys in (["pagedown"], ["G"], ["g"]):
            assert 0 < await sent(seen, *keys) <= PAGE, keys
