"""Screens that are the same for everybody, as they were looked at in each size and in ASCII."""

from __future__ import annotations

import pytest

from tests.tui.frame import check_frame, frame
from tests.tui.pilot import open_app, press, settle
from tests.tui.stock import pass_millisecond, rich_project
from tuibench.tui import route
from tuibench.tui.terminal import Display
from tuibench.workbench.hall import Workbench

WAYS = (((80, 24), False), ((120, 36), False), ((80, 24), True))
NAMES = ("80x24", "120x36", "ascii")


@pytest.fixture
def one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of projects hold paths, and those of tests are longer one time than another; nothing ages."""
    for place in ("trash", "project_settings"):
        monkeypatch.setattr(f"tuibench.tui.screens.{place}.size", lambda _: "145 kB")
        monkeypatch.setattr(f"tuibench.tui.screens.{place}.age", lambda *_: "2m")


@pytest.mark.parametrize(("size", "ascii_only", "name"), [(*way, name) for way, name in zip(WAYS, NAMES, strict=True)])
async def test_a_new_project_of_the_sample(size: tuple[int, int], ascii_only: bool, name: str) -> None:
    async with open_app(size, display=Display(ascii_only=ascii_only)) as (app, pilot):
        await press(pilot, "enter")
        check_frame(app, f"new-project-{name}")
        assert not ascii_only or frame(app).isascii()


@pytest.mark.usefixtures("one_size")
@pytest.mark.parametrize(("size", "ascii_only", "name"), [(*way, name) for way, name in zip(WAYS, NAMES, strict=True)])
async def test_a_trash_with_two_removals(size: tuple[int, int], ascii_only: bool, name: str) -> None:
    bench = Workbench()
    _, ids = rich_project(bench)
    bench.library.remove(ids[:2])
    pass_millisecond()
    bench.library.remove(ids[2:3])
    async with open_app(size, display=Display(ascii_only=ascii_only)) as (app, pilot):
        await press(pilot, "f3")
        check_frame(app, f"trash-{name}")
        assert not ascii_only or frame(app).isascii()


@pytest.mark.usefixtures("one_size")
@pytest.mark.parametrize(("size", "ascii_only", "name"), [(*way, name) for way, name in zip(WAYS, NAMES, strict=True)])
async def test_the_settings_of_the_sample(size: tuple[int, int], ascii_only: bool, name: str) -> None:
    bench = Workbench()
    async with open_app(size, display=Display(ascii_only=ascii_only)) as (app, pilot):
        desk = app.desk
        project = desk.create_project(desk.find_model("sample:text"), "text", "what it is for", {"sequence": 64})
        assert bench.projects.list()
        app.go(route.project(project.project.id, "settings"))
        await settle(pilot)
        check_frame(app, f"settings-{name}")
        assert not ascii_only or frame(app).isascii()
