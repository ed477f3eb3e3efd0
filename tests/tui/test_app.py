from __future__ import annotations

import errno
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest
from textual.app import App
from textual.css.query import NoMatches
from textual.pilot import Pilot

from tests.store.build import make_id
from tests.tui.frame import frame, rows
from tests.tui.landing import Landing, land
from tests.tui.pilot import look, open_app, settle
from tests.tui.screens.form_desk import running
from tuibench.core import activity
from tuibench.core.activity import AS_FAR, ON_REQUEST
from tuibench.core.errors import StoreError, TuibenchError
from tuibench.tui.app import Dashboard
from tuibench.tui.config import Config
from tuibench.tui.desk import Desk, Pulse, RunRow
from tuibench.tui.messages import PulseTaken
from tuibench.tui.removal import ends_between
from tuibench.tui.screens.base import Page
from tuibench.tui.widgets.question import Notice
from tuibench.tui.widgets.text_question import TextQuestion


class PulseDesk:
    """A desk that answers only polls, with what the test has set."""

    def __init__(self) -> None:
        self.now = Pulse("1", ())
        self.problem: Exception | None = None
        self.looks = 0

    def pulse(self) -> Pulse:
        """See Desk."""
        self.looks += 1
        if self.problem is not None:
            raise self.problem
        return self.now

    def show(self, *runs: RunRow, ended: tuple[RunRow, ...] = ()) -> None:
        """Set the runs that later polls return."""
        self.now = Pulse("1", runs, ended=tuple(row.info for row in ended))


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> PulseDesk:
    land(monkeypatch, "home")
    return PulseDesk()


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Return a list that gains one entry per bell."""
    rung: list[None] = []
    monkeypatch.setattr(App, "bell", lambda self: rung.append(None))
    return rung


def row(number: int, state: str = activity.RUNNING, detail: str = "", executions: int = 3) -> RunRow:
    found = running(60.0)
    info = replace(found.info, id=make_id(number), state=state, detail=detail, executions=executions)
    return replace(found, info=info)


def name(number: int) -> str:
    return row(number).info.id[-4:].lower()


@asynccontextmanager
async def dashboard(
    desk: PulseDesk, size: tuple[int, int] = (80, 24), **given: Any
) -> AsyncIterator[tuple[Dashboard, Pilot[int]]]:
    """Open a dashboard that has polled once."""
    async with open_app(size, desk=cast(Desk, desk), forgiving=True, **given) as (app, pilot):
        await look(app, pilot)
        yield app, pilot


@pytest.mark.parametrize("problem", [OSError(errno.EMFILE, "Too many open files"), KeyError("spec"), StoreError("no")])
async def test_failed_poll_is_reported_and_next_one_runs(desk: PulseDesk, problem: Exception) -> None:
    async with dashboard(desk) as (app, pilot):
        desk.show(row(1))
        await look(app, pilot)
        desk.problem = problem
        for _ in range(3):
            await look(app, pilot)
        assert desk.looks == 5
        assert (str(problem) if not isinstance(problem, KeyError) else "KeyError: 'spec'") in frame(app)
        assert app.pulse is not None and app.pulse.runs == (row(1),), "what was known is still shown"
        desk.problem = None
        desk.show(row(2))
        await look(app, pilot)
        assert app.pulse.runs == (row(2),)


@pytest.mark.parametrize(
    ("left", "ended", "words"),
    [
        ((), (row(1, activity.FINISHED),), "finished and saved"),
        ((), (row(1, activity.FINISHED, ON_REQUEST),), f"{name(1)} finished on request and saved"),
        ((), (row(1, activity.FINISHED, AS_FAR),), f"{name(1)} saved as far as it was measured"),
        ((), (row(1, activity.FINISHED, executions=0),), "ended: every cell failed"),
        ((), (row(1, activity.CANCELLED),), "cancelled, 3 executions saved"),
        ((), (row(1, activity.CANCELLED, executions=0),), "cancelled, nothing was measured"),
        ((), (), "was removed"),
        ((row(1, activity.FAILED, "no such operator"),), (), "failed: no such operator"),
        ((row(1, activity.INTERRUPTED, "its runner died"),), (), "interrupted: its runner died"),
    ],
)
async def test_run_end_is_announced_once_with_one_bell(
    desk: PulseDesk, bells: list[None], left: tuple[RunRow, ...], ended: tuple[RunRow, ...], words: str
) -> None:
    desk.show(row(1, activity.WAITING))
    async with dashboard(desk) as (app, pilot):
        assert bells == []
        desk.show(*left, ended=ended)
        await look(app, pilot)
        assert words in frame(app)
        page = app.page
        page.say("")
        await look(app, pilot)
        assert words not in frame(app)
        assert len(bells) == 1


async def test_two_run_ends_in_one_poll_share_line_and_bell(desk: PulseDesk, bells: list[None]) -> None:
    desk.show(row(2), row(1))
    async with dashboard(desk, (120, 24)) as (app, pilot):
        desk.show(row(1, activity.FAILED, "no such operator"), ended=(row(2, activity.CANCELLED),))
        await look(app, pilot)
        assert "cancelled, 3 executions saved; run " in frame(app) and "failed: no such operator" in frame(app)
        assert len(bells) == 1


async def test_run_ended_before_dashboard_start_is_not_announced(desk: PulseDesk, bells: list[None]) -> None:
    desk.show(row(1, activity.INTERRUPTED), ended=(row(2, activity.FINISHED),))
    async with dashboard(desk) as (app, pilot):
        await look(app, pilot)
        assert bells == [] and "run " not in frame(app).splitlines()[-3]


async def test_run_removed_by_user_is_not_announced(desk: PulseDesk, bells: list[None]) -> None:
    desk.show(row(1))
    async with dashboard(desk) as (app, pilot):
        app.forget_runs((row(1).info.id,))
        desk.show()
        await look(app, pilot)
        assert bells == [] and "removed" not in frame(app)


async def test_narrow_title_line_fits_all_active_runs(desk: PulseDesk) -> None:
    broken = (row(n, activity.INTERRUPTED) for n in (4, 5))
    desk.show(row(1), row(2, activity.WAITING), row(3, activity.WAITING), *broken)
    async with dashboard(desk) as (app, _):
        words = app.going_words()
        assert words.endswith("2 waiting · 2 to resume") and words.startswith(f"{name(1)} runs ~")
        assert len(words) <= 45, "beside ' tuibench › Projects (14)' and more"


async def test_bell_can_be_disabled(desk: PulseDesk, bells: list[None]) -> None:
    desk.show(row(1))
    async with dashboard(desk, config=Config(bell=False)) as (app, pilot):
        desk.show()
        await look(app, pilot)
        assert bells == [] and "was removed" in frame(app)


def test_run_starting_to_measure_is_not_announced_as_ended() -> None:
    assert ends_between(Pulse("", (row(1, activity.WAITING),)), Pulse("", (row(1),))) == ()


async def test_page_gets_no_update_without_change(desk: PulseDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Pulse] = []
    monkeypatch.setattr(Landing, "pulse_changed", lambda self, pulse, before: told.append(pulse))
    async with dashboard(desk) as (app, pilot):
        assert isinstance(app, Dashboard)
        for _ in range(3):
            await look(app, pilot)
        desk.show(row(1))
        await look(app, pilot)
        assert [pulse.runs for pulse in told] == [(), (row(1),)]


@pytest.mark.parametrize("heard", [False, True])
async def test_failed_query_is_reported_and_app_continues(desk: PulseDesk, heard: bool) -> None:
    async with dashboard(desk) as (app, pilot):
        told: list[TuibenchError] = []

        def fail() -> None:
            raise OSError(errno.ELOOP, "Too many levels of symbolic links")

        app.page.ask(fail, lambda _: None, group="it", otherwise=told.append if heard else None)
        await settle(pilot)
        words = "internal error: OSError: [Errno 40] Too many levels"
        assert told[0].message.startswith(words) if heard else words in frame(app)


async def test_garbage_collector_starts_once_after_first_rows(desk: PulseDesk) -> None:
    gc.disable()
    try:
        async with dashboard(desk) as (app, pilot):
            assert not gc.isenabled(), "the timer was first, and there are no rows yet"
            looks = desk.looks
            app.page.ask(lambda: None, lambda _: None, group="rows")
            await settle(pilot)
            assert gc.isenabled() and desk.looks == looks
    finally:
        gc.enable()


async def test_missing_widget_during_shutdown_is_ignored(desk: PulseDesk) -> None:
    class Late(Page):
        def on_mount(self) -> None:
            self.app.exit(129, return_code=129)
            self.query_one("#gone")

    async with dashboard(desk) as (app, _):
        await app.push_screen(Late())
    assert (app.return_code, app.last_words) == (129, "")


async def test_other_missing_widget_error_ends_app_and_is_raised(desk: PulseDesk) -> None:
    class Broken(Page):
        def on_mount(self) -> None:
            self.query_one("#gone")

    last: list[Dashboard] = []

    async def break_it() -> None:
        async with dashboard(desk) as (app, pilot):
            last.append(app)
            app.push_screen(Broken())
            await settle(pilot)

    with pytest.raises(NoMatches):
        await break_it()
    assert last[0].return_code == 1 and "#gone" in last[0].last_words


async def test_page_below_dialog_is_updated_when_visible_again(
    desk: PulseDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with dashboard(desk) as (app, pilot):
        told: list[str] = []
        monkeypatch.setattr(Page, "pulse_changed", lambda *_: told.append("pulse"))
        monkeypatch.setattr(Page, "load", lambda _: told.append("load"))
        await app.push_screen(Notice("title", ["a line"]))
        await settle(pilot)
        desk.show(row(1))
        await look(app, pilot)
        assert told == [] and app.pulse == desk.now
        await pilot.press("escape")
        await settle(pilot)
        assert told == ["load"]


async def test_title_below_dialog_keeps_run_without_estimate(desk: PulseDesk) -> None:
    async with dashboard(desk) as (app, pilot):
        desk.show(row(1))
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
            app.on_pulse_taken(PulseTaken(Pulse("another", ())))
