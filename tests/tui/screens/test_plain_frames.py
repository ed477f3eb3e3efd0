"""Kept frames of screens that are the same for every user."""

from __future__ import annotations

import pytest

from tests.tui.frame import check_frame, frame
from tests.tui.pilot import open_app, press, settle
from tests.tui.sample_data import pass_millisecond, rich_project
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.terminal import Display

WAYS = ((False, "80x24"), (True, "ascii"))


@pytest.fixture
def one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix the size of project files, which contain paths of varying length; freeze ages."""
    for place in ("present.listing", "tui.screens.project.settings"):
        monkeypatch.setattr(f"tuibench.{place}.size", lambda _: "145 kB")
        monkeypatch.setattr(f"tuibench.{place}.age", lambda *_: "2m")
    monkeypatch.setattr("tuibench.tui.screens.trash.size", lambda _: "145 kB")


@pytest.mark.parametrize(("ascii_only", "name"), WAYS)
async def test_new_project_matches_golden_frame(ascii_only: bool, name: str) -> None:
    async with open_app(display=Display(ascii_only=ascii_only)) as (app, pilot):
        await press(pilot, "enter")
        check_frame(app, f"new-project-{name}")
        assert not ascii_only or frame(app).isascii()


@pytest.mark.usefixtures("one_size")
@pytest.mark.parametrize(("ascii_only", "name"), WAYS)
async def test_trash_matches_golden_frame(ascii_only: bool, name: str) -> None:
    services = Services()
    _, ids = rich_project(services)
    services.library.remove(ids[:2])
    pass_millisecond()
    services.library.remove(ids[2:3])
    async with open_app(display=Display(ascii_only=ascii_only)) as (app, pilot):
        await press(pilot, "f3")
        check_frame(app, f"trash-{name}")
        assert not ascii_only or frame(app).isascii()


@pytest.mark.usefixtures("one_size")
@pytest.mark.parametrize(("ascii_only", "name"), WAYS)
async def test_settings_match_golden_frame(ascii_only: bool, name: str) -> None:
    async with open_app(display=Display(ascii_only=ascii_only)) as (app, pilot):
        services = app.services
        source = services.models.locate("sample:text")
        project, _ = services.projects.create(source, "text", "what it is for", {"sequence": 64})
        assert services.projects.list()
        app.go(route.project(project.project.id, "settings"))
        await settle(pilot)
        check_frame(app, f"settings-{name}")
        assert not ascii_only or frame(app).isascii()
