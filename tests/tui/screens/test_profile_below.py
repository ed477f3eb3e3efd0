"""A profile's page below an open dialog."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tests.tui.counting import CountingDriver, bytes_of
from tests.tui.pilot import look
from tests.tui.sample_data import make_going
from tests.tui.screens.profile_stage import profiled
from tests.tui.screens.stage import with_runs
from tuibench.core.ids import short_id
from tuibench.tui import route


async def test_page_below_dialog_is_not_updated_with_progress() -> None:
    async with profiled(driver=CountingDriver) as seen:
        running, waiting = make_going(seen.project)
        with_runs(seen.app.services, running, waiting)
        await look(seen.app, seen.pilot)
        await seen.go(route.profile(seen.ids[0], "layers"))
        assert "~3m10" in seen.rows[0]
        await seen.press("enter")
        assert " ~" not in seen.rows[0] and seen.rows[0].startswith(f" {short_id(seen.ids[0])}")
        with_runs(seen.app.services, replace(running, info=replace(running.info, eta_s=60.0)), waiting)
        assert await bytes_of(seen.pilot, partial(look, seen.app, seen.pilot)) == 0
        await seen.press("escape")
        assert "~60 s" in seen.rows[0]
