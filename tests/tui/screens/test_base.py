"""Behaviour shared by all pages: old news are cleared, and the bottom lines name the keys of the focus."""

from __future__ import annotations

import pytest

from tests.tui.frame import frame
from tests.tui.pilot import open_app, press, settle, status_of
from tests.tui.screens.form_services import FormServices
from tests.tui.screens.form_stage import open_form
from tests.tui.screens.stage import offered
from tests.tui.screens.system_services import SystemServices
from tests.tui.stub_page import stub_routes
from tuibench.core.errors import TuibenchError
from tuibench.core.reason import LEGACY_TEXT
from tuibench.tui.config import Config
from tuibench.tui.screens.help import HelpScreen


async def test_status_news_is_cleared_by_keys_and_pages() -> None:
    async with open_app(services=SystemServices(TuibenchError(LEGACY_TEXT, text="not examined"))) as (app, pilot):
        # status news next key clears it
        await press(pilot, "r")
        assert (said := status_of(app).said) and said in frame(app)
        await press(pilot, "down")
        assert said not in frame(app)
        # status news appears only on its own page
        app.page.say("outdated")
        await settle(pilot)
        assert "outdated" in frame(app)
        app.action_system()
        await settle(pilot)
        app.go_back()
        await settle(pilot)
        assert "outdated" not in frame(app)


@pytest.mark.parametrize("width", [20, 40, 80, 120])
async def test_help_key_narrow_terminal_stays_visible(width: int) -> None:
    async with open_app((width, 24)) as (app, _):
        assert "?" in offered(app)


async def test_key_line_in_text_field_omits_keys_that_type(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "home")
    async with open_form(FormServices(), project="p1") as (app, pilot):
        assert {"y", ":", "?"} <= {*offered(app)}
        await press(pilot, "down")
        assert {"ctrl+p", "f1"} <= {*offered(app)} and not {"y", ":", "?"} & {*offered(app)}
        await press(pilot, "ctrl+p", "escape", "f1")
        assert isinstance(app.screen, HelpScreen)


async def test_key_line_in_text_field_shows_user_bound_key(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "home")
    config = Config(keys={"copy-command": "y,ctrl+y"})
    async with open_form(FormServices(), project="p1", config=config) as (app, pilot):
        assert "y" in offered(app)
        await press(pilot, "down")
        assert "ctrl+y" in offered(app)
