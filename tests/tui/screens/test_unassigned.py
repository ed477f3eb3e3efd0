"""Unassigned benchmarks: an imported one, and one of a missing project."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.tui.frame import frame, rows
from tests.tui.pilot import open_app, press, status_of
from tests.tui.sample_data import add, add_project, sweep
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.ids import short_id
from tuibench.services.api import Services
from tuibench.tui.route import UNASSIGNED
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.screens.project.screen import UnassignedScreen

FILE = ROOT / "tests" / "fixtures" / "import" / "deepsparse-1.8.0.json"


def imported(services: Services) -> str:
    return services.exchange.import_file(str(FILE)).row.id


async def test_imported_result_is_listed_at_home_and_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    services = Services()
    project = add_project(services)
    mine = add(services, sweep(), project)
    one = imported(services)
    stub_routes(monkeypatch, "detail")
    async with open_app() as (app, pilot):
        home = app.page
        assert isinstance(home, HomeScreen)
        assert list(home.table.keys) == [project, UNASSIGNED]
        line = next(row for row in rows(app) if "(without a project)" in row)
        assert line.split()[-1] == "1", line
        await press(pilot, "G", "enter")
        assert isinstance(app.page, UnassignedScreen)
        assert short_id(one) in frame(app) and short_id(mine) not in frame(app)
        assert "Settings" not in frame(app)
        await press(pilot, "n")
        assert status_of(app).kind == "warn"
        await press(pilot, "1", "enter")
        assert opened_page(app) == ("detail", (one,), {})


async def test_unassigned_result_removal_can_be_undone() -> None:
    services = Services()
    add_project(services)
    one = imported(services)
    async with open_app() as (app, pilot):
        await press(pilot, "G", "enter", "d", "y")
        assert services.library.list_unassigned() == () and short_id(one) not in "".join(rows(app)[:-3])
        await press(pilot, "u")
        assert [row.id for row in services.library.list_unassigned()] == [one]
        await press(pilot, "q")
        assert isinstance(app.page, HomeScreen) and UNASSIGNED in app.page.table.keys


async def test_project_keys_on_unassigned_row_explain_row() -> None:
    services = Services()
    add_project(services)
    imported(services)
    async with open_app() as (app, pilot):
        await press(pilot, "G")
        for key in ("r", "d", "e", "D"):
            await press(pilot, key)
            assert status_of(app).said.startswith("enter ") and status_of(app).kind == "warn", key
