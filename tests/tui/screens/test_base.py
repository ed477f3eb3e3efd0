"""Behaviour shared by all pages: old news are cleared, and the bottom lines name the keys of the focus."""

from __future__ import annotations

import pytest

from tests.tui.frame import frame, rows
from tests.tui.landing import land
from tests.tui.pilot import open_app, press, settle
from tests.tui.screens.form_services import FormServices
from tests.tui.screens.form_stage import open_form
from tuibench.tui.config import Config


async def test_status_news_is_cleared_by_keys_and_pages() -> None:
    async with open_app() as (app, pilot):
        # status news next key clears it
        await press(pilot, "r")
        assert "no project yet: n creates one" in frame(app)
        await press(pilot, "down")
        assert "no project yet: n creates one" not in frame(app)
        # status news appears only on its own page
        app.page.say("old news")
        await settle(pilot)
        assert "old news" in frame(app)
        app.action_system()
        await settle(pilot)
        app.go_back()
        await settle(pilot)
        assert "old news" not in frame(app)


@pytest.mark.parametrize("width", [20, 40, 80, 120])
async def test_help_key_narrow_terminal_stays_visible(width: int) -> None:
    async with open_app((width, 24)) as (app, _):
        assert "? help" in "".join(rows(app)[-2:])


async def test_key_line_in_text_field_omits_keys_that_type(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "home")
    async with open_form(FormServices(), project="p1") as (app, pilot):
        assert "y copy command" in frame(app) and "? help" in frame(app)
        await press(pilot, "down")
        below = " ".join(rows(app)[-2:])
        assert "ctrl+p palette" in below and "f1 help" in below
        assert "copy command" not in below and ": palette" not in below and "? help" not in below
        await press(pilot, "ctrl+p", "escape", "f1")
        assert "The keys" in frame(app) or "Help" in rows(app)[0]


async def test_key_line_in_text_field_shows_user_bound_key(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "home")
    config = Config(keys={"copy-command": "y,ctrl+y"})
    async with open_form(FormServices(), project="p1", config=config) as (app, pilot):
        assert "y copy command" in frame(app)
        await press(pilot, "down")
        assert "ctrl+y copy command" in frame(app)
