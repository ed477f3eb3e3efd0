"""The page of a run over real services, real runners and the scripted engine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.cli.running import FAKE, SCRIPT, detach, runner_of, stored
from tests.cli.shell import PATIENCE_S, Shell, until
from tests.tui.frame import frame, rows
from tests.tui.pilot import look, open_app, press, settle
from tuibench.core.ids import short_id
from tuibench.services.api import Services
from tuibench.services.form_values import FormValues
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.detail.baseline import BaselinePane
from tuibench.tui.screens.detail.screen import DetailScreen
from tuibench.tui.screens.run.screen import RunScreen

MANY = (*FAKE, "--executions", "300", "-t", "0.05")
"""Long as a whole, with executions that are done at once."""
HANGS = {"default": {"latency_us": 300, "timed": "hang"}}
SLOW = {"default": {"latency_us": 3000}}


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Run shell benchmarks on the dashboard's store, and end them after the test."""
    shell = Shell(tmp_path, save=True)
    yield shell
    for pid in shell.processes():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(autouse=True)
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Apply the script to runs started by the dashboard, and mark them by the test's directory."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name, value in SCRIPT.items():
        monkeypatch.setenv(name, value)


class Followed:
    """The app on the page of a run."""

    def __init__(self, app: Dashboard, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def text(self) -> str:
        return frame(self.app)

    @property
    def news(self) -> str:
        return rows(self.app)[-3]

    @property
    def page(self) -> RunScreen:
        page = self.app.page
        assert isinstance(page, RunScreen), page
        return page

    async def press(self, *keys: str) -> None:
        await press(self.pilot, *keys)

    async def show(self, run: str) -> None:
        self.app.go(route.run(run))
        await settle(self.pilot)

    async def until(self, found: Callable[[], object]) -> None:
        """Poll until the condition holds."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self.page.load()
            await look(self.app, self.pilot)
            if found():
                return
            await asyncio.sleep(0.02)
        raise AssertionError(self.text)

    async def until_seen(self, words: str) -> None:
        await self.until(lambda: words in self.text)

    @property
    def measured(self) -> int:
        """Return the number of executions so far."""
        view = self.page.view
        return sum(len(cell.executions) for cell in view.cells) if view is not None else 0


@asynccontextmanager
async def followed(run: str = "") -> AsyncIterator[Followed]:
    async with open_app(services=Services(hidden=True), now=time.time) as (app, pilot):
        seen = Followed(app, pilot)
        if run:
            await seen.show(run)
        yield seen


def whole_id(short: str) -> str:
    return Services().runs.info(short).id


@pytest.mark.slow
async def test_shell_run_is_followed_left_reopened_and_finished(shell: Shell) -> None:
    run = whole_id(detach(shell, *MANY, "-b", "1,2"))
    async with followed(run) as seen:
        await seen.until(lambda: seen.measured >= 3)
        assert "▶ running" in seen.text and "0/2" in seen.text and "p50 ms/batch" in seen.text
        await seen.press("escape")
        assert not isinstance(seen.app.page, RunScreen)
        before = len(shell.events())
        until(lambda: len(shell.events()) > before, "that it goes on without the page")
        await seen.show(run)
        await seen.until(lambda: seen.measured >= 5)
        await seen.press("p")
        assert "the current execution is the last" in seen.news
        await seen.until_seen("enter opens the result")
        assert "finished after" in seen.text and "2 of 2 cells measured" in seen.text
        assert "finished on request" in seen.text and stored() == [run]
        await seen.until(lambda: f"run {short_id(run)} finished on request and saved" in seen.news)
        await seen.press("right", "enter")
        detail = seen.app.page
        assert isinstance(detail, DetailScreen)
        pane = detail.query_one(BaselinePane)
        assert pane.stored.result.cells[pane._at].asked.batch == 2, "the very cell under the cursor"


@pytest.mark.slow
async def test_run_survives_dashboard_exit_and_X_cancels_it_later(shell: Shell) -> None:  # noqa: N802 - key
    async with followed() as seen:
        form = FormValues(
            model="sample:tiny", engines=("fake",), scenarios="sync", cores="1", effort="fixed", time_s="0.05",
            warmup_s="0.05", flags="--executions 300",
        )  # fmt: skip
        run, _ = await asyncio.to_thread(seen.app.services.forms.start, form)
        await seen.show(run)
        await seen.until(lambda: seen.measured >= 1)
        await seen.press("ctrl+q")
    before = len(shell.events())
    until(lambda: len(shell.events()) > before + 3, "that it goes on without the dashboard")
    async with followed(run) as seen:
        await seen.until(lambda: seen.measured >= 3)
        await seen.press("X")
        assert "Cancel this run? 1 cell measured so far is kept." in seen.news
        await seen.press("y")
        await seen.until_seen("cancelled after")
        assert "enter opens the result" in seen.text and stored() == [run]
        # The requester learns it from the answer or from a later poll.
        await seen.until(lambda: short_id(run) in seen.news and "cancelled" in seen.news)


@pytest.mark.slow
async def test_killed_runner_is_resumed_and_saved(shell: Shell) -> None:
    run = whole_id(detach(shell, *MANY))
    async with followed(run) as seen:
        await seen.until(lambda: seen.measured >= 2)
        os.kill(runner_of(shell), signal.SIGKILL)
        await seen.until_seen("o resumes it")
        assert "interrupted after" in seen.text and "its runner died" in seen.text
        kept = seen.measured
        await seen.press("o")
        await seen.until(lambda: "▶ running" in seen.text and seen.measured > kept)
        os.kill(runner_of(shell), signal.SIGKILL)
        await seen.until_seen("o resumes it")
        await seen.press("p")
        await seen.until_seen("enter opens the result")
        assert stored() == [run]


@pytest.mark.slow
async def test_changed_machine_asks_before_resume(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    run = whole_id(detach(shell, *MANY))
    async with followed(run) as seen:
        await seen.until(lambda: seen.measured >= 4)
        os.kill(runner_of(shell), signal.SIGKILL)
        await seen.until_seen("o resumes it")
        monkeypatch.setenv("TUIBENCH_FAKE", json.dumps(SLOW))
        await seen.press("o")
        await seen.until_seen("slower than before the break")
        kept = seen.measured
        await seen.press("o")
        assert "The machine changed.  m resume anyway" in seen.news
        await seen.press("m")
        await seen.until(lambda: seen.measured > kept)
        await seen.press("X", "y")
        await seen.until_seen("cancelled after")


async def test_endless_cell_can_be_cancelled(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCRIPT, "TUIBENCH_FAKE", json.dumps(HANGS))
    run = whole_id(detach(shell, *MANY))
    async with followed(run) as seen:
        await seen.until_seen("now  sync, 1 core")
        assert "execution 1" in seen.text
        await seen.press("X", "y")
        await seen.until_seen("cancelled after")
        await seen.press("L")
        assert "cancelled" in seen.text


@pytest.mark.slow
async def test_queued_run_names_run_ahead_and_starts_by_itself(shell: Shell) -> None:
    first = detach(shell, *MANY)
    second = whole_id(detach(shell, *MANY))
    async with followed(second) as seen:
        await seen.until_seen("position 1")
        assert f"run {first}" in seen.text and "It starts automatically" in seen.text
        await seen.press("p")
        assert "is queued; there is nothing to finish; X cancels it" in seen.news
        await asyncio.to_thread(end_one, shell, first)
        await seen.until(lambda: seen.measured >= 1)
        await seen.press("X", "y")
        await seen.until_seen("cancelled after")


def end_one(shell: Shell, short: str) -> None:
    assert shell.run("cancel", short, env=SCRIPT).code == 0
