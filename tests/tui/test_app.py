from __future__ import annotations

import errno
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from textual.app import App
from textual.css.query import NoMatches
from textual.pilot import Pilot

from tests.store.build import make_id
from tests.tui.frame import frame, rows
from tests.tui.pilot import look, open_app, replace_methods, settle, status_of
from tests.tui.screens.form_services import running
from tests.tui.stub_page import StubPage, stub_routes
from tuibench.core import activity
from tuibench.core.activity import RunRow, Snapshot
from tuibench.core.errors import StoreError, TuibenchError
from tuibench.core.reason import LEGACY_TEXT, Reason, legacy_text
from tuibench.present.error.words import message_words
from tuibench.present.reason import reason_words
from tuibench.services.api import Services
from tuibench.tui.app import Dashboard, ends_between
from tuibench.tui.config import Config
from tuibench.tui.messages import SnapshotTaken
from tuibench.tui.screens.base import Page
from tuibench.tui.widgets.field import TextQuestion
from tuibench.tui.widgets.status_line import Notice


class SnapshotServices(Services):
    """Services whose looks return what the test has set."""

    def __init__(self) -> None:
        super().__init__()
        self.now = Snapshot("1", ())
        self.problem: Exception | None = None
        self.looks = 0
        replace_methods(self, monitor__look=self._look)

    def _look(self) -> Snapshot:
        self.looks += 1
        if self.problem is not None:
            raise self.problem
        return self.now

    def show(self, *runs: RunRow, ended: tuple[RunRow, ...] = ()) -> None:
        """Set the runs that later polls return."""
        self.now = Snapshot("1", runs, ended=tuple(row.info for row in ended))


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> SnapshotServices:
    stub_routes(monkeypatch, "home")
    return SnapshotServices()


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Return a list that gains one entry per bell."""
    rung: list[None] = []
    monkeypatch.setattr(App, "bell", lambda self: rung.append(None))
    return rung


def row(number: int, state: str = activity.RUNNING, detail: Reason | None = None, executions: int = 3) -> RunRow:
    found = running(60.0)
    info = replace(found.info, id=make_id(number), state=state, detail=detail, executions=executions)
    return replace(found, info=info)


def name(number: int) -> str:
    return row(number).info.id[-4:].lower()


@asynccontextmanager
async def dashboard(
    services: SnapshotServices, size: tuple[int, int] = (80, 24), **given: Any
) -> AsyncIterator[tuple[Dashboard, Pilot[int]]]:
    """Open a dashboard that has polled once."""
    async with open_app(size, services=services, forgiving=True, **given) as (app, pilot):
        await look(app, pilot)
        yield app, pilot


@pytest.mark.parametrize(
    "problem", [OSError(errno.EMFILE, "Too many open files"), KeyError("spec"), StoreError(LEGACY_TEXT, text="no")]
)
async def test_failed_poll_is_reported_and_next_one_runs(services: SnapshotServices, problem: Exception) -> None:
    async with dashboard(services) as (app, pilot):
        services.show(row(1))
        await look(app, pilot)
        services.problem = problem
        for _ in range(3):
            await look(app, pilot)
        assert services.looks == 5
        foreign = "'spec'" if isinstance(problem, KeyError) else str(problem)
        assert (message_words(problem) if isinstance(problem, StoreError) else foreign) in frame(app)
        assert app.snapshot is not None and app.snapshot.runs == (row(1),), "what was known is still shown"
        services.problem = None
        services.show(row(2))
        await look(app, pilot)
        assert app.snapshot.runs == (row(2),)


@pytest.mark.parametrize(
    ("left", "ended", "words"),
    [
        ((), (row(1, activity.FINISHED),), "finished and saved"),
        ((), (row(1, activity.FINISHED, Reason("finished_on_request")),), f"{name(1)} finished on request and saved"),
        ((), (row(1, activity.FINISHED, Reason("saved_as_far")),), f"{name(1)} saved as far as it was measured"),
        ((), (row(1, activity.FINISHED, executions=0),), "ended: every cell failed"),
        ((), (row(1, activity.CANCELLED),), "cancelled, 3 executions saved"),
        ((), (row(1, activity.CANCELLED, executions=0),), "cancelled, nothing was measured"),
        ((), (), "was removed"),
        ((row(1, activity.FAILED, legacy_text("no such operator")),), (), "failed: no such operator"),
        ((row(1, activity.INTERRUPTED, Reason("runner_died")),), (), "interrupted: its runner died"),
    ],
)
async def test_run_end_is_announced_once_with_one_bell(
    services: SnapshotServices, bells: list[None], left: tuple[RunRow, ...], ended: tuple[RunRow, ...], words: str
) -> None:
    services.show(row(1, activity.WAITING))
    async with dashboard(services) as (app, pilot):
        assert bells == []
        services.show(*left, ended=ended)
        await look(app, pilot)
        assert words in frame(app)
        page = app.page
        page.say("")
        await look(app, pilot)
        assert words not in frame(app)
        assert len(bells) == 1


async def test_two_run_ends_in_one_poll_share_line_and_bell(services: SnapshotServices, bells: list[None]) -> None:
    services.show(row(2), row(1))
    async with dashboard(services, (120, 24)) as (app, pilot):
        failure = legacy_text("no such operator")
        services.show(row(1, activity.FAILED, failure), ended=(row(2, activity.CANCELLED),))
        await look(app, pilot)
        cancelled, failed = status_of(app).said.split("; ")
        assert name(2) in cancelled and name(1) in failed and reason_words(failure) in failed
        assert len(bells) == 1


async def test_bell_can_be_disabled(services: SnapshotServices, bells: list[None]) -> None:
    services.show(row(1))
    async with dashboard(services, config=Config(bell=False)) as (app, pilot):
        services.show()
        await look(app, pilot)
        assert bells == [] and name(1) in status_of(app).said


async def test_run_removed_by_user_is_not_announced(services: SnapshotServices, bells: list[None]) -> None:
    services.show(row(1))
    async with dashboard(services) as (app, pilot):
        app.forget_runs((row(1).info.id,))
        services.show()
        await look(app, pilot)
        assert bells == [] and "removed" not in frame(app)


def test_run_starting_to_measure_is_not_announced_as_ended() -> None:
    assert ends_between(Snapshot("", (row(1, activity.WAITING),)), Snapshot("", (row(1),))) == ()


async def test_page_gets_no_update_without_change(services: SnapshotServices, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Snapshot] = []
    monkeypatch.setattr(StubPage, "snapshot_changed", lambda self, snapshot, before: told.append(snapshot))
    async with dashboard(services) as (app, pilot):
        assert isinstance(app, Dashboard)
        for _ in range(3):
            await look(app, pilot)
        services.show(row(1))
        await look(app, pilot)
        assert [snapshot.runs for snapshot in told] == [(), (row(1),)]


@pytest.mark.parametrize("heard", [False, True])
async def test_failed_query_is_reported_and_app_continues(services: SnapshotServices, heard: bool) -> None:
    async with dashboard(services) as (app, pilot):
        told: list[TuibenchError] = []

        def fail() -> None:
            raise OSError(errno.ELOOP, "Too many levels of symbolic links")

        app.page.request(fail, lambda _: None, group="it", otherwise=told.append if heard else None)
        await settle(pilot)
        words = "internal error: OSError: [Errno 40] Too many levels"
        assert message_words(told[0]).startswith(words) if heard else words in frame(app)


async def test_garbage_collector_starts_once_after_first_rows(services: SnapshotServices) -> None:
    gc.disable()
    try:
        async with dashboard(services) as (app, pilot):
            assert not gc.isenabled(), "the timer was first, and there are no rows yet"
            looks = services.looks
            app.page.request(lambda: None, lambda _: None, group="rows")
            await settle(pilot)
            assert gc.isenabled() and services.looks == looks
    finally:
        gc.enable()


async def test_missing_widget_during_shutdown_is_ignored(services: SnapshotServices) -> None:
    class Late(Page):
        def on_mount(self) -> None:
            self.app.exit(129, return_code=129)
            self.query_one("#gone")

    async with dashboard(services) as (app, _):
        await app.push_screen(Late())
    assert (app.return_code, app.traceback_text) == (129, "")


async def test_other_missing_widget_error_ends_app_and_is_raised(services: SnapshotServices) -> None:
    class Broken(Page):
        def on_mount(self) -> None:
            self.query_one("#gone")

    last: list[Dashboard] = []

    async def break_it() -> None:
        async with dashboard(services) as (app, pilot):
            last.append(app)
            app.push_screen(Broken())
            await settle(pilot)

    with pytest.raises(NoMatches):
        await break_it()
    assert last[0].return_code == 1 and "#gone" in last[0].traceback_text


async def test_page_below_dialog_is_updated_when_visible_again(
    services: SnapshotServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with dashboard(services) as (app, pilot):
        # page below dialog is updated when visible again
        told: list[str] = []
        monkeypatch.setattr(Page, "snapshot_changed", lambda *_: told.append("snapshot"))
        monkeypatch.setattr(Page, "load", lambda _: told.append("load"))
        await app.push_screen(Notice("title", ["a line"]))
        await settle(pilot)
        services.show(row(1))
        await look(app, pilot)
        assert told == [] and app.snapshot == services.now
        await pilot.press("escape")
        await settle(pilot)
        assert told == ["load"]
        # title below dialog keeps run without estimate
        services.show(row(1))
        await look(app, pilot)
        assert f"{name(1)} runs ~" in rows(app)[0]
        await app.push_screen(TextQuestion("name", (("name", ""),)))
        await settle(pilot)
        assert f"{name(1)} runs" in rows(app)[0] and "~" not in rows(app)[0]
        await pilot.press("escape")
        await settle(pilot)
        assert f"{name(1)} runs ~" in rows(app)[0]


async def test_poll_result_after_last_page_closed_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_app() as (app, _):
        with monkeypatch.context() as patch:
            patch.setattr(Dashboard, "screen_stack", [])
            app.on_snapshot_taken(SnapshotTaken(Snapshot("another", ())))
