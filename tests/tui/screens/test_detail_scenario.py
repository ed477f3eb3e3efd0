from __future__ import annotations

from dataclasses import replace

import pytest

from tests.scripted_scenario import PAIRS
from tests.tui.sample_data import sweep
from tests.tui.screens.detail_stage import detail
from tuibench.core.scenario import REGISTRY


async def test_detail_page_shows_throughput_of_third_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, PAIRS.name, PAIRS)
    run = sweep(1, 3600)
    cells = tuple(replace(cell, asked=replace(cell.asked, scenario="pairs")) for cell in run.cells)
    spec = replace(run.spec, scenarios=("pairs",))
    async with detail(replace(run, cells=cells, spec=spec)) as seen:
        assert seen.rows[0].endswith(" pairs")
        await seen.press("2")
        assert seen.tab == "cores"
        assert "items/s" in "\n".join(seen.rows)
