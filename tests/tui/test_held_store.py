"""A session stopped while it owns the store's lock: other sessions read the store and name the owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.store.build import NOW
from tests.tui.pilot import open_app, press, settle, status_of
from tests.tui.sample_data import rich_project
from tuibench.services.api import Services
from tuibench.services.opening import open_store
from tuibench.store.lock import WAIT_S
from tuibench.tui import route
from tuibench.tui.screens.project.screen import ProjectScreen

HOLD = """
import os, signal
from tuibench.services.api import Services
context = Services().store._context
with context.lock(context.own().lock).hold():
    os.kill(os.getpid(), signal.SIGSTOP)
"""
"""A writer that stops in the middle of its change."""
BUSY_S = 10.0
"""The longest that somebody waits to hear it."""


@contextmanager
def stopped_writer() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", HOLD])
    try:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        yield process.pid
    finally:
        process.send_signal(signal.SIGCONT)
        assert process.wait(30) == 0


async def test_stopped_lock_owner_allows_reads_and_is_named_on_write() -> None:
    project, ids = rich_project(Services())
    services = Services()
    services.store = open_store(services.settings.places.data, wait_s=0.2)
    assert WAIT_S <= BUSY_S
    async with open_app(services=services, now=lambda: NOW) as (app, pilot):
        with stopped_writer() as pid:
            app.go(route.project(project))
            await settle(pilot)
            page = app.page
            assert isinstance(page, ProjectScreen)
            assert list(page.benchmarks.table.keys) == list(ids), "reading needs no lock"
            await press(pilot, "d", "y")
            assert f" {pid}" in status_of(app).said and status_of(app).kind == "bad"
            assert list(page.benchmarks.table.keys) == list(ids)
        await press(pilot, "d", "y")
        assert list(page.benchmarks.table.keys) == list(ids[1:])
        await press(pilot, "u")
        assert list(page.benchmarks.table.keys) == list(ids)
    assert not Services().store.check().problems
