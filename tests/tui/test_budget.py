"""Bytes that the dashboard sends to a terminal over a real store: none when idle, few for a key."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.cli.shell import until
from tests.tui.counting import CountingDriver, counter_of
from tests.tui.pilot import look, open_app, press, settle
from tests.tui.sample_data import date_back, rich_project
from tests.tui.tour import visit_all
from tuibench.services.api import Services
from tuibench.services.library import Library
from tuibench.services.monitor import Monitor
from tuibench.services.projects import Projects
from tuibench.tui import route

SAMPLE = Path(__file__).resolve().parents[2] / "tuibench" / "data" / "samples" / "tiny.onnx"
KEY, PAGE, START = 1500, 6000, 25_000
"""Bytes at 80x24: a key that moves, a page, all until the first screen has come to rest."""
IDLE_LOOKS = 5
CURSOR = ("down", "up")
PAGES = ("pagedown", "end", "home", "left", "right")
"""Another page of a list, another value of a figure's selector: what is in sight is all new."""
TEXTS = ("help", "palette", "system", "environment", "log")
"""Where up and down scroll all lines in sight, as a page does, or are answered by a widget of Textual."""


@pytest.fixture
def project() -> tuple[str, tuple[str, ...]]:
    """Store a project with old benchmarks of every kind: recent ones are read again."""
    services = Services()
    made = rich_project(services)
    date_back(services)
    return made


async def test_dashboard_start_sends_little(project: tuple[str, tuple[str, ...]]) -> None:
    async with open_app(headless=False, driver=CountingDriver) as (app, _):
        assert 1000 < len(counter_of(app).take().encode()) <= START


@pytest.mark.parametrize("slow", [False, True], ids=["at once", "late"])
@pytest.mark.usefixtures("project")
async def test_first_rows_are_painted_before_other_queries(monkeypatch: pytest.MonkeyPatch, slow: bool) -> None:
    """Check that the first rows precede other queries, which would compete for the interpreter."""
    sent: list[str] = []
    asked: list[tuple[str, bool]] = []
    apps: list[Any] = []
    empty = Event()
    """The page was painted without its rows."""

    class Ear(CountingDriver):
        def write(self, data: str) -> None:
            sent.append(data)
            if "─" in data:
                apps.append(self._app)
                empty.set()
            super().write(data)

    def note(part: type, name: str) -> None:
        method = getattr(part, name)

        def noted(*arguments: object, **named: object) -> object:
            asked.append((name, any("resnet50" in data for data in sent)))
            if slow and len(asked) == 1:
                assert empty.wait(30)
                until(lambda: not apps[0].screen._update_timer._active.is_set(), "nothing is to be painted")
            return method(*arguments, **named)

        monkeypatch.setattr(part, name, noted)

    for part, name in ((Projects, "list"), (Library, "list_unassigned"), (Monitor, "look")):
        note(part, name)
    async with open_app(headless=False, driver=Ear):
        pass
    assert asked[0] == ("list", False)
    assert {name for name, _ in asked[1:]} >= {"list_unassigned", "look"}
    assert all(painted for _, painted in asked[1:]), asked


@pytest.mark.slow
async def test_idle_screens_send_nothing_and_keys_send_little(
    project: tuple[str, tuple[str, ...]],
) -> None:
    over: list[str] = []
    moved: dict[str, int] = {}
    async with open_app(headless=False, driver=CountingDriver) as (app, pilot):
        driver = counter_of(app)

        async def sent(*keys: str) -> int:
            driver.take()
            await press(pilot, *keys)
            return len(driver.take().encode())

        async def visit(name: str) -> None:
            driver.take()
            for _ in range(1 if "," in name else IDLE_LOOKS):
                await look(app, pilot)
            if idle := len(driver.take()):
                over.append(f"{name}: {idle} bytes idle")
            of_text = name.endswith(TEXTS)
            for key in (*CURSOR, *PAGES):
                moved[f"{name}, {key}"] = bytes_sent = await sent(key)
                if bytes_sent > (PAGE if key in PAGES or of_text else KEY):
                    over.append(f"{name}, {key}: {bytes_sent} bytes")

        # Sizes are computed and shown after the first rows.
        for _ in range(2):
            await look(app, pilot)
        await visit_all(app, pilot, *project, str(SAMPLE), visit)
    assert not over, "\n".join(over)
    assert sum(bytes_sent > 0 for bytes_sent in moved.values()) > 60, moved


@pytest.mark.slow
async def test_five_idle_seconds_send_nothing(project: tuple[str, tuple[str, ...]]) -> None:
    """Check with all timers of the dashboard and Textual, in a focused field and over the palette."""
    async with open_app(headless=False, driver=CountingDriver) as (app, pilot):
        driver = counter_of(app)

        async def stays_quiet() -> None:
            await settle(pilot)
            driver.take()
            await asyncio.sleep(5)
            assert driver.take() == ""

        await stays_quiet()
        app.go(route.form(project_id=project[0]))
        await stays_quiet()
        await press(pilot, "escape", "colon")
        await stays_quiet()
