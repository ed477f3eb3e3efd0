"""Terminals that shrink to almost nothing and grow again during a run, with names of 1,000 characters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.present.build import model
from tests.tui.frame import rows
from tests.tui.hostile import LONG, SAMPLE
from tests.tui.pilot import look, open_app, settle
from tests.tui.sample_data import add, add_project, make_going, make_id, rich_project, sweep
from tests.tui.screens.stage import with_runs
from tests.tui.tour import visit_all
from tuibench.core.reason import legacy_text
from tuibench.core.spec import ModelSource
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.widgets.record_table import RecordTable

SMALL, USUAL = (20, 5), (80, 24)


def fill_long(services: Services) -> tuple[str, tuple[str, ...]]:
    """Store two benchmarks of one sweep with very long names, notes, models and sentences."""
    project = add_project(services)
    long = {
        "spec": replace(sweep(1).spec, models=(ModelSource(LONG, f"/{LONG}"),)),
        "models": (model(path=f"/{LONG}"),), "warnings": (legacy_text(LONG),),
        "environment": {LONG: LONG},
    }  # fmt: skip
    runs = [replace(sweep(number, 60.0 * number), **long) for number in (1, 2)]  # type: ignore[arg-type]
    newest = add(services, runs[0], project, name=LONG, note=LONG, rerun_of=make_id(2, 120.0))
    return project, (newest, add(services, runs[1], project, name=LONG, note=LONG))


@pytest.mark.slow
async def test_every_screen_survives_20x5_and_back(home: Path) -> None:
    services = Services()
    project, ids = fill_long(services)
    async with open_app(USUAL, services=with_runs(services, *make_going(project))) as (app, pilot):

        async def visit(name: str) -> None:
            before = rows(app)
            for size in (SMALL, USUAL):
                await pilot.resize_terminal(*size)
                await look(app, pilot)
                assert max(map(len, rows(app))) <= size[0], name
            assert rows(app)[0] == before[0], f"{name} is what it was"

        await visit_all(app, pilot, project, ids, str(SAMPLE), visit)


async def test_every_list_shows_selected_line_at_20x5() -> None:
    services = Services()
    project, ids = rich_project(services)
    add(services, sweep(40, 40.0))
    services.library.remove(ids[-1:])
    ways = (route.home, lambda: route.project(project), route.unassigned, route.trash)
    async with open_app(SMALL, services=services) as (app, pilot):
        for way in ways:
            app.go(way())
            await settle(pilot)
            assert app.page.query_one(RecordTable).cursor_key
            assert any(row.startswith(">") for row in rows(app)), rows(app)
