"""Benchmark keys with runs that measure: rerun, compare, cancel, remove, restore."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.cli.running import SCRIPT, stored
from tests.cli.shell import until
from tests.tui.frame import frame, rows
from tests.tui.pilot import look, open_app, press, settle
from tests.tui.screens.stage import Shown
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core import activity
from tuibench.core.ids import short_id
from tuibench.services.api import Services
from tuibench.services.form_values import FormValues
from tuibench.tui import route

BRIEF = FormValues(
    model="sample:tiny", engines=("fake",), scenarios="sync", cores="1", effort="fixed", time_s="0.1",
    warmup_s="0.05", flags="--executions 1",
)  # fmt: skip
ENDLESS = FormValues(
    model="sample:tiny", engines=("fake",), scenarios="sync", cores="1", effort="fixed", time_s="60", warmup_s="0.05"
)


@pytest.fixture(autouse=True)
def script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the scripted engine's times and placeholders for screens tested elsewhere."""
    for name, value in SCRIPT.items():
        monkeypatch.setenv(name, value)
    stub_routes(monkeypatch, "run")


@asynccontextmanager
async def measured() -> AsyncIterator[Shown]:
    """Create the project of a model that was measured once."""
    services = Services()
    services = Services(hidden=True)
    first, _ = services.forms.start(BRIEF)
    until(stored, "the first result")
    project = services.library.find(first).project
    async with open_app((120, 36), services=services) as (app, pilot):
        app.go(route.project(project))
        await settle(pilot)
        yield Shown(app, pilot, services, project, (first,))


def states() -> dict[str, str]:
    return {run.id: run.state for run in Services().runs.every()}


@pytest.mark.slow
async def test_benchmark_rerun_compared_removed_restored() -> None:
    async with measured() as seen:
        (first,) = seen.ids
        await seen.press("r")
        assert f"Re-run {short_id(first)}: 1 cell," in rows(seen.app)[-3]
        await seen.press("y")
        name, (run,), _ = opened_page(seen.app)
        assert name == "run"
        until(lambda: len(stored()) == 2, "the second result")
        await look(seen.app, seen.pilot)
        await seen.press("q")
        assert seen.keys == [run, first]
        await seen.press("g", "c")
        assert short_id(first) in rows(seen.app)[0] and short_id(run) in rows(seen.app)[0]
        assert "no verdict" in frame(seen.app)
        await seen.press("escape", "d", "y")
        assert seen.keys == [first]
        await seen.press("u")
        assert seen.keys == [run, first]


@pytest.mark.slow
async def test_active_run_removal_one_answer_cancels_and_removes() -> None:
    async with measured() as seen:
        run, _ = seen.app.services.forms.start(ENDLESS, seen.project)
        until(lambda: states().get(run) == activity.RUNNING, "the run")
        await look(seen.app, seen.pilot)
        assert seen.keys[0] == run
        await seen.press("g", "d")
        assert "is still running: cancel and remove?" in rows(seen.app)[-3]
        await press(seen.pilot, "y")
        assert states().get(run) not in activity.ALIVE
        assert seen.keys == list(seen.ids)
