from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.tui.frame import check_frame, frame, rows
from tests.tui.pilot import open_app, press, settle
from tests.tui.sample_data import rich_project
from tests.tui.screens.stage import Shown
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.ids import short_id
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.screens.comparison.view import ComparisonView
from tuibench.tui.terminal import Display


@asynccontextmanager
async def shown(
    size: tuple[int, int] = (80, 24), *, old: int = 2, new: int = 0, display: Display | None = None
) -> AsyncIterator[Shown]:
    services = Services()
    project, ids = rich_project(services)
    async with open_app(size, services=services, display=display) as (app, pilot):
        app.go(route.comparison(ids[old], ids[new]))
        await settle(pilot)
        yield Shown(app, pilot, services, project, ids)


async def test_comparison_matches_golden_frame_and_enter_opens_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "detail")
    async with shown() as seen:
        check_frame(seen.app, "comparison-80x24")
        await seen.press("down")
        pair = seen.app.screen.query_one(ComparisonView).pair
        assert pair is not None
        await seen.press("enter")
        assert opened_page(seen.app) == ("detail", (seen.ids[0],), {"cell": pair.new.key})


async def test_comparison_in_ascii_matches_golden_frame() -> None:
    async with shown(display=Display(ascii_only=True)) as seen:
        check_frame(seen.app, "comparison-ascii")
        assert frame(seen.app).isascii()


async def test_comparison_base_figure_and_metric_keys() -> None:
    async with shown((120, 36)) as seen:
        # key f swaps base
        await seen.press("f")
        assert "1.060 [1.052, 1.068]" in frame(seen.app)
        assert f"base {short_id(seen.ids[0])}  15.3" in frame(seen.app)
        await seen.press("f")
        assert "0.943 [0.937, 0.950]" in frame(seen.app)
        # title and command name base
        old, new = short_id(seen.ids[2]), short_id(seen.ids[0])
        assert rows(seen.app)[0].index(old) < rows(seen.app)[0].index(new)
        await press(seen.pilot, "f", "y")
        assert rows(seen.app)[0].index(new) < rows(seen.app)[0].index(old)
        assert seen.app.clipboard.split()[1:] == ["compare", new, old]
        await press(seen.pilot, "f", "y")
        assert rows(seen.app)[0].index(old) < rows(seen.app)[0].index(new)
        assert seen.app.clipboard.split()[1:] == ["compare", old, new]
        # keys m and h select figure while page is open
        first = rows(seen.app)[1]
        assert "[items/s]" in first
        await seen.press("m")
        assert "[ms/batch]" in rows(seen.app)[1]
        await seen.press("h")
        assert rows(seen.app)[1] != first
        seen.app.go_back()
        seen.app.go(route.comparison(seen.ids[2], seen.ids[0]))
        await settle(seen.pilot)
        assert rows(seen.app)[1] == first
        # figure without metric choice says so
        await seen.press("h", "h")
        third = rows(seen.app)[1]
        await seen.press("m")
        assert "[ratio" in third == rows(seen.app)[1] and seen.status.said


async def test_unmatched_cells_and_differing_engines_are_listed() -> None:
    async with shown((120, 36), old=5, new=2) as seen:
        pair = seen.app.page.query_one(ComparisonView).pair
        assert pair is not None and (pair.base.name, pair.new.name) == (short_id(seen.ids[5]), short_id(seen.ids[2]))
        assert f"in {short_id(seen.ids[2])}: " in frame(seen.app)


async def test_incompatible_comparison_shows_reason() -> None:
    async with shown(old=4, new=0) as seen:
        text, names = frame(seen.app), [short_id(seen.ids[n]) for n in (4, 0)]
        assert "[none" in rows(seen.app)[1] and "[-]" not in text
        assert f"512 in {names[0]}" in text and f"32 in {names[1]}" in text
        await seen.press("f", "m", "h", "down")


async def test_missing_benchmark_says_so() -> None:
    services = Services()
    _, ids = rich_project(services)
    services.store.trash.remove([ids[2]])
    async with open_app(services=services) as (app, pilot):
        app.go(route.comparison(ids[2], ids[0]))
        await settle(pilot)
        assert "trash" in rows(app)[-3] and "trash" in "".join(rows(app)[:8])
