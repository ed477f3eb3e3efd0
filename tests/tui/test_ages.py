"""Relative times on a page that stays open follow the clock, at most once a minute."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from tests.store.build import NOW
from tests.tui.counting import CountingDriver, counter_of
from tests.tui.frame import frame, rows
from tests.tui.pilot import look, open_app, press, settle
from tests.tui.sample_data import add, date_back, make, rich_project, sweep_cell
from tests.tui.screens.profile_stage import profile_run
from tests.tui.tour import go_home
from tuibench.core.ids import short_id
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.app import Dashboard

HOUR_S = 3600.0
NARROW, WIDE = (80, 24), (140, 40)


class Stored(NamedTuple):
    """Ids of the records in a test's store."""

    project: str
    benchmark: str
    profile: str


class Clock:
    """A clock set by the test, in seconds since 1970."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def stored() -> Stored:
    """Store a project with benchmarks, a profile and a removal."""
    services = Services()
    project, ids = rich_project(services)
    profile = add(services, profile_run(31, 2 * HOUR_S), project)
    services.library.remove(ids[-1:])
    date_back(services)
    return Stored(project, ids[0], profile)


def squeezed(app: Dashboard) -> str:
    return " ".join(frame(app).split())


async def go(app: Dashboard, pilot: Pilot[int], page: Screen[None] | None) -> None:
    if page is not None:
        app.go(page)
    await settle(pilot)


PAGES: dict[str, Callable[[Stored], Screen[None] | None]] = {
    "home": lambda _: None,
    "trash": lambda _: route.trash(),
    "benchmarks": lambda one: route.project(one.project),
    "profiles": lambda one: route.project(one.project, "performance"),
    "settings": lambda one: route.project(one.project, "settings"),
    "benchmark": lambda one: route.detail(one.benchmark),
    "log of a benchmark": lambda one: route.detail(one.benchmark, "log"),
    "profile": lambda one: route.profile(one.profile),
    "log of a profile": lambda one: route.profile(one.profile, "log"),
}
MADE_NOW = {"home", "trash", "settings"}
"""Pages of what the store dates by the clock of the machine; results have their own times."""


def start_of(name: str) -> float:
    return time.time() if name in MADE_NOW else NOW


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
async def test_idle_pages_show_same_ages_as_new_pages(size: tuple[int, int], stored: Stored) -> None:
    starts = {name: start_of(name) for name in PAGES}
    clock = Clock(starts["home"])
    idle: dict[str, str] = {}
    async with open_app(size, now=clock, headless=False, driver=CountingDriver) as (app, pilot):
        for name, way in PAGES.items():
            clock.now = starts[name]
            await look(app, pilot)
            await go(app, pilot, way(stored))
            before = frame(app)
            clock.now += 7 * HOUR_S
            await look(app, pilot)
            idle[name] = frame(app)
            counter_of(app).take()
            await look(app, pilot)
            assert counter_of(app).take() == "", name
            assert idle[name] != before, name
            await go_home(app, pilot)
    clock.now = starts["home"] + 7 * HOUR_S
    async with open_app(size, now=clock) as (app, pilot):
        for name, way in PAGES.items():
            clock.now = starts[name] + 7 * HOUR_S
            await look(app, pilot)
            await go(app, pilot, way(stored))
            assert idle[name] == frame(app), name
            await go_home(app, pilot)


async def test_ages_advance_once_a_minute_in_the_lines_that_change() -> None:
    services = Services()
    project, ids = rich_project(services)
    youngest = short_id(add(services, make(50, 30.0, sweep_cell(1, 1)), project))
    date_back(services)
    clock = Clock(NOW)
    async with open_app(now=clock, headless=False, driver=CountingDriver) as (app, pilot):
        await look(app, pilot)
        await go(app, pilot, route.project(project))
        await press(pilot, "down")
        counter_of(app).take()
        clock.now += 59
        await look(app, pilot)
        assert counter_of(app).take() == ""
        assert f" {youngest} now " in squeezed(app)
        clock.now += 1
        await look(app, pilot)
        sent = counter_of(app).take()
        assert f" {youngest} 1m " in squeezed(app)
        assert youngest in sent and not any(short_id(one) in sent for one in ids)


async def test_log_keeps_position_while_ages_advance(stored: Stored) -> None:
    clock = Clock(NOW)
    async with open_app((80, 12), now=clock) as (app, pilot):
        await go(app, pilot, route.detail(stored.benchmark, "log"))
        await press(pilot, "down")
        below = rows(app)[4:8]
        clock.now += 7 * HOUR_S
        await look(app, pilot)
        assert rows(app)[4:8] == below


async def test_page_below_palette_sends_no_ages_until_visible(stored: Stored) -> None:
    clock = Clock(NOW)
    async with open_app(now=clock, headless=False, driver=CountingDriver) as (app, pilot):
        await look(app, pilot)
        await go(app, pilot, route.project(stored.project))
        await press(pilot, "colon")
        assert app.screen is not app.page
        counter_of(app).take()
        clock.now += 7 * HOUR_S
        await look(app, pilot)
        assert counter_of(app).take() == ""
        await press(pilot, "escape")
        assert f" {short_id(stored.benchmark)} 8h " in squeezed(app)
